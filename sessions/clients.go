package sessions

import (
	"context"
	"syscall"
	"time"

	"berth/api"
	"berth/sessions/clients"
)

// Clients of a session.
type (
	Visitor  = clients.Visitor
	Member   = clients.Member
	Notice   = clients.Notice
	Follower = clients.Follower
	Paint    = clients.Paint
	Attached = clients.Attached
)

// ErrReadOnly is what a client gets that asked to only look on.
var ErrReadOnly = clients.ErrReadOnly

// Join is Clients.Join.
func (s *Session) Join(ctx context.Context, v Visitor) (*Member, error) {
	return s.clients.Join(ctx, v)
}

// Who is Clients.Who.
func (s *Session) Who(ctx context.Context) ([]Attached, error) { return s.clients.Who(ctx) }

// Detach is Clients.Detach.
func (s *Session) Detach(ctx context.Context, by Actor, client string, others error) ([]Attached, error) {
	return s.clients.Detach(ctx, by, client, others)
}

// Deliver is Clients.Deliver.
func (s *Session) Deliver(ctx context.Context, claim Claim, writes ...[]byte) error {
	return s.clients.Deliver(ctx, claim, writes...)
}

// Press is Clients.Press.
func (s *Session) Press(ctx context.Context, claim Claim, names []string) (int, error) {
	return s.clients.Press(ctx, claim, names)
}

// Resize is Clients.Resize.
func (s *Session) Resize(ctx context.Context, claim Claim, cols, rows int) error {
	return s.clients.Resize(ctx, claim, cols, rows)
}

// Signal is Clients.Signal.
func (s *Session) Signal(ctx context.Context, claim Claim, sig syscall.Signal) error {
	return s.clients.Signal(ctx, claim, sig)
}

// Lock is Clients.Lock.
func (s *Session) Lock(ctx context.Context, claim Claim, d time.Duration) (*api.Writer, error) {
	return s.clients.Lock(ctx, claim, d)
}

// Unlock is Clients.Unlock.
func (s *Session) Unlock(ctx context.Context, by Actor, generation uint64) error {
	return s.clients.Unlock(ctx, by, generation)
}
