package sessions

import (
	"context"
	"time"
)

// settleEvery is how often the loop looks whether a synchronized update has ended, while a client
// waits for that.
const settleEvery = 10 * time.Millisecond

// run is the session's loop. It ends with ctx; the program does not.
func (c *core) run(ctx context.Context) {
	defer close(c.s.over)
	defer c.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	c.clients.Start()
	c.outbox.Carry()
	c.publish()
	for {
		c.clients.CloseFastPath()
		more := c.journal.CatchUp()
		c.tick(c.now())
		c.publish()
		if c.removed {
			return
		}
		pause := time.Duration(0) // calls are looked at between two pieces of a flood
		if !more {
			pause = c.pause(c.now())
		}
		timer.Reset(pause)
		c.clients.OpenFastPath()
		select {
		case call := <-c.s.calls:
			c.clients.CloseFastPath()
			call(c)
		case <-c.clients.Poked():
			c.clients.LookAtWindows()
		case <-c.s.stirred:
			c.track.Stir()
		case <-c.journal.Wake():
			c.journal.Woken()
		case <-timer.C:
		case <-ctx.Done():
			c.clients.CloseFastPath()
			c.flushAllPaced()
			c.save()
			return
		}
	}
}

// tick does what is due by the clock.
func (c *core) tick(now time.Time) {
	c.settle()
	c.flushPaced(now)
	c.partsDue = c.parts.Tick(now)
	c.reconnect(now)
	c.judgeEnd(now)
	c.limits(now)
	c.saveIfDue(now)
	if c.pictureIsIdle() && now.Sub(c.pictureAge) > dropPicture {
		c.dropPicture()
	}
}

// pause is how long nothing is due.
func (c *core) pause(now time.Time) time.Duration {
	if c.journal.Unread() {
		return 0
	}
	next := time.Hour
	due := func(at time.Time) { next = min(next, max(at.Sub(now), 0)) }
	if len(c.settling) > 0 {
		next = settleEvery
	}
	if at := c.paces.Due(); !at.IsZero() {
		due(at)
	}
	if !c.partsDue.IsZero() {
		due(c.partsDue)
	}
	if at := c.track.Due(now); !at.IsZero() {
		due(at)
	}
	if at, ok := c.limitsDue(); ok {
		due(at)
	}
	if at, ok := c.restarts.due(); ok && !c.starting {
		due(at)
	}
	if c.term != nil && c.exit == nil && c.term.Offset() > c.savedAt {
		due(c.saved.Add(checkpointTime))
	}
	if c.pictureIsIdle() {
		due(c.pictureAge.Add(dropPicture + time.Second))
	}
	return next
}

// close gives everything back when the loop ends. The program runs on.
func (c *core) close() {
	for _, fn := range c.settling {
		fn()
	}
	c.settling = nil
	c.endsDone(c.s.stopped())
	c.outbox.Close()
	c.begun(c.s.stopped())
	c.clients.SizesDone()
	c.track.Close()
	c.journal.Close()
}
