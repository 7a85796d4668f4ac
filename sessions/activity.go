package sessions

import (
	"time"

	"berth/agent"
)

// activityPace is the least time between two events about what a working agent
// does: tools of a few milliseconds follow each other. What it does by the end
// of that time is told.
const activityPace = time.Second

// activityTold is what watchers know of it.
type activityTold struct {
	what  agent.Activity
	at    time.Time // zero: nothing is known to them
	again time.Time // when it is to be looked at again; zero: at the next change
}

// tells keeps that an event told of it.
func (t *activityTold) tells(a *agent.Activity, now time.Time) {
	*t = activityTold{at: now}
	if a != nil {
		t.what = *a
	}
}

// next says whether that is to be told now.
func (t *activityTold) next(a *agent.Activity, now time.Time) bool {
	t.again = time.Time{}
	switch due := t.at.Add(activityPace); {
	case a == nil || alike(*a, t.what):
		return false
	case now.Before(due):
		t.again = due
		return false
	}
	t.tells(a, now)
	return true
}

// alike: the delay before another attempt is counted down, which is no news.
func alike(a, b agent.Activity) bool {
	a.DelayMS, b.DelayMS = 0, 0
	return a == b
}

// tellActivity makes an event of what the agent does, if that has changed since
// the last one. Its state's own event tells what it began with.
func (c *core) tellActivity(now time.Time) {
	d := c.detection
	if !d.awake || c.state != agent.Working {
		d.told.again = time.Time{}
		return
	}
	does := d.fold.Status().Activity
	if d.told.at.IsZero() { // a server before this one told what it was
		d.told.tells(does, now)
	}
	if d.told.next(does, now) {
		c.note("activity", activityEvent{Activity: *does})
	}
}
