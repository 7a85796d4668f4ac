package opencode

import (
	"strings"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/drawn"
	"berth/agent/pattern"
	"berth/terminal"
)

// Screen reads the screen. opencode draws either its composer or a dialog at the bottom: rows with a
// bar at their left. Under the composer are an edge and the footer; under the composer of the first
// screen, a tip too.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	last := v.LastRow()
	if last >= 0 && v.Cols > besideSidebar && sidebarEnd.MatchString(v.Lines[last].Text) {
		v = drawn.Left(v, v.Cols-sidebarColumns)
		last = v.LastRow()
	}
	if last < 0 {
		return r
	}
	if rows, top := block(v, last); len(rows) > 0 {
		r.Dialog = dialog(v, rows, top)
		return r
	}
	edge := last
	for edge > 0 && !edgeRow.MatchString(v.Lines[edge].Text) {
		edge--
	}
	rows, top := block(v, edge-1)
	if len(rows) == 0 {
		return r
	}
	r.Composer, r.Clear = composer(belowMenu(rows), v.Rows), true // a dialog takes its place
	r.Footer = v.Text(edge+1, last)
	if first, _, _ := strings.Cut(r.Footer, "\n"); strings.HasPrefix(first, "■") || strings.HasPrefix(first, "⬝") {
		r.Busy = first
	}
	r.Queued, r.Failed = queued(v, top-1), failed(v, top-1)
	return r
}

// sidebarColumns is the width of the sidebar at the right of a screen with more than besideSidebar columns.
const (
	sidebarColumns = 42
	besideSidebar  = 120
)

// sidebarEnd matches the last row of a screen with the sidebar, which has the program's name there.
var sidebarEnd = pattern.New(`  • OpenCode \S+$`)

var (
	edgeRow = pattern.New(`^ *╹▀{8,}$`)
	barRow  = pattern.New(`^( *)┃(  .*|)$`)
	menuEnd = pattern.New(` ┃$`)
)

// block returns the rows with a bar that end at the row, without the bar, and the first one's number.
func block(v *agent.View, last int) (rows []agent.Row, top int) {
	indent := ""
	for top = last; top >= 0; top-- {
		row := v.Lines[top]
		m := barRow.FindStringSubmatch(row.Text)
		if m == nil || len(rows) > 0 && m[1] != indent {
			break
		}
		indent = m[1]
		rows = append([]agent.Row{row.From(len(indent) + len("┃"))}, rows...)
	}
	return rows, top + 1
}

// belowMenu leaves out the rows of a menu over the composer, which have a bar at their right too.
func belowMenu(rows []agent.Row) []agent.Row {
	for i := len(rows) - 2; i >= 0; i-- {
		if menuEnd.MatchString(rows[i].Text) {
			return rows[i+1:]
		}
	}
	return rows
}

// placeholder starts the text of an empty composer, which opencode draws itself.
const placeholder = "Ask anything… "

// shellMode is under the composer of a shell command.
const shellMode = "Shell"

// composer reads the rows of the composer: a blank one, the text, a blank one, and the row that names
// the agent and its model. The text takes at most a third of the screen, or six rows.
func composer(rows []agent.Row, height int) *agent.Composer {
	c := &agent.Composer{Mode: agent.ModeMessage, Focused: true}
	end := len(rows) - 1
	if strings.TrimSpace(rows[end].Text) == shellMode {
		c.Mode = agent.ModeShell
	}
	if end > 0 && drawn.Blank(rows[end-1].Text) {
		end--
	}
	lines := unindented(rows[min(1, end):end])
	c.Above = !drawn.Blank(rows[0].Text) || len(lines) >= max(height/3, 6)
	hint := len(lines) > 0 && strings.HasPrefix(lines[0], placeholder) && muted(rows[1], rows[len(rows)-1])
	if hint { // it may be wrapped
		lines = []string{strings.Join(lines, "\n")}
	}
	compose.Draft(c, lines, true, hint)
	return c
}

// muted reports whether the row has the color of the dot between the agent and its model.
func muted(row, names agent.Row) bool {
	dot := strings.Index(names.Text, "·")
	color, ok := row.OneColor(0)
	return ok && dot >= 0 && color == names.ColorAt(dot)
}

// queued are the messages that opencode keeps while it works, the first row of each.
func queued(v *agent.View, from int) (list []string) {
	for from = v.LastUpTo(from); from >= 0; {
		rows, top := block(v, from)
		if len(rows) < 3 || strings.TrimSpace(rows[len(rows)-2].Text) != "QUEUED" {
			break
		}
		list = append([]string{strings.TrimSpace(rows[1].Text)}, list...)
		from = v.LastUpTo(top - 1)
	}
	return list
}

// errorColor is how opencode's own theme draws the bar of an error.
var errorColor = uint32(terminal.RGB(224, 108, 117))

// failed is the error at the end of the conversation: a block with a red bar, and below it only the line
// that names the agent and its model. The plugin reports it too.
func failed(v *agent.View, from int) *agent.Failure {
	from = v.LastUpTo(from)
	if from >= 0 && strings.HasPrefix(strings.TrimSpace(v.Lines[from].Text), "▣") {
		from = v.LastUpTo(from - 1)
	}
	if from < 0 {
		return nil
	}
	rows, top := block(v, from)
	if len(rows) < 3 || v.Lines[top].ColorAt(strings.Index(v.Lines[top].Text, "┃")) != errorColor {
		return nil
	}
	return (&errorReport{Message: drawn.Flat(strings.ReplaceAll(v.Words(top, from), "┃", " "))}).failure()
}
