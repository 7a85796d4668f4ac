package sessions

import (
	"errors"
	"io"
	"math"

	"berth/sessions/hold"
	"berth/sessions/loop"
)

// recordsAtOnce bounds the control records held in memory while the output
// before them is read.
const recordsAtOnce = 1024

var errEnough = errors.New("enough records for now")

// catchUp applies what the holder has written since the last time. It stops
// after a batch and reports whether there is more.
func (c *core) catchUp() (more bool) {
	if c.link == nil {
		return false
	}
	ended := errors.Is(c.link.Err(), hold.ErrEnded) // asked first: then what follows is the last
	written, records := c.link.Written()
	if c.unread {
		records = math.MaxUint64
	}
	more = c.advance(written, records, loop.Batch)
	c.clients.PassOn()
	if more {
		return true
	}
	c.liveFrom = min(c.liveFrom, c.term.Offset()) // what cannot be read is not waited for
	c.unread = false
	if ended {
		c.unlink() // all that it had to say is applied
		return false
	}
	if offset := c.term.Offset(); c.woken || offset > c.consumed {
		c.woken, c.consumed = false, offset
		c.link.Consumed(offset)
	}
	return false
}

// sweep has all that the holder has written read, also what no wake tells of.
func (c *core) sweep() { c.unread = c.link != nil }

// replay applies all that lies in the journal, with no holder to ask.
func (c *core) replay() {
	_, written, err := c.output.Range()
	if err != nil {
		c.trouble("look at the output", err)
		return
	}
	for c.advance(written, math.MaxUint64, loop.Batch) {
	}
}

// advance applies control records in their order, each after the output that
// came before it, up to what the arguments say is there; at most budget bytes
// of output. It reports whether something is left.
func (c *core) advance(written int64, records uint64, budget int) (more bool) {
	buf := loop.Buffers.Get().(*loop.Buffer)
	defer loop.Buffers.Put(buf)
	for {
		c.readRecords(records)
		limit := written
		if len(c.pending) > 0 {
			limit = min(limit, c.pending[0].Offset)
		}
		offset := c.term.Offset()
		switch {
		case offset < limit && budget <= 0:
			return true
		case offset < limit:
			n, ok := c.read(buf[:min(int64(budget), limit-offset)])
			if !ok {
				return false
			}
			budget -= n
		case len(c.pending) > 0 && c.pending[0].Offset <= offset:
			record := c.pending[0]
			c.pending = c.pending[1:]
			c.apply(record)
			if !c.reviewing {
				c.prompts.Heed(record)
			}
		default:
			return false
		}
	}
}

// readRecords reads the control log up to record number upTo once all that
// was read before is applied.
func (c *core) readRecords(upTo uint64) {
	if len(c.pending) > 0 || c.recordsRead >= upTo {
		return
	}
	c.pending = nil
	err := c.records(func(r hold.Record) error {
		c.pending = append(c.pending, r)
		if len(c.pending) >= recordsAtOnce {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		c.trouble("read the control log", err)
	}
}

// read feeds the emulator with the next output, at most len(buf) bytes. It is
// false when there is none to be had for now.
func (c *core) read(buf []byte) (n int, ok bool) {
	offset := c.term.Offset()
	n, err := c.readOutput(buf, offset)
	var trimmed *hold.TrimmedError
	switch {
	case errors.As(err, &trimmed):
		c.skip(offset, trimmed.First)
		return 0, trimmed.First > offset
	case n == 0:
		if err != nil && !errors.Is(err, io.EOF) {
			c.trouble("read the output", err)
		}
		return 0, false
	}
	_, _ = c.term.Write(buf[:n]) // never fails
	if !c.reviewing {
		c.track.Output(buf[:n], offset)
	}
	if !c.reviewing && offset >= c.liveFrom {
		c.lastOut = c.now()
	}
	c.cured("read the output")
	c.track.Printed()
	c.active()
	return n, true
}

// records reads the control records after the last one read.
func (j *journal) records(fn func(hold.Record) error) error {
	if j.link == nil {
		err := j.control.Read(fn)
		j.recordsRead = j.control.Last()
		return err
	}
	return j.link.ReadControl(j.recordsRead, func(r hold.Record) error {
		j.recordsRead = r.N
		return fn(r)
	})
}

func (j *journal) readOutput(buf []byte, offset int64) (int, error) {
	if j.link != nil {
		return j.link.ReadOutput(buf, offset)
	}
	return j.output.ReadAt(buf, offset)
}

// skip goes over output that is not to be had: deleted as old while nobody
// read it, or lost to a full disk. A sequence cut in two by that is cancelled.
func (c *core) skip(from, to int64) {
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
