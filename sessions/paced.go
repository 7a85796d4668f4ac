package sessions

import (
	"slices"
	"time"

	"berth/sessions/events"
)

// Bounds of the events that one identity causes in a session by one verb, so that a
// client in a loop does not push other events out of the log. At some 400 bytes an event
// a loop that never ends fills the log's 256 MiB in a week. Typing makes one event a
// second and is never held back.
const (
	pacedAtOnce = 60
	pacedEvery  = time.Second
)

// repeatable is the data of an event that can report those of its kind before it as well.
type repeatable interface{ repeats() int }

// repeats is the number of earlier events that this event also reports.
func (r repeated) repeats() int { return r.Untold }

// pacedBy is what events are counted together.
type pacedBy struct{ kind, verb, identity, fingerprint string }

// paces are the counts of a session's events. An event that comes too soon waits, and the
// next of its kind takes its place and reports both.
type paces map[pacedBy]*pace

type pace struct {
	allowance
	waits events.Event // Data is nil when no event waits
	at    time.Time    // when waits happened
}

// take gives the events to write now, in the order in which they happened: none where e
// comes too soon. Older events of e's kind that wait come first, also those of other
// identities: the newest event in the log is the newest that happened.
func (p paces) take(by pacedBy, e events.Event, now time.Time) []events.Event {
	one := p[by]
	if one == nil {
		if len(p) >= identitiesKept {
			p.forget(now)
		}
		one = &pace{allowance: full(pacedAtOnce, pacedEvery, now)}
		p[by] = one
	}
	if one.waits.Data != nil {
		e.Data = merged(e.Data.(repeatable), one.waits.Data.(repeatable))
	}
	if !one.take(now) {
		one.waits, one.at = e, now
		return nil
	}
	one.waits = events.Event{}
	return append(p.waiting(func(other pacedBy, _ *pace) bool { return other.kind == by.kind }), e)
}

// due gives the events that have waited long enough.
func (p paces) due(now time.Time) []events.Event {
	return p.waiting(func(_ pacedBy, one *pace) bool { return one.take(now) })
}

// all gives every event that waits.
func (p paces) all() []events.Event {
	return p.waiting(func(pacedBy, *pace) bool { return true })
}

// waiting takes out the events that wait and that want names, the oldest first.
func (p paces) waiting(want func(pacedBy, *pace) bool) (out []events.Event) {
	var some []*pace
	for by, one := range p {
		if one.waits.Data != nil && want(by, one) {
			some = append(some, one)
		}
	}
	slices.SortFunc(some, func(a, b *pace) int { return a.at.Compare(b.at) })
	for _, one := range some {
		out = append(out, one.waits)
		one.waits = events.Event{}
	}
	return out
}

// next is when due gives an event; false when none waits.
func (p paces) next() (at time.Time, some bool) {
	for _, one := range p {
		if one.waits.Data == nil {
			continue
		}
		if again := one.again(); !some || again.Before(at) {
			at, some = again, true
		}
	}
	return at, some
}

// forget drops counts that are full again.
func (p paces) forget(now time.Time) {
	for by, one := range p {
		if one.waits.Data == nil && one.rested(now) {
			delete(p, by)
		}
	}
}

// paced writes an event that a caller of the verb caused, or lets it wait. Record is the
// control record that it comes from; zero: none.
func (c *core) paced(record uint64, kind, verb string, by By, data repeatable) {
	if record != 0 && record <= c.told {
		return
	}
	c.told = max(c.told, record)
	e := events.Event{Type: kind, Cause: record, Data: data}
	c.appendSome(c.paces.take(pacedBy{kind, verb, by.Identity, by.Fingerprint}, e, c.now()))
}

// flushPaced writes the events that have waited long enough.
func (c *core) flushPaced(now time.Time) { c.appendSome(c.paces.due(now)) }

// flushAllPaced writes every event that waits: a checkpoint or an end follows, and no
// server makes these events again.
func (c *core) flushAllPaced() {
	c.flushTyping(c.now(), true)
	c.appendSome(c.paces.all())
}

func (c *core) appendSome(some []events.Event) {
	for _, e := range some {
		c.append(e)
	}
}

// merged is e, which now also reports the earlier event of its kind.
func merged(e, before repeatable) repeatable {
	untold := before.repeats() + 1
	switch e := e.(type) {
	case inputEvent:
		e.Bytes, e.Untold = e.Bytes+before.(inputEvent).Bytes, untold
		return e
	case renamedEvent:
		e.From, e.Untold = before.(renamedEvent).From, untold
		return e
	case resizeEvent:
		e.Untold = untold
		return e
	case signalEvent:
		e.Untold = untold
		return e
	case writerEvent:
		e.Untold = untold
		return e
	case tagsEvent:
		e.Untold = untold
		return e
	}
	return e
}
