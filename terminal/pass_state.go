package terminal

import "unicode/utf8"

// What follows is sent to clients explicitly, where terminals differ about what a
// sequence comes to or where it depends on what a client may not have seen.

// passUnwrapped sends the column when the cursor was waiting to wrap before the
// sequence just passed: terminals differ about where it waits.
func (t *Terminal) passUnwrapped(waiting bool) {
	if waiting {
		t.passColumn()
	}
}

// passCut ends a cluster on clients' terminals, by telling them what they know.
func (t *Terminal) passCut() {
	switch {
	case t.scr.x < t.cols:
		t.passColumn()
	default: // a movement would end the waiting to wrap
		if t.pass.room() {
			t.pass.out = appendMode(t.pass.out, 7, t.modes.wrap, true)
		}
	}
}

// passJoined passes on a rune that has joined the cluster before it. When other
// things were passed since the cluster's runes, or a client may have begun since,
// the cluster is written anew: what one terminal lets a cluster go on after,
// another does not.
func (t *Terminal) passJoined(r rune) {
	p := &t.pass
	if !p.on || !p.able() {
		return
	}
	if p.mark > 0 && p.mark == len(p.out) {
		p.out = utf8.AppendRune(p.out, r)
		p.mark = len(p.out)
		return
	}
	painter := t.passPainter()
	painter.style = t.pen.style()
	if t.modes.insert {
		painter.add("\x1b[4l")
	}
	painter.cellBefore(t)
	painter.setStyle(t.pen.style())
	if t.modes.insert {
		painter.add("\x1b[4h")
	}
	p.out, p.mark = painter.out, 0
}

// passWaiting has clients' terminals wait to wrap as this one does: some do not
// begin to while autowrap is off.
func (t *Terminal) passWaiting() {
	if t.scr.x < t.cols {
		return
	}
	p := t.passPainter()
	p.style = t.pen.style()
	p.lastCell(t)
	p.setStyle(t.pen.style())
	t.pass.out = p.out
	t.pass.cut, t.pass.join = true, joiner{}
}

// passReset passes RIS on as a reset that keeps the client's own history.
func (t *Terminal) passReset() {
	if t.pass.on && t.pass.room() {
		t.pass.out = append(append(t.pass.out, resetSequence...), "\x1b[?2026l\x1b]2;\x1b\\"...)
	}
}

// passSoftReset spells DECSTR out: terminals differ about what belongs to it,
// and for some it is a reset of everything.
func (t *Terminal) passSoftReset() {
	if t.pass.on && t.pass.room() {
		p := t.passPainter()
		p.add(softResetSequence + "\x1b]8;;\x1b\\")
		t.passSettled(p)
	}
}

// passAlignment passes DECALN on, which takes back margins on some terminals.
func (t *Terminal) passAlignment() {
	if t.pass.on && t.pass.room() {
		p := t.passPainter()
		p.add("\x1b#8\x1b[?6l\x1b[r")
		p.margins(t.scr, t.rows)
		p.place(t)
		t.pass.out = p.out
	}
}

// passPainter adds to the stream what a repaint would.
func (t *Terminal) passPainter() *painter { return &painter{out: t.pass.out, cols: t.cols} }

// passRestored sends explicitly what DECRC restored. What clients' terminals
// save and restore is their own: it differs between them, and a client that
// came later has not seen what was saved. before is what the modes were.
func (t *Terminal) passRestored(before *modes) {
	if !t.pass.on || !t.pass.room() {
		return
	}
	p := t.passPainter()
	if before.origin {
		p.add("\x1b[?6l")
	}
	p.pen(t.pen.style())
	t.passSettled(p)
}

// passRows paints rows anew, where no sequence that clients' terminals know comes
// to the same.
func (t *Terminal) passRows(rows []span) {
	if !t.pass.on || !t.pass.room() {
		return
	}
	p := t.passPainter()
	p.style = t.pen.style()
	if t.modes.insert {
		p.add("\x1b[4l")
	}
	if t.modes.origin {
		p.add("\x1b[?6l")
	}
	for _, r := range rows {
		p.setStyle(Style{})
		p.move(r.row, 0)
		p.add("\x1b[2K")
		p.line(t.scr.rows[r.row])
	}
	if t.modes.insert {
		p.add("\x1b[4h")
	}
	t.passSettled(p)
}

// passSwitch passes a change of the screen on, with all that a client's terminal
// may keep for each screen or may not, and what it may restore with the switch.
func (t *Terminal) passSwitch(enter bool) {
	if !t.pass.on || !t.pass.room() {
		return
	}
	m := &t.modes
	p := t.passPainter()
	p.mode(1049, enter)
	p.add("\x1b[?6l\x1b[r")
	p.margins(t.scr, t.rows)
	p.mode(5, m.reverse)
	p.mode(7, m.wrap)
	p.pen(t.pen.style())
	if enter && t.pen.bg != DefaultColor {
		p.add(eraseSequence)
	}
	t.passSettled(p)
}

// passSettled ends what p has painted with the cursor and the pen.
func (t *Terminal) passSettled(p *painter) {
	p.place(t)
	p.lastCell(t)
	p.setStyle(t.pen.style())
	t.pass.out = p.out
	t.pass.cut, t.pass.join = t.scr.x >= t.cols, joiner{}
}
