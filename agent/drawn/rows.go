package drawn

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// Blank reports whether a row has nothing but blanks.
func Blank(row string) bool { return strings.TrimSpace(row) == "" }

// Paragraph is the index of the first row of the paragraph that ends before end.
func Paragraph(rows []string, end int) int {
	for end > 0 && !Blank(rows[end-1]) {
		end--
	}
	return end
}

// Lines are the texts of the rows.
func Lines(rows []agent.DrawnRow) (lines []string) {
	for _, row := range rows {
		lines = append(lines, row.Text)
	}
	return lines
}

// Filled are the texts of the rows that aren't blank, without blanks at their ends.
func Filled(rows []string) (texts []string) {
	for _, row := range rows {
		if text := strings.TrimSpace(row); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Inside are the rows without the blank ones at both ends.
func Inside[R any](rows []R, text func(R) string) []R {
	for len(rows) > 0 && Blank(text(rows[0])) {
		rows = rows[1:]
	}
	for len(rows) > 0 && Blank(text(rows[len(rows)-1])) {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// Compare compares a text with the rows that show it, if the agent breaks its lines anywhere.
func Compare(shown, text string) agent.Match {
	if shown == text {
		return agent.WholeMatch
	}
	return agent.MatchIf(Squeeze(shown) == Squeeze(text), agent.AlikeMatch)
}

// Left is the screen's first columns. The spans of its rows are those of the whole rows.
func Left(v *agent.View, cols int) *agent.View {
	left := *v
	left.Cols = cols
	left.Lines = make([]agent.Row, len(v.Lines))
	for i, row := range v.Lines {
		column := 0
		for at, c := range row.Text {
			if column += terminal.StringWidth(string(c)); column > cols {
				row.Text = strings.TrimRight(row.Text[:at], " ")
				break
			}
		}
		left.Lines[i] = row
	}
	return &left
}

// Foot is the index of the first row of the paragraph that ends the rows, if it ends in the names of these keys; else -1.
func Foot(rows []string, keys string) int {
	at := Paragraph(rows, len(rows))
	if !strings.HasSuffix(Flat(strings.Join(rows[at:], " ")), keys) {
		return -1
	}
	return at
}

// InnerBox returns the rows in the lowest box among the rows of a dialog, and all other text. What a model says above it can draw a box too.
func InnerBox(rows []string) (box []string, says string) {
	end := len(rows) - 1
	for ; end >= 0 && !strings.HasPrefix(rows[end], " ╰─"); end-- {
	}
	at := end - 1
	for ; at >= 0 && strings.HasPrefix(rows[at], " │"); at-- {
		row := strings.TrimSuffix(strings.TrimPrefix(rows[at], " │"), "│")
		box = slices.Insert(box, 0, strings.TrimRight(strings.TrimPrefix(row, " "), " "))
	}
	ruled := func(row string) bool { return strings.Trim(row, " ─") == "" }
	return box, Flat(strings.Join(slices.DeleteFunc(slices.Concat(rows[:max(at, 0)], rows[end+1:]), ruled), " "))
}
