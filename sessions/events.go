package sessions

import (
	"time"

	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// event writes an event that a control record caused, unless that record has
// made one before.
func (c *core) event(r hold.Record, kind string, data any) {
	if r.N != 0 && r.N <= c.told {
		return
	}
	c.append(events.Event{Type: kind, Cause: r.N, Data: data})
	c.told = max(c.told, r.N)
}

// note writes an event that the server itself caused.
func (c *core) note(kind string, data any) uint64 {
	return c.append(events.Event{Type: kind, Data: data})
}

func (c *core) append(e events.Event) uint64 {
	e.Session, e.ID = c.spec.Name, c.s.id
	done, err := c.s.reg.events.Append(e)
	c.dirty = true
	if err != nil {
		c.trouble("write an event", err)
		return done.Seq
	}
	c.cured("write an event")
	return done.Seq
}

// appendAll writes events of this session in one step.
func (c *core) appendAll(batch []events.Event) []events.Event {
	for i := range batch {
		batch[i].Session, batch[i].ID = c.spec.Name, c.s.id
	}
	done, err := c.s.reg.events.AppendAll(batch...)
	if err != nil {
		c.trouble("write an event", err)
		return done
	}
	c.cured("write an event")
	return done
}

// nextEvent is the number of the session's next event.
func (c *core) nextEvent() uint64 { return c.s.reg.events.LastSeq(c.s.id) + 1 }

// paced writes an event that a caller of the verb caused, or lets it wait. Record is the
// control record that it comes from; zero: none.
func (c *core) paced(record uint64, kind, verb string, by By, data loop.Paced) {
	if record != 0 && record <= c.told {
		return
	}
	c.told = max(c.told, record)
	e := events.Event{Type: kind, Cause: record}
	c.appendSome(c.paces.Take(loop.PacedBy{Kind: kind, Verb: verb, Identity: by.Identity, Fingerprint: by.Fingerprint}, e, data, c.now()))
}

// flushPaced writes the events that have waited long enough.
func (c *core) flushPaced(now time.Time) { c.appendSome(c.paces.Ready(now)) }

// flushAllPaced writes every event that waits: a checkpoint or an end follows, and no
// server makes these events again.
func (c *core) flushAllPaced() {
	c.clients.Gather()
	c.appendSome(c.paces.All())
}

func (c *core) appendSome(some []events.Event) {
	for _, e := range some {
		c.append(e)
	}
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

// active notes that something went in or out: the foreground may have changed.
func (c *core) active() {
	c.track.Active()
	c.moved = true
}

// onClock is a moment that a file reports, as the loop's own clock has it.
func (c *core) onClock(at time.Time) time.Time { return loop.Env{Now: c.now}.OnClock(at) }
