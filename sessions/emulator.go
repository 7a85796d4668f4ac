package sessions

import (
	"strings"

	"berth/sessions/loop"
	"berth/sessions/track"
	"berth/terminal"
)

// termOptions are those of the session's emulator.
func (c *core) termOptions() terminal.Options {
	return terminal.Options{
		Cols: c.spec.Cols, Rows: c.spec.Rows, Scrollback: c.spec.Limits.Scrollback, Clipboard: c.s.reg.options.Clipboard, Now: c.s.reg.now,
		Handlers: terminal.Handlers{
			Reply:  c.reply,
			Title:  c.titled,
			Notice: c.noticed,
		},
	}
}

// titled and noticed pass on what the program tells its terminal.
func (c *core) titled(title string) {
	c.dirty = true
	c.track.Title(title)
}

func (c *core) noticed(n terminal.Notice) {
	if !c.reviewing {
		c.track.Notice(n.OSC, n.Payload)
	}
}

// reply answers the program's query of its terminal, unless that was done
// before or is a replay. The holder has the last word: it types each answer
// once, and none that is late.
func (c *core) reply(data []byte, at int64) {
	if c.link() == nil || at <= c.replyAt {
		return
	}
	c.replyAt = at
	c.link().Reply(data, at)
}

// restoreTerm gives the session the emulator of a checkpoint, or a new one.
func (c *core) restoreTerm(from loop.Checkpoint) {
	options := c.termOptions()
	if len(from.Screen) > 0 {
		term, err := terminal.Restore(options, from.Screen)
		if err == nil {
			c.term, c.applied = term, from.Control
			return
		}
		c.trouble("restore the screen from its checkpoint", err)
	}
	c.term, c.applied = terminal.New(options), 0
}

// freshStart puts the emulator into the state of a new terminal but for its
// history, when a program starts anew in an old session: normal screen, soft
// reset, mouse and other modes off, no title, below what was there.
const freshStart = "\x18\x1b]0;\x07\x1b[?1049l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<99u\x1b[>4;0m\x1b[0m\x1b[r\x1b[999;1H\r\n"

// freshTerm makes the emulator ready for a new program.
func (c *core) freshTerm(first bool, cols, rows int) {
	if !first {
		at := c.term.Offset()
		_, _ = c.term.Write([]byte(freshStart)) // never fails
		if track.ReadsScreen(c.s.reg.driver(c.spec)) {
			c.scrollOut()
		}
		c.term.SetOffset(at)
	}
	c.resizeTerm(cols, rows)
}

// scrollOut moves what is on the screen into the history. A driver reads the
// screen: a dialog that the program before left there would be taken for one
// of its own.
func (c *core) scrollOut() {
	lines := c.term.Snapshot(0).Lines
	used := len(lines)
	for used > 0 && strings.TrimSpace(lines[used-1].Text()) == "" {
		used--
	}
	_, _ = c.term.Write([]byte("\x1b[999;1H" + strings.Repeat("\n", used) + "\x1b[H")) // never fails
}

// resizeTerm gives the emulator another size. Clients that follow get the last
// bytes of the old size first and are repainted then.
func (c *core) resizeTerm(cols, rows int) {
	c.spec.Cols, c.spec.Rows = cols, rows
	if oldCols, oldRows := c.term.Size(); oldCols == cols && oldRows == rows {
		return
	}
	c.clients.PassOn()
	c.term.Resize(cols, rows)
	c.clients.Resized()
	c.dirty = true
}

// unsettled says that the picture is none to show: a synchronized update is
// under way, or what the last server saw is still being read again. A picture
// from before that would take a client back in time.
func (c *core) unsettled() bool {
	return c.term != nil && (c.term.InSync() || c.journal.Past())
}

// whenSettled runs fn now, or when there is a picture to show.
func (c *core) whenSettled(fn func()) {
	if !c.unsettled() {
		fn()
		return
	}
	c.settling = append(c.settling, fn)
}

func (c *core) settle() {
	if len(c.settling) == 0 || c.unsettled() {
		return
	}
	ready := c.settling
	c.settling = nil
	for _, fn := range ready {
		fn()
	}
}

// takeOutput feeds the emulator with output.
func (c *core) takeOutput(data []byte, live bool) {
	offset := c.term.Offset()
	_, _ = c.term.Write(data) // never fails
	if !c.reviewing {
		c.track.Output(data, offset)
		if live {
			c.lastOut = c.now()
		}
	}
	c.track.Printed()
	c.active()
}

// skip goes over output that is gone. A sequence cut in two by that is cancelled.
func (c *core) skip(to int64) {
	from := c.term.Offset()
	_, _ = c.term.Write([]byte{can}) // never fails
	c.term.SetOffset(to)
	c.dirty = true
	c.log.Warn("output is gone", "from", from, "to", to)
}

// can is CAN, which ends any escape sequence.
const can = 0x18
