package track

import (
	"time"

	"berth/agent"
)

// activityPace is the minimum time between two events about an agent's activity, because tools of a few
// milliseconds follow each other. At the end of this time the current activity gets its event.
const activityPace = time.Second

// Activity is the agent's activity as the last event has it. The zero value means: no event yet.
type Activity struct {
	what  agent.Activity
	at    time.Time // time of the last event; zero: none
	Again time.Time // when to check again; zero: at the next change
}

// Emitted records that an event has the activity.
func (t *Activity) Emitted(a *agent.Activity, now time.Time) {
	*t = Activity{at: now}
	if a != nil {
		t.what = *a
	}
}

// Next reports whether the activity needs an event now, and records it as emitted then.
func (t *Activity) Next(a *agent.Activity, now time.Time) bool {
	t.Again = time.Time{}
	switch due := t.at.Add(activityPace); {
	case a == nil || alike(*a, t.what):
		return false
	case now.Before(due):
		t.Again = due
		return false
	}
	t.Emitted(a, now)
	return true
}

// alike ignores the delay before a retry, because counting it down doesn't change the activity.
func alike(a, b agent.Activity) bool {
	a.DelayMS, b.DelayMS = 0, 0
	return a == b
}

// Known reports whether an event has an activity.
func (t *Activity) Known() bool { return !t.at.IsZero() }
