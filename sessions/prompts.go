package sessions

import (
	"context"

	"berth/agent"
	"berth/sessions/clients"
	"berth/sessions/prompts"
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
