package sessions

import (
	"time"

	"berth/agent"
)

// tellActivity makes an event of what the agent does, if that has changed since
// the last one. Its state's own event tells what it began with.
func (c *core) tellActivity(now time.Time) {
	d := c.detection
	if !d.awake || c.state != agent.Working {
		d.told.Again = time.Time{}
		return
	}
	does := d.fold.Status().Activity
	if !d.told.Known() { // a server before this one told what it was
		d.told.Tells(does, now)
	}
	if d.told.Next(does, now) {
		c.note("activity", activityEvent{Activity: *does})
	}
}
