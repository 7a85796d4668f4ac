package rules

import (
	"slices"
	"strings"
)

// shown returns the rows of the sheet, because any of them may belong to the question: a command above
// it, the rest of a row that a pattern matched, or a second question below. It leaves out a row whose
// text is all in the prompt's other fields, what was typed, and what the rule says isn't part of the
// prompt.
func (s *sheet) shown(h hit) []string {
	_, typed, _, types := s.group(h, GroupTyped)
	var rows []string
	entered := false // the row continues what was typed
	for i := range s.rows {
		if entered = types && i > typed && s.view.Lines[s.from+i].Wrapped && (entered || i == typed+1); entered {
			continue
		}
		if words, needed := s.words(h, i); needed {
			rows = append(rows, words)
		}
	}
	return rows
}

// above returns the rows above the sheet of the paragraph that the first match is in: the question may begin
// there. ok is false if the patterns would not see all of one of them, or if the terminal broke the highest one.
func (s *sheet) above(h hit) (rows []string, ok bool) {
	blank := func(row string) bool { return strings.TrimSpace(row) == "" }
	if slices.ContainsFunc(s.rows[:min(h.first+1, len(s.rows))], blank) {
		return nil, true
	}
	top := s.from
	for top > 0 && !blank(s.view.Lines[top-1].Text) {
		top--
	}
	ok = true
	for _, row := range s.view.Lines[top:s.from] {
		ok = ok && len(row.Text) <= longest
		if words := strings.Trim(row.Text, frame); words != "" {
			rows = append(rows, words)
		}
	}
	return rows, ok
}

// begun reports whether the line that the first match is in starts above the sheet: the terminal wrapped
// it.
func (s *sheet) begun(h hit) bool {
	row := min(h.first, len(s.rows)-1)
	for ; row > 0 && s.view.Lines[s.from+row].Wrapped; row-- {
	}
	return row >= 0 && s.view.Lines[s.from+row].Wrapped
}

// What a byte of a row is.
const (
	plain   = iota
	inField // shown by a field of the prompt
	inText  // the prompt's text
	without // typed, or not part of the prompt
)

// words returns the row's text. needed is false if fields of the prompt show all of it.
func (s *sheet) words(h hit, i int) (words string, needed bool) {
	row := s.rows[i]
	is := make([]byte, len(row))
	for _, name := range []string{GroupTitle, GroupTool, GroupInput, GroupText} {
		what := byte(inField)
		if name == GroupText {
			what = inText
		}
		if text, at, from, ok := s.group(h, name); ok && at == i {
			fill(is[from:from+len(text)], what)
		}
	}
	if text, at, from, ok := s.group(h, GroupTyped); ok && at == i {
		fill(is[from:from+len(text)], without)
	}
	for k, re := range h.rule.lines {
		if n := re.SubexpIndex(GroupOther); n >= 0 && h.rows[k] == i && h.at[k][2*n] >= 0 {
			fill(is[h.at[k][2*n]:h.at[k][2*n+1]], without)
		}
	}
	if h.rule.option != nil && i >= h.first {
		s.inOptions(h.rule, row, is)
	}
	var rest, whole strings.Builder
	for at, r := range row {
		if is[at] == plain {
			rest.WriteRune(r)
		}
		if is[at] != without {
			whole.WriteRune(r)
		}
	}
	needed = strings.Trim(rest.String(), frame) != "" || slices.Contains(is, inText)
	return strings.Trim(whole.String(), frame), needed
}

// brackets may be around an option's label and key.
const brackets = "()[]<>."

// inOptions marks what the options show of the row.
func (s *sheet) inOptions(r *rule, row string, is []byte) {
	for _, m := range r.option.FindAllStringSubmatchIndex(row, drawnMost+1) {
		for _, name := range []string{GroupLabel, GroupKey, GroupFocus} {
			if n := r.option.SubexpIndex(name); n >= 0 && m[2*n] >= 0 {
				fill(is[m[2*n]:m[2*n+1]], inField)
			}
		}
		for at := m[0]; at < m[1]; at++ {
			if strings.IndexByte(brackets, row[at]) >= 0 {
				is[at] = inField
			}
		}
	}
}

func fill(is []byte, what byte) {
	for i := range is {
		is[i] = what
	}
}
