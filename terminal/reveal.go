package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reveal makes text printable for a person who decides by it: each character that a terminal
// does not draw, reorders, or draws like another one is written as ⟨U+202E⟩, and a byte that is
// not UTF-8 as ⟨FF⟩. Line ends stay. With ascii all that such a terminal cannot show is written
// so.
func Reveal(s string, ascii bool) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r == '\n', plainly(r) && (!ascii || r >= 0x20 && r < 0x7f):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// plainly says that a character is drawn, and as no other one is: a blank is U+0020 alone, and
// the pictures of control characters stand for these.
func plainly(r rune) bool {
	switch {
	case r == ' ', r == '\t':
		return true
	case r == '⟨', r == '⟩', r >= 0x2400 && r <= 0x2421, r >= 0x80 && r < 0xa0, r == 0x2800, unicode.IsSpace(r):
		return false
	}
	return Printable(string(r)) != ""
}
