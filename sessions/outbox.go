package sessions

import (
	"context"
	"time"

	"berth/agent"
	"berth/sessions/outbox"
)

// What a message is, and what becomes of it.
type (
	Nudge  = outbox.Nudge
	Nudged = outbox.Nudged
	Queued = outbox.Queued
	Ticket = outbox.Ticket
)

// FirstID is the queue's id of a session's first message.
const FirstID = outbox.FirstID

// Nudge is Outbox.Nudge for a caller.
func (s *Session) Nudge(ctx context.Context, claim Claim, n Nudge) (Nudged, error) {
	if err := s.reg.mayCause(claim.Actor, eventsOfMessage); err != nil {
		return Nudged{}, err
	}
	return s.outbox.Nudge(ctx, claim, n)
}

// Enqueue is Outbox.Enqueue for a caller.
func (s *Session) Enqueue(ctx context.Context, claim Claim, n Nudge, expires time.Duration) (*Ticket, error) {
	if err := s.reg.mayCause(claim.Actor, eventsOfMessage); err != nil {
		return nil, err
	}
	return s.outbox.Enqueue(ctx, claim, n, expires)
}

// Queue lists the messages that wait, the next first.
func (s *Session) Queue(ctx context.Context) ([]Queued, error) { return s.outbox.Queue(ctx) }

// Unqueue is Outbox.Unqueue.
func (s *Session) Unqueue(ctx context.Context, by Actor, id string, may func(by By) error) error {
	return s.outbox.Unqueue(ctx, by, id, may)
}

// Turn is the state of a message's turn.
type Turn struct {
	outbox.Turn
	Usage *Usage // nil when not known
}

// Await returns when the turn that took the message is over, or has come to a
// prompt; with the context's error before that. Forget is called in any case.
func (s *Session) Await(ctx context.Context, n Nudged) (Turn, error) {
	t, err := s.outbox.Await(ctx, n)
	if err != nil {
		return Turn{Turn: t}, err
	}
	return Turn{Turn: t, Usage: s.used(ctx, t.ID, t.State != agent.Prompt)}, nil
}

// Forget ends what follows the turn of a message.
func (s *Session) Forget(ctx context.Context, n Nudged) { s.outbox.Forget(ctx, n) }
