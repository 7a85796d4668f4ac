// Package drawn compares a text with the rows in which an agent drew it. An
// agent's hooks say what it asks for, and its dialog shows it: both are one prompt
// only when they say the same, character by character.
//
// It is pure, and knows no agent: drivers take the frame, the indent and their
// agent's own words off the rows first.
package drawn

import (
	"strings"
	"unicode/utf8"

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
	// Ends says of the rows' ends, where the agent marks them, what they are. Those that
	// it does not tell of are Unmarked.
	Ends []End
	// Shell: it is a command. How many blanks are between two words makes no difference
	// but where it quotes.
	Shell bool
	// Prose: it is words for a person. A blank and a line break at a full row's end say the
	// same, and so do blanks and a tab.
	Prose bool
	// Markdown: the text is drawn with its Markdown rendered. Blanks at a line's end, and tabs,
	// are Markdown too.
	Markdown bool
	// Cut: it is not drawn to its end, or not from its beginning on.
	Cut bool
}

// End is what the end of a row is.
type End int

// The ends of rows.
const (
	Unmarked End = iota // a line's, or a broken line's
	Line                // a line's
	Broken              // not a line's: that goes on in the next row
)

// AllBroken are the ends of rows that are one line.
func AllBroken(rows []string) []End {
	ends := make([]End, len(rows))
	for i := range ends {
		ends[i] = Broken
	}
	return ends
}

func (d Text) end(i int) End {
	if i < len(d.Ends) {
		return d.Ends[i]
	}
	return Unmarked
}

// mostText bounds what is compared, in bytes. A screen holds less.
const mostText = 256 << 10

// Of says how much of the text the rows show: PartMatch only where they are cut, and
// AlikeMatch where they may be those of another text too.
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
		at = m.row([]rune(row), at)
		if i < len(rows)-1 {
			at = m.breaks(at, terminal.StringWidth(row), d.end(i))
		}
		if len(at) == 0 {
			return agent.NoMatch
		}
	}
	loose := d.Prose || d.Shell && !quotes(text)
	switch {
	case !m.over(at):
		return agent.NoMatch
	case d.alike(rows, loose), !loose && !d.Markdown && blankly(text):
		return agent.AlikeMatch
	}
	return agent.WholeMatch
}

// blankly says whether a text has blanks that a screen doesn't draw faithfully, or undrawn
// blanks that could change its meaning: a tab, blanks before a line break, and blanks after
// the word that ends a here-document in a command.
func blankly(text string) bool {
	text = strings.TrimRight(text, " \t\n")
	return strings.Contains(text, "\t") || strings.Contains(text, " \n") || strings.Contains(text, "<<") && strings.Contains(text, "\n")
}

// quotes says that a command may hold blanks that are not between its words, or go on
// behind a line break.
func quotes(command string) bool {
	return strings.ContainsAny(command, "'\"`\\") || strings.Contains(command, "<<")
}

// alike says that the rows may be those of another text: one of their ends may be
// more than one thing, or a tab is drawn like blanks. loose: how many blanks there are
// makes no difference.
func (d Text) alike(rows []string, loose bool) bool {
	for i, row := range rows {
		if !loose && (strings.HasPrefix(row, " ") || strings.Contains(row, "  ")) {
			return true
		}
		if i < len(rows)-1 && d.unsure(row, rows[i+1], d.end(i), loose) {
			return true
		}
	}
	return false
}

// unsure says whether a row's end may be more than one thing.
func (d Text) unsure(row, next string, end End, loose bool) bool {
	columns := terminal.StringWidth(row)
	last, first := row[strings.LastIndexByte(row, ' ')+1:], next
	if at := strings.IndexByte(next, ' '); at >= 0 {
		first = next[:at]
	}
	piece := first
	if at := strings.IndexAny(first, d.After); at >= 0 {
		_, size := utf8.DecodeRuneInString(first[at:])
		piece = first[:at+size]
	}
	blank := row != "" && next != "" && columns+1+terminal.StringWidth(piece) > d.Width
	within := last != "" && first != "" && columns+wide > d.Width && terminal.StringWidth(last)+terminal.StringWidth(first)+wide > d.Width
	if r, _ := utf8.DecodeLastRuneInString(row); row != "" && strings.ContainsRune(d.After, r) {
		within = within || columns+terminal.StringWidth(piece) > d.Width
	}
	switch {
	case end == Broken:
		return within && blank || blank && !loose
	case end == Unmarked && (within || blank && !d.Prose):
		return true
	}
	return !loose && strings.HasSuffix(row, `\`) // with a blank behind it, it does not take the line break away
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
// many columns with such an end.
func (m *matcher) breaks(ends positions, columns int, as End) positions {
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
			if as != Broken {
				next[word+1] = true
			}
		case as == Line:
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
			at = m.breaks(ends, terminal.StringWidth(row), Unmarked)
		}
	}
	return true
}
