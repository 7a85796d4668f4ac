package terminal

import (
	"bytes"
	"unicode/utf8"
)

// printASCII writes a run of printable ASCII: the path that most output takes. The run begins in the stream at
// t.pos, and each of its bytes is step after the one before: 1, or 0 for text that a sequence repeats.
func (t *Terminal) printASCII(p []byte, step int) {
	if t.modes.insert || t.charsets[t.shift] != 'B' {
		for _, b := range p {
			t.printRune(t.translate(b))
			t.pos += step
		}
		return
	}
	if t.pass.on {
		t.passAlign()
		t.pass.text(p)
	}
	t.revision++
	t.last = rune(p[len(p)-1])
	t.join = joiner{base: t.last, last: t.last}
	s := t.scr
	for run := p; len(p) > 0; {
		if s.x >= t.cols {
			if !t.modes.wrap {
				s.x = t.cols - 1
				p = p[len(p)-1:] // each would land on the last column
			} else {
				t.wrapLine()
			}
		}
		n := min(len(p), t.cols-s.x)
		l := t.row(s.y)
		l.written = t.offset + int64(t.pos+(len(run)-len(p)+n-1)*step)
		t.putASCII(l, s.x, p[:n])
		s.x += n
		p = p[n:]
	}
}

// putASCII sets the cells from x on; they fit.
func (t *Terminal) putASCII(l *Line, x int, p []byte) {
	end := x + len(p)
	l.extend(end, t.cols)
	fill := t.pen.cell
	if x > 0 && l.cells[x].ch&cellTail != 0 {
		l.split(x, fill)
	}
	if end < len(l.cells) && l.cells[end].ch&cellTail != 0 {
		l.split(end, fill)
	}
	if t.pen.extra != (extra{}) {
		fill.attr |= l.extraIndex(t.pen.extra)
	}
	cells := l.cells[x:end]
	for i, b := range p[:len(cells)] {
		fill.ch = uint32(b)
		cells[i] = fill
	}
}

// printRune writes one rune: into a cell of its own, or into the cluster before.
func (t *Terminal) printRune(r rune) {
	width := RuneWidth(r)
	s := t.scr
	if width == 0 && t.join.base == 0 {
		// A mark after a cursor movement still belongs to what is left of
		// the cursor, when something is.
		if r != byteOrderMark && t.attach(r, -1) {
			t.passRune(r)
		}
		return
	}
	if r == byteOrderMark {
		return
	}
	if width > 0 && s.x >= t.cols && t.join.takes(r) && !t.wideBefore() {
		t.breakCluster() // a flag or a tone would have no room to grow
	}
	if joined, grow := t.join.next(r); joined {
		if t.attach(r, grow) {
			t.passJoined(r)
			t.passAlignLater(grow)
		}
		return
	}
	t.passAlign()
	t.revision++
	t.last = r
	if width == 2 && s.x+2 > t.cols && !t.modes.wrap { // there is no place for it
		s.x = t.cols - 1
		t.breakCluster()
		t.passColumn()
		return
	}
	t.passRune(r)
	if s.x+width > t.cols {
		if t.modes.wrap {
			for x := s.x; x < t.cols; x++ { // a wide one that did not fit leaves a blank
				l := t.row(s.y)
				l.erase(x, x+1, t.pen.cell, t.cols)
			}
			t.wrapLine()
		} else {
			s.x = t.cols - 1
		}
	}
	l := t.row(s.y)
	if t.modes.insert {
		l.insert(s.x, width, t.pen.erased(), t.cols)
	}
	l.written = t.offset + int64(t.pos)
	t.putRune(l, s.x, r, width)
	s.x += width
}

// wideBefore says whether the cluster left of the cursor is wide.
func (t *Terminal) wideBefore() bool {
	return t.scr.rows[t.scr.y].at(min(t.scr.x, t.cols)-1).ch&cellTail != 0
}

// putRune sets the one or two cells from x on; they fit.
func (t *Terminal) putRune(l *Line, x int, r rune, width int) {
	fill := t.pen.cell
	l.extend(x+width, t.cols)
	l.split(x, fill)
	l.split(x+width, fill)
	if t.pen.extra != (extra{}) {
		fill.attr |= l.extraIndex(t.pen.extra)
	}
	fill.ch = uint32(r)
	if width == 2 {
		fill.ch |= cellWide
		tail := fill
		tail.ch = cellTail
		l.cells[x+1] = tail
	}
	l.cells[x] = fill
}

// attach adds r to the cluster left of the cursor and makes it width columns
// wide when it has been narrower. It says whether there was one.
func (t *Terminal) attach(r rune, width int) bool {
	s := t.scr
	x := min(s.x, t.cols) - 1
	if x < 0 || x >= len(s.rows[s.y].cells) {
		return false
	}
	l := t.row(s.y)
	if l.cells[x].ch&cellTail != 0 && x > 0 {
		x--
	}
	var text string
	c := l.cells[x]
	switch {
	case c.ch&cellCluster != 0:
		text = l.clusters[c.ch&cellValue]
	case c.ch&cellValue == 0:
		return false
	default:
		text = string(rune(c.ch & cellValue))
	}
	if len(text)+utf8.RuneLen(r) > maxCluster {
		return false
	}
	t.revision++
	index := l.addCluster(text + string(r))
	c = l.cells[x]
	c.ch = c.ch&cellWide | index
	l.cells[x] = c
	if width == 2 && c.ch&cellWide == 0 && x+1 == s.x && s.x < t.cols {
		l.extend(x+2, t.cols)
		fill := l.cells[x]
		fill.ch, fill.attr = 0, fill.attr&^extraMask
		l.split(x+2, fill)
		l.cells[x].ch |= cellWide
		tail := l.cells[x]
		tail.ch = cellTail
		l.cells[x+1] = tail
		s.x++
	}
	return true
}

// endCluster makes the next rune begin a cluster, and leaves REP nothing to
// repeat: the cursor was moved or the screen changed since the last rune.
func (t *Terminal) endCluster() {
	t.passAlign()
	t.breakCluster()
	t.last = 0
}

// breakCluster makes the next rune begin a cluster.
func (t *Terminal) breakCluster() {
	if t.join.base != 0 {
		t.pass.cut, t.pass.join = true, t.join
		t.join = joiner{}
	}
}

// repeat is REP: what was printed last again, with the marks that joined it, n
// times, at most a screen of them.
func (t *Terminal) repeat(n int) {
	r := t.last
	n = min(n, t.cols*t.rows)
	if r == 0 {
		return
	}
	if cluster := t.clusterBefore(); cluster != "" {
		for range n {
			t.breakCluster()
			for _, r := range cluster {
				t.printRune(r)
			}
		}
		return
	}
	if r < 0x80 && !t.modes.insert && t.charsets[t.shift] == 'B' {
		for chunk := bytes.Repeat([]byte{byte(r)}, min(n, t.cols)); n > 0; n -= len(chunk) {
			chunk = chunk[:min(n, len(chunk))]
			t.printASCII(chunk, 0)
		}
		return
	}
	for range n {
		t.breakCluster()
		t.printRune(r)
	}
}

// clusterBefore is the cluster left of the cursor when it is more than the rune
// printed last: that one and what joined it.
func (t *Terminal) clusterBefore() string {
	l := t.scr.rows[t.scr.y]
	x := min(t.scr.x, t.cols) - 1
	if x > 0 && l.at(x).ch&cellTail != 0 {
		x--
	}
	if x < 0 {
		return ""
	}
	c := l.at(x)
	if c.ch&cellCluster == 0 || l.first(c) != t.last {
		return ""
	}
	return l.clusters[c.ch&cellValue]
}

// lineDrawing are the DEC special graphics from 0x5f on.
var lineDrawing = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate is what b shows in the charset in force.
func (t *Terminal) translate(b byte) rune {
	switch set := t.charsets[t.shift]; {
	case set == '0' && b >= 0x5f && b <= 0x7e:
		return lineDrawing[b-0x5f]
	case set == 'A' && b == '#':
		return '£'
	}
	return rune(b)
}
