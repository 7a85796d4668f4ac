package detect

import (
	"strings"

	"berth/agent"
	"berth/terminal"
)

// Viewer makes Views from snapshots. It keeps the rows of the last one, so that an unchanged line
// isn't read again. Only one goroutine may use it.
type Viewer struct {
	rows   map[*terminal.Line]agent.Row
	others map[*terminal.Line]bool // lines that another program has drawn
}

// Skip has the lines of a snapshot read as blank until they are drawn again: another program has
// drawn them.
func (w *Viewer) Skip(s *terminal.Snapshot) {
	w.others = make(map[*terminal.Line]bool, len(s.Lines))
	for _, line := range s.Lines {
		w.others[line] = true
	}
}

// View is the snapshot as drivers read it.
func (w *Viewer) View(s *terminal.Snapshot) *agent.View {
	v := &agent.View{
		Cols: s.Cols, Rows: s.Rows, Alt: s.Modes.AltScreen, Title: s.Title,
		Cursor: agent.Caret{Row: s.Cursor.Row, Col: s.Cursor.Col, Visible: s.Cursor.Visible},
		Lines:  make([]agent.Row, len(s.Lines)),
	}
	seen := make(map[*terminal.Line]agent.Row, len(s.Lines))
	for i, line := range s.Lines {
		if w.others[line] {
			continue
		}
		row, ok := w.rows[line]
		if !ok {
			row = readRow(line)
		}
		last := line.Cell(s.Cols - 1)
		row.Full = last.Rune != 0 || last.Width == 0
		seen[line], v.Lines[i] = row, row
	}
	w.rows = seen
	return v
}

const marked = terminal.Faint | terminal.Reverse | terminal.Bold

// readRow returns a line's text, its dim, inverse, bold and colored stretches, and how far its background goes.
// It drops blanks at the end unless they are inverse: that is how a caret is drawn.
func readRow(line *terminal.Line) agent.Row {
	var text strings.Builder
	row := agent.Row{Wrapped: line.Wrapped()}
	kept := 0
	for i := range line.Len() {
		cell := line.Cell(i)
		if bg := cell.Style.Bg; i == row.Filled && bg != terminal.DefaultColor && bg == line.Cell(0).Style.Bg {
			row.Filled++
		}
		if cell.Width == 0 && i > 0 {
			continue // the right half of a wide cluster
		}
		from := text.Len()
		blank := cell.Rune == 0 || cell.Rune == ' '
		if blank {
			text.WriteByte(' ')
		} else {
			text.WriteRune(cell.Rune)
			text.WriteString(cell.Rest)
		}
		if !blank || cell.Style.Attr&terminal.Reverse != 0 {
			kept = text.Len()
		}
		if cell.Style.Attr&marked != 0 || cell.Style.Fg != terminal.DefaultColor {
			row.Spans = addSpan(row.Spans, from, text.Len(), cell.Style)
		}
	}
	row.Text = text.String()[:kept]
	for n := len(row.Spans); n > 0 && row.Spans[n-1].From >= kept; n = len(row.Spans) {
		row.Spans = row.Spans[:n-1]
	}
	return row
}

// addSpan extends the last span if the attributes are the same.
func addSpan(spans []agent.Span, from, to int, style terminal.Style) []agent.Span {
	next := agent.Span{From: from, To: to, Dim: style.Attr&terminal.Faint != 0, Inverse: style.Attr&terminal.Reverse != 0, Bold: style.Attr&terminal.Bold != 0, Color: uint32(style.Fg)}
	if n := len(spans); n > 0 {
		if last := &spans[n-1]; last.To == from && last.Dim == next.Dim && last.Inverse == next.Inverse && last.Bold == next.Bold && last.Color == next.Color {
			last.To = to
			return spans
		}
	}
	return append(spans, next)
}
