package opencode

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
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
var tools = forks.Titles{
	{"# Shell command", toolShell},
	{"→ Edit ", toolEdit},
	{"← Access external directory ", toolFolder},
	{"% WebFetch ", toolFetch},
}

// pages are the dialogs of a permission, by their heads: the page that asks, and the second one of "Allow always" with the
// patterns that it covers. A page without a title has it in its rows.
var pages = map[string]struct {
	title   string
	buttons []string
}{
	askPermission: {"", []string{"Allow once", "Allow always", "Reject"}},
	askAlways:     {titleAlways, []string{"Confirm", "Cancel"}},
}

// mostRows: a text that has no room is cut off without a mark, at 40x20 in a dialog of 15 rows.
const mostRows = 13

// textOf is a row's text.
func textOf(row agent.Row) string { return row.Text }

// dialog reads the rows of a block at the bottom of the screen as a dialog.
func dialog(v *agent.View, rows []agent.Row, top int) *agent.Dialog {
	d := &agent.Dialog{Cols: v.Cols, Height: v.Rows, Cut: top == 0 || len(rows) >= mostRows}
	if rows = drawn.Inside(rows, textOf); len(rows) == 0 {
		return nil
	}
	d.Lines = unindented(rows)
	page, asks := pages[strings.TrimSpace(rows[0].Text)]
	if asks && !permission(d, rows, page.title, page.buttons) || !asks && !question(d, top) {
		return nil
	}
	// The terminal broke a row, so the rows below may draw something else than opencode meant.
	d.Cut = d.Cut || slices.ContainsFunc(rows, func(row agent.Row) bool { return row.Wrapped })
	return d
}

// unindented are the texts of rows without their indent.
func unindented(rows []agent.Row) (lines []string) {
	for _, row := range rows {
		lines = append(lines, strings.TrimPrefix(row.Text, "  "))
	}
	return lines
}

// keyName is the name of a key's effect beside the buttons, or below them on a narrow screen.
const keyName = "select"

// buttons reads the row of buttons of a permission. The chosen one has another color than the names of keys. Without a
// single chosen one the dialog is not drawn yet.
func buttons(d *agent.Dialog, rows []agent.Row, labels []string) (at int, ok bool) {
	for at = len(rows) - 1; at > 0 && !strings.HasPrefix(strings.TrimSpace(rows[at].Text), labels[0]+" "); at-- {
	}
	if at <= 0 {
		return 0, false
	}
	keys := slices.IndexFunc(rows[at:], func(row agent.Row) bool { return strings.Contains(row.Text, keyName) })
	from, focused := 0, 0
	for _, label := range labels {
		i := strings.Index(rows[at].Text[from:], label)
		if i < 0 {
			return 0, false
		}
		o := agent.Option{Label: label}
		if from += i; keys >= 0 {
			names := rows[at+keys]
			o.Focused = rows[at].ColorAt(from) != names.ColorAt(strings.LastIndex(names.Text, keyName))
		}
		if from += len(label); o.Focused {
			focused++
		}
		d.Options = append(d.Options, o)
	}
	d.Partial = focused != 1
	return at, true
}

// scrollbar matches the end of a row with a scrollbar beside it.
var scrollbar = pattern.New(` +[▀▄█]$`)

// permission reads the dialog of a permission: the title, a blank row, what the tool would do, and the
// buttons.
func permission(d *agent.Dialog, rows []agent.Row, title string, labels []string) bool {
	end, ok := buttons(d, rows, labels)
	if !ok {
		return false
	}
	d.Type, d.Title = agent.PromptPermission, title
	below := 1
	for ; title == "" && below < end && !drawn.Blank(rows[below].Text); below++ {
		d.Title = strings.TrimSpace(d.Title + "\n" + strings.TrimSpace(rows[below].Text)) // a blank would name another file
	}
	d.Tool = tools.Tool(drawn.Flat(d.Title))
	d.Alike = d.Tool != toolShell
	body(d, rows[min(below, end):end])
	return true
}

// body reads the rows between the title and the buttons. A long change of a file has a scrollbar.
func body(d *agent.Dialog, rows []agent.Row) {
	scrolls := false
	for _, row := range rows {
		bare := scrollbar.ReplaceAllString(row.Text, "")
		scrolls = scrolls || bare != row.Text
		row.Text = strings.TrimRight(bare, " ")
		d.Rows = append(d.Rows, agent.Drawn(row.From(min(len("  "), len(row.Text)))))
	}
	text := func(row agent.DrawnRow) string { return row.Text }
	// The dialog of a change always takes all rows. A file's blank lines have numbers there, so more
	// blank rows than usual show that there was room. A command's blank lines are blank rows.
	const usual = 2
	room := d.Tool == toolEdit && len(d.Rows) > usual && len(drawn.Inside(d.Rows[len(d.Rows)-usual-1:], text)) == 0
	d.Rows = drawn.Inside(d.Rows, text)
	d.Cut = scrolls || d.Cut && !(room && len(d.Rows) > 0)
	d.Body = strings.Join(drawn.Lines(d.Rows), "\n")
}

var optionRow = pattern.New(`^(\d{1,2})\. (?:\[(.)\] )?(\S.*)$`)

// question reads the dialog of a question: tabs if there are several, the text, the options with
// their descriptions, and the foot.
func question(d *agent.Dialog, top int) bool {
	foot := drawn.Paragraph(d.Lines, len(d.Lines)-1)
	shown := strings.Join(d.Lines[foot:], " ")
	own := len(d.Lines) > 1 && foot > 0 && strings.Contains(shown, optionOwn) // without room for the foot
	if !strings.Contains(shown, "esc") && !own {
		return false
	}
	d.Type, d.Tool, d.Cut = agent.PromptQuestion, toolQuestion, own || top == 0 // it takes as many rows as it needs
	if own {
		foot = len(d.Lines)
	}
	lines := d.Lines[:foot]
	if tabs := strings.Split(strings.TrimSpace(d.Lines[0]), "   "); foot > 0 && len(tabs) > 2 && tabs[len(tabs)-1] == tabConfirm {
		d.Tabs, lines = tabs[:len(tabs)-1], lines[1:]
	}
	var text []string
	for _, line := range lines {
		m, n := optionRow.FindStringSubmatch(line), len(d.Options)
		switch {
		case m != nil && pattern.Number(m[1]) == n+1:
			label, chosen := strings.CutSuffix(m[3], " ✓") // chosen before
			d.Options = append(d.Options, agent.Option{Number: n + 1, Label: label, Multiple: m[2] != "", Ticked: chosen || m[2] == "✓"})
		case n == 0:
			text = append(text, line)
		default:
			d.Cut = d.Cut || m != nil && pattern.Number(m[1]) <= n // the question's text has drawn an option
			o := &d.Options[n-1]
			o.More = strings.Trim(o.More+"\n"+strings.TrimSpace(line), "\n")
		}
	}
	d.Body = strings.Trim(strings.Join(text, "\n"), "\n")
	n := len(d.Options)
	if n > 0 && isOwn(d.Options[n-1]) {
		d.Input, d.Options[n-1].More = d.Options[n-1].More, ""
	}
	if d.Confirm = len(d.Tabs) > 0 && n == 0 && strings.HasPrefix(d.Body, reviewHead); d.Confirm {
		d.Current = len(d.Tabs)
	}
	if len(d.Tabs) == 0 {
		d.Key = string(agent.PromptQuestion) + " " + drawn.Squeeze(d.Body)
	}
	return n > 0 || d.Confirm
}
