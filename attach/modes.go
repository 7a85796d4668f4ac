package attach

import (
	"strconv"

	"berth/terminal"
)

// inputModes are the modes of a terminal that change what it sends, and the
// reversal of its screen.
type inputModes struct {
	appCursor, appKeypad, newLine  bool
	paste, focus                   bool
	mouse                          terminal.MouseMode
	mouseSGR, scroll, reverseVideo bool
	kitty, modifyOther             int
}

// modesFor is what a client's terminal is put into for a program in m. A client
// that only looks on gets no mouse or focus reports, so that selecting text
// works as in any window; keys are encoded as the program wants them, since
// the first key may take the lease.
func modesFor(m terminal.Modes, mouse bool) inputModes {
	out := inputModes{
		appCursor: m.AppCursor, appKeypad: m.AppKeypad, newLine: m.NewLine,
		paste: m.BracketedPaste, reverseVideo: m.ReverseVideo,
		kitty: m.KittyFlags, modifyOther: m.ModifyOther,
	}
	if mouse {
		out.focus, out.mouse, out.mouseSGR, out.scroll = m.FocusEvents, m.Mouse, m.MouseSGR, m.AlternateScroll
	}
	return out
}

// appendModes writes what takes a terminal from one set of modes to another;
// from nil is from any.
func appendModes(b []byte, from *inputModes, to inputModes) []byte {
	if from != nil && *from == to {
		return b
	}
	b = appendPrivate(b, 1, to.appCursor)
	if to.appKeypad {
		b = append(b, "\x1b="...)
	} else {
		b = append(b, "\x1b>"...)
	}
	if to.newLine {
		b = append(b, "\x1b[20h"...)
	} else {
		b = append(b, "\x1b[20l"...)
	}
	b = appendPrivate(b, 5, to.reverseVideo)
	b = appendPrivate(b, 2004, to.paste)
	b = appendPrivate(b, 1004, to.focus)
	b = append(b, "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l"...)
	b = appendPrivate(b, 1006, to.mouseSGR)
	if to.mouse != terminal.MouseNone {
		b = appendPrivate(b, int(to.mouse), true)
	}
	b = appendPrivate(b, 1007, to.scroll)
	if from == nil || from.kitty != to.kitty {
		b = append(b, "\x1b[="...)
		b = strconv.AppendInt(b, int64(to.kitty), 10)
		b = append(b, ";1u"...)
	}
	if from == nil || from.modifyOther != to.modifyOther {
		b = append(b, "\x1b[>4;"...)
		b = strconv.AppendInt(b, int64(to.modifyOther), 10)
		b = append(b, 'm')
	}
	return b
}

func appendPrivate(b []byte, mode int, on bool) []byte {
	b = append(b, "\x1b[?"...)
	b = strconv.AppendInt(b, int64(mode), 10)
	if on {
		return append(b, 'h')
	}
	return append(b, 'l')
}

const (
	// titlePush keeps the client's window title, titlePop brings it back.
	titlePush = "\x1b[22;0t"
	titlePop  = "\x1b[23;0t"

	// marginReset ends region and origin mode; the cursor goes home with it.
	marginReset = "\x1b[r\x1b[?6l"

	// penReset ends what else changes how text is drawn: insert, wrap,
	// character sets, colours, link.
	penReset = "\x1b[4l\x1b[?7h\x1b(B\x1b)B\x0f\x1b[0m\x1b]8;;\x1b\\"

	// inputReset takes a terminal out of all modes a program may have set.
	// The kitty keyboard's stack is emptied: a pop of more than there is does
	// that, and the flags with it.
	inputReset = "\x1b[?1l\x1b>\x1b[20l\x1b[?5l\x1b[?2004l\x1b[?1004l" +
		"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1007l" +
		kittyReset + "\x1b[>4;0m"
	kittyReset = "\x1b[<99u"

	// plainReset is what a terminal that knows little is given instead.
	plainReset = "\x1b[r\x1b[0m"

	// colorReset takes back the colours a program has set.
	colorReset = "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"

	wrapOff     = "\x1b[?7l"
	syncBegin   = "\x1b[?2026h"
	syncEnd     = "\x1b[?2026l"
	cursorReset = "\x1b[0 q\x1b[?12l\x1b[?25h"

	enterAlternate = "\x1b[?1049h"
	leaveAlternate = "\x1b[?1049l"
)
