package sessions

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/lease"
)

// End ends the session's program: HUP to its group, grace, KILL to the whole
// tree. The channel receives once, when it has ended; an ended one at once.
func (s *Session) End(ctx context.Context, by Actor, grace time.Duration) <-chan error {
	done := make(chan error, 1)
	err := s.do(ctx, func(c *core) { c.end(by.by(), grace, done) })
	if err != nil {
		done <- err
	}
	return done
}

// end asks the holder for the program's end and keeps done for then.
func (c *core) end(by By, grace time.Duration, done chan error) {
	c.ending = true
	c.restarts.cancel()
	switch {
	case c.exit != nil:
		if c.state != agent.Exited { // it was to start again
			c.setState(agent.Exited, agent.TierProcess, "process:exit")
		}
		done <- nil
	case c.link == nil:
		done <- api.Errorf(api.CodeInternal, "the holder of %s does not answer: its program cannot be ended from here", c.spec.Name)
	default:
		c.ends = append(c.ends, done)
		link := c.link
		c.background(func() { // the holder's word for it may take a moment
			if err := link.End(grace, mark{By: by}.json()); err != nil && !errors.Is(err, hold.ErrEnded) {
				c.log.Error("the program could not be ended", "error", err)
			}
		})
	}
}

// Restart ends the session's program and starts it again, in the same session.
func (r *Registry) Restart(ctx context.Context, s *Session, by Actor) error {
	if err := <-s.End(ctx, by, EndGrace); err != nil {
		return err
	}
	return s.startAgain(ctx)
}

// startAgain starts an ended session's program anew. Offsets and record
// numbers go on where they were.
func (s *Session) startAgain(ctx context.Context) error {
	var busy bool
	err := s.do(ctx, func(c *core) {
		if busy = c.starting || c.exit == nil; busy {
			return
		}
		c.starting, c.ending = true, false
		_, _ = c.picture() // never fails: an unreadable checkpoint gives an empty screen
		c.setState(agent.Restarting, agent.TierProcess, "process:restart")
	})
	if err != nil {
		return err
	}
	if busy {
		return api.Errorf(api.CodeBadRequest, "%s runs already", s.Status().Name)
	}
	return s.relaunch(context.WithoutCancel(ctx))
}

// relaunch starts the holder off the loop, which goes on serving lookers-on.
func (s *Session) relaunch(ctx context.Context) error {
	spec, err := ask(ctx, s, func(c *core) (*core, error) { return c, nil })
	if err != nil {
		return err
	}
	s.reg.launching.RLock()
	defer s.reg.launching.RUnlock()
	link, failed := spec.launch(ctx)
	err = s.do(ctx, func(c *core) {
		c.starting = false
		if failed != nil {
			c.setState(agent.Exited, agent.TierProcess, "process:start-failed")
			return
		}
		if c.link != nil {
			_ = c.link.Close() // that of the program before
		}
		c.exit = nil
		c.hold(link)
		c.publish()
		c.looked = time.Time{}
		c.restarts.started(c.now())
	})
	if failed == nil && err != nil {
		return errors.Join(err, link.Close())
	}
	if failed != nil {
		return failed
	}
	return s.do(ctx, func(*core) {}) // one turn: the start is on record
}

// Back-off between automatic restarts: doubled each time, begun anew after the
// program has run well for a while.
const (
	backOffFirst = time.Second
	backOffMost  = time.Minute
	ranWell      = time.Minute
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

// planRestart decides whether an ended program is started again.
func (c *core) planRestart() {
	failed := c.exit.Lost || c.exit.Signal != "" || c.exit.Code != nil && *c.exit.Code != 0
	again := c.spec.Restart == RestartAlways || c.spec.Restart == RestartOnFailure && failed
	if !again || c.ending {
		c.save()
		return
	}
	c.restarts.plan(c.now())
	c.setState(agent.Restarting, agent.TierProcess, "process:exit")
}

// limits starts a program again when that is due, and ends one whose time is
// over.
func (c *core) limits(now time.Time) {
	if at, ok := c.restarts.due(); ok && !now.Before(at) {
		c.restarts.cancel()
		c.background(func() {
			if err := c.s.startAgain(c.s.reg.ctx); err != nil && c.s.reg.ctx.Err() == nil {
				c.log.Error("the program could not be started again", "error", err)
			}
		})
	}
	if at, ok := c.limitsDue(); ok && !now.Before(at) && !c.ending {
		c.note("session_limit", limitEvent{Why: c.limitWhy(now)})
		c.end(By{Identity: "berth"}, EndGrace, make(chan error, 1))
	}
}

// limitsDue is when the session's ttl or idle_timeout runs out.
func (c *core) limitsDue() (time.Time, bool) {
	var at time.Time
	if c.exit != nil || c.ending || c.started.IsZero() {
		return at, false
	}
	if ttl := c.spec.Limits.TTL; ttl > 0 {
		at = c.started.Add(ttl)
	}
	if idle := c.spec.Limits.IdleTimeout; idle > 0 {
		last := c.started
		for _, t := range []time.Time{c.lastOut, c.lastIn} {
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

// background runs work that must not hold up the loop; Close waits for it.
func (c *core) background(work func()) { c.s.reg.loops.Go(work) }

// newCore makes a session that has no emulator and no holder yet.
func (r *Registry) newCore(spec Spec, dir string) *core {
	s := &Session{id: spec.ID, dir: dir, reg: r, calls: make(chan func(*core)), over: make(chan struct{})}
	return &core{
		s: s, spec: spec, log: r.log.With("session", spec.Name, "id", spec.ID),
		output: hold.OpenOutput(dir), control: hold.OpenControl(dir, 0),
		state: agent.Starting, since: r.now(), tier: agent.TierProcess, cause: "process:start",
		lease: lease.New(lease.Options{}), members: map[string]*Member{}, followers: map[Follower]*Member{}, saved: r.now(),
	}
}
