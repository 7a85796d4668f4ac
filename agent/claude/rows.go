package claude

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/agent/pattern"
	"berth/terminal"
)

// Claude lays its dialogs out anew for every width: a text that does not fit is
// broken between words, and within a word that is longer than the row. Readers
// put it together again, so that what they read does not depend on the width.

// joined puts the rows of one text together. room is how many columns such a row
// has: a word is broken only where it is longer than that.
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

// breaks says whether a word goes on from a row into the next one: the row has no
// room for its next character, and the word has none in a row of its own.
func breaks(row, next string, room int) bool {
	word, _, _ := strings.Cut(next, " ")
	_, size := utf8.DecodeRuneInString(word)
	last := row[strings.LastIndexByte(row, ' ')+1:]
	return terminal.StringWidth(row)+terminal.StringWidth(word[:size]) > room &&
		terminal.StringWidth(last)+terminal.StringWidth(word) > room
}

// paragraphs puts rows together that were one before they were broken: a row
// goes on in the next one when that one's first word had no room in it. A line
// that just fits and ends by itself looks the same.
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

// runsOn says that a row may go on in the next one: that one's first word had no room
// in it.
func runsOn(row, next string, room int) bool {
	word, _, _ := strings.Cut(next, " ")
	return row != "" && word != "" && terminal.StringWidth(row)+1+terminal.StringWidth(word) > room
}

// Columns that Claude leaves free beside texts.
const (
	besideQuestion = 2 // on both sides of what asks, together
	besideInput    = 4 // with the bar before a text that is broken
	besideIndented = 6 // of what is indented below a title
)

// moreAbove says how much of a dialog has no room on the screen.
var moreAbove = pattern.New(`(?m)^ *↑ (\d+) more lines?$`)

// cutOff is how many lines at its top the dialog does not show. Its last lines
// are always there.
func (b *bottomBlock) cutOff() int {
	if m := moreAbove.FindStringSubmatch(b.foot); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits, by the pattern; a number too big for an int is the biggest
		return n
	}
	return 0
}

// flat is a text with one blank for every stretch of blanks and line ends: a
// phrase is found in it wherever its lines were broken.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
