package track

import (
	"time"

	"berth/agent"
)

// activityPace is the least time between two events about what a working agent
// does: tools of a few milliseconds follow each other. What it does by the end
// of that time has its event.
const activityPace = time.Second

// Activity is what watchers know of what the agent does. The zero value is that they know
// nothing.
type Activity struct {
	what  agent.Activity
	at    time.Time // zero: nothing is known to them
	Again time.Time // when it is to be looked at again; zero: at the next change
}

// Tells keeps that an event has it.
func (t *Activity) Tells(a *agent.Activity, now time.Time) {
	*t = Activity{at: now}
	if a != nil {
		t.what = *a
	}
}

// Next says whether that is to have an event now.
func (t *Activity) Next(a *agent.Activity, now time.Time) bool {
	t.Again = time.Time{}
	switch due := t.at.Add(activityPace); {
	case a == nil || alike(*a, t.what):
		return false
	case now.Before(due):
		t.Again = due
		return false
	}
	t.Tells(a, now)
	return true
}

// alike: the delay before another attempt is counted down, which is no news.
func alike(a, b agent.Activity) bool {
	a.DelayMS, b.DelayMS = 0, 0
	return a == b
}

// Known says that watchers know something.
func (t *Activity) Known() bool { return !t.at.IsZero() }
