package sessions

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"berth/api"
	"berth/detect/tail"
	"berth/sessions/clients"
	"berth/sessions/gates/transcript"
	"berth/sessions/loop"
	"berth/sessions/outbox"
	"berth/sessions/prompts"
	"berth/terminal"
)

// Session is one program on one PTY. Its loop alone touches what changes;
// these methods may be called from anywhere.
type Session struct {
	id           string
	dir          string
	reg          *Registry
	core         *core // its loop's alone
	kernel       *loop.Kernel
	filesChanged chan struct{} // holds one: a file of the agent's has changed
	gone         atomic.Bool   // it was removed
	status       atomic.Pointer[Status]
	secrets      atomic.Pointer[[]string] // that its program was started with, by this server
	bells        loop.Bells
	outbox       *outbox.Outbox
	clients      *clients.Clients
	prompts      *prompts.Prompts

	storing sync.Mutex
	store   *transcript.Store // nil until it is wanted
	storeOf tail.Below        // the logs that it is for
}

// ID is the session's immutable id.
func (s *Session) ID() string { return s.id }

// Status is the newest published picture of the session.
func (s *Session) Status() *Status { return s.status.Load() }

// errStopped is what calls get when the server is going down.
var errStopped = api.Errorf(api.CodeInternal, "the server is going down; the session runs on")

// stopped is what calls get when the loop has ended.
func (s *Session) stopped() error {
	if s.gone.Load() {
		name := s.Status().Name
		return api.Errorf(api.CodeNotFound, "the session %s was removed", name).With("session", name)
	}
	return errStopped
}

// do runs fn on the session's loop and returns when it has run and Status shows
// what it changed. A caller that gives up leaves fn to run without it, so fn
// keeps its results to itself.
func (s *Session) do(ctx context.Context, fn func(*core)) error {
	return s.kernel.Do(ctx, func() { fn(s.core) })
}

// ask is do for a function with a result.
func ask[T any](ctx context.Context, s *Session, fn func(*core) (T, error)) (T, error) {
	return loop.Ask(ctx, s.kernel.Do, func() (T, error) { return fn(s.core) })
}

// Snapshot is the present picture with at most history lines above it, never
// one from inside a synchronized update.
func (s *Session) Snapshot(ctx context.Context, history int) (*terminal.Snapshot, error) {
	return loop.Ask(ctx, s.kernel.Settled, func() (*terminal.Snapshot, error) {
		return s.kernel.Picture().Snapshot(history), nil
	})
}

// Subscribe gives a channel that holds one signal when the session's picture
// or status changed since it was last received from. stop ends it.
func (s *Session) Subscribe() (changed <-chan struct{}, stop func()) {
	changed, stop = s.bells.Add()
	s.clients.Watch()
	return changed, stop
}

// change runs fn on the loop to its end, whether or not the caller waits.
func (s *Session) change(ctx context.Context, fn func(*core) error) error {
	_, err := ask(context.WithoutCancel(ctx), s, func(c *core) (struct{}, error) { return struct{}{}, fn(c) })
	return err
}

// Uptime is how long the program has run, or ran.
func (s *Session) Uptime() time.Duration {
	st := s.Status()
	if st.Started.IsZero() {
		return 0
	}
	if st.Exit != nil && st.Exit.Time.After(st.Started) {
		return st.Exit.Time.Sub(st.Started)
	}
	return max(s.reg.now().Sub(st.Started), 0)
}
