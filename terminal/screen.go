package terminal

// row is row y for writing: a copy when a snapshot holds it.
func (t *Terminal) row(y int) *Line {
	l := t.scr.rows[y]
	if l.frozen {
		l = l.clone()
		t.scr.rows[y] = l
	}
	return l
}

// newLine is a blank line, of spare storage when there is some.
func (t *Terminal) newLine(fill cell) *Line {
	l := t.spare
	if l == nil {
		l = &Line{}
	}
	t.spare = nil
	if fill != (cell{}) {
		l.fill(0, t.cols, fill, t.cols)
	}
	return l
}

// release takes back the storage of a line that is shown nowhere.
func (t *Terminal) release(l *Line) {
	if l != nil && !l.frozen {
		l.reset()
		t.spare = l
	}
}

// eraseRow blanks a whole row and ends its being a continuation.
func (t *Terminal) eraseRow(y int, fill cell) {
	l := t.scr.rows[y]
	if l.frozen {
		l = &Line{}
		t.scr.rows[y] = l
	} else {
		l.reset()
	}
	if fill != (cell{}) {
		l.fill(0, t.cols, fill, t.cols)
	}
}

// scrollUp moves rows top..bottom up by n. keep says whether the rows that go may
// join the history: they do from the top of the main screen.
func (t *Terminal) scrollUp(top, bottom, n int, keep bool) {
	rows := t.scr.rows
	n = min(n, bottom-top+1)
	keep = keep && top == 0 && t.scr == t.main
	for y := top; y < top+n; y++ {
		if keep {
			t.release(t.history.push(rows[y]))
		} else {
			t.release(rows[y])
		}
	}
	copy(rows[top:], rows[top+n:bottom+1])
	for y := bottom - n + 1; y <= bottom; y++ {
		rows[y] = t.newLine(t.pen.erased())
	}
}

// scrollDown moves rows top..bottom down by n.
func (t *Terminal) scrollDown(top, bottom, n int) {
	rows := t.scr.rows
	n = min(n, bottom-top+1)
	for y := bottom - n + 1; y <= bottom; y++ {
		t.release(rows[y])
	}
	copy(rows[top+n:bottom+1], rows[top:])
	for y := top; y < top+n; y++ {
		rows[y] = t.newLine(t.pen.erased())
	}
}

// index moves the cursor down, scrolling at the bottom of the region.
func (t *Terminal) index() {
	s := t.scr
	switch {
	case s.y == s.bottom:
		t.scrollUp(s.top, s.bottom, 1, true)
	case s.y < t.rows-1:
		s.y++
	}
}

func (t *Terminal) lineFeed() {
	s := t.scr
	if t.modes.newLine {
		s.x = 0
	}
	t.cancelWrap()
	t.index()
	if s.rows[s.y].wrapped {
		t.row(s.y).wrapped = false
	}
	t.revision++
}

func (t *Terminal) reverseIndex() {
	s := t.scr
	t.cancelWrap()
	switch {
	case s.y == s.top:
		t.scrollDown(s.top, s.bottom, 1)
	case s.y > 0:
		s.y--
	}
	t.revision++
}

// wrapLine goes on at the start of the next row.
func (t *Terminal) wrapLine() {
	t.index()
	t.scr.x = 0
	t.row(t.scr.y).wrapped = true
}

// cancelWrap brings a cursor that waits to wrap back onto the last column.
func (t *Terminal) cancelWrap() {
	if t.scr.x >= t.cols {
		t.scr.x = t.cols - 1
	}
}

// moveTo sets the cursor from 0, within the region in origin mode.
func (t *Terminal) moveTo(row, col int) {
	s := t.scr
	low, high := 0, t.rows-1
	if t.modes.origin {
		low, high = s.top, s.bottom
		row += s.top
	}
	s.y = min(max(row, low), high)
	s.x = min(max(col, 0), t.cols-1)
	t.revision++
}

// originRow is the cursor's row as moveTo counts it: from the top margin in
// origin mode.
func (t *Terminal) originRow() int {
	if t.modes.origin {
		return t.scr.y - t.scr.top
	}
	return t.scr.y
}

// moveRows moves the cursor vertically. It stops at the region's edge when it
// starts inside of it.
func (t *Terminal) moveRows(n int) {
	s := t.scr
	t.cancelWrap()
	low, high := 0, t.rows-1
	if n < 0 && s.y >= s.top || t.modes.origin {
		low = s.top
	}
	if n > 0 && s.y <= s.bottom || t.modes.origin {
		high = s.bottom
	}
	s.y = min(max(s.y+n, low), high)
	t.revision++
}

func (t *Terminal) moveCols(n int) {
	t.cancelWrap()
	t.scr.x = min(max(t.scr.x+n, 0), t.cols-1)
	t.revision++
}

// backspace moves left, in mode 45 also from the start of a row to the end of the
// one above that it goes on from. It says whether it did the latter.
func (t *Terminal) backspace() (up bool) {
	s := t.scr
	if !t.modes.reverseWrap {
		t.moveCols(-1)
		return false
	}
	t.revision++
	if s.x > 0 {
		s.x--
		return s.x == t.cols-1
	}
	if s.y <= s.top || s.y > s.bottom || !s.rows[s.y].wrapped {
		return false
	}
	t.row(s.y).wrapped = false
	s.y--
	s.x = t.cols - 1
	if s.rows[s.y].at(s.x).ch == 0 { // the gap before a wide rune
		s.x--
	}
	return true
}

// shiftRows moves what is right of column x by n columns in every row of the
// region: right when n is positive.
func (t *Terminal) shiftRows(x, n int) {
	s := t.scr
	if s.y < s.top || s.y > s.bottom {
		return
	}
	for y := s.top; y <= s.bottom; y++ {
		l := t.row(y)
		if n > 0 {
			l.insert(x, min(n, t.cols), t.pen.erased(), t.cols)
		} else {
			l.remove(x, min(-n, t.cols), t.pen.erased(), t.cols)
		}
		l.wrapped = false
	}
	t.revision++
}

// setMargins is DECSTBM, and false for margins that are none.
func (t *Terminal) setMargins(top, bottom int) bool {
	top = max(top, 1)
	if bottom <= 0 || bottom > t.rows {
		bottom = t.rows
	}
	if bottom <= top {
		return false
	}
	t.scr.top, t.scr.bottom = top-1, bottom-1
	t.moveTo(0, 0)
	return true
}

func (t *Terminal) insertLines(n int) {
	s := t.scr
	if s.y < s.top || s.y > s.bottom {
		return
	}
	t.scrollDown(s.y, s.bottom, n)
	s.x = 0
	t.revision++
}

func (t *Terminal) deleteLines(n int) {
	s := t.scr
	if s.y < s.top || s.y > s.bottom {
		return
	}
	t.scrollUp(s.y, s.bottom, n, false)
	s.x = 0
	t.revision++
}

func (t *Terminal) insertCells(n int) {
	t.cancelWrap()
	t.row(t.scr.y).insert(t.scr.x, min(n, t.cols), t.pen.erased(), t.cols)
	t.revision++
}

func (t *Terminal) deleteCells(n int) {
	t.cancelWrap()
	t.row(t.scr.y).remove(t.scr.x, min(n, t.cols), t.pen.erased(), t.cols)
	t.revision++
}

// eraseCells blanks columns from to before to of row y.
func (t *Terminal) eraseCells(y, from, to int, unwrap bool) {
	l := t.row(y)
	l.erase(from, min(to, t.cols), t.pen.erased(), t.cols)
	if unwrap {
		l.wrapped = false
	}
	if from < t.cols && to >= t.cols {
		t.endParagraph(y)
	}
	t.revision++
}

// endParagraph makes the row below y begin a line of its own: the end of row y,
// where it went on, is erased.
func (t *Terminal) endParagraph(y int) {
	if y+1 < t.rows && t.scr.rows[y+1].wrapped {
		t.row(y + 1).wrapped = false
	}
}

// eraseLine is EL. A cursor that waits to wrap goes on waiting, with nothing to
// its right to erase.
func (t *Terminal) eraseLine(how int) {
	s := t.scr
	switch how {
	case 0:
		t.eraseCells(s.y, s.x, t.cols, s.x == 0)
	case 1:
		t.eraseCells(s.y, 0, s.x+1, false)
	case 2:
		t.eraseRow(s.y, t.pen.erased())
		t.endParagraph(s.y)
		t.revision++
	}
}

// eraseDisplay is ED.
func (t *Terminal) eraseDisplay(how int) {
	s := t.scr
	from, to := 0, -1
	switch how {
	case 0:
		t.eraseCells(s.y, s.x, t.cols, s.x == 0)
		from, to = s.y+1, t.rows-1
	case 1:
		t.eraseCells(s.y, 0, s.x+1, true)
		to = s.y - 1
	case 2:
		to = t.rows - 1
	case 3:
		t.history.clear()
	}
	for y := from; y <= to; y++ {
		t.eraseRow(y, t.pen.erased())
	}
	t.revision++
}

// span is columns from to before to of a row.
type span struct{ row, from, to int }

// selected are the cells that a selective erase is about: of the cursor's row, and
// with display of the rows before or after it too.
func (t *Terminal) selected(how int, display bool) []span {
	s := t.scr
	first, last := s.y, s.y
	here := span{row: s.y, to: t.cols}
	switch how {
	case 0:
		here.from, last = min(s.x, t.cols), t.rows-1
	case 1:
		here.to, first = min(s.x+1, t.cols), 0
	case 2:
		first, last = 0, t.rows-1
	default:
		return nil
	}
	if !display {
		return []span{here}
	}
	var all []span
	for y := first; y <= last; y++ {
		if y == s.y {
			all = append(all, here)
		} else {
			all = append(all, span{row: y, to: t.cols})
		}
	}
	return all
}

// fillWithE is DECALN.
func (t *Terminal) fillWithE() {
	fill := t.pen.cell
	fill.ch = 'E'
	for y := range t.scr.rows {
		t.eraseRow(y, fill)
	}
	t.moveTo(0, 0)
}

func (t *Terminal) saveCursor() {
	s := t.scr
	s.saved = savedCursor{
		x: min(s.x, t.cols-1), y: s.y, waiting: s.x >= t.cols,
		pen: t.pen, charsets: t.charsets, shift: t.shift, origin: t.modes.origin, set: true,
	}
}

func (t *Terminal) restoreCursor() {
	s := t.scr
	saved := s.saved
	if !saved.set {
		saved = savedCursor{charsets: [4]byte{'B', 'B', 'B', 'B'}}
	}
	t.pen, t.charsets, t.shift = saved.pen, saved.charsets, saved.shift
	t.modes.origin = saved.origin
	s.x, s.y = min(saved.x, t.cols-1), min(saved.y, t.rows-1)
	if saved.waiting && saved.x == t.cols-1 {
		s.x = t.cols
	}
	t.holdInside()
	t.revision++
}

// restoreSaved is DECRC.
func (t *Terminal) restoreSaved() {
	t.endCluster()
	before := t.modes
	t.restoreCursor()
	t.passRestored(&before)
}

// holdInside keeps the cursor within the margins in origin mode, which another
// screen or a restored cursor brings to margins that were not its own.
func (t *Terminal) holdInside() {
	if s := t.scr; t.modes.origin {
		s.y = min(max(s.y, s.top), s.bottom)
	}
}
