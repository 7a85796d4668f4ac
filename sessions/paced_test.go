package sessions

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"berth/api"
	"berth/sessions/events"
)

// A caller in a loop makes so many events and then one a second, which have the sum of
// the others; the newest is written when the loop rests.
func TestPacedEvents(t *testing.T) {
	p, now := paces{}, time.Unix(1000, 0)
	by := pacedBy{kind: "input", verb: "keys", identity: "eve"}
	written, bytes, untold := 0, 0, 0
	count := func(some []events.Event) {
		for _, e := range some {
			data := e.Data.(inputEvent)
			written, bytes, untold = written+1, bytes+data.Bytes, untold+data.Untold
		}
	}
	const loop = 10_000
	for i := range loop { // in five seconds
		count(p.take(by, events.Event{Type: "input", Cause: uint64(i + 1), Data: inputEvent{Bytes: 3}}, now))
		now = now.Add(5 * time.Second / loop)
		if at, some := p.next(); some && !now.Before(at) {
			count(p.due(now))
		}
	}
	if written < pacedAtOnce+4 || written > pacedAtOnce+5 {
		t.Errorf("%d events are written", written)
	}
	if count(p.due(now.Add(pacedEvery))); bytes != 3*loop || written+untold != loop {
		t.Errorf("%d events report %d bytes and %d others", written, bytes, untold)
	}
	if _, some := p.next(); some {
		t.Error("one waits still")
	}
	for i := range 10 * identitiesKept {
		now = now.Add(2 * pacedEvery)
		p.take(pacedBy{kind: "input", identity: string(rune('a' + i))}, events.Event{Data: inputEvent{}}, now)
	}
	if len(p) > identitiesKept {
		t.Errorf("%d are kept", len(p))
	}
}

// What waits comes before a newer event of its kind, also of another identity: the log
// never ends with an older one.
func TestPacedOrder(t *testing.T) {
	p, now := paces{}, time.Unix(1000, 0)
	change := func(who string, generation uint64) []events.Event {
		return p.take(pacedBy{kind: "writer_change", identity: who}, events.Event{Type: "writer_change", Data: writerEvent{Generation: generation}}, now)
	}
	for g := range uint64(pacedAtOnce + 5) {
		change("eve", g)
	}
	p.take(pacedBy{kind: "signal", identity: "eve"}, events.Event{Type: "signal", Data: signalEvent{}}, now)
	got := change("bob", 1000)
	if len(got) != 2 || got[0].Data.(writerEvent).Generation != pacedAtOnce+4 || got[0].Data.(writerEvent).Untold != 4 || got[1].Data.(writerEvent).Generation != 1000 {
		t.Errorf("got %+v", got)
	}
}

// What callers do in a loop: each kind's events are few, and the last in the log is what
// came of it.
func TestCallersInALoop(t *testing.T) {
	p := open(t)
	s := p.sh("one", "trap : USR1; stty -echo; while :; do read -r _; done")
	claim := Claim{Actor: tester, Verb: "keys"}
	const loop = 2 * pacedAtOnce
	began := time.Now()
	var last *api.Writer
	for i := range loop {
		var err error
		must := func(step error) {
			if t.Helper(); step != nil {
				t.Fatal(step)
			}
		}
		last, err = s.Lock(t.Context(), Claim{Actor: tester}, time.Minute)
		must(err)
		claim.Lease = last.Generation
		_, err = s.Press(t.Context(), claim, []string{"x"})
		must(err)
		must(s.Unlock(t.Context(), tester, last.Generation))
		must(s.Signal(t.Context(), claim, syscall.SIGUSR1))
		must(s.Resize(t.Context(), Claim{Actor: tester, Verb: "resize"}, 80+i%2, 24))
		tags := []string{"odd", "even"}
		must(s.Retag(t.Context(), tester, tags[i%2:i%2+1], tags[1-i%2:2-i%2]))
		must(p.reg.Rename(t.Context(), s, []string{"two", "one"}[i%2], tester))
	}
	p.reopen() // what waits is written first
	most := pacedAtOnce + 3 + int(time.Since(began)/pacedEvery)
	got := p.log(s.ID())
	for _, kind := range []string{"writer_change", "input", "signal", "resize", "tags", "renamed"} {
		lines := got[kind]
		if n := len(lines); n < pacedAtOnce || n > most {
			t.Errorf("%d events %s, want %d to %d", n, kind, pacedAtOnce, most)
		}
		told := len(lines)
		for _, line := range lines {
			var r repeated
			if err := json.Unmarshal(line.Raw, &r); err != nil {
				t.Fatal(err)
			}
			told += r.Untold
		}
		if kind != "writer_change" && kind != "resize" && told != loop { // a call's delivery is a change too
			t.Errorf("%s: %d are reported, want %d", kind, told, loop)
		}
	}
	var e writerEvent
	changes := got["writer_change"]
	if err := json.Unmarshal(changes[len(changes)-1].Raw, &e); err != nil || e.Generation < last.Generation || e.By != nil {
		t.Errorf("the last change is %+v, %v; want the release of %d", e, err, last.Generation)
	}
}
