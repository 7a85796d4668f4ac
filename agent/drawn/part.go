package drawn

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// WithoutScrollbar is the screen without the scrollbar in its last column, which has a color of its own.
func WithoutScrollbar(v *agent.View) *agent.View {
	out := *v
	out.Lines = slices.Clone(v.Lines)
	for i, row := range v.Lines {
		if end := strings.TrimSuffix(strings.TrimSuffix(row.Text, "│"), "█"); end != row.Text && terminal.StringWidth(row.Text) == v.Cols {
			out.Lines[i].Text = strings.TrimRight(end, " ")
		}
	}
	return &out
}

// Lacks reports whether the rows are the text without some columns at the ends of rows.
func Lacks(rows []string, text string) bool {
	const most = 8 // characters
	at := -1
	left := strings.TrimSpace(Squeeze(text))
	for _, row := range rows {
		row = Squeeze(row)
		i := strings.Index(left, row)
		if i < 0 || at >= 0 && len([]rune(left[:i])) > most {
			return false
		}
		at, left = i, left[i+len(row):]
	}
	return at >= 0
}
