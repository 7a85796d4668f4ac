package render

import (
	"strconv"
	"strings"

	"berth/terminal"
)

// Row is a line, or a part of a line that is longer than the width.
type Row struct {
	Line
	Of        int  // index of the line
	Continued bool // the line began in a row above
}

// Flow breaks lines into rows of at most width columns, their margins included: at blanks, and beside
// wide characters, since Chinese and Japanese have no blanks between words. Characters that control a
// terminal, hide or reorder text are replaced. A blank where a row ends is left out, so these rows are
// for reading and not for deciding.
func Flow(lines []Line, width int) []Row {
	rows := make([]Row, 0, len(lines))
	digits := Digits(lines)
	for i, l := range lines {
		for n, spans := range breakLine(clusters(l), max(width-len(l.Prefix(digits)), 2)) {
			row := Row{Line: l, Of: i, Continued: n > 0}
			row.Spans = spans
			rows = append(rows, row)
		}
	}
	return rows
}

// Prefix is the margin as it is written: the line's number in digits columns, and its sign.
func (l Line) Prefix(digits int) string {
	if !l.Margin {
		return ""
	}
	number := ""
	if l.Number > 0 {
		number = strconv.Itoa(l.Number)
	}
	return strings.Repeat(" ", max(digits-len(number), 0)) + number + " " + string(rune(l.Sign)) + " "
}

// cluster is one drawn character.
type cluster struct {
	text  string
	width int
	tone  Tone
}

// tab is what a tab is drawn as: narrow, for phones.
const tab = "    "

func clusters(l Line) []cluster {
	var all []cluster
	for _, s := range l.Spans {
		for text := terminal.Printable(strings.ReplaceAll(s.Text, "\t", tab)); text != ""; {
			c := cluster{tone: s.Tone}
			c.text, text, c.width = terminal.NextCluster(text)
			all = append(all, c)
		}
	}
	return all
}

// breakLine breaks a line into rows. An empty line is one row.
func breakLine(all []cluster, width int) [][]Span {
	var rows [][]Span
	for first := true; first || len(all) > 0; first = false {
		fits, used := 0, 0
		for fits < len(all) && used+all[fits].width <= width {
			used += all[fits].width
			fits++
		}
		end := fits
		if fits < len(all) {
			for end > 0 && !mayBreak(all[end-1], all[end]) {
				end--
			}
			if blank(all[:end]) { // one long word, or one after an indentation
				end = max(fits, 1)
			}
		}
		rows = append(rows, spansOf(all[:end]))
		for all = all[end:]; len(all) > 0 && all[0].text == " "; all = all[1:] {
		}
	}
	return rows
}

// mayBreak reports whether a row may end between two characters.
func mayBreak(before, after cluster) bool {
	return before.text == " " || after.text == " " || before.width == 2 || after.width == 2
}

func blank(all []cluster) bool {
	for _, c := range all {
		if c.text != " " {
			return false
		}
	}
	return true
}

// spansOf makes spans of characters, without blanks at the end.
func spansOf(all []cluster) []Span {
	for len(all) > 0 && all[len(all)-1].text == " " {
		all = all[:len(all)-1]
	}
	var spans []Span
	var text strings.Builder
	for i, c := range all {
		text.WriteString(c.text)
		if i == len(all)-1 || all[i+1].tone != c.tone {
			spans = append(spans, Span{text.String(), c.tone})
			text.Reset()
		}
	}
	return spans
}
