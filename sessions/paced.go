package sessions

import (
	"time"

	"berth/sessions/events"
	"berth/sessions/loop"
)

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
