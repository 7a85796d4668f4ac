package terminal

import "unicode/utf8"

// RepaintOptions say what a repaint draws beside the screen.
type RepaintOptions struct {
	History int // lines of history above the main screen
}

// Repaint is bytes that give a terminal of the same size, whatever state it was
// in, this picture and these modes. The main screen is drawn first, then the
// alternate one when it is shown. What does not show (saved cursors, charsets,
// margins of the other screen) is left out, as the stream of TakePass, which
// goes on from here, does not depend on it. A synchronized update (mode 2026)
// begun before a Repaint covers all of it; the last thing in it is that mode, as
// it is here.
func (t *Terminal) Repaint(o RepaintOptions) []byte {
	p := &painter{out: make([]byte, 0, 8<<10), cols: t.cols}
	p.add(resetSequence)
	p.add("\x1b[?7l")
	p.history(t.historyTail(o.History), len(t.main.rows))
	p.screen(t.main)
	if t.scr == t.alt {
		p.kitty(t.main)
		p.move(t.main.saved.y, t.main.saved.x) // where the client's cursor is left when it goes back
		p.add("\x1b[?1049h\x1b[r" + eraseSequence)
		p.screen(t.alt)
	}
	p.margins(t.scr, t.rows)
	p.kitty(t.scr)
	p.tabStops(t)
	p.modes(t)
	p.colors(&t.colors)
	p.add("\x1b]2;" + t.title + "\x1b\\")
	p.cursor(t)
	return p.out
}

func (t *Terminal) historyTail(n int) []*Line {
	n = min(max(n, 0), t.history.len())
	lines := make([]*Line, n)
	for i := range lines {
		lines[i] = t.history.at(t.history.len() - n + i)
	}
	return lines
}

// painter writes a repaint and knows the style in force.
type painter struct {
	out   []byte
	cols  int
	style Style
}

func (p *painter) add(s string) { p.out = append(p.out, s...) }

func (p *painter) number(before string, n int, after string) {
	p.add(before)
	p.out = appendNumber(p.out, n)
	p.add(after)
}

func (p *painter) move(row, col int) {
	p.number("\x1b[", row+1, ";")
	p.number("", col+1, "H")
}

func (p *painter) setStyle(s Style) {
	if s == p.style {
		return
	}
	link := p.style.Link
	p.style.Link = s.Link
	if s != p.style {
		p.out = s.appendSGR(p.out)
	}
	if s.Link != link {
		p.add("\x1b]8;;" + s.Link + "\x1b\\")
	}
	p.style = s
}

// history writes lines from the top and scrolls them off a screen of rows.
func (p *painter) history(lines []*Line, rows int) {
	if len(lines) == 0 {
		return
	}
	for _, l := range lines {
		p.line(l)
		p.setStyle(Style{})
		p.add("\r\n")
	}
	for range rows - 1 {
		p.add("\n")
	}
}

func (p *painter) screen(s *screen) {
	for y, l := range s.rows {
		if len(l.cells) > 0 {
			p.move(y, 0)
			p.line(l)
		}
	}
	p.setStyle(Style{})
}

// line writes a line's cells from column 0, where the cursor is. The column is
// sent again after all that a client may take for wider or narrower than it is.
func (p *painter) line(l *Line) {
	lost := false // the client's cursor may be elsewhere
	for x := 0; x < min(len(l.cells), p.cols); x++ {
		c := l.cells[x]
		if c.ch&cellTail != 0 || c == (cell{}) {
			lost = true
			continue
		}
		if lost || isSkinTone(l.first(c)) {
			p.number("\x1b[", x+1, "G")
			lost = false
		}
		p.setStyle(l.style(c))
		switch {
		case c.ch == 0 && c == (cell{bg: c.bg}):
			n := 1
			for x+n < len(l.cells) && l.cells[x+n] == c {
				n++
			}
			p.number("\x1b[", n, "X")
			x += n - 1
			lost = true
		case c.ch == 0:
			p.add(" ")
		case c.ch&cellCluster != 0:
			p.cluster(l.clusters[c.ch&cellValue], x, 1+int(c.ch>>30&1))
			lost = true
		default:
			r := rune(c.ch & cellValue)
			p.out = utf8.AppendRune(p.out, r)
			lost = c.ch&cellWide != 0 || isRegional(r)
		}
	}
}

// cluster writes a cluster of more than one rune at column x. One that did not
// come in one piece is written in pieces, so that it does not grow.
func (p *painter) cluster(text string, x, width int) {
	if _, rest, w := NextCluster(text); rest == "" && w == width || x+width >= p.cols {
		p.add(text)
		return
	}
	for i, r := range text {
		if i > 0 {
			p.number("\x1b[", x+width+1, "G")
		}
		p.out = utf8.AppendRune(p.out, r)
	}
}

func (p *painter) margins(s *screen, rows int) {
	if s.top != 0 || s.bottom != rows-1 {
		p.number("\x1b[", s.top+1, ";")
		p.number("", s.bottom+1, "r")
	}
}

func (p *painter) kitty(s *screen) {
	for _, flags := range s.kitty {
		p.number("\x1b[>", flags, "u")
	}
}

func (p *painter) tabStops(t *Terminal) {
	if t.tabs == nil {
		return
	}
	p.add("\x1b[3g")
	for _, col := range t.tabs {
		p.number("\x1b[", col+1, "G\x1bH")
	}
}

// modes sets those that differ from a new terminal's, but for autowrap, which
// is off while painting, and what must come last.
func (p *painter) modes(t *Terminal) {
	m := &t.modes
	for _, mode := range [...]struct {
		n  int
		on bool
	}{
		{1, m.appCursor}, {5, m.reverse}, {12, m.blink}, {1004, m.focus}, {1006, m.mouseSGR},
		{1007, m.alternateScroll}, {2004, m.paste}, {int(m.mouse), m.mouse != MouseNone},
	} {
		if mode.on {
			p.out = appendMode(p.out, mode.n, true, true)
		}
	}
	if m.newLine {
		p.out = appendMode(p.out, 20, true, false)
	}
	if m.modifyOther != 0 {
		p.number("\x1b[>4;", m.modifyOther, "m")
	}
	if m.appKeypad {
		p.add("\x1b=")
	}
	if m.shape != 0 {
		p.number("\x1b[", m.shape, " q")
	}
}

func (p *painter) colors(c *colors) {
	for i, color := range [...]Color{c.foreground, c.background, c.cursor} {
		if color != DefaultColor {
			p.number("\x1b]", 10+i, ";"+colorReport(color)+"\x1b\\")
		}
	}
	for n := range 256 {
		if color, set := c.palette[uint8(n)]; set {
			p.number("\x1b]4;", n, ";"+colorReport(color)+"\x1b\\")
		}
	}
}

// cursor ends the repaint: the cursor and pen, and the modes that would have
// changed what was painted.
func (p *painter) cursor(t *Terminal) {
	m := &t.modes
	p.place(t)
	if m.wrap {
		p.add("\x1b[?7h")
	}
	p.lastCell(t)
	p.setStyle(t.pen.style())
	if m.insert {
		p.add("\x1b[4h")
	}
	if !m.cursor {
		p.add("\x1b[?25l")
	}
	p.mode(2026, m.sync)
}

// place sets origin mode, which is off, and the cursor.
func (p *painter) place(t *Terminal) {
	if t.modes.origin {
		p.add("\x1b[?6h")
	}
	p.move(t.originRow(), min(t.scr.x, t.cols-1))
}

// pen sets a style whatever was in force.
func (p *painter) pen(s Style) {
	p.out = s.appendSGR(p.out)
	p.add("\x1b]8;;" + s.Link + "\x1b\\")
	p.style = s
}

// mode sets a DEC mode or takes it back.
func (p *painter) mode(n int, on bool) { p.out = appendMode(p.out, n, on, true) }

// lastCell writes the last cell of the row again when the cursor waits to wrap.
// Insert mode changes nothing there.
func (p *painter) lastCell(t *Terminal) {
	if t.scr.x >= t.cols {
		p.cellBefore(t)
	}
}

// cellBefore writes the cell left of the cursor again.
func (p *painter) cellBefore(t *Terminal) {
	l := t.scr.rows[t.scr.y]
	x := min(t.scr.x, t.cols) - 1
	c, width := l.at(x), 1
	if c.ch&cellTail != 0 {
		x--
		c, width = l.at(x), 2
	}
	p.number("\x1b[", x+1, "G")
	p.setStyle(l.style(c))
	switch {
	case c.ch&cellCluster != 0:
		p.cluster(l.clusters[c.ch&cellValue], x, width)
	case c.ch&cellValue == 0:
		p.add(" ")
	default:
		p.out = utf8.AppendRune(p.out, rune(c.ch&cellValue))
	}
}

// ANSI is the line's text with its styles as SGR, and a reset at the end.
func (l *Line) ANSI() string {
	p := &painter{cols: len(l.cells)}
	for x := range min(l.painted(), len(l.cells)) {
		c := l.cells[x]
		if c.ch&cellTail != 0 {
			continue
		}
		style := l.style(c)
		style.Link = ""
		p.setStyle(style)
		switch {
		case c.ch&cellCluster != 0:
			p.add(l.clusters[c.ch&cellValue])
		case c.ch&cellValue == 0:
			p.add(" ")
		default:
			p.out = utf8.AppendRune(p.out, rune(c.ch&cellValue))
		}
	}
	p.setStyle(Style{})
	return string(p.out)
}

// painted is the number of columns up to the last that is not a blank of the
// default style.
func (l *Line) painted() int {
	n := len(l.cells)
	for n > 0 && (l.cells[n-1] == cell{} || l.cells[n-1] == cell{ch: ' '}) {
		n--
	}
	return n
}
