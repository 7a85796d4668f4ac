package sessions

import (
	"slices"
	"time"

	"berth/agent"
	"berth/sessions/loop"
)

// Back-off between automatic restarts: doubled each time, begun anew after the
// program has run well for a while.
const (
	backOffFirst = time.Second
	backOffMost  = time.Minute
	ranWell      = time.Minute
	ranAMoment   = time.Second // too short to have asked anybody anything
)

// restarts is the plan for starting an ended program again.
type restarts struct {
	at      time.Time // zero: none planned
	wait    time.Duration
	running time.Time // when it last started
}

func (r *restarts) due() (time.Time, bool) { return r.at, !r.at.IsZero() }
func (r *restarts) cancel()                { r.at = time.Time{} }
func (r *restarts) started(now time.Time)  { r.running, r.at = now, time.Time{} }

func (r *restarts) plan(now time.Time) {
	if r.wait == 0 || now.Sub(r.running) > ranWell {
		r.wait = backOffFirst
	} else {
		r.wait = min(2*r.wait, backOffMost)
	}
	r.at = now.Add(r.wait)
}

// failed plans the next start after one that came to nothing: that program ran
// for no time.
func (r *restarts) failed(now time.Time) {
	r.running = now
	r.plan(now)
}

// more is the same for one that asked for it itself: at once, unless it has just
// been started.
func (r *restarts) more(now time.Time) {
	if now.Sub(r.running) < ranAMoment {
		r.plan(now)
		return
	}
	r.at = now
}

// onceMore says that the program ended to be started once more.
func (c *core) onceMore() bool {
	return !c.ending && c.exit.Code != nil && slices.Contains(c.spec.Again, *c.exit.Code)
}

// planRestart decides whether an ended program is started again.
func (c *core) planRestart(told bool) {
	failed := c.exit.Lost || c.exit.Signal != "" || c.exit.Code != nil && *c.exit.Code != 0
	again := c.spec.Restart == RestartAlways || c.spec.Restart == RestartOnFailure && failed
	switch {
	case c.again: // somebody asked for it
		c.again = false
		c.restarts.at = c.now()
	case c.onceMore(): // it asked itself
		c.restarts.more(c.now())
	case again && !c.ending:
		c.restarts.plan(c.now())
	default:
		return
	}
	if !told { // else the start that followed has been told too, or follows now
		c.track.SetState(agent.Restarting, agent.TierProcess, "process:exit")
	}
}

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
