package terminal

// Resize gives the screen another size, brought within 2 to 1000 columns
// and 1 to 500 rows. Lines of the main screen that were wrapped are wrapped anew,
// but for the one the cursor is in: the program redraws that. The bottom of
// both screens stays, and rows come back from the history when there is room.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	if cols == t.cols && rows == t.rows {
		return
	}
	main := t.gather(t.main, t.history.lines(), t.history.max)
	main.setRows(rows)
	main.reflow(cols)
	t.history.set(main.spread(t.main, cols))
	alt := t.gather(t.alt, nil, 0)
	alt.setRows(rows)
	alt.spread(t.alt, cols)
	t.resizeTabs(cols)
	t.cols, t.rows = cols, rows
	t.spare = nil
	t.endCluster()
	t.revision++
}

// buffer is a screen and the history above it as one list of lines, while its
// size changes.
type buffer struct {
	lines      []*Line
	base       int // the first line on the screen
	y          int // the cursor's row on the screen
	cols, rows int
	limit      int // history lines at most
}

func (t *Terminal) gather(s *screen, history []*Line, limit int) *buffer {
	return &buffer{
		lines: append(history, s.rows...),
		base:  len(history),
		y:     s.y,
		cols:  t.cols, rows: t.rows,
		limit: limit,
	}
}

// setRows changes the height: growing shows lines of the history above and
// blank ones below; shrinking drops what is below the cursor and then moves
// lines up into the history.
func (b *buffer) setRows(rows int) {
	for b.rows < rows {
		b.rows++
		if len(b.lines) >= b.rows+b.base {
			continue
		}
		if b.base > 0 && len(b.lines) <= b.base+b.y+1 {
			b.base--
			b.y++
		} else {
			b.lines = append(b.lines, &Line{})
		}
	}
	for b.rows > rows {
		b.rows--
		switch {
		case len(b.lines) <= b.rows+b.base:
		case len(b.lines) > b.base+b.y+1:
			b.lines = b.lines[:len(b.lines)-1]
		default:
			b.base++
			b.y--
		}
	}
	b.trim()
	b.y = min(max(b.y, 0), rows-1)
}

// trim drops the oldest lines beyond the limit.
func (b *buffer) trim() {
	if over := len(b.lines) - b.rows - b.limit; over > 0 {
		b.lines = b.lines[over:]
		b.base = max(b.base-over, 0)
	}
}

// spread puts the buffer onto the screen and returns the history.
func (b *buffer) spread(s *screen, cols int) []*Line {
	for len(b.lines) < b.base+b.rows {
		b.lines = append(b.lines, &Line{})
	}
	b.lines = b.lines[:b.base+b.rows]
	for i, l := range b.lines {
		if len(l.cells) > cols {
			if l.frozen {
				l = l.clone()
				b.lines[i] = l
			}
			l.truncate(cols)
		}
	}
	s.rows = append([]*Line(nil), b.lines[b.base:]...)
	s.y = min(max(b.y, 0), b.rows-1)
	s.x = min(s.x, cols-1)
	s.top, s.bottom = 0, b.rows-1
	s.saved.x, s.saved.waiting = min(s.saved.x, cols-1), false
	s.saved.y = min(s.saved.y, b.rows-1)
	return b.lines[:b.base]
}

// reflow wraps lines anew for cols columns.
func (b *buffer) reflow(cols int) {
	switch {
	case cols > b.cols:
		b.widen(cols)
	case cols < b.cols:
		b.narrow(cols)
	}
	b.cols = cols
}

// paragraph is the index after the last line of the one that begins at i.
func (b *buffer) paragraph(i int) int {
	i++
	for i < len(b.lines) && b.lines[i].wrapped {
		i++
	}
	return i
}

func (b *buffer) widen(cols int) {
	cursor := b.base + b.y
	removed := 0
	out := b.lines[:0:0]
	for i := 0; i < len(b.lines); {
		end := b.paragraph(i)
		if end-i == 1 || cursor >= i && cursor < end {
			out = append(out, b.lines[i:end]...)
		} else {
			lines := b.wrap(b.lines[i:end], cols)
			removed += end - i - len(lines)
			out = append(out, lines...)
		}
		i = end
	}
	b.lines = out
	for ; removed > 0; removed-- {
		switch {
		case b.base > 0:
			b.base--
		default:
			b.y = max(b.y-1, 0)
			if len(b.lines) < b.rows {
				b.lines = append(b.lines, &Line{})
			}
		}
	}
}

func (b *buffer) narrow(cols int) {
	cursor := b.base + b.y
	// From the bottom up, as what is added above moves what is below.
	var blocks [][]*Line
	total := len(b.lines)
	for end := len(b.lines); end > 0; {
		i := end - 1
		for i > 0 && b.lines[i].wrapped {
			i--
		}
		lines := b.lines[i:end]
		if !(cursor >= i && cursor < end) && (end-i > 1 || lines[0].trimmed() > cols) {
			wrapped := b.wrap(lines, cols)
			for added := len(wrapped) - len(lines); added > 0; added-- {
				total = b.makeRoom(&blocks, total)
			}
			lines = wrapped
		}
		blocks = append(blocks, lines)
		end = i
	}
	out := make([]*Line, 0, total)
	for i := len(blocks) - 1; i >= 0; i-- {
		out = append(out, blocks[i]...)
	}
	b.lines = out
	b.trim()
}

// makeRoom accounts for one line more above: the screen moves down in the
// buffer, or while nothing is above it, the cursor in the screen, and a line at
// the bottom goes.
func (b *buffer) makeRoom(below *[][]*Line, total int) int {
	if b.base == 0 && b.y < b.rows-1 {
		b.y++
		dropLast(*below)
		return total
	}
	b.base++
	return total + 1
}

// dropLast takes the bottom line off the blocks, which are in reverse order.
func dropLast(blocks [][]*Line) {
	for i, lines := range blocks {
		if len(lines) > 0 {
			blocks[i] = lines[:len(lines)-1]
			return
		}
	}
}

// wrap lays the cells of a paragraph's lines out anew.
func (b *buffer) wrap(lines []*Line, cols int) []*Line {
	out := []*Line{{wrapped: lines[0].wrapped, prompt: lines[0].prompt, written: lines[0].written}}
	x := 0
	for i, l := range lines {
		n := b.width(lines, i)
		for k := 0; k < n; k++ {
			wide := l.at(k).ch&cellWide != 0
			if x >= cols || wide && x+1 >= cols {
				out = append(out, &Line{wrapped: true})
				x = 0
			}
			last := out[len(out)-1]
			last.extend(x+1, cols)
			last.copyCell(x, l, k)
			x++
		}
	}
	return out
}

// width is how many columns of line i of a paragraph belong to it: all, but for
// what follows the end of the last and the gap that a wide rune leaves when it
// does not fit.
func (b *buffer) width(lines []*Line, i int) int {
	if i == len(lines)-1 {
		return lines[i].trimmed()
	}
	if lines[i].at(b.cols-1).ch == 0 && lines[i+1].at(0).ch&cellWide != 0 {
		return b.cols - 1
	}
	return b.cols
}
