package sessions

import (
	"context"
	"syscall"
	"time"

	"berth/api"
	"berth/sessions/clients"
	"berth/terminal"
)

// Clients of a session, and which size it has.
type (
	Visitor    = clients.Visitor
	Member     = clients.Member
	Notice     = clients.Notice
	Follower   = clients.Follower
	Paint      = clients.Paint
	Attached   = clients.Attached
	SizePolicy = clients.SizePolicy
)

// The size policies.
const (
	SizeWriter   = clients.SizeWriter
	SizeFixed    = clients.SizeFixed
	SizeSmallest = clients.SizeSmallest
)

// ErrReadOnly is what a client gets that asked to only look on.
var ErrReadOnly = clients.ErrReadOnly

// CheckSize refuses a terminal size that no screen has.
func CheckSize(cols, rows int) error { return clients.CheckSize(cols, rows) }

// Join is Clients.Join.
func (s *Session) Join(ctx context.Context, v Visitor) (*Member, error) {
	return s.clients.Join(ctx, v)
}

// Who is Clients.Who.
func (s *Session) Who(ctx context.Context) ([]Attached, error) { return s.clients.Who(ctx) }

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

func (c *core) clientsEnv() clients.Env {
	s := c.s
	return clients.Env{
		Env:    c.env(),
		Policy: func() SizePolicy { return c.spec.SizePolicy },
		Holder: func() clients.Holder {
			if c.link() == nil {
				return nil
			}
			return c.link()
		},
		Terminal: func() *terminal.Terminal { return c.term }, Picture: c.picture, Resize: c.resizeTerm,
		Paced: c.paced, Dirty: func() { c.dirty = true }, Active: c.active, Looked: func() { c.prompts.Unveil() },
		Wanted:  func() bool { return len(c.settling) > 0 || s.bells.Any() },
		ReadOn:  c.journal.Sweep,
		CatchUp: func() { c.journal.CatchUp() },
		Settled: func(ctx context.Context, fn func()) error {
			_, err := settled(ctx, s, func(*core) (struct{}, error) { fn(); return struct{}{}, nil })
			return err
		},
	}
}
