package terminal

const (
	maxParams = 64
	// maxParam is what larger numbers are taken as: beyond any screen, below
	// any overflow.
	maxParam = 65535
)

// params are the numbers of a CSI sequence. A number after a colon belongs to
// the one before it. Those left out are -1.
type params struct {
	n       [maxParams]int32
	colon   [maxParams]bool // n[i] was preceded by a colon
	len     int
	clamped bool // one was larger than maxParam, or there were too many
}

func (p *params) parse(raw []byte) {
	p.len, p.clamped = 0, false
	current := int32(-1)
	colon := false
	for _, b := range raw {
		if b >= '0' && b <= '9' {
			if current < 0 {
				current = 0
			}
			if current = current*10 + int32(b-'0'); current > maxParam {
				current, p.clamped = maxParam, true
			}
			continue
		}
		p.add(current, colon)
		current, colon = -1, b == ':'
	}
	p.add(current, colon)
}

func (p *params) add(n int32, colon bool) {
	if p.len == maxParams {
		p.clamped = true
		return
	}
	p.n[p.len], p.colon[p.len] = n, colon
	p.len++
}

// at is parameter i, or otherwise when it is left out.
func (p *params) at(i, otherwise int) int {
	if i >= p.len || p.n[i] < 0 {
		return otherwise
	}
	return int(p.n[i])
}

// count is parameter 0 as a number of times: at least 1.
func (p *params) count() int { return max(p.at(0, 1), 1) }

// control is a whole CSI sequence: raw is the part after ESC [, with the
// final byte.
func (t *Terminal) control(raw []byte) {
	final := raw[len(raw)-1]
	body := raw[:len(raw)-1]
	var prefix, between byte
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		prefix, body = body[0], body[1:]
	}
	end := len(body)
	for end > 0 && body[end-1] < 0x30 {
		end--
		between = body[end]
	}
	if len(body)-end > 1 {
		return
	}
	body = body[:end]
	for _, b := range body {
		if b < '0' || b > ';' {
			return // malformed
		}
	}
	var p params
	p.parse(body)
	if prefix == 0 && between == 0 {
		t.plainControl(&p, final, body)
		return
	}
	t.markedControl(&p, prefix, between, final)
}

// plainControl are the sequences without private marker and intermediates.
func (t *Terminal) plainControl(p *params, final byte, body []byte) {
	s := t.scr
	before, waiting := s.x, s.x >= t.cols
	inside := s.y >= s.top && s.y <= s.bottom // else some terminals do more than nothing for IL and DL
	switch final {
	case 'm':
		t.selectGraphics(p)
		t.passControlSequence(p, 0, 0, final, body)
		return // keeps clusters together
	case 'A':
		t.moveRows(-p.count())
	case 'B':
		t.moveRows(p.count())
	case 'e': // VPR: unlike CUD it does not stop at the bottom margin
		t.moveTo(t.originRow()+p.count(), min(s.x, t.cols-1))
		t.endCluster()
		t.passPlace()
		return
	case 'C', 'a':
		t.moveCols(p.count())
	case 'D':
		t.moveCols(-p.count())
	case 'E':
		t.moveRows(p.count())
		s.x = 0
	case 'F':
		t.moveRows(-p.count())
		s.x = 0
	case 'G', '`':
		s.x = min(p.count(), t.cols) - 1
		t.revision++
	case 'H', 'f':
		t.moveTo(p.count()-1, max(p.at(1, 1), 1)-1)
	case 'd':
		t.moveTo(p.count()-1, min(s.x, t.cols-1))
	case 'I':
		t.tab(p.count())
		t.endCluster()
		t.passColumn()
		return
	case 'Z':
		t.backTab(p.count())
		t.endCluster()
		t.passColumn()
		return
	case 'J':
		t.eraseDisplay(p.at(0, 0))
	case 'K':
		t.eraseLine(p.at(0, 0))
	case 'X':
		t.cancelWrap()
		t.eraseCells(s.y, s.x, s.x+p.count(), false)
	case '@':
		t.insertCells(p.count())
	case 'P':
		t.deleteCells(p.count())
	case 'L':
		if t.insertLines(p.count()); !inside {
			t.endCluster()
			return
		}
		waiting = before > 0 // not all terminals move the cursor
	case 'M':
		if t.deleteLines(p.count()); !inside {
			t.endCluster()
			return
		}
		waiting = before > 0
	case 'S':
		t.scrollUp(s.top, s.bottom, p.count(), false)
		t.revision++
	case 'T':
		if p.len > 1 {
			return // highlight mouse tracking
		}
		t.scrollDown(s.top, s.bottom, p.count())
		t.revision++
	case 'r':
		if !t.setMargins(p.at(0, 1), p.at(1, 0)) {
			return
		}
		t.endCluster()
		t.passControlSequence(p, 0, 0, final, body)
		if t.modes.origin { // where home is, terminals differ about
			t.passPlace()
		}
		return
	case 's':
		t.saveCursor()
		t.endCluster()
		return
	case 'u':
		t.restoreSaved()
		return
	case 'g':
		t.clearTab(p.at(0, 0))
	case 'b':
		t.repeat(p.count()) // passes on what it prints
		return
	case 'h', 'l':
		t.setModes(p, final == 'h')
		return
	case 'c':
		if p.at(0, 0) == 0 {
			t.reply("\x1b[?1;2c")
		}
		return
	case 'n':
		t.reportStatus(p.at(0, 0), false)
		return
	case 't':
		t.windowOperation(p)
		return
	default:
		return
	}
	t.endCluster()
	t.passControlSequence(p, 0, 0, commonFinal(final), body)
	t.passUnwrapped(waiting && final != 'H' && final != 'f' && final != 'G')
}

// commonFinal is the final byte of the sequence known to more terminals that
// does the same.
func commonFinal(final byte) byte {
	switch final {
	case 'a':
		return 'C'
	case '`':
		return 'G'
	}
	return final
}

// markedControl are the sequences with a private marker or an intermediate.
func (t *Terminal) markedControl(p *params, prefix, between, final byte) {
	switch [3]byte{prefix, between, final} {
	case [3]byte{'?', 0, 'h'}, [3]byte{'?', 0, 'l'}:
		t.setPrivateModes(p, final == 'h')
	case [3]byte{'?', 0, 'J'}, [3]byte{'?', 0, 'K'}:
		t.selectiveErase(p, final)
	case [3]byte{0, '"', 'q'}: // DECSCA
		switch p.at(0, 0) {
		case 0, 2:
			t.pen.attr &^= cellProtected
		case 1:
			t.pen.attr |= cellProtected
		}
	case [3]byte{'?', 0, 'W'}:
		if p.at(0, 0) == 5 {
			t.tabs = nil // DECST8C
			t.endCluster()
			t.passMarked(p, '?', 0, final)
		}
	case [3]byte{0, ' ', 'q'}:
		if n := p.at(0, 0); n <= 6 {
			t.modes.shape = n
			t.revision++
			t.endCluster()
			t.passMarked(p, 0, ' ', final)
		}
	case [3]byte{0, ' ', '@'}, [3]byte{0, ' ', 'A'}, [3]byte{0, '\'', '}'}, [3]byte{0, '\'', '~'}:
		t.shiftControl(p, between, final)
	case [3]byte{0, '!', 'p'}:
		t.softReset()
	case [3]byte{'>', 0, 'm'}:
		t.setKeyOptions(p)
	case [3]byte{'>', 0, 'u'}, [3]byte{'<', 0, 'u'}, [3]byte{'=', 0, 'u'}:
		t.setKitty(p, prefix)
	case [3]byte{'?', 0, 'u'}:
		t.replyKitty()
	case [3]byte{'?', 0, 'm'}:
		t.replyKeyOptions(p)
	case [3]byte{'>', 0, 'c'}:
		if p.at(0, 0) == 0 {
			t.reply("\x1b[>0;276;0c")
		}
	case [3]byte{'>', 0, 'q'}:
		if p.at(0, 0) == 0 {
			t.reply("\x1bP>|berth\x1b\\")
		}
	case [3]byte{'?', 0, 'n'}:
		t.reportStatus(p.at(0, 0), true)
	case [3]byte{0, '$', 'p'}, [3]byte{'?', '$', 'p'}:
		t.reportMode(prefix == '?', p.at(0, 0))
	}
}

// selectiveErase is DECSED or DECSEL: the erase that leaves protected cells alone.
func (t *Terminal) selectiveErase(p *params, final byte) {
	how := p.at(0, 0)
	selected := t.selected(how, final == 'J')
	protected := false
	for _, s := range selected {
		protected = protected || t.scr.rows[s.row].protected(s.from, s.to)
	}
	switch {
	case protected:
		for _, s := range selected {
			t.row(s.row).eraseSelected(s.from, s.to, t.pen.erased(), t.cols)
		}
		t.revision++
		t.endCluster()
		t.passRows(selected)
		return
	case final == 'J':
		t.eraseDisplay(how)
	default:
		t.eraseLine(how)
	}
	t.endCluster()
	t.passMarked(p, 0, 0, final)
}

// shiftControl is SL, SR, DECIC or DECDC.
func (t *Terminal) shiftControl(p *params, between, final byte) {
	x, n := 0, p.count()
	if between == '\'' {
		t.cancelWrap()
		x = t.scr.x
	}
	if final == '@' || final == '~' {
		n = -n
	}
	t.shiftRows(x, n)
	t.endCluster()
	t.passMarked(p, 0, between, final)
}

func (t *Terminal) setModes(p *params, on bool) {
	for i := range p.len {
		if n := p.at(i, 0); t.setMode(n, on) {
			t.endCluster()
			t.revision++
			t.passMode(n, on, false)
		}
	}
}

func (t *Terminal) setPrivateModes(p *params, on bool) {
	for i := range p.len {
		n := p.at(i, 0)
		known, toClients := t.setPrivateMode(n, on)
		if !known {
			continue
		}
		t.revision++
		if toClients {
			t.endCluster()
			t.passMode(n, on, true)
		}
	}
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	m := &t.modes
	m.insert, m.origin, m.appCursor, m.appKeypad = false, false, false, false
	m.cursor, m.wrap, m.reverseWrap = true, true, false
	t.pen = pen{}
	t.charsets, t.shift = [4]byte{'B', 'B', 'B', 'B'}, 0
	t.scr.top, t.scr.bottom = 0, t.rows-1
	t.scr.saved = savedCursor{}
	t.endCluster()
	t.passSoftReset()
	t.revision++
}
