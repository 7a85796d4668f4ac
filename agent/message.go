package agent

import (
	"strings"
	"unicode"
)

// CleanMessage removes from a message all that a terminal or an agent would take as something other
// than text: ESC, since an escape sequence could end the paste, all other control characters except
// tab and line feed, and the marks that reverse the text's direction. All drivers share it, because
// a character that one of them missed would act as a key.
func CleanMessage(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, text)
}
