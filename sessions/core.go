package sessions

import (
	"log/slog"
	"slices"
	"time"

	"berth/agent"
	"berth/sessions/clients"
	"berth/sessions/gates"
	"berth/sessions/hold"
	"berth/sessions/life"
	"berth/sessions/loop"
	"berth/sessions/mail"
	"berth/sessions/outbox"
	"berth/sessions/process"
	"berth/sessions/prompts"
	"berth/sessions/track"
)

// core is what a session's loop owns. Nothing else touches it.
type core struct {
	s    *Session
	spec Spec
	log  *slog.Logger

	kernel  *loop.Kernel
	life    *life.Life
	clients *clients.Clients
	track   *track.Track
	gates   *gates.Gates
	prompts *prompts.Prompts
	outbox  *outbox.Outbox
	mail    *mail.Mail
	folder  *folder
}

func (c *core) now() time.Time { return c.s.reg.now() }

// active notes that something went in or out: the foreground may have changed.
func (c *core) active() {
	c.track.Active()
	c.kernel.Moved()
}

// link is the link to the holder; nil without one that answers.
func (c *core) link() *hold.Link { return c.kernel.Journal.Link() }

// publish makes the present status the one that everybody reads.
func (c *core) publish(visible bool) {
	st := &Status{
		Spec: c.specNow(), View: c.track.View(), Seq: c.s.reg.events.LastSeq(c.s.id),
		Exit: c.life.Exit(), RestartDue: c.life.Due(), Writer: c.clients.Writer(), Viewers: c.clients.Viewers(), PID: c.life.Child().PID, Cols: c.spec.Cols, Rows: c.spec.Rows,
		Started: c.life.Started(), LastOutput: c.kernel.LastOut(), LastInput: c.clients.LastInput(), Losses: c.kernel.Losses(), Problem: c.kernel.Problem.Text(),
	}
	st.Look = c.folder.last
	st.FirstPending, st.QueueLength = c.outbox.First(), c.outbox.Len()
	driver := c.s.reg.driver(st.Spec)
	st.Tells, st.Driven = c.reportedStates(driver), driver != nil
	st.Subject = subject(driver, st.Request, c.s.status.Load())
	if _, limited := driver.(agent.LimitedStates); limited {
		st.Driven = false
	}
	if d, ok := driver.(agent.RulesNamer); ok {
		st.RulesName = d.RulesName()
	}
	if c.life.Exit() == nil {
		st.HolderPID, st.HolderStart = c.life.Holder()
	}
	if term := c.kernel.Screen.Terminal(); term != nil {
		st.Title, st.Offset, st.Panics = term.Title(), term.Offset(), term.Panics()
		st.Cols, st.Rows = term.Size()
		st.Modes = term.Modes()
	} else if old := c.s.status.Load(); old != nil {
		st.Title, st.Offset, st.Panics, st.Cols, st.Rows = old.Title, old.Offset, old.Panics, old.Cols, old.Rows
	} else {
		st.Title, st.Offset = c.kernel.Screen.Recalled()
	}
	c.s.status.Store(st)
	c.s.bells.Ring()
	c.clients.Ring(visible)
}

// reportedStates are the states that the driver can report of its program. A driver
// with LimitedStates reports all states once its program has reported its own state.
// A shell has all states too, because an agent that a person starts in it is followed.
func (c *core) reportedStates(driver agent.Driver) []agent.State {
	limited, ok := driver.(agent.LimitedStates)
	switch {
	case driver == nil:
		return nil
	case !ok, c.track.Follows() && c.track.Fold().Reported():
		return agent.States
	}
	own := limited.ReportedStates()
	if process.Finds && c.takesVisitors() && slices.Contains(own, agent.Idle) {
		return agent.States
	}
	return own
}

// changeSpec writes a changed spec to disk before it is used. Then report emits the
// events of the change.
func (c *core) changeSpec(change func(*Spec), report func()) error {
	spec := c.spec
	change(&spec)
	if err := saveSpec(c.s.dir, spec); err != nil {
		return err
	}
	c.spec = spec
	c.kernel.Changed()
	report()
	c.kernel.Publish()
	c.clients.Dismiss()
	return nil
}

// background runs work that must not hold up the loop; Close waits for it. It
// is the loop's to call.
func (c *core) background(work func()) { c.s.reg.loops.Go(work) }
