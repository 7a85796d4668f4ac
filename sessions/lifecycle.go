package sessions

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// End ends the session's program: HUP to its group, grace, KILL to the whole
// tree. The channel receives once the program has ended, at once when it had,
// or when the server goes down first.
func (s *Session) End(ctx context.Context, by Actor, grace time.Duration) <-chan error {
	done := make(chan error, 2) // of the loop, and of a caller that gave up meanwhile
	if err := s.do(ctx, func(c *core) { c.end(loop.Mark{By: by.By(), Verb: "kill"}, grace, done) }); err != nil {
		done <- err
	}
	return done
}

// Restart ends the session's program and starts it again, in the same session.
// What was begun goes on when the caller gives up.
func (r *Registry) Restart(ctx context.Context, s *Session, by Actor) error {
	if err := r.mayCause(by, eventsOfStart); err != nil {
		return err
	}
	done := make(chan error, 1)
	if err := r.writtenDown(ctx, s); err != nil {
		return err
	}
	if err := s.do(context.WithoutCancel(ctx), func(c *core) { c.restart(by.By(), done) }); err != nil {
		return err
	}
	select {
	case err := <-done:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.do(ctx, func(*core) {}) // one turn: the start is on record
}

// end asks the holder for the program's end and keeps done for then.
func (c *core) end(by loop.Mark, grace time.Duration, done chan error) {
	again := by.Verb == verbRestart
	switch {
	case c.starting:
		c.ends, c.ending, c.again = append(c.ends, done), true, again
		c.endSoon = &by
	case c.exit != nil:
		c.ending = true
		c.restarts.cancel()
		c.track.SetState(agent.Exited, agent.TierProcess, "process:exit") // it was to start again, if it was not ended
		c.publish()
		if !c.exit.Lost {
			done <- nil
			break
		}
		c.background(func() { done <- c.s.endOrphans(grace) })
	case c.link() == nil:
		done <- api.Errorf(api.CodeInternal, "the holder of %s does not answer: its program cannot be ended from here", c.spec.Name)
	default:
		c.ends, c.ending, c.again = append(c.ends, done), true, again
		c.sendEnd(by, grace)
	}
	if !again {
		c.begun(api.Errorf(api.CodeExited, "%s was ended before it could be started again", c.spec.Name))
	}
}

// endOrphans ends what runs on of a program whose holder was killed. The program
// is told as lost by then.
func (s *Session) endOrphans(grace time.Duration) error {
	ended, err := hold.EndOrphans(s.reg.ctx, s.dir, grace)
	if ended > 0 {
		s.reg.log.Info("ended what a dead holder had left", "session", s.Status().Name, "processes", ended)
	}
	if err != nil {
		return api.Errorf(api.CodeInternal, "end what runs on of %s: %w", s.Status().Name, err).With("session", s.Status().Name)
	}
	return nil
}

// startingAgain is what health says could not be done.
const startingAgain = "start the program again"

// sendEnd tells the holder, off the loop: its word for it may take a moment.
func (c *core) sendEnd(by loop.Mark, grace time.Duration) {
	link := c.link()
	c.background(func() {
		if err := link.End(grace, by.JSON()); err != nil && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed) {
			c.log.Error("the program could not be ended", "error", err)
		}
	})
}

// restart starts the program again, after its end if it runs. done receives
// how that went.
func (c *core) restart(by By, done chan error) {
	if c.exit == nil && !c.starting && c.link() == nil {
		done <- api.Errorf(api.CodeInternal, "the holder of %s does not answer: its program cannot be ended from here", c.spec.Name)
		return
	}
	if c.removing > 0 {
		done <- api.Errorf(api.CodeBadRequest, "%s is being removed: it is not started again", c.spec.Name)
		return
	}
	c.begins = append(c.begins, done)
	switch {
	case c.starting: // it is on its way
	case c.exit != nil:
		c.startAgain()
	default:
		c.end(loop.Mark{By: by, Verb: verbRestart}, EndGrace, make(chan error, 1))
	}
}

// startAgain starts an ended program anew. Offsets and record numbers go on
// where they were.
func (c *core) startAgain() {
	c.restarts.cancel()
	c.starting, c.ending, c.again = true, false, false
	_, _ = c.picture() // never fails: an unreadable checkpoint gives an empty screen
	c.track.SetState(agent.Restarting, agent.TierProcess, "process:restart")
	c.save()
	spec, lost := c.spec, c.exit.Lost
	c.background(func() { c.s.relaunch(spec, lost) })
}

// relaunch starts the holder off the loop, which goes on serving lookers-on.
// After a lost program what is left of it ends first: there are never two.
func (s *Session) relaunch(spec Spec, lost bool) {
	ctx := context.Background() // of its own: a start is not left half done
	var link *hold.Link
	var launch agent.Launch
	if s.reg.beginStart() != nil {
		return // the next server starts it
	}
	defer s.reg.starts.Done()
	var prog program
	var failed error
	if lost {
		failed = s.endOrphans(EndGrace)
	}
	if failed == nil {
		prog, failed = s.reg.options.Environment.resolve(spec)
	}
	if failed == nil {
		prog, launch, failed = s.prepare(spec, prog)
	}
	if failed == nil {
		failed = s.reg.apart(launched(spec, launch))
	}
	if failed == nil { // on disk before the agent can tell of it
		_, failed = ask(ctx, s, func(c *core) (struct{}, error) {
			return struct{}{}, c.changeSpec(func(s *Spec) { *s = launched(*s, launch) }, func() {})
		})
	}
	if failed == nil {
		link, failed = s.launch(ctx, spec, prog)
	}
	err := s.do(ctx, func(c *core) { c.launched(link, failed) })
	if err != nil && link != nil {
		_ = link.Close() // the server goes down, and the next one finds it
		return
	}
	s.reg.launched(s.id)
}

// launched takes on a new holder, or the reason why there is none.
func (c *core) launched(link *hold.Link, failed error) {
	c.starting = false
	soon := c.endSoon
	c.endSoon = nil
	if failed != nil {
		c.trouble(startingAgain, failed)
		automatic := len(c.begins) == 0 && c.spec.Restart != RestartNever && soon == nil
		c.begun(failed)
		c.endsDone(nil)
		if automatic {
			c.restarts.failed(c.now())
			return
		}
		c.track.SetState(agent.Exited, agent.TierProcess, "process:start-failed")
		c.save()
		return
	}
	if c.link() != nil {
		_ = c.link().Close() // that of the program before
	}
	c.exit, c.lost = nil, nil
	c.cured(startingAgain)
	c.hold(link)
	c.publish()
	c.track.LookSoon()
	c.restarts.started(c.now())
	if soon != nil {
		c.ending = true
		c.sendEnd(*soon, EndGrace)
	}
	c.begun(nil)
}
