// Package drawn compares a text with the rows that an agent drew it in. An agent's hook reports
// what it asks about, and its dialog shows it: both are one prompt only if they are equal,
// character by character. Drivers call Text.Of after they removed the frame, the indent and the
// agent's own words from the rows.
//
// The package is pure and knows no agent.
package drawn

import (
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/terminal"
)

// Text is a text as an agent drew it.
type Text struct {
	Rows []string // without frame and indent
	// Width is the least number of columns of a row. Where the next word would have fit, the agent
	// had another reason to break the row.
	Width int
	// After are characters that the agent also breaks a word after.
	After string
	// Ends says what each row's end is, if the agent marks the ends of rows. Rows without an entry
	// are Unmarked.
	Ends []End
	// Shell: the text is a command. The number of blanks between two words makes no difference
	// outside quotes.
	Shell bool
	// Prose: the text is words for a person. A blank and a line break at a full row's end mean the
	// same, and so do blanks and a tab.
	Prose bool
	// Markdown: the agent draws the text with its Markdown rendered. Blanks at a line's end, and
	// tabs, are Markdown too.
	Markdown bool
	// Undrawn are characters that the agent may leave out. Another text may have others of them.
	Undrawn string
	// Cut: the rows show only a part of the text.
	Cut bool
}

// End says what the end of a row is.
type End int

// The ends of rows.
const (
	Unmarked End = iota // the end of a line, or the place where the agent broke it
	Line                // the end of a line
	Broken              // the agent broke the line here; the next row continues it
)

// AllBroken returns the ends of rows that show a single line.
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

// mostText bounds the compared text, in bytes. A screen holds less.
const mostText = 256 << 10

// Of says how much of the text the rows show. It is PartMatch only for cut rows, and AlikeMatch if
// the rows could show another text too.
//
// The end of a row can be a line break of the text and the blanks before it, blanks if the next
// word didn't fit, or nothing if a word is longer than a row. A tab is drawn as up to eight blanks.
// Any other character must be in the rows: a text with a character that a terminal doesn't draw
// never matches.
func (d Text) Of(text string) agent.Match {
	m := d.of(text)
	if m == agent.NoMatch && d.Undrawn != "" && strings.ContainsAny(text, d.Undrawn) {
		m = min(d.of(Without(text, d.Undrawn)), agent.AlikeMatch)
	}
	return m
}

func (d Text) of(text string) agent.Match {
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

// quotes reports whether a command may have significant blanks, or may continue after a line break.
func quotes(command string) bool {
	return strings.ContainsAny(command, "'\"`\\") || strings.Contains(command, "<<")
}

// alike reports whether the rows could show another text: a row's end is ambiguous, or a tab may be
// drawn as blanks. loose means that the number of blanks makes no difference.
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

// unsure reports whether a row's end is ambiguous.
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
	return !loose && strings.HasSuffix(row, `\`) // a backslash before a blank doesn't escape the line break
}

// trim removes what a screen doesn't show: blanks at the ends of rows, and empty rows at the end.
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

// positions are places in the text where the rows so far may have ended.
type positions map[int]bool

type matcher struct {
	text  []rune
	width int
	after string
}

func blank(r rune) bool { return r == ' ' || r == '\t' }

// tabWidth is the most columns that a tab takes.
const tabWidth = 8

// row returns the possible positions after a row that starts at one of the positions in from.
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

// over reports whether the text may end at one of the positions: only undrawn blanks follow.
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

// breaks returns the positions where the next row may start, after a row with that many columns and
// that end.
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
			for p := end + 1; p <= word; p++ { // blanks that don't fit start the next row
				next[p] = true
			}
			if columns >= m.width {
				next[end] = true
			}
		}
	}
	return next
}

// splits reports whether a row with that many columns may end within the word at that position.
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

// wide is the most columns of one character. A row may end one column early because a wide
// character didn't fit.
const wide = 2

// pieceEnd returns the end of the unbreakable piece of a word that starts at from.
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

// within reports whether the rows are somewhere in the text.
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
