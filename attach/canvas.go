package attach

import (
	"slices"
	"strconv"

	"berth/terminal"
)

// rowView is what one row of the client's window shows: a part of a session's
// line, or a row of our own text. Lines are immutable, so equal views show
// equal cells, and the canvas need keep no cells of its own.
type rowView struct {
	line *terminal.Line // nil is blank
	left int            // its first column shown
	cols int            // the session's width; columns beyond are blank
	over *label         // shown instead when not nil
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
			row[i] = terminal.Cell{Rune: ' ', Width: 1, Style: labelStyle}
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
			cut = x == 0 || !fits(r.line.Cell(i-1))
		case 2:
			cut = x == len(row)-1 || i == r.cols-1 || !fits(c)
		default:
			cut = c.Rune == 0 || !fits(c)
		}
		if cut {
			c = terminal.Cell{Rune: ' ', Width: 1, Style: c.Style}
		}
		row[x] = c
	}
	for x := n; x < len(row); x++ {
		row[x] = blankCell
	}
}

var blankCell = terminal.Cell{Rune: ' ', Width: 1}

// fits tells whether a cell's cluster, written at once, takes the cell's width.
func fits(c terminal.Cell) bool {
	if c.Rest == "" {
		return true
	}
	_, rest, width := terminal.NextCluster(string(c.Rune) + c.Rest)
	return rest == "" && width == c.Width
}

// joins tells runes that may join their neighbours: regional indicators and
// skin tones.
func joins(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff }

// canvas draws rows on a client's terminal of cols x rows and knows what is
// there, so that it writes only what changed.
type canvas struct {
	look       look
	cols, rows int
	drawn      []rowView
	is, was    []terminal.Cell // of the row being drawn
	valid      bool            // drawn is what the terminal shows
	cursor     terminal.Cursor
	shape      int // of the cursor, -1 for unknown
}

func newCanvas(l look, cols, rows int) *canvas {
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
		b = c.drawRow(b, y, r, &pen)
		c.drawn[y] = r
	}
	if pen != (terminal.Style{}) {
		b = c.look.appendStyle(b, terminal.Style{}, pen)
	}
	b = appendMove(b, cur.Row, cur.Col)
	if cur.Shape != c.shape && !c.look.plain {
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

// joinGap is how many unchanged cells are written again rather than jumped over:
// a jump takes 4 to 8 bytes.
const joinGap = 4

func (c *canvas) drawRow(b []byte, y int, r rowView, pen *terminal.Style) []byte {
	old := c.drawn[y]
	if !c.valid {
		old = rowView{} // as the erase has left it
	}
	is, was := c.is, c.was
	r.cells(is)
	old.cells(was)
	end := used(is)
	for x := 0; x < end; {
		if is[x] == was[x] {
			x++
			continue
		}
		from, to := x, x+1
		for x = to; x < end && x-to <= joinGap; x++ {
			if is[x] != was[x] {
				to = x + 1
			}
		}
		if from > 0 && is[from].Width == 0 {
			from--
		}
		b = c.drawSpan(b, y, from, to, pen)
		x = to
	}
	if used(was) > end {
		b = appendMove(b, y, end)
		if *pen != (terminal.Style{}) {
			b = c.look.appendStyle(b, terminal.Style{}, *pen)
			*pen = terminal.Style{}
		}
		b = append(b, "\x1b[K"...)
	}
	return b
}

// drawSpan writes columns from to before to. Behind a wide or composed
// character it says where it goes on: the client's terminal may hold another
// opinion of the character's width.
func (c *canvas) drawSpan(b []byte, y, from, to int, pen *terminal.Style) []byte {
	b = appendMove(b, y, from)
	lost := false // the client's cursor may be elsewhere
	for x := from; x < to; x++ {
		cell := &c.is[x]
		if cell.Width == 0 {
			continue
		}
		if lost || joins(cell.Rune) && x > from {
			b = append(b, "\x1b["...)
			b = strconv.AppendInt(b, int64(x+1), 10)
			b = append(b, 'G')
		}
		if cell.Style != *pen {
			b = c.look.appendStyle(b, cell.Style, *pen)
			*pen = cell.Style
		}
		b = c.look.appendCell(b, *cell)
		lost = cell.Width == 2 || cell.Rest != "" || joins(cell.Rune)
	}
	return b
}

// used is how many cells there are up to the last that is not blank.
func used(cells []terminal.Cell) int {
	n := len(cells)
	for n > 0 && cells[n-1] == blankCell {
		n--
	}
	return n
}

// appendMove puts the cursor on a row and column counted from 0.
func appendMove(b []byte, row, col int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(row+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(col+1), 10)
	return append(b, 'H')
}

// label is a row of Berth's own text, in reverse so that it is not taken for
// the program's.
type label struct {
	cells []terminal.Cell
}

var labelStyle = terminal.Style{Attr: terminal.Reverse}

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
		for i, r := range cluster {
			if i == 0 {
				cell.Rune = r
				continue
			}
			cell.Rest = cluster[i:]
			break
		}
		l.cells = append(l.cells, cell)
		if width == 2 {
			l.cells = append(l.cells, terminal.Cell{Style: labelStyle})
		}
	}
	return l
}
