package render

import (
	"regexp"
	"strconv"
	"strings"
)

// hunk is the head of a part of a patch: where it begins in both files, and how many lines it has.
var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// Patch lays out the output of git diff, with the numbers of the new file's lines. Other text may be
// around the patches. The counts in a hunk's head say which lines belong to it, so no line of a file is
// mistaken for a head. Lines that only repeat a file's name are left out: these lines are for reading,
// and not for deciding.
func Patch(text string) []Line {
	var lines []Line
	before, after, number := 0, 0, 0 // lines of the hunk that are still to come, and the next line's number
	named := false                   // within the heads of a file
	for _, l := range split(text) {
		sign := byte(' ') // git may leave out the blank of an empty line
		if l != "" {
			sign = l[0]
		}
		switch {
		case sign == '\\' && number > 0:
			lines = append(lines, one(Faint, strings.TrimSpace(l[1:])))
			continue
		case before > 0 && sign == '-':
			before--
			lines = append(lines, signed('-', 0, l[1:]))
			continue
		case after > 0 && (sign == '+' || sign == ' ' && before > 0):
			if after--; sign == ' ' {
				before--
			}
			lines = append(lines, signed(sign, number, strings.TrimPrefix(l, string(rune(sign)))))
			number++
			continue
		}
		before, after = 0, 0
		if m := hunk.FindStringSubmatch(l); m != nil {
			before, after = count(m[1]), count(m[3])
			number, _ = strconv.Atoi(m[2])
			lines, named = append(lines, signed('@', 0, l)), false
			continue
		}
		number = 0
		if file, ok := strings.CutPrefix(l, "diff --git "); ok {
			lines, named = append(lines, one(Accent, fileOf(file))), true
			continue
		}
		switch {
		case named && (strings.HasPrefix(l, "index ") || strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ ")):
		case named:
			lines = append(lines, one(Faint, l))
		default:
			lines = append(lines, one(Plain, l))
		}
		named = named && l != ""
	}
	return lines
}

// count is a number of lines in a hunk's head, where 1 is left out.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text)
	return n
}

// fileOf is the file that a head names: once, if it has the same name before and after.
func fileOf(names string) string {
	old, new, ok := strings.Cut(names, " b/")
	if ok && strings.TrimPrefix(old, "a/") == new {
		return new
	}
	return names
}
