package drawn

import "strings"

// Squeeze is s without blanks and without the bars of a box. A screen can break lines anywhere.
func Squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\u00a0' || r == '│'
	}), "")
}
