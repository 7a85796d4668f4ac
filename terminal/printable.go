package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isUnsafe says whether r must not be printed from text that is data: control
// characters, what reorders or hides text, and what has no shape of its own.
func isUnsafe(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0x300:
		return r == 0xad
	case r == zeroWidthJoiner: // joins emoji; see Printable
		return false
	case r >= 0xfe00 && r <= 0xfe0f: // presentation of the rune before
		return false
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0: // blank letters
		return true
	case r == 0x2028 || r == 0x2029:
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and further selectors
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Printable is s made safe to be printed on a terminal by way of a list, a card
// or a log: control characters become the pictures of themselves (␛, ␊), what
// is not UTF-8 becomes U+FFFD, and whatever reorders, hides or takes no place
// is dropped, but for joiners between emoji and marks on a base.
func Printable(s string) string {
	clean := true
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var before rune // last rune written
	marks := 0
	for i, r := range s {
		switch {
		case r < 0x20:
			r += 0x2400
		case r == 0x7f:
			r = 0x2421
		case r >= 0x80 && r < 0xa0:
			r = utf8.RuneError
		case isUnsafe(r):
			continue
		case r == zeroWidthJoiner:
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if !isPictograph(next) || !isPictograph(before) && before != emojiSelector && !isSkinTone(before) {
				continue
			}
		case RuneWidth(r) == 0:
			// More marks than any script stacks would climb over the lines above.
			if marks++; before == 0 || marks > 4 {
				continue
			}
		default:
			marks = 0
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
