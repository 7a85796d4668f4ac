package forks

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// mark matches the start of a composer's first row, without its indent: for a message, a message while every tool is
// allowed, a shell command, a search.
var mark = pattern.New(`^(>|\*|!|\(r:\))(?: |$)`)

var modes = map[string]agent.ComposerMode{
	">": agent.ModeMessage, "*": agent.ModeMessage, "!": agent.ModeShell, "(r:)": agent.ModeSearch,
}

// Marked reports whether the row is a composer's first one, with that indent.
func Marked(row, indent string) bool {
	text, ok := strings.CutPrefix(row, indent)
	return ok && mark.MatchString(text)
}

// ReadMark reads the mark in the composer's first row. The text starts in the column at. The next rows are indented like a
// message.
func ReadMark(rows []string, indent string) (c *agent.Composer, lines []string, at int) {
	sign := mark.Group(strings.TrimPrefix(rows[0], indent))
	c, at = &agent.Composer{Mode: modes[sign]}, len(indent)+len(sign)+1
	for i, row := range rows {
		text := strings.TrimPrefix(row, indent+"  ")
		if i == 0 {
			text = row[min(at, len(row)):]
		}
		lines = append(lines, strings.TrimRight(text, " \u200b"))
	}
	return c, lines, at
}

// Failed is the text of the error that ends the conversation: rows with the mark, and below it with its indent. over
// reports whether a row is of anything else that may end it.
func Failed(rows []string, mark string, over func(row int) bool) string {
	indent := strings.Repeat(" ", len([]rune(mark)))
	for i := len(rows) - 1; i >= 0 && !over(i); i-- {
		text, failed := strings.CutPrefix(rows[i], mark)
		if !failed {
			continue
		}
		for _, row := range rows[i+1:] {
			if !strings.HasPrefix(row, indent) {
				break
			}
			text += " " + strings.TrimSpace(row)
		}
		return text
	}
	return ""
}
