package sessions

import (
	"berth/sessions/hold"
	"berth/sessions/loop"
)

func (c *core) journalEnv() loop.JournalEnv {
	return loop.JournalEnv{
		Offset: func() int64 { return c.term.Offset() }, Output: c.takeOutput, Skip: c.skip, Record: c.takeRecord,
		Passed: func() { c.clients.PassOn() }, Unlinked: func() { c.dirty = true },
		Trouble: c.trouble, Cured: c.cured,
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

// takeRecord takes in a control record.
func (c *core) takeRecord(r hold.Record) {
	c.apply(r)
	if !c.reviewing {
		c.prompts.Heed(r)
	}
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

// active notes that something went in or out: the foreground may have changed.
func (c *core) active() {
	c.track.Active()
	c.moved = true
}

// trouble notes a failure that the session survives; health shows it.
func (c *core) trouble(what string, err error) {
	text := "could not " + what + ": " + err.Error()
	if c.problem == text {
		return
	}
	c.problem, c.problemOf, c.dirty = text, what, true
	c.log.Error("could not "+what, "error", err)
}

// cured takes back a failure once the same thing has worked.
func (c *core) cured(what string) {
	if c.problemOf == what {
		c.problem, c.problemOf, c.dirty = "", "", true
	}
}
