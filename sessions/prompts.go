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
		Env:     c.env(),
		Fold:    func() *detect.Fold { return c.track.Fold() },
		Clock:   func(at time.Time) time.Time { return c.track.Clock(at) },
		Pass:    func(at time.Time) { c.track.Pass(at) },
		Believe: func(r detect.Result) { c.track.Believe(r) },
		Read:    func() { c.journal.Sweep(); c.journal.CatchUp() },
		Sweep:   c.journal.Sweep,
		Look:    func() (*agent.Reading, terminal.Modes, bool) { return c.track.Look() },
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
