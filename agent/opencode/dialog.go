package opencode

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// The heads of dialogs, and the foot of a question.
const (
	askPermission = "△ Permission required"
	askAlways     = "△ Always allow"
	titleAlways   = "Always allow"
	footQuestion  = "dismiss"
	reviewHead    = "Review"
	optionOwn     = "Type your own answer"
	tabConfirm    = "Confirm"
)

// tools are the permissions whose dialogs were measured, by how their titles start.
var tools = []struct{ title, tool string }{
	{"# Shell command", toolShell},
	{"→ Edit ", toolEdit},
	{"← Access external directory ", toolFolder},
	{"% WebFetch ", toolFetch},
}

// dialog reads the rows of a block at the bottom of the screen as a dialog.
func dialog(v *agent.View, rows []agent.Row, top int) *agent.Dialog {
	height := len(rows)
	rows = trimmed(rows)
	d := &agent.Dialog{Cols: v.Cols, Height: v.Rows}
	broken := false // the terminal broke a row, so the rows below may draw something else than opencode meant
	for _, row := range rows {
		d.Lines = append(d.Lines, strings.TrimPrefix(row.Text, "  "))
		broken = broken || row.Wrapped
	}
	if len(rows) == 0 {
		return nil
	}
	read := question
	switch strings.TrimSpace(rows[0].Text) {
	case askPermission:
		read = permission
	case askAlways:
		read = always
	}
	// A text that has no room is cut off without a mark: at 40x20 in a dialog of 15 rows.
	const mostRows = 13
	d.Cut = top == 0 || height >= mostRows
	if !read(d, rows, top) {
		return nil
	}
	d.Cut = d.Cut || broken
	return d
}

// trimmed removes blank rows at both ends.
func trimmed(rows []agent.Row) []agent.Row {
	for len(rows) > 0 && blank(rows[0]) {
		rows = rows[1:]
	}
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// buttons reads the row of buttons of a permission: their labels are separated by three blanks. The
// chosen one has another color than the names of the keys beside them, or below them on a narrow
// screen.
func buttons(d *agent.Dialog, rows []agent.Row, labels ...string) (at int, ok bool) {
	for at = len(rows) - 1; at > 0; at-- {
		row := rows[at]
		if !strings.HasPrefix(strings.TrimSpace(row.Text), labels[0]+" ") {
			continue
		}
		from := 0
		for _, label := range labels {
			i := strings.Index(row.Text[from:], label)
			if i < 0 {
				return 0, false
			}
			d.Options = append(d.Options, agent.Option{Label: label})
			from += i + len(label)
		}
		focus(d, rows[at:])
		return at, true
	}
	return 0, false
}

// keyName is the name of a key's effect beside the buttons.
const keyName = "select"

// focus finds the chosen button by its color. Without it the dialog is not drawn yet.
func focus(d *agent.Dialog, rows []agent.Row) {
	d.Partial = true
	for _, row := range rows {
		i := strings.LastIndex(row.Text, keyName)
		if i < 0 {
			continue
		}
		muted, found, from := row.ColorAt(i), 0, 0
		for k := range d.Options {
			o := &d.Options[k]
			at := strings.Index(rows[0].Text[from:], o.Label) + from
			if from = at + len(o.Label); rows[0].ColorAt(at) != muted {
				o.Focused, found = true, found+1
			}
		}
		d.Partial = found != 1
		return
	}
}

// scrollbar matches the end of a row with a scrollbar beside it.
var scrollbar = pattern.New(` +[▀▄█]$`)

// permission reads the dialog of a permission: the title, a blank row, what the tool would do, and the
// buttons.
func permission(d *agent.Dialog, rows []agent.Row, _ int) bool {
	end, ok := buttons(d, rows, "Allow once", "Allow always", "Reject")
	if !ok {
		return false
	}
	d.Type = agent.PromptPermission
	i := 1
	var title []string
	for ; i < end && !blank(rows[i]); i++ {
		title = append(title, strings.TrimSpace(rows[i].Text))
	}
	d.Title = strings.Join(title, " ")
	for _, t := range tools {
		if strings.HasPrefix(d.Title+" ", t.title) {
			d.Tool = t.tool
		}
	}
	d.Alike = d.Tool != toolShell
	body(d, rows[min(i, end):end])
	return true
}

// body reads the rows between the title and the buttons. A long change of a file has a scrollbar.
func body(d *agent.Dialog, rows []agent.Row) {
	scrolls := false
	for _, row := range rows {
		bare := scrollbar.ReplaceAllString(row.Text, "")
		scrolls = scrolls || bare != row.Text
		row.Text = strings.TrimRight(bare, " ")
		d.Rows = append(d.Rows, agent.Drawn(cut(row, min(len("  "), len(row.Text)))))
	}
	for len(d.Rows) > 0 && d.Rows[0].Text == "" {
		d.Rows = d.Rows[1:]
	}
	margin := 0
	for len(d.Rows) > 0 && d.Rows[len(d.Rows)-1].Text == "" {
		d.Rows, margin = d.Rows[:len(d.Rows)-1], margin+1
	}
	// The dialog of a change always takes all rows. A file's blank lines have numbers there, so more
	// blank rows than usual show that there was room. A command's blank lines are blank rows.
	const usual = 2
	room := d.Tool == toolEdit && margin > usual
	d.Cut = scrolls || d.Cut && !room
	var lines []string
	for _, row := range d.Rows {
		lines = append(lines, row.Text)
	}
	d.Body = strings.Join(lines, "\n")
}

// always reads the second page of "Allow always", with the patterns that it covers.
func always(d *agent.Dialog, rows []agent.Row, _ int) bool {
	end, ok := buttons(d, rows, "Confirm", "Cancel")
	if !ok {
		return false
	}
	d.Type, d.Title, d.Alike = agent.PromptPermission, titleAlways, true
	body(d, rows[1:end])
	return true
}

var optionRow = pattern.New(`^  (\d{1,2})\. (?:\[(.)\] )?(\S.*)$`)

// question reads the dialog of a question: tabs if there are several, the text, the options with
// their descriptions, and the foot.
func question(d *agent.Dialog, rows []agent.Row, top int) bool {
	foot := len(rows) - 1
	for foot > 0 && !blank(rows[foot-1]) {
		foot--
	}
	shown := ""
	for _, row := range rows[foot:] {
		shown += " " + row.Text
	}
	own := len(rows) > 1 && foot > 0 && strings.Contains(shown, optionOwn) // without room for the foot
	if !strings.Contains(shown, "esc") && !own {
		return false
	}
	if own {
		foot, d.Cut = len(rows), true
	}
	d.Type, d.Tool = agent.PromptQuestion, toolQuestion
	if !own {
		d.Cut = top == 0 // it takes as many rows as it needs
	}
	if tabs := strings.Split(strings.TrimSpace(rows[0].Text), "   "); len(tabs) > 2 && tabs[len(tabs)-1] == tabConfirm {
		d.Tabs = tabs[:len(tabs)-1]
		rows, foot = rows[1:], foot-1
	}
	var text []string
	for _, row := range rows[:foot] {
		m := optionRow.FindStringSubmatch(row.Text)
		n := len(d.Options)
		d.Cut = d.Cut || m != nil && n > 0 && pattern.Number(m[1]) <= n // the question's text has drawn an option
		switch {
		case m != nil && pattern.Number(m[1]) == n+1:
			label, chosen := strings.CutSuffix(m[3], " ✓") // chosen before
			d.Options = append(d.Options, agent.Option{Number: n + 1, Label: label, Multiple: m[2] != "", Ticked: chosen || m[2] == "✓"})
		case n > 0:
			if more := strings.TrimSpace(row.Text); more != "" {
				d.Options[n-1].More = strings.TrimPrefix(d.Options[n-1].More+"\n"+more, "\n")
			}
		default:
			text = append(text, strings.TrimPrefix(row.Text, "  "))
		}
	}
	d.Body = strings.Trim(strings.Join(text, "\n"), "\n")
	if n := len(d.Options); n > 0 && d.Options[n-1].Label == optionOwn {
		d.Input, d.Options[n-1].More = d.Options[n-1].More, ""
	}
	d.Confirm = len(d.Tabs) > 0 && len(d.Options) == 0 && strings.HasPrefix(d.Body, reviewHead)
	if d.Confirm {
		d.Current = len(d.Tabs)
	}
	if len(d.Options) == 0 && !d.Confirm {
		return false
	}
	if len(d.Tabs) == 0 {
		d.Key = string(agent.PromptQuestion) + " " + drawn.Squeeze(d.Body)
	}
	return true
}
