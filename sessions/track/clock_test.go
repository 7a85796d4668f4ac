package track

import (
	"testing"
	"time"

	"berth/sessions/loop"
)

// TestClockSetBack: the clock was set back by two hours after a record was written. New facts count from now,
// not in two hours.
func TestClockSetBack(t *testing.T) {
	env := loop.Env{Now: time.Now}
	d := &detection{}
	begun := time.Now()
	first := d.clock(env.OnClock(begun.Round(0).Add(2 * time.Hour)))
	if ahead := first.Sub(begun); ahead < 0 || ahead > time.Minute {
		t.Errorf("the first fact is of %s after it came", ahead)
	}
	second := d.clock(env.OnClock(time.Now().Round(0)))
	if third := d.clock(env.Now()); second.Before(first) || !third.After(first) || third.Sub(begun) > time.Minute {
		t.Errorf("%s, %s, %s", first, second, third)
	}
	hour := begun.Round(0).Add(-time.Hour)
	if at := env.OnClock(hour); !at.Round(0).Equal(hour) || begun.Sub(at) < time.Hour-time.Minute {
		t.Errorf("an hour before %s is %s", begun, at)
	}
}
