// Package drawn compares a text with the rows in which an agent drew it. An
// agent's hooks say what it asks for, and its dialog shows it: both are one prompt
// only when they say the same, character by character.
//
// It is pure, and knows no agent: drivers take the frame, the indent and their
// agent's own words off the rows first.
package drawn

import (
	"strings"

	"berth/agent"
	"berth/terminal"
)

// Text is a text as it is drawn.
type Text struct {
	Rows []string // without frame and indent
	// Width is how many columns a row can hold at the least. Where the next word
	// would have fit, the agent did not break a row for want of space.
	Width int
	// After are the characters after which the agent breaks a word too.
	After string
	// Cut: it is not drawn to its end, or not from its beginning on.
	Cut bool
}

// mostText bounds what is compared, in bytes. A screen holds less.
const mostText = 256 << 10

// Of says how much of the text the rows show: PartMatch only where they are cut.
//
// The end of a row stands for a line break of the text with the blanks before it;
// for blanks, where the next word did not fit; and for nothing where a word is
// longer than a row. A tab is drawn as up to eight blanks. Every other character
// stands for itself: one that a terminal does not draw is not in the rows, so a
// text that has such is not seen.
func (d Text) Of(text string) agent.Match {
	if len(text) > mostText {
		return agent.NoMatch
	}
	m := matcher{text: []rune(text), width: d.Width, after: d.After}
	rows := trim(d.Rows)
	if d.Cut {
		if m.within(rows) {
			return agent.PartMatch
		}
		return agent.NoMatch
	}
	at := positions{0: true}
	for i, row := range rows {
		ends := m.row([]rune(row), at)
		if i == len(rows)-1 {
			if m.over(ends) {
				return agent.WholeMatch
			}
			return agent.NoMatch
		}
		if at = m.breaks(ends, terminal.StringWidth(row)); len(at) == 0 {
			return agent.NoMatch
		}
	}
	if m.over(at) {
		return agent.WholeMatch
	}
	return agent.NoMatch
}

// trim takes off what a screen does not show: blanks at a row's end, and rows of
// nothing at the end.
func trim(rows []string) []string {
	out := make([]string, len(rows))
	last := 0
	for i, row := range rows {
		if out[i] = strings.TrimRight(row, " "); out[i] != "" {
			last = i + 1
		}
	}
	return out[:last]
}

// positions are places in the text at which the rows so far may have ended.
type positions map[int]bool

type matcher struct {
	text  []rune
	width int
	after string
}

func blank(r rune) bool { return r == ' ' || r == '\t' }

// tabWidth is how many columns a tab moves on at the most.
const tabWidth = 8

// row are the positions after a row that begins at one of those given.
func (m *matcher) row(row []rune, from positions) positions {
	at := make([]positions, len(row)+1)
	at[0] = from
	for i, r := range row {
		for p := range at[i] {
			switch {
			case p == len(m.text):
			case m.text[p] == r:
				add(at, i+1, p+1)
			case m.text[p] == '\t':
				for n := i; n < len(row) && row[n] == ' ' && n-i < tabWidth; n++ {
					add(at, n+1, p+1)
				}
			}
		}
	}
	return at[len(row)]
}

func add(at []positions, i, p int) {
	if at[i] == nil {
		at[i] = positions{}
	}
	at[i][p] = true
}

// over says that the text may end at one of the positions: only what is not drawn
// follows.
func (m *matcher) over(at positions) bool {
	for p := range at {
		for p < len(m.text) && (blank(m.text[p]) || m.text[p] == '\n') {
			p++
		}
		if p == len(m.text) {
			return true
		}
	}
	return false
}

// breaks are the positions at which the next row may begin, after a row of that
// many columns.
func (m *matcher) breaks(ends positions, columns int) positions {
	next := positions{}
	for end := range ends {
		word := end
		for word < len(m.text) && blank(m.text[word]) {
			word++
		}
		switch {
		case word == len(m.text):
			next[word] = true
		case m.text[word] == '\n':
			next[word+1] = true
		case word == end:
			if m.splits(end, columns) {
				next[end] = true
			}
		case columns+word-end+m.columns(word, m.pieceEnd(word)) > m.width:
			for p := end + 1; p <= word; p++ { // those that do not fit begin the next row
				next[p] = true
			}
			if columns >= m.width {
				next[end] = true
			}
		}
	}
	return next
}

// splits says whether a row of that many columns ends within a word there.
func (m *matcher) splits(at, columns int) bool {
	if at == 0 {
		return false
	}
	if strings.ContainsRune(m.after, m.text[at-1]) && columns+m.columns(at, m.pieceEnd(at)) > m.width {
		return true
	}
	from, to := at, at
	for from > 0 && !blank(m.text[from-1]) && m.text[from-1] != '\n' {
		from--
	}
	for to < len(m.text) && !blank(m.text[to]) && m.text[to] != '\n' {
		to++
	}
	return m.columns(from, to) > m.width && columns+wide > m.width
}

// wide is how many columns a character has at the most: a row may end one short of
// its last column for the sake of one.
const wide = 2

// pieceEnd is where the word that begins there, or the part of it that is not
// broken, ends.
func (m *matcher) pieceEnd(from int) int {
	for p := from; p < len(m.text); p++ {
		if blank(m.text[p]) || m.text[p] == '\n' {
			return p
		}
		if strings.ContainsRune(m.after, m.text[p]) {
			return p + 1
		}
	}
	return len(m.text)
}

func (m *matcher) columns(from, to int) int { return terminal.StringWidth(string(m.text[from:to])) }

// within says whether the rows are somewhere in the text.
func (m *matcher) within(rows []string) bool {
	at := positions{}
	for p := range len(m.text) + 1 {
		at[p] = true
	}
	for i, row := range rows {
		ends := m.row([]rune(row), at)
		if len(ends) == 0 {
			return false
		}
		if i < len(rows)-1 {
			at = m.breaks(ends, terminal.StringWidth(row))
		}
	}
	return true
}
