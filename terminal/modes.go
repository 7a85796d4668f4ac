package terminal

import "time"

// modes are all switches of the terminal that are not per screen.
type modes struct {
	appCursor, appKeypad          bool
	paste, focus                  bool
	mouse                         MouseMode
	mouseSGR                      bool
	wrap, insert, origin, newLine bool
	reverse                       bool
	cursor                        bool
	blink                         bool // ATT610, kept apart from the shape
	alternateScroll               bool
	reverseWrap                   bool // BS goes on at the end of the row above
	modifyOther                   int
	theme                         bool
	shape                         int
	sync                          bool
	syncSince                     time.Time
}

func defaultModes() modes { return modes{wrap: true, cursor: true} }

// Modes are the modes in force.
func (t *Terminal) Modes() Modes {
	m := &t.modes
	out := Modes{
		AltScreen:       t.scr == t.alt,
		AppCursor:       m.appCursor,
		AppKeypad:       m.appKeypad,
		BracketedPaste:  m.paste,
		FocusEvents:     m.focus,
		Mouse:           m.mouse,
		MouseSGR:        m.mouseSGR,
		AutoWrap:        m.wrap,
		Insert:          m.insert,
		Origin:          m.origin,
		NewLine:         m.newLine,
		ReverseVideo:    m.reverse,
		KittyFlags:      t.kittyFlags(),
		ModifyOther:     m.modifyOther,
		ThemeUpdates:    m.theme,
		AlternateScroll: m.alternateScroll,
	}
	if t.tabs != nil {
		out.Tabs = append([]int{}, t.tabs...)
	}
	return out
}

// setMode sets an ANSI mode (CSI n h or l).
func (t *Terminal) setMode(n int, on bool) bool {
	switch n {
	case 4:
		t.modes.insert = on
	case 20:
		t.modes.newLine = on
	default:
		return false
	}
	return true
}

// setPrivateMode sets a DEC mode (CSI ? n h or l). known is false for modes
// this terminal does not have; toClients is false for those that stay between
// the program and Berth.
func (t *Terminal) setPrivateMode(n int, on bool) (known, toClients bool) {
	m := &t.modes
	switch n {
	case 1:
		m.appCursor = on
	case 5:
		m.reverse = on
	case 6:
		m.origin = on
		t.moveTo(0, 0)
	case 7:
		m.wrap = on
	case 9, 1000, 1002, 1003:
		if on {
			m.mouse = MouseMode(n)
		} else {
			m.mouse = MouseNone
		}
	case 12:
		m.blink = on
	case 25:
		m.cursor = on
	case 45:
		m.reverseWrap = on
		return true, false // clients get the cursor's new position
	case 66:
		m.appKeypad = on
	case 1004:
		m.focus = on
	case 1006:
		m.mouseSGR = on
	case 1007:
		m.alternateScroll = on
	case 2004:
		m.paste = on
	case 2026:
		t.setSync(on)
	case 2031:
		// The report it asks for is the server's to give: a client's
		// terminal would send it as input.
		m.theme = on
		return true, false
	case 47, 1047, 1049, 1048:
		t.setAltMode(n, on)
		return true, false // which sends clients the result
	default:
		return false, false
	}
	return true, true
}

func (t *Terminal) setSync(on bool) {
	if on && !t.InSync() {
		t.modes.syncSince = t.options.Now()
	}
	t.modes.sync = on
}

// setAltMode is the alternate screen and its companion, the saved cursor.
func (t *Terminal) setAltMode(n int, on bool) {
	t.endCluster()
	shown, modes := t.scr, t.modes
	withCursor := n != 47 && n != 1047
	switch {
	case on:
		if withCursor {
			t.saveCursor()
		}
		if n != 1048 {
			t.enterAlt()
		}
	default:
		if n != 1048 {
			t.leaveAlt()
		}
		if withCursor {
			t.restoreCursor()
		}
	}
	switch {
	case t.scr != shown:
		t.passSwitch(on)
	case withCursor && !on:
		t.passRestored(&modes)
	}
}

// enterAlt shows the alternate screen, empty, with the cursor where it was.
func (t *Terminal) enterAlt() {
	if t.scr == t.alt {
		return
	}
	t.alt.x, t.alt.y = t.main.x, t.main.y
	t.scr = t.alt
	t.holdInside()
	for y := range t.rows {
		t.eraseRow(y, t.pen.erased())
	}
}

func (t *Terminal) leaveAlt() {
	if t.scr == t.main {
		return
	}
	t.main.x, t.main.y = t.alt.x, t.alt.y
	t.scr = t.main
	t.holdInside()
	t.passKitty('<', len(t.alt.kitty)) // as leaving the screen does here
	t.alt.kitty = nil
	for y := range t.alt.rows {
		t.alt.rows[y] = &Line{}
	}
}

// modeState is what DECRQM reports: 1 set, 2 reset, 0 unknown, 3 or 4 for good.
func (t *Terminal) modeState(private bool, n int) int {
	m := &t.modes
	state := func(on bool) int {
		if on {
			return 1
		}
		return 2
	}
	if !private {
		switch n {
		case 4:
			return state(m.insert)
		case 20:
			return state(m.newLine)
		}
		return 0
	}
	switch n {
	case 1:
		return state(m.appCursor)
	case 5:
		return state(m.reverse)
	case 6:
		return state(m.origin)
	case 7:
		return state(m.wrap)
	case 9, 1000, 1002, 1003:
		return state(m.mouse == MouseMode(n))
	case 12:
		return state(m.blink)
	case 25:
		return state(m.cursor)
	case 45:
		return state(m.reverseWrap)
	case 47, 1047, 1049:
		return state(t.scr == t.alt)
	case 66:
		return state(m.appKeypad)
	case 1004:
		return state(m.focus)
	case 1006:
		return state(m.mouseSGR)
	case 1007:
		return state(m.alternateScroll)
	case 1048:
		return 1
	case 2004:
		return state(m.paste)
	case 2026:
		return state(m.sync)
	case 2027:
		return 3 // clusters always take the place of one
	case 2031:
		return state(m.theme)
	}
	return 0
}
