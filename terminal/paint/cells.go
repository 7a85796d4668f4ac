// Package paint writes cells to a client's terminal, by what that terminal can show.
package paint

import (
	"strconv"

	"berth/terminal"
)

// Blank is an empty cell in the terminal's own colours.
var Blank = terminal.Cell{Rune: ' ', Width: 1}

// Fits says whether a cell's cluster, written at once, takes the cell's width.
func Fits(c terminal.Cell) bool {
	if c.Rest == "" {
		return true
	}
	_, rest, width := terminal.NextCluster(string(c.Rune) + c.Rest)
	return rest == "" && width == c.Width
}

// joins finds runes that may join their neighbours: regional indicators and
// skin tones.
func joins(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff }

// joinGap is how many unchanged cells are written again rather than jumped over:
// a jump takes 4 to 8 bytes.
const joinGap = 4

// Row appends what makes row y of a terminal show is where it shows was; both
// are as long. pen is the style that the terminal writes with, and is kept.
func (l Look) Row(b []byte, y int, is, was []terminal.Cell, pen *terminal.Style) []byte {
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
		b = l.span(b, y, is[from:to], from, pen)
		x = to
	}
	if used(was) > end {
		b = AppendMove(b, y, end)
		if *pen != (terminal.Style{}) {
			b = l.AppendStyle(b, terminal.Style{}, *pen)
			*pen = terminal.Style{}
		}
		b = append(b, "\x1b[K"...)
	}
	return b
}

// span writes cells from column from on. After a character that isn't ASCII it says
// where it goes on: the client's terminal may hold another opinion of the
// character's width, and would push the end of a row off its edge. Within a row of one
// character, such as a line, that makes no difference.
func (l Look) span(b []byte, y int, cells []terminal.Cell, from int, pen *terminal.Style) []byte {
	b = AppendMove(b, y, from)
	lost := false // the client's cursor may be elsewhere
	for i := range cells {
		x, cell := from+i, &cells[i]
		if cell.Width == 0 {
			continue
		}
		if lost || joins(cell.Rune) && i > 0 {
			b = append(b, "\x1b["...)
			b = strconv.AppendInt(b, int64(x+1), 10)
			b = append(b, 'G')
		}
		if cell.Style != *pen {
			b = l.AppendStyle(b, cell.Style, *pen)
			*pen = cell.Style
		}
		b = l.AppendCell(b, *cell)
		lost = cell.Width == 2 || cell.Rest != "" || joins(cell.Rune) || cell.Rune >= 0x7f && (i+1 == len(cells) || cells[i+1].Rune != cell.Rune)
	}
	return b
}

// used is how many cells there are up to the last that is not blank.
func used(cells []terminal.Cell) int {
	n := len(cells)
	for n > 0 && cells[n-1] == Blank {
		n--
	}
	return n
}

// AppendMove puts the cursor on a row and column counted from 0.
func AppendMove(b []byte, row, col int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(row+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(col+1), 10)
	return append(b, 'H')
}
