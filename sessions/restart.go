package sessions

import (
	"time"

	"berth/agent"
	"berth/sessions/loop"
)

// judgeEnd sets right what a server before this one could not say any more:
// the state of an ended program, and a start that it had promised.
func (c *core) judgeEnd(now time.Time) {
	if c.exit == nil || c.starting || c.removing > 0 || c.link() != nil {
		return
	}
	switch c.track.State() {
	case agent.Exited:
	case agent.Restarting:
		if _, planned := c.restarts.due(); !planned {
			c.restarts.plan(now)
		}
	default:
		c.track.SetState(agent.Exited, agent.TierProcess, "process:exit")
	}
}

// limits starts a program again when that is due, and ends one whose time is
// over.
func (c *core) limits(now time.Time) {
	if at, ok := c.restarts.due(); ok && !now.Before(at) && !c.starting && c.exit != nil {
		c.startAgain()
	}
	if at, ok := c.limitsDue(); ok && !now.Before(at) {
		c.note("session_limit", limitEvent{Why: c.limitWhy(now)})
		c.end(loop.Mark{By: By{Identity: "berth"}, Verb: "limit"}, EndGrace, make(chan error, 1))
	}
}

// limitsDue is when the session's ttl or idle_timeout runs out.
func (c *core) limitsDue() (time.Time, bool) {
	var at time.Time
	if c.exit != nil || c.ending || c.link() == nil || c.started.IsZero() {
		return at, false
	}
	if ttl := c.spec.Limits.TTL; ttl > 0 {
		at = c.started.Add(ttl)
	}
	if idle := c.spec.Limits.IdleTimeout; idle > 0 {
		last := c.started
		for _, t := range []time.Time{c.lastOut, c.clients.LastInput()} {
			if t.After(last) {
				last = t
			}
		}
		if t := last.Add(idle); at.IsZero() || t.Before(at) {
			at = t
		}
	}
	return at, !at.IsZero()
}

func (c *core) limitWhy(now time.Time) string {
	if ttl := c.spec.Limits.TTL; ttl > 0 && !now.Before(c.started.Add(ttl)) {
		return "ttl"
	}
	return "idle_timeout"
}
