package compose

import (
	"strings"

	"berth/agent"
)

// Draft completes a composer by its rows, which have no blanks at their ends. atStart: the caret is at the first
// character, or not there. hint: the only row is a placeholder.
func Draft(c *agent.Composer, rows []string, atStart, hint bool) {
	whole := strings.Join(rows, "\n")
	c.Text = strings.TrimRight(whole, "\n")
	switch {
	case strings.TrimSpace(c.Text) == "":
		c.Text, c.Empty = "", atStart && len(rows) <= 1
	case len(rows) == 1 && hint:
		c.Hint, c.Text, c.Empty = strings.TrimSpace(c.Text), "", true
	default:
		c.Blank = len(whole) - len(c.Text)
	}
}
