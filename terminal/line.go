package terminal

import (
	"strings"
	"unicode/utf8"
)

// cell is one column of a line as stored: 16 bytes, so that a line of 200
// columns is 3.2 KB. Clusters, links and underline colours, all rare, are kept
// beside the cells in the line and named by an index.
type cell struct {
	ch     uint32 // rune, or index into Line.clusters; with the flags below
	fg, bg Color
	attr   uint32 // Attr, underline style, cellProtected, and 1 + index into Line.extras
}

const (
	cellCluster = 1 << 31 // ch is an index into Line.clusters
	cellWide    = 1 << 30 // left half of a wide cluster
	cellTail    = 1 << 29 // right half of a wide cluster
	cellValue   = 1<<21 - 1

	attrMask       = 1<<8 - 1
	underlineShift = 8
	underlineMask  = 7 << underlineShift
	cellProtected  = 1 << 11 // DECSCA: selective erases leave the cell alone
	extraShift     = 16
	extraMask      = 0xffff << extraShift

	// maxCluster is how many bytes of combining marks and joined runes one
	// cell takes; more are dropped. The longest emoji sequences need 35.
	maxCluster = 48
)

// extra is what few cells have of a style.
type extra struct {
	link           string
	underlineColor Color
}

// Line is one row of the screen or of the history. A Line that came out of a
// Snapshot never changes. Columns at and beyond Len are blank.
type Line struct {
	cells    []cell
	clusters []string
	extras   []extra
	wrapped  bool  // continues the line above
	prompt   bool  // a shell's prompt begins here
	written  int64 // stream offset of the last text in it
	frozen   bool  // referenced by a snapshot; used by the Terminal's owner only
}

// Len is how many columns are stored; those beyond are blank.
func (l *Line) Len() int { return len(l.cells) }

// Wrapped says whether the line goes on where the line above it was full.
func (l *Line) Wrapped() bool { return l.wrapped }

// Prompt says whether a shell's prompt begins in the line (OSC 133 A).
func (l *Line) Prompt() bool { return l.prompt }

// Offset is where in the stream the last text was that went into the line.
func (l *Line) Offset() int64 { return l.written }

// Columns is the text of the first n columns, with the blanks at their end.
func (l *Line) Columns(n int) string {
	var b strings.Builder
	l.appendText(&b, n)
	for range n - len(l.cells) {
		b.WriteByte(' ')
	}
	return b.String()
}

// Cell is column i, blank when beyond Len.
func (l *Line) Cell(i int) Cell {
	if i < 0 || i >= len(l.cells) {
		return Cell{Width: 1}
	}
	c := l.cells[i]
	out := Cell{Width: 1, Style: l.style(c)}
	switch {
	case c.ch&cellTail != 0:
		out.Width = 0
		return out
	case c.ch&cellWide != 0:
		out.Width = 2
	}
	if c.ch&cellCluster == 0 {
		out.Rune = rune(c.ch & cellValue)
		return out
	}
	out.Show(l.clusters[c.ch&cellValue])
	return out
}

// first is the first rune of what c shows.
func (l *Line) first(c cell) rune {
	if c.ch&cellCluster == 0 {
		return rune(c.ch & cellValue)
	}
	r, _ := utf8.DecodeRuneInString(l.clusters[c.ch&cellValue])
	return r
}

func (l *Line) style(c cell) Style {
	s := Style{
		Fg:        c.fg,
		Bg:        c.bg,
		Attr:      Attr(c.attr & attrMask),
		Underline: Underline(c.attr & underlineMask >> underlineShift),
	}
	if n := c.attr >> extraShift; n != 0 {
		e := l.extras[n-1]
		s.Link, s.UnderlineColor = e.link, e.underlineColor
	}
	return s
}

// Text is the line's text without styles and without blanks at its end.
func (l *Line) Text() string {
	var b strings.Builder
	l.appendText(&b, len(l.cells))
	return strings.TrimRight(b.String(), " ")
}

func (l *Line) appendText(b *strings.Builder, cols int) {
	b.Grow(cols)
	for _, c := range l.cells[:min(cols, len(l.cells))] {
		switch {
		case c.ch&cellTail != 0:
		case c.ch&cellCluster != 0:
			b.WriteString(l.clusters[c.ch&cellValue])
		case c.ch&cellValue == 0:
			b.WriteByte(' ')
		case c.ch&cellValue < 0x80:
			b.WriteByte(byte(c.ch))
		default:
			b.WriteRune(rune(c.ch & cellValue))
		}
	}
}

func (l *Line) clone() *Line {
	c := &Line{wrapped: l.wrapped, prompt: l.prompt, written: l.written}
	c.cells = make([]cell, len(l.cells), max(len(l.cells), cap(l.cells)))
	copy(c.cells, l.cells)
	c.clusters = append([]string(nil), l.clusters...)
	c.extras = append([]extra(nil), l.extras...)
	return c
}

// reset makes the line blank and keeps its storage.
func (l *Line) reset() {
	l.cells = l.cells[:0]
	l.clusters = nil
	l.extras = nil
	l.wrapped, l.prompt, l.written = false, false, 0
}

// extend makes at least n columns writable. New ones are blank. cols is the
// width of the screen, beyond which no storage is set aside.
func (l *Line) extend(n, cols int) {
	have := len(l.cells)
	if n <= have {
		return
	}
	if n > cap(l.cells) {
		l.grow(n, cols)
		return
	}
	l.cells = l.cells[:n]
	clear(l.cells[have:])
}

func (l *Line) grow(n, cols int) {
	room := n
	if cap(l.cells) > 0 {
		room = max(n, min(2*cap(l.cells), cols))
	} else if room < cols {
		room = min(cols, (n+15)&^15)
	}
	cells := make([]cell, n, room)
	copy(cells, l.cells)
	l.cells = cells
}

// fill sets columns from to before to fill. A blank of the default style at the
// line's end is not stored.
func (l *Line) fill(from, to int, fill cell, cols int) {
	if fill == (cell{}) {
		if to >= len(l.cells) {
			if from < len(l.cells) {
				l.cells = l.cells[:from]
				if from == 0 {
					l.clusters, l.extras = nil, nil
				}
			}
			return
		}
		clear(l.cells[from:to])
		return
	}
	l.extend(to, cols)
	for i := from; i < to; i++ {
		l.cells[i] = fill
	}
}

// split blanks a wide cluster that column x would cut in two, so that a write
// which begins (or ends) at x leaves no half.
func (l *Line) split(x int, fill cell) {
	if x <= 0 || x >= len(l.cells) || l.cells[x].ch&cellTail == 0 {
		return
	}
	l.cells[x-1], l.cells[x] = fill, fill
}

// erase blanks columns from to before to, and what is left of wide clusters cut
// at either end.
func (l *Line) erase(from, to int, fill cell, cols int) {
	l.split(from, fill)
	l.split(to, fill)
	l.fill(from, to, fill, cols)
}

// protected says whether a cell in columns from to before to is protected.
func (l *Line) protected(from, to int) bool {
	for x := from; x < min(to, len(l.cells)); x++ {
		if l.cells[x].attr&cellProtected != 0 {
			return true
		}
	}
	return false
}

// eraseSelected is erase for the cells that are not protected.
func (l *Line) eraseSelected(from, to int, fill cell, cols int) {
	for x := from; x < to; {
		if l.at(x).attr&cellProtected != 0 {
			x++
			continue
		}
		end := x + 1
		for end < to && l.at(end).attr&cellProtected == 0 {
			end++
		}
		l.erase(x, end, fill, cols)
		x = end
	}
}

// insert shifts the columns from x on right by n and blanks the n at x.
func (l *Line) insert(x, n int, fill cell, cols int) {
	l.split(x, fill)
	if x+n >= cols {
		l.fill(x, cols, fill, cols)
		return
	}
	if x < len(l.cells) {
		end := min(len(l.cells)+n, cols)
		l.extend(end, cols)
		copy(l.cells[x+n:end], l.cells[x:])
		if last := cols - 1; end == cols && l.cells[last].ch&cellWide != 0 {
			l.cells[last] = fill
		}
	}
	l.fill(x, x+n, fill, cols)
}

// remove shifts the columns beyond x+n left by n and blanks the last n.
func (l *Line) remove(x, n int, fill cell, cols int) {
	l.split(x, fill)
	if x+n >= cols {
		l.fill(x, cols, fill, cols)
		return
	}
	l.split(x+n, fill)
	if x+n < len(l.cells) {
		k := copy(l.cells[x:], l.cells[x+n:])
		l.cells = l.cells[:x+k]
	} else if x < len(l.cells) {
		l.cells = l.cells[:x]
	}
	if fill != (cell{}) {
		l.fill(cols-n, cols, fill, cols)
	}
}

// truncate cuts the line to cols columns.
func (l *Line) truncate(cols int) {
	if len(l.cells) > cols {
		l.split(cols, cell{})
		l.cells = l.cells[:cols]
	}
}

// trimmed is the number of columns up to the last that was written to; blanks
// left by an erase do not count, printed spaces do.
func (l *Line) trimmed() int {
	for i := len(l.cells) - 1; i >= 0; i-- {
		if l.cells[i].ch != 0 {
			return i + 1
		}
	}
	return 0
}

func (l *Line) at(i int) cell {
	if i < len(l.cells) {
		return l.cells[i]
	}
	return cell{}
}

// extraIndex is the attr bits that name e in this line.
func (l *Line) extraIndex(e extra) uint32 {
	if e == (extra{}) {
		return 0
	}
	for i := len(l.extras) - 1; i >= 0; i-- {
		if l.extras[i] == e {
			return uint32(i+1) << extraShift
		}
	}
	if len(l.extras) >= 2*cap(l.cells)+16 {
		l.compact()
	}
	l.extras = append(l.extras, e)
	return uint32(len(l.extras)) << extraShift
}

// addCluster stores text and gives the value of a cell that shows it.
func (l *Line) addCluster(text string) uint32 {
	if len(l.clusters) >= 2*cap(l.cells)+16 {
		l.compact()
	}
	l.clusters = append(l.clusters, text)
	return cellCluster | uint32(len(l.clusters)-1)
}

// compact drops the clusters and extras that no cell names any more.
func (l *Line) compact() {
	clusters, extras := l.clusters, l.extras
	l.clusters, l.extras = nil, nil
	renamed := make(map[uint32]uint32)
	for i := range l.cells {
		c := &l.cells[i]
		if c.ch&cellCluster != 0 {
			l.clusters = append(l.clusters, clusters[c.ch&cellValue])
			c.ch = c.ch&^cellValue | uint32(len(l.clusters)-1)
		}
		if n := c.attr >> extraShift; n != 0 {
			to, seen := renamed[n]
			if !seen {
				l.extras = append(l.extras, extras[n-1])
				to = uint32(len(l.extras))
				renamed[n] = to
			}
			c.attr = c.attr&^extraMask | to<<extraShift
		}
	}
}

// copyCell puts column i of src, with what it names, at column x.
func (l *Line) copyCell(x int, src *Line, i int) {
	c := src.at(i)
	if c.ch&cellCluster != 0 {
		c.ch = c.ch&^(cellCluster|cellValue) | l.addCluster(src.clusters[c.ch&cellValue])
	}
	if n := c.attr >> extraShift; n != 0 {
		c.attr = c.attr&^extraMask | l.extraIndex(src.extras[n-1])
	}
	l.cells[x] = c
}
