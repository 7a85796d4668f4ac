package life

import (
	"testing"
	"time"
)

// TestBackOff: the pause doubles up to a minute, over starts that fail as over
// programs that end, and begins anew after a program that ran for a while.
func TestBackOff(t *testing.T) {
	now := time.Unix(1e9, 0)
	var r restarts
	pause := func(what func(time.Time)) time.Duration {
		what(now)
		at, ok := r.due()
		if !ok {
			t.Fatal("no start is planned")
		}
		pause := at.Sub(now)
		now = at
		return pause
	}
	r.started(now)
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}
	for i, seconds := range want {
		if got := pause(r.plan); got != seconds*time.Second {
			t.Errorf("end %d: %v, want %d s", i, got, seconds)
		}
		r.started(now)
	}
	now = now.Add(ranWell + time.Second)
	for i, seconds := range want {
		what := r.failed
		if i == 0 {
			what = r.plan // the end of the program that ran
		}
		now = now.Add(10 * time.Second) // a failed start can take that long
		if got := pause(what); got != seconds*time.Second {
			t.Errorf("failed start %d: %v, want %d s", i, got, seconds)
		}
	}
}
