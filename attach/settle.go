package attach

import (
	"strings"
	"time"

	"berth/terminal"
)

// settler finds the lines of a session's screens that are new and done, each
// once. A line is done when it has scrolled off, or when the cursor is
// elsewhere and nothing has touched it for settleTime.
type settler struct {
	started  bool
	revision uint64
	main     seen // history and screen
	alt      seen
	waiting  bool // a line has only to be left alone to be done
}

// seen is one of the screens at the last look at it.
type seen struct {
	rows []settling // oldest first
	cols int
}

// settling is a row as last seen.
type settling struct {
	line  *terminal.Line
	text  string
	since time.Time // nothing has touched it since
	told  bool
}

// look takes a picture and gives the text to tell: at the first, the screen;
// at the last, everything not yet printed. lost says that more has scrolled by
// since the last look than a picture's history holds.
func (s *settler) look(p *terminal.Snapshot, now time.Time, last bool) (text []string, lost bool) {
	if s.started && p.Revision == s.revision && !s.waiting && !last {
		return nil, false
	}
	s.revision = p.Revision
	lines := p.Lines
	before := &s.alt
	if !p.Modes.AltScreen {
		lines = append(append([]*terminal.Line(nil), p.History...), p.Lines...)
		before = &s.main
	}
	first := len(lines) - len(p.Lines)
	if !s.started || before.cols == 0 { // history is what was before us
		rows := rowsOf(lines, now)
		for i := range rows {
			rows[i].told = i < first
		}
		*before = seen{rows, p.Cols}
		if !s.started {
			s.started = true
			return tell(rows[first:], inUse(p.Lines)), false
		}
	}
	byText := p.Modes.AltScreen || p.Cols != before.cols
	rows, found := carry(before.rows, lines, now, byText)
	lost = !byText && !found && first > 0
	*before = seen{rows, p.Cols}
	return s.done(rows, first, inUse(p.Lines)+first, p.Cursor.Row+first, now, last), lost
}

// carry gives rows for lines with what the last look knew of them. A row is the
// same one while its line is the same value, which lines stay when they scroll.
// One that was drawn again with the same text in the same place isn't a new line;
// with byText, nor is one with the text of any row there was.
func carry(before []settling, lines []*terminal.Line, now time.Time, byText bool) (rows []settling, found bool) {
	at := make(map[*terminal.Line]int, len(before))
	texts := map[string]bool{}
	for i, r := range before {
		at[r.line] = i
		if byText && r.told {
			texts[r.text] = true
		}
	}
	shift := 0 // where the rows from before are now
	for i, l := range lines {
		if j, ok := at[l]; ok {
			shift, found = i-j, true
			break
		}
	}
	rows = rowsOf(lines, now)
	for i := range rows {
		r := &rows[i]
		if j, ok := at[r.line]; ok {
			*r = before[j]
			if r.text == "" {
				r.text = printed(r.line)
			}
			continue
		}
		r.text = printed(r.line)
		switch j := i - shift; {
		case byText:
			r.told = texts[r.text]
		case j >= 0 && j < len(before) && before[j].text == r.text:
			r.told = before[j].told
		}
	}
	return rows, found
}

// rowsOf gives a row for each line, with the text left out.
func rowsOf(lines []*terminal.Line, now time.Time) []settling {
	rows := make([]settling, len(lines))
	for i, l := range lines {
		rows[i] = settling{line: l, since: now}
	}
	return rows
}

// tell returns the text of the first n rows and marks all rows as printed.
func tell(rows []settling, n int) []string {
	var out []string
	for i := range rows {
		rows[i].text, rows[i].told = printed(rows[i].line), true
	}
	for i := 0; i < n; {
		end := lineEnd(rows, i)
		out = append(out, joined(rows[i:min(end, n)]))
		i = end
	}
	return out
}

// done gives the lines before row end that are new and done, and marks them.
func (s *settler) done(rows []settling, first, end, cursor int, now time.Time, last bool) []string {
	var out []string
	s.waiting = false
	for i := 0; i < end; {
		next := min(lineEnd(rows, i), end)
		told, busy, young := true, false, false
		for j := i; j < next; j++ {
			told = told && rows[j].told
			if j >= first && !last {
				busy = busy || j == cursor
				young = young || now.Sub(rows[j].since) < settleTime
			}
		}
		switch {
		case told:
		case busy:
		case young:
			s.waiting = true
		default:
			out = append(out, joined(rows[i:next]))
			for j := i; j < next; j++ {
				rows[j].told = true
			}
		}
		i = next
	}
	return out
}

// lineEnd is the row after the line that begins at row i: rows that the screen's
// edge broke are one line.
func lineEnd(rows []settling, i int) int {
	for i++; i < len(rows) && rows[i].line.Wrapped(); i++ {
	}
	return i
}

func joined(rows []settling) string {
	if len(rows) == 1 {
		return rows[0].text
	}
	var b strings.Builder
	for i, r := range rows {
		b.WriteString(r.text)
		if i < len(rows)-1 { // blanks before the edge are part of the line
			b.WriteString(strings.Repeat(" ", max(r.line.Len()-terminal.StringWidth(r.text), 0)))
		}
	}
	return b.String()
}

// inUse is how many rows there are up to the last that is not blank.
func inUse(lines []*terminal.Line) int {
	n := len(lines)
	for n > 0 && lines[n-1].Text() == "" {
		n--
	}
	return n
}

// printed is a line's text made safe to print.
func printed(l *terminal.Line) string { return terminal.Printable(l.Text()) }
