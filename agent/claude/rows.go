package claude

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/agent/pattern"
	"berth/terminal"
)

// Claude lays out its dialogs for each width: text that doesn't fit is wrapped between words, and
// within a word that is longer than the row. These functions join the rows again, so that the
// result doesn't depend on the width.

// joined joins the rows of one text. room is how many columns such a row has: only a longer word is
// divided.
func joined(rows []string, room int) string {
	var b strings.Builder
	before := ""
	for _, row := range rows {
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		if b.Len() > 0 && !breaks(before, row, room) {
			b.WriteByte(' ')
		}
		b.WriteString(row)
		before = row
	}
	return b.String()
}

// breaks reports whether a word continues from a row into the next one: the row has no room for its
// next character, and the word doesn't fit into one row.
func breaks(row, next string, room int) bool {
	word, _, _ := strings.Cut(next, " ")
	_, size := utf8.DecodeRuneInString(word)
	last := row[strings.LastIndexByte(row, ' ')+1:]
	return terminal.StringWidth(row)+terminal.StringWidth(word[:size]) > room &&
		terminal.StringWidth(last)+terminal.StringWidth(word) > room
}

// paragraphs joins rows that were one line before they were wrapped: a row continues in the next
// one if that one's first word had no room in it. A line that just fits and ends there looks the
// same.
func paragraphs(rows []string, room int) []string {
	var all []string
	var open []string
	for i, row := range rows {
		row = strings.TrimSpace(row)
		open = append(open, row)
		if i+1 < len(rows) && runsOn(row, strings.TrimSpace(rows[i+1]), room) {
			continue
		}
		all, open = append(all, joined(open, room)), nil
	}
	return all
}

// runsOn reports whether a row may continue in the next one: that one's first word had no room in
// it.
func runsOn(row, next string, room int) bool {
	word, _, _ := strings.Cut(next, " ")
	return row != "" && word != "" && terminal.StringWidth(row)+1+terminal.StringWidth(word) > room
}

// Columns that Claude leaves free beside texts.
const (
	besideQuestion = 2 // on both sides of the question, together
	besideInput    = 4 // with the bar before a wrapped text
	besideIndented = 6 // of text that is indented below a title
)

// moreAbove matches the row that says how much of a dialog has no room on the screen.
var moreAbove = pattern.New(`(?m)^ *↑ (\d+) more lines?$`)

// cutOff is how many lines the dialog doesn't show at its top. Its last lines are always visible.
func (b *bottomBlock) cutOff() int {
	if m := moreAbove.FindStringSubmatch(b.foot); m != nil {
		n, _ := strconv.Atoi(m[1]) // the pattern allows only digits; Atoi returns the largest int for a bigger number
		return n
	}
	return 0
}

// flat replaces each stretch of blanks and line ends with one blank. So a phrase is found wherever
// its lines were wrapped.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
