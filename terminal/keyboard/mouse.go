package keyboard

import (
	"strconv"
	"strings"
)

// MouseEvent is a button that was pressed or let go, a turn of the wheel, or a move.
type MouseEvent struct {
	Button   int // Left, Middle, Right, WheelUp or WheelDown; Unnamed if the terminal doesn't say which was let go
	What     int // Press, Release or Move
	Col, Row int // from 0
	Mods     int // Shift, Alt, Ctrl
}

// Buttons of a MouseEvent. Others are numbered as xterm does, without modifiers.
const (
	Left      = 0
	Middle    = 1
	Right     = 2
	Unnamed   = 3
	WheelUp   = 64
	WheelDown = 65
)

// Move is the What of a MouseEvent that is only a move.
const Move = 4

// Bits of the number that xterm sends for a mouse event.
const (
	mouseShift  = 4
	mouseAlt    = 8
	mouseCtrl   = 16
	mouseMoves  = 32
	mouseWheel  = 64
	mouseOffset = 32 // added to the numbers of X10 and urxvt
)

// DecodeMouse reads a mouse event in each of its three forms: SGR (1006) `CSI < b ; x ; y M` or `m`, X10
// (9, 1000) `CSI M` with three bytes, and urxvt (1015) `CSI b ; x ; y M`. ok is false for any other
// sequence, and for a place that the form can't express.
func DecodeMouse(seq []byte) (e MouseEvent, ok bool) {
	if Classify(seq) != Mouse {
		return e, false
	}
	var b, x, y int
	final := seq[len(seq)-1]
	switch seq[2] {
	case 'M':
		b, x, y = int(seq[3])-mouseOffset, int(seq[4])-mouseOffset, int(seq[5])-mouseOffset
		final = 'M'
	default:
		fields := strings.Split(strings.TrimPrefix(string(seq[2:len(seq)-1]), "<"), ";")
		if len(fields) != 3 {
			return e, false
		}
		for i, n := range []*int{&b, &x, &y} {
			v, err := strconv.Atoi(fields[i])
			if err != nil || v < 0 || v > 1<<15 {
				return e, false
			}
			*n = v
		}
		if seq[2] != '<' {
			b -= mouseOffset
		}
	}
	if b < 0 || x < 1 || y < 1 {
		return e, false
	}
	e = MouseEvent{Button: b &^ (mouseShift | mouseAlt | mouseCtrl | mouseMoves), What: Press, Col: x - 1, Row: y - 1}
	for bit, mod := range map[int]int{mouseShift: Shift, mouseAlt: Alt, mouseCtrl: Ctrl} {
		if b&bit != 0 {
			e.Mods |= mod
		}
	}
	switch {
	case b&mouseMoves != 0:
		e.What = Move
	case e.Button&mouseWheel != 0:
		if final == 'm' { // a wheel isn't let go
			return e, false
		}
	case final == 'm', e.Button == Unnamed:
		e.What = Release
	}
	return e, true
}
