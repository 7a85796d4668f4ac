package loop

import (
	"testing"
	"time"

	"berth/sessions/events"
)

// counted is the data of an event that sums up.
type counted struct {
	n int
	Repeated
}

func (c counted) After(earlier Paced) Paced {
	c.n, c.Repeated = c.n+earlier.(counted).n, Since(earlier)
	return c
}

// A caller in a loop makes so many events and then one a second, which have the sum of
// the others; the newest is written when the loop rests.
func TestPacedEvents(t *testing.T) {
	p, now := Paces{}, time.Unix(1000, 0)
	by := PacedBy{Kind: "input", Verb: "keys", Identity: "eve"}
	written, sum, untold := 0, 0, 0
	count := func(some []events.Event) {
		for _, e := range some {
			data := e.Data.(counted)
			written, sum, untold = written+1, sum+data.n, untold+data.Untold
		}
	}
	const loop = 10_000
	for i := range loop { // in five seconds
		count(p.Take(by, events.Event{Type: "input", Cause: uint64(i + 1)}, counted{n: 3}, now))
		now = now.Add(5 * time.Second / loop)
		if at := p.Due(); !at.IsZero() && !now.Before(at) {
			count(p.Ready(now))
		}
	}
	if written < PacedAtOnce+4 || written > PacedAtOnce+5 {
		t.Errorf("%d events are written", written)
	}
	if count(p.Ready(now.Add(PacedEvery))); sum != 3*loop || written+untold != loop {
		t.Errorf("%d events report %d as the sum and %d others", written, sum, untold)
	}
	if !p.Due().IsZero() {
		t.Error("one waits still")
	}
	for i := range 10 * IdentitiesKept {
		now = now.Add(2 * PacedEvery)
		p.Take(PacedBy{Kind: "input", Identity: string(rune('a' + i))}, events.Event{}, counted{}, now)
	}
	if len(p) > IdentitiesKept {
		t.Errorf("%d are kept", len(p))
	}
}

// What waits comes before a newer event of its kind, also of another Identity: the log
// never ends with an older one.
func TestPacedOrder(t *testing.T) {
	p, now := Paces{}, time.Unix(1000, 0)
	change := func(who string, n int) []events.Event {
		return p.Take(PacedBy{Kind: "writer_change", Identity: who}, events.Event{Type: "writer_change"}, counted{n: n}, now)
	}
	for range PacedAtOnce + 5 {
		change("eve", 1)
	}
	p.Take(PacedBy{Kind: "signal", Identity: "eve"}, events.Event{Type: "signal"}, counted{}, now)
	got := change("bob", 1000)
	if len(got) != 2 || got[0].Data.(counted).n != 5 || got[0].Data.(counted).Untold != 4 || got[1].Data.(counted).n != 1000 {
		t.Errorf("got %+v", got)
	}
}
