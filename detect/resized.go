package detect

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// size is the size of the screen that the dialog was drawn for.
func size(d *agent.Dialog) [2]int { return [2]int{d.Cols, d.Height} }

// resized reports whether the dialog is the prompt's, redrawn for a screen of another size. It must
// show the same rows and the same text about them, and no row may continue in the next one. A cut
// dialog must show a part of them.
func (r *request) resized(d *agent.Dialog) bool {
	now, was, p := sections(d), r.Sections, r.Prompt
	is := func(field *string, shown string) bool {
		return field == nil && shown == "" || field != nil && *field == shown
	}
	headless := d.Title == ""
	if r.Key == "" || d.Key != "" || len(was) != len(now) || d.Type != p.Type || !is(p.Subtype, d.Subtype) ||
		!headless && (!is(p.Title, d.Title) || !is(p.Tool, d.Tool) || !is(p.Agent, d.Agent)) { // without room the title, tool and subagent are not drawn
		return false
	}
	if d.Cut && strings.Contains(dense(was[0]), dense(now[0])) {
		return true
	}
	for i := 1; i < len(now); i++ {
		if !alike(now[i], was[i]) && !(headless && now[i] == "") {
			return false
		}
	}
	if prose(d) {
		return alike(now[0], was[0])
	}
	return now[0] == was[0] && !r.Broken && !broken(d)
}

// drawn stores how the prompt's dialog is drawn now. It keeps the parts that were visible before
// and have no room now.
func (r *request) drawn(d *agent.Dialog) {
	r.Key, r.Size, r.Explained = dialogKey(d), size(d), explained(d, r.Explained)
	if len(r.Sections) == 0 || !d.Cut && (d.Title != "" || d.Type != agent.PromptPermission) {
		r.Sections, r.Broken = sections(d), broken(d)
	}
}

// alike reports whether the next dialog may look the same as this one. Where dialogs leave out a part of a call, such
// as the folder of a command, that holds for each permission that no other source has reported.
func (f *Fold) alike(d *agent.Dialog, r *request) bool {
	_, leaves := f.driver.(agent.UndrawnInputReader)
	return d.Alike || leaves && r.seenOnly() && d.Type == agent.PromptPermission && d.Subtype == ""
}

// prose reports whether the dialog's subject is words for a person. In prose a blank and a line
// break at the end of a full row mean the same.
func prose(d *agent.Dialog) bool { return d.Type == agent.PromptForm || d.Subtype != "" }

// beside is the largest number of columns beside a dialog's text that an agent uses for frames
// and marks.
const beside = 12

// broken reports whether a row of the dialog may continue in the next one: the next row's first
// word may have had no room at its end.
func broken(d *agent.Dialog) bool {
	rows := strings.Split(sections(d)[0], "\n")
	for i, row := range rows[:len(rows)-1] {
		word, _, _ := strings.Cut(strings.TrimLeft(rows[i+1], " "), " ")
		if row != "" && word != "" && terminal.StringWidth(row)+1+terminal.StringWidth(word) > d.Cols-beside {
			return true
		}
	}
	return false
}

// dense is a text without blanks.
func dense(s string) string { return strings.Join(strings.Fields(s), "") }

// alike reports whether two texts differ only in where they are wrapped: at the end of a row of
// one, the other may have a blank or nothing.
func alike(a, b string) bool {
	for {
		restA, gapA := ungapped(a)
		restB, gapB := ungapped(b)
		if gapA != gapB && gapA != '\n' && gapB != '\n' {
			return false
		}
		if restA == "" || restB == "" {
			return restA == restB
		}
		if restA[0] != restB[0] {
			return false
		}
		a, b = restA[1:], restB[1:]
	}
}

// ungapped removes the blanks before a text. gap says what they were: a line break, blanks, or 0
// for none.
func ungapped(s string) (rest string, gap byte) {
	rest = strings.TrimLeft(s, " \t\n\u00a0")
	switch {
	case strings.Contains(s[:len(s)-len(rest)], "\n"):
		gap = '\n'
	case len(rest) < len(s):
		gap = ' '
	}
	return rest, gap
}

// sections are the parts of the dialog that don't depend on the screen's size: the rows of its
// subject, and the text about the subject.
func sections(d *agent.Dialog) []string {
	switch {
	case len(d.Sections) > 0:
		return d.Sections
	case len(d.Rows) > 0:
		return []string{rowsOf(d)}
	}
	return []string{d.Body}
}

// explained returns the descriptions of a form's fields. An error or a list of choices is drawn in
// a description's place; before then supplies the description.
func explained(d *agent.Dialog, before []string) []string {
	all := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		switch {
		case !f.Wrong && f.List == nil:
			all[i] = dense(f.Explained)
		case i < len(before):
			all[i] = before[i]
		}
	}
	return all
}

// explains reports whether the form's fields have the same descriptions as the prompt's.
func (r *request) explains(d *agent.Dialog) bool {
	return slices.Equal(explained(d, r.Explained), r.Explained)
}
