package loop

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
	PacedAtOnce = 60
	PacedEvery  = time.Second
)

// Paced is the data of an event that can report those of its kind before it as well.
type Paced interface {
	// After is the data, which now also reports the earlier event of its kind.
	After(earlier Paced) Paced
	// Unwritten is the number of earlier events that it also reports.
	Unwritten() int
}

// Repeated reports events of the same kind and identity before an event that were too many to
// be written. The event has their sum, or what they led to.
type Repeated struct {
	Untold int `json:"untold"`
}

// Unwritten is the number of the events before.
func (r Repeated) Unwritten() int { return r.Untold }

// Since counts the earlier event and those that it reports.
func Since(earlier Paced) Repeated { return Repeated{earlier.Unwritten() + 1} }

// PacedBy is what events are counted together.
type PacedBy struct{ Kind, Verb, Identity, Fingerprint string }

// Paces are the counts of a session's events. An event that comes too soon waits, and the
// next of its kind takes its place and reports both.
type Paces map[PacedBy]*pace

type pace struct {
	Allowance
	waits events.Event // Data is nil when no event waits
	at    time.Time    // when waits happened
}

// Take gives the events to write now, oldest first. There are none if e comes too soon. Older
// events of e's kind that wait come first, also those of other identities, so that the newest
// event in the log is the newest that happened. Take sets e.Data to data.
func (p Paces) Take(by PacedBy, e events.Event, data Paced, now time.Time) []events.Event {
	one := p[by]
	if one == nil {
		if len(p) >= IdentitiesKept {
			p.forget(now)
		}
		one = &pace{Allowance: Full(PacedAtOnce, PacedEvery, now)}
		p[by] = one
	}
	e.Data = data
	if one.waits.Data != nil {
		e.Data = data.After(one.waits.Data.(Paced))
	}
	if !one.Allowance.Take(now) {
		one.waits, one.at = e, now
		return nil
	}
	one.waits = events.Event{}
	return append(p.waiting(func(other PacedBy, _ *pace) bool { return other.Kind == by.Kind }), e)
}

// Ready gives the events that have waited long enough.
func (p Paces) Ready(now time.Time) []events.Event {
	return p.waiting(func(_ PacedBy, one *pace) bool { return one.Allowance.Take(now) })
}

// All gives every event that waits.
func (p Paces) All() []events.Event {
	return p.waiting(func(PacedBy, *pace) bool { return true })
}

// waiting takes out the events that wait and that want names, the oldest first.
func (p Paces) waiting(want func(PacedBy, *pace) bool) (out []events.Event) {
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

// Due is when Ready gives an event; zero when none waits.
func (p Paces) Due() (at time.Time) {
	for _, one := range p {
		if one.waits.Data == nil {
			continue
		}
		if again := one.again(); at.IsZero() || again.Before(at) {
			at = again
		}
	}
	return at
}

// forget drops counts that are full again.
func (p Paces) forget(now time.Time) {
	for by, one := range p {
		if one.waits.Data == nil && one.Rested(now) {
			delete(p, by)
		}
	}
}
