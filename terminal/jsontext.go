package terminal

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON is the same JSON with all that a terminal would act upon, or that
// reorders or hides text, written as \u escapes. JSON is for programs, and yet
// a person's terminal is where it often ends. Strings mean the same as before,
// but what is not UTF-8 becomes U+FFFD.
func EscapeJSON(text []byte) []byte {
	first := 0
	for first < len(text) && text[first] < 0x7f {
		first++
	}
	if first == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+16), text[:first]...)
	for rest := text[first:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, `\ufffd`...)
		case r < 0x7f || !isUnsafe(r) && r != zeroWidthJoiner: // below, JSON has escaped what is in a string
			out = append(out, rest[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	return out
}
