package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// End ends the session's program: HUP to its group, grace, KILL to the whole
// tree. The channel receives once the program has ended, at once when it had,
// or when the server goes down first.
func (s *Session) End(ctx context.Context, by Actor, grace time.Duration) <-chan error {
	done := make(chan error, 2) // of the loop, and of a caller that gave up meanwhile
	if err := s.do(ctx, func(c *core) { c.life.Stop(loop.Mark{By: by.By(), Verb: "kill"}, grace, done) }); err != nil {
		done <- err
	}
	return done
}

// Restart ends the session's program and starts it again, in the same session.
// What was begun goes on when the caller gives up.
func (r *Registry) Restart(ctx context.Context, s *Session, by Actor) error {
	return r.restart(ctx, s, func(*core) error { return nil }, by)
}

// restart is Restart of a session that first, called on the loop, gets ready for it.
func (r *Registry) restart(ctx context.Context, s *Session, first func(*core) error, by Actor) error {
	if err := r.mayCause(by, eventsOfStart); err != nil {
		return err
	}
	if ends := s.Status().Ends; !ends.IsZero() && !r.now().Before(ends.Time) {
		return api.Errorf(api.CodeLimit, "the lifetime of %s ended at %s: start another session", s.Status().Name, ends.Format(api.TimeLayout)).With("session", s.Status().Name)
	}
	if by.Identity.Kind == keys.KindAgent {
		if err := r.childAgain(s, by); err != nil {
			return err
		}
		defer r.births.end(s.id)
	}
	done := make(chan error, 1)
	if err := r.writtenDown(ctx, s); err != nil {
		return err
	}
	err := s.change(context.WithoutCancel(ctx), func(c *core) error {
		if err := first(c); err != nil {
			return err
		}
		c.life.Restart(by.By(), done)
		return nil
	})
	if err != nil {
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

// endOrphans ends what is left of a program whose holder was killed. The program's
// loss is already reported.
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
		prog, failed = ask(ctx, s, func(c *core) (program, error) {
			prog.record, prog.offset = c.kernel.Reached()
			return prog, c.changeSpec(func(s *Spec) { *s = launched(*s, launch) }, func() {})
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
	var w hold.Welcome
	if failed == nil {
		if c.link() != nil {
			_ = c.link().Close() // that of the program before
		}
		c.kernel.Journal.Hold(link)
		w = link.Welcome()
	}
	c.life.Launched(w, failed)
}
