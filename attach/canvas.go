package attach

import (
	"slices"
	"strconv"

	"berth/terminal"
	"berth/terminal/paint"
)

// rowView is what one row of the client's window shows: a part of a session's
// line, or a row of our own text. Lines are immutable, so equal views show
// equal cells, and the canvas need keep no cells of its own.
type rowView struct {
	line *terminal.Line // nil is blank
	left int            // its first column shown
	cols int            // the session's width; columns beyond are blank
	over *label         // shown instead when not nil

	from, to int // the line's columns that are highlighted
}

// cells fills a row of the window. A wide character that an edge would cut in
// two is shown as a blank, and so is one that is not as wide as a terminal will
// draw it, such as a flag that had no room at the screen's edge.
func (r rowView) cells(row []terminal.Cell) {
	n := 0
	switch {
	case r.over != nil:
		n = copy(row, r.over.cells)
		for i := n; i < len(row); i++ {
			row[i] = blankLabel
		}
		return
	case r.line != nil:
		n = min(len(row), max(min(r.line.Len(), r.cols)-r.left, 0))
	}
	for x := range n {
		i := r.left + x
		c := r.line.Cell(i)
		var cut bool
		switch c.Width {
		case 0:
			cut = x == 0 || !paint.Fits(r.line.Cell(i-1))
		case 2:
			cut = x == len(row)-1 || i == r.cols-1 || !paint.Fits(c)
		default:
			cut = c.Rune == 0 || !paint.Fits(c)
		}
		if cut {
			c = terminal.Cell{Rune: ' ', Width: 1, Style: c.Style}
		}
		row[x] = c
	}
	for x := n; x < len(row); x++ {
		row[x] = paint.Blank
	}
	for i := max(r.from, r.left); i < min(r.to, r.left+len(row)); i++ {
		row[i-r.left].Style.Attr ^= terminal.Reverse
	}
}

// canvas draws rows on a client's terminal of cols x rows and knows what is
// there, so that it writes only what changed.
type canvas struct {
	look       paint.Look
	cols, rows int
	drawn      []rowView
	is, was    []terminal.Cell // of the row being drawn
	valid      bool            // drawn is what the terminal shows
	cursor     terminal.Cursor
	shape      int // of the cursor, -1 for unknown
}

func newCanvas(l paint.Look, cols, rows int) *canvas {
	return &canvas{look: l, cols: cols, rows: rows, drawn: make([]rowView, rows), shape: -1,
		is: make([]terminal.Cell, cols), was: make([]terminal.Cell, cols)}
}

// draw appends what turns the screen into rows with the cursor as given, in the
// window's coordinates; nothing when that is what it shows.
func (c *canvas) draw(b []byte, rows []rowView, cur terminal.Cursor) []byte {
	if c.valid && cur == c.cursor && slices.Equal(rows, c.drawn) {
		return b
	}
	b = append(b, syncBegin+"\x1b[?25l"...)
	if !c.valid {
		b = append(b, "\x1b[0m\x1b[2J"...)
	}
	pen := terminal.Style{}
	for y, r := range rows {
		if c.valid && c.drawn[y] == r {
			continue
		}
		old := c.drawn[y]
		if !c.valid {
			old = rowView{} // as the erase has left it
		}
		r.cells(c.is)
		old.cells(c.was)
		b = c.look.Row(b, y, c.is, c.was, &pen)
		c.drawn[y] = r
	}
	if pen != (terminal.Style{}) {
		b = c.look.AppendStyle(b, terminal.Style{}, pen)
	}
	b = paint.AppendMove(b, cur.Row, cur.Col)
	if cur.Shape != c.shape && !c.look.Plain {
		b = append(b, "\x1b["...)
		b = strconv.AppendInt(b, int64(cur.Shape), 10)
		b = append(b, " q"...)
		c.shape = cur.Shape
	}
	if cur.Visible {
		b = append(b, "\x1b[?25h"...)
	}
	c.valid, c.cursor = true, cur
	return append(b, syncEnd...)
}

// label is a row of Berth's own text, in reverse so that it is not taken for
// the program's.
type label struct {
	cells []terminal.Cell
}

var (
	labelStyle = terminal.Style{Attr: terminal.Reverse}
	blankLabel = terminal.Cell{Rune: ' ', Width: 1, Style: labelStyle}
)

// newLabel lays text out for a row of cols columns, cut to fit. Control
// characters are dropped.
func newLabel(text string, cols int) *label {
	l := &label{}
	for text != "" && len(l.cells) < cols {
		cluster, rest, width := terminal.NextCluster(text)
		text = rest
		if width == 0 || len(l.cells)+width > cols {
			continue
		}
		cell := terminal.Cell{Width: width, Style: labelStyle}
		cell.Show(cluster)
		l.cells = append(l.cells, cell)
		if width == 2 {
			l.cells = append(l.cells, terminal.Cell{Style: labelStyle})
		}
	}
	return l
}
