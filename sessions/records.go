package sessions

import (
	"fmt"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// takeRecord takes in a control record.
func (c *core) takeRecord(r hold.Record) {
	c.apply(r)
	if !c.reviewing {
		c.prompts.Heed(r)
	}
}

// apply does what one control record says, to the emulator always and as an
// event if it has not made one before.
func (c *core) apply(r hold.Record) {
	if c.reviewing {
		c.review(r)
		c.applied = r.N
		return
	}
	var err error
	switch r.Kind {
	case hold.KindStarted:
		err = c.applyStarted(r)
	case hold.KindReply:
		err = c.applyReply(r)
	case hold.KindLoss:
		err = c.applyLoss(r)
	case hold.KindEnd:
		err = c.applyEnd(r)
	case hold.KindExit:
		err = c.applyExit(r)
	default:
		err = c.applyToParts(r)
	}
	if err != nil {
		c.trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
	c.applied = r.N
}

func (c *core) applyStarted(r hold.Record) error {
	d, err := loop.Decode[hold.StartedData](r)
	if err != nil {
		return err
	}
	c.becomes(child{pid: d.PID, start: d.Start})
	c.exit, c.started, c.dirty = nil, c.onClock(r.Time.Time), true
	if r.N > c.told {
		c.lost = nil // that was the program before
	}
	c.ending, c.again = false, false // an end asked for since has its own record behind this one
	c.restarts.cancel()
	first := r.N == 1
	c.beginParts(r.Time.Time)
	c.freshTerm(first, d.Cols, d.Rows)
	c.clients.SizeIs(d.Cols, d.Rows)
	c.clients.Gather()
	if r.N > c.told && c.track.State() == agent.Exited { // the server before this one could not say so
		c.track.SetState(agent.Restarting, agent.TierProcess, "process:restart")
	}
	if first {
		c.event(r, "session_created", created{Agent: c.spec.Agent, PID: d.PID, Parent: orNil(c.spec.Parent), Depth: c.spec.Depth, By: c.spec.CreatedBy, Cols: d.Cols, Rows: d.Rows, Queue: c.outbox.FirstWaiting()})
	} else {
		c.event(r, "restarted", created{Agent: c.spec.Agent, PID: d.PID, Parent: orNil(c.spec.Parent), Depth: c.spec.Depth, Cols: d.Cols, Rows: d.Rows})
	}
	c.active()
	return nil
}

// review does what a record means for the picture alone.
func (c *core) review(r hold.Record) {
	switch r.Kind {
	case hold.KindStarted:
		if d, err := loop.Decode[hold.StartedData](r); err == nil {
			c.freshTerm(r.N == 1, d.Cols, d.Rows)
		}
	case hold.KindResize:
		if d, err := loop.Decode[hold.ResizeData](r); err == nil {
			c.resizeTerm(d.Cols, d.Rows)
		}
	}
}

func (p *progress) applyReply(r hold.Record) error {
	d, err := loop.Decode[hold.ReplyData](r)
	if err == nil {
		p.replyAt = max(p.replyAt, d.At)
	}
	return err
}

func (c *core) applyLoss(r hold.Record) error {
	d, err := loop.Decode[hold.LossData](r)
	if err != nil {
		return err
	}
	c.losses += d.To - d.From
	c.clients.Gather()
	c.event(r, "output_lost", lossEvent{From: d.From, To: d.To, Records: d.Records, Why: d.Why})
	return nil
}

// applyToParts takes a record to the parts, and appends what follows from it in one step.
func (c *core) applyToParts(r hold.Record) error {
	told, err := c.parts.Record(r)
	if err != nil {
		return err
	}
	if len(told.Events) == 0 && len(told.Results) == 0 {
		return nil
	}
	c.clients.Gather()
	if r.N <= c.told {
		c.track.Retell(told.Results)
		return nil
	}
	if len(told.Events) > 0 {
		c.told = r.N
	}
	c.track.Tell(told.Results, told.Events...)
	return nil
}

// beginParts begins anew with a program that has just started, if there is a driver for its agent.
func (c *core) beginParts(at time.Time) {
	if c.s.reg.driver(c.spec) == nil {
		return
	}
	c.parts.Begin(at)
}

// resumeParts goes on with the program that runs.
func (c *core) resumeParts(from loop.Checkpoint) {
	switch {
	case c.s.reg.driver(c.spec) == nil:
		c.parts.End()
	case from.Followed():
		if err := c.track.Resume(from.Started.Time, from.Taken.Time); err != nil {
			c.trouble("restore what was known of the agent", err)
			c.beginParts(from.Taken.Time)
		}
	case from.PID != 0: // by a server that followed no such program
		c.beginParts(from.Started.Time)
	}
}

// exitedError says why the program cannot be written to.
func (c *core) exitedError() error {
	if c.exit == nil && c.track.State() != agent.Exited {
		return api.Errorf(api.CodeNotReady, "the program of %s cannot be reached now: its state is %s", c.spec.Name, c.track.State())
	}
	return api.Errorf(api.CodeExited, "%s has ended: restart starts it again", c.spec.Name).With("session", c.spec.Name)
}
