package detect

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// size is that of the screen which the dialog was drawn for.
func size(d *agent.Dialog) [2]int { return [2]int{d.Cols, d.Height} }

// resized says that the dialog is the prompt's, drawn anew for a screen of another
// size: that it asks about the same rows, none of which may go on in the next one, and says
// the same about them. Where all of it has no room, what there is of it.
func (r *request) resized(d *agent.Dialog) bool {
	now, was, p := sections(d), r.Sections, r.Prompt
	is := func(field *string, shown string) bool {
		return field == nil && shown == "" || field != nil && *field == shown
	}
	headless := d.Title == ""
	if r.Key == "" || d.Key != "" || len(was) != len(now) || d.Type != p.Type || !is(p.Subtype, d.Subtype) ||
		!headless && (!is(p.Title, d.Title) || !is(p.Tool, d.Tool) || !is(p.Agent, d.Agent)) { // which may have no room
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

// drawn keeps how the dialog is drawn that the prompt is seen in. What has no room now was
// seen before.
func (r *request) drawn(d *agent.Dialog) {
	r.Key, r.Size, r.Explained = dialogKey(d), size(d), explained(d, r.Explained)
	if len(r.Sections) == 0 || !d.Cut && (d.Title != "" || d.Type != agent.PromptPermission) {
		r.Sections, r.Broken = sections(d), broken(d)
	}
}

// prose says that what the dialog asks is words for a person: at the end of a full row a
// blank and a line break say the same.
func prose(d *agent.Dialog) bool { return d.Type == agent.PromptForm || d.Subtype != "" }

// beside is how many columns are free beside a dialog's text at the most, with the frames
// and signs around it, in all agents.
const beside = 12

// broken says that a row of the dialog may go on in the next one: that one's first word has
// no room in it for certain.
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

// alike says that two texts differ by where they are broken into rows alone: at the end
// of a row of either there may be a blank in the other, or none.
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

// ungapped takes the blanks before a text off; gap says what they are: a row's end,
// blanks, or with 0 nothing.
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

// sections are what the dialog says without what depends on the screen's size: what it asks
// about, in its rows, and what is said about that.
func sections(d *agent.Dialog) []string {
	switch {
	case len(d.Sections) > 0:
		return d.Sections
	case len(d.Rows) > 0:
		return []string{rowsOf(d)}
	}
	return []string{d.Body}
}

// explained is what explains the fields of a form. What is wrong with a field's value, or
// what can be chosen for it, is drawn in place of that: before tells it then.
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

// explains says that the form's fields are explained as the prompt's were.
func (r *request) explains(d *agent.Dialog) bool {
	return slices.Equal(explained(d, r.Explained), r.Explained)
}
