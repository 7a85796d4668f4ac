package drawn

import "strings"

// Squeeze is s without blanks and without the bars of a box. A screen can break lines anywhere.
func Squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\u00a0' || r == '│'
	}), "")
}

// Without is the text without any of these characters.
func Without(text, marks string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return -1
		}
		return r
	}, text)
}

// Flat is s with one blank for each stretch of blanks and line ends.
func Flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// Stacked keeps rows apart where a row's end may be within a word: a blank would name another file, or another command
// that is always allowed.
func Stacked(rows []string) string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = strings.Trim(row, " ")
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// Letters are the characters of ASCII in s, without blanks.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}
