package agent

import (
	"strings"
	"unicode"
)

// CleanMessage takes out of a message what a terminal or an agent would take as
// something other than text: ESC, of which one could end the paste, all other
// control characters but tab and line feed, and what turns the direction of the
// text around it. It stands here and not with each driver, since what one of
// them let through would be keys.
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
