package attach

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/terminal"
)

// How long messages stay.
const (
	noticeTime = 3 * time.Second // one line: read at a glance
	hintTime   = 5 * time.Second // on joining: there is more to take in
)

// overlay is Berth's own text over the picture.
type overlay struct {
	lines  []string
	sticky bool     // stays until the next key
	labels []*label // lines laid out for the width labelled
	cols   int
}

// layout gives the overlay's rows for a window, at most as many as fit.
func (o *overlay) layout(cols, rows int) []*label {
	if o.cols != cols || o.labels == nil {
		o.labels, o.cols = nil, cols
		for _, line := range o.lines {
			for line = " " + line; line != ""; {
				row := line
				if line = ""; o.sticky { // otherwise the end of a prompt would be missing above the line that answers it
					row, line = breakLine(row, cols)
				}
				o.labels = append(o.labels, newLabel(row, cols))
			}
		}
	}
	if len(o.labels) > rows {
		return o.labels[:rows]
	}
	return o.labels
}

// breakLine cuts off what fits into a row. The rest is indented.
func breakLine(line string, cols int) (row, rest string) {
	const indent = "   "
	used := 0
	for at := 0; at < len(line); {
		cluster, _, width := terminal.NextCluster(line[at:])
		if used += width; used > cols && at > len(indent) {
			return line[:at], indent + line[at:]
		}
		at += len(cluster)
	}
	return line, ""
}

// cover lays the overlay over the rows, at the bottom; a message goes to the top when the cursor is at the
// bottom, where people look.
func (o *overlay) cover(view []rowView, cols int, cur *terminal.Cursor) {
	labels := o.layout(cols, len(view))
	first := len(view) - len(labels)
	if !o.sticky && cur.Visible && cur.Row >= first && first >= len(labels) {
		first = 0
	}
	for i, l := range labels {
		view[first+i] = rowView{over: l}
	}
	if cur.Row >= first && cur.Row < first+len(labels) {
		cur.Visible = false
	}
}

func helpLines(prefix, session string, mayWrite, asked, dashboard bool) []string {
	lines := []string{
		"berth · " + session + " · keys after " + prefix,
		"d  detach",
		"w  take over typing (and the size)",
		"r  let others type",
		"l  who is here",
		"i  state and prompt",
		"s  status line on and off",
		"[  history: search and copy",
		"?  this help",
		"the same key again  sends it to the program",
	}
	if !mayWrite {
		lines[2], lines[3] = "   (view only: your key may not type)", ""
		if asked {
			lines[2] = "   (view only, as asked by --read-only)"
		}
		lines = append(lines[:3], lines[4:]...)
	}
	if dashboard {
		lines = slices.Insert(lines, 2, "b  dashboard")
	}
	return append(lines, "any key closes this")
}

func whoLines(people []Person, self string, now time.Time) []string {
	var lines []string
	for _, p := range people {
		var b strings.Builder
		b.WriteString(p.Name)
		if p.Client == self {
			b.WriteString(" (you)")
		}
		if p.Writer {
			b.WriteString(" · writing")
		}
		if p.Source != "" {
			b.WriteString(" · from " + p.Source)
		}
		if p.Cols > 0 {
			fmt.Fprintf(&b, " · %dx%d", p.Cols, p.Rows)
		}
		if !p.Since.IsZero() {
			b.WriteString(" · for " + short(now.Sub(p.Since)))
		}
		lines = append(lines, b.String())
	}
	if len(lines) == 0 {
		lines = []string{"no client is attached"}
	}
	return append(lines, "any key closes this")
}

func stateLines(name, host string, st Status, now time.Time) []string {
	head := name + " · " + st.State
	if st.Detail != "" {
		head += " · " + st.Detail
	}
	if !st.Since.IsZero() {
		head += " · for " + short(now.Sub(st.Since))
	}
	lines := []string{head, fmt.Sprintf("%dx%d · up %s · %s", st.Cols, st.Rows, short(st.Uptime), writes(st))}
	if st.Title != "" {
		lines = append(lines, st.Title)
	}
	lines = append(lines, st.Prompt...)
	if st.Respond != "" {
		lines = append(lines, "ssh "+host+" "+st.Respond)
	}
	return append(lines, "any key closes this")
}

func writes(st Status) string {
	if st.Writer.Client == "" {
		return "no client has control"
	}
	return st.Writer.Name + " writes"
}

// short is a duration in its largest unit.
func short(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
