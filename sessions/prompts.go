package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/clients"
	"berth/sessions/process"
	"berth/sessions/prompts"
	"berth/terminal"
)

// What becomes of an answer, and of an interrupt.
type (
	Response    = prompts.Response
	Interrupted = prompts.Interrupted
)

// Respond is Prompts.Respond.
func (s *Session) Respond(ctx context.Context, claim Claim, prompt string, answer agent.Answer) (*Response, error) {
	r, err := s.prompts.Respond(ctx, claim, prompt, answer)
	return r, clients.WriteError(err)
}

// Interrupt is Prompts.Interrupt.
func (s *Session) Interrupt(ctx context.Context, claim Claim) (Interrupted, error) {
	return s.prompts.Interrupt(ctx, claim)
}

func (c *core) promptsEnv() prompts.Env {
	return prompts.Env{
		Env: c.env(),
		Fold: func() *detect.Fold {
			if c.detection == nil {
				return nil
			}
			return c.detection.fold
		},
		Clock:   c.factClock,
		Pass:    c.pass,
		Believe: c.believeLater,
		Read:    func() { c.unread = c.link != nil; c.catchUp() },
		Sweep:   func() { c.unread = c.link != nil },
		Look:    c.lookNow,
		Deaf: func() bool {
			return process.Stopped(c.holderPID) || process.Halted(c.child.pid) || process.Unread(c.child.pid) > 0
		},
		Printed: func() int64 { return c.term.Offset() },
		Waits:   func(hook uint64) bool { return c.gates.Waits(hook) },
		Mark:    c.clients.Mark,
		Watched: c.clients.MayWrite,
		GoesOn:  func() bool { return c.exit == nil || c.onceMore() },
		Policy: func() (agent.Policy, bool) {
			return agent.Policy{Trust: c.spec.Trust, AcceptBypass: c.spec.AcceptBypass, Vouched: c.spec.Vouched}, c.spec.Groom == agent.GroomAuto
		},
	}
}

// factClock is the moment of a fact that is taken in now. A prompt that it opens has a number of
// its own.
func (c *core) factClock(at time.Time) time.Time {
	c.detection.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
	return c.detection.clock(at)
}

// believeLater makes events of what changed, unless that is read again: then what closed is
// taken in alone.
func (c *core) believeLater(r detect.Result) {
	if results := []detect.Result{r}; c.detection.awake {
		c.tell(results)
	} else {
		c.closedBefore(results)
	}
}

// closedBefore takes in what closed prompts when a server before this one had
// told of it, and of their answers with it.
func (c *core) closedBefore(results []detect.Result) {
	for _, r := range results {
		for _, done := range r.Closed {
			_, _ = c.prompts.Closes(&done) // these events stand in the log
		}
	}
}

// lookNow takes in all that the holder has written and reads the screen as it is now.
func (c *core) lookNow() (*agent.Reading, terminal.Modes, bool) {
	c.unread = true
	if more := c.catchUp(); more || c.link == nil || c.unsettled() || c.detection == nil {
		return nil, terminal.Modes{}, false
	}
	d := c.detection
	return d.driver.Screen(d.viewer.View(c.term.Snapshot(0))), c.term.Modes(), true
}
