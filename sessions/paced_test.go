package sessions

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"berth/api"
	"berth/sessions/loop"
)

// What callers do in a loop: each kind's events are few, and the last in the log is what
// came of it.
func TestCallersInALoop(t *testing.T) {
	p := open(t)
	s := p.sh("one", "trap : USR1; stty -echo; echo ready; while :; do read -r _; done")
	shows(t, s, "ready") // the signal doesn't end it then
	claim := Claim{Actor: tester, Verb: "keys"}
	const times = 2 * loop.PacedAtOnce
	began := time.Now()
	var last *api.Writer
	for i := range times {
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
	most := loop.PacedAtOnce + 3 + int(time.Since(began)/loop.PacedEvery)
	got := p.log(s.ID())
	for _, kind := range []string{"writer_change", "input", "signal", "resize", "tags", "renamed"} {
		lines := got[kind]
		if n := len(lines); n < loop.PacedAtOnce || n > most {
			t.Errorf("%d events %s, want %d to %d", n, kind, loop.PacedAtOnce, most)
		}
		told := len(lines)
		for _, line := range lines {
			var r loop.Repeated
			if err := json.Unmarshal(line.Raw, &r); err != nil {
				t.Fatal(err)
			}
			told += r.Untold
		}
		if kind != "writer_change" && kind != "resize" && told != times { // a call's delivery is a change too
			t.Errorf("%s: %d are reported, want %d", kind, told, times)
		}
	}
	var e struct {
		By         *api.Writer `json:"by"`
		Generation uint64      `json:"generation"`
	}
	changes := got["writer_change"]
	if err := json.Unmarshal(changes[len(changes)-1].Raw, &e); err != nil || e.Generation < last.Generation || e.By != nil {
		t.Errorf("the last change is %+v, %v; want the release of %d", e, err, last.Generation)
	}
}

// A name and tags that others were too many before are what those led to.
func TestEventAfterAnother(t *testing.T) {
	one := loop.Repeated{Untold: 1}
	if got := (renamedEvent{From: "b"}).After(renamedEvent{From: "a"}); got != (renamedEvent{From: "a", Repeated: one}) {
		t.Errorf("%+v", got)
	}
	got, ok := tagsEvent{Tags: []string{"b"}}.After(tagsEvent{Tags: []string{"a"}}).(tagsEvent)
	if !ok || len(got.Tags) != 1 || got.Tags[0] != "b" || got.Repeated != one {
		t.Errorf("%+v", got)
	}
}
