package sessions

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"berth/api"
	"berth/sessions/lease"
	"berth/terminal"
)

// Claim is how a call wants to write to a session.
type Claim struct {
	Actor
	Allowed       func() error  // the caller's current rights on this session
	Lease         uint64        // generation of the caller's own lock; 0 for none
	Takeover      bool          // take the lease from its holder and notify the holder
	Wait          time.Duration // how long to wait for another writer's lease to end
	AfterDelivery bool          // if Wait is 0, wait for the end of a delivery in progress, at most 5 s
	Verb          string        // named in the event
	Digest        string        // of the prompt as the caller saw it; empty: not given
}

func (a Actor) client(mayWrite bool) lease.Client {
	return lease.Client{ID: a.Client, Identity: a.Identity.Name, Fingerprint: a.Identity.Fingerprint, MayWrite: mayWrite}
}

// writer is the holder of the lease as it is shown.
func (c *core) writer() *api.Writer {
	h, ok := c.lease.Holder()
	if !ok {
		return nil
	}
	return WriterOf(h)
}

// WriterOf shows a holder of the lease.
func WriterOf(h lease.Holder) *api.Writer {
	return &api.Writer{
		Identity: h.Identity, Fingerprint: h.Fingerprint, Client: h.ID, Generation: h.Generation, Since: api.At(h.Since), Expires: api.At(h.Expires),
	}
}

// viewers counts the attached clients that do not write.
func (c *core) viewers() int {
	n := len(c.members)
	if h, ok := c.lease.Holder(); ok && c.members[h.ID] != nil {
		n--
	}
	return n
}

// tellLease tells what became of the lease: as events, and to who lost it.
func (c *core) tellLease(changes []lease.Change) {
	for _, change := range changes {
		c.flushTyping(c.now(), true)
		c.paced(0, "writer_change", "", causeOf(change), toldChange(change))
		if loser, lost := change.Loser(); lost && change.By != nil {
			if m := c.members[loser.ID]; m != nil {
				m.notify(Notice{LostTo: change.By.Identity})
			}
		}
	}
	if len(changes) > 0 {
		c.fitSize()
	}
}

// causeOf is who a change of the lease is counted for: who has it now, else who had it.
func causeOf(change lease.Change) By {
	h := change.By
	if h == nil {
		h = change.From
	}
	if h == nil {
		return By{}
	}
	return By{Identity: h.Identity, Fingerprint: h.Fingerprint, Client: h.Client.ID}
}

// leaseOnType takes the lease for keystrokes, or says why not.
func (c *core) leaseOnType(m *Member) error {
	grant, changes, err := c.lease.Type(c.now(), m.client(true))
	c.tellLease(changes)
	if err != nil {
		return err
	}
	return c.lease.Authorize(grant)
}

func (c *core) leaseOnLeave(m *Member) { c.tellLease(c.lease.Detach(c.now(), m.Client)) }

func (c *core) expireLease(now time.Time) { c.tellLease(c.lease.Tick(now)) }

func (c *core) leaseDue() (time.Time, bool) { return c.lease.Next(c.now()) }

// Take takes the lease, from another client too. It waits for a delivery in
// progress, at most 5 s.
func (m *Member) Take(ctx context.Context) error {
	return m.session.untilFree(ctx, lease.DefaultCutAfter+time.Second, func(c *core) error {
		if err := m.mayWrite(); err != nil {
			return err
		}
		if c.exit != nil {
			return c.exitedError()
		}
		_, changes, err := c.lease.Take(c.now(), m.client(true))
		c.tellLease(changes)
		return err
	})
}

// Release gives the lease back; without it nothing happens.
func (m *Member) Release(ctx context.Context) error {
	return m.session.do(ctx, func(c *core) { c.tellLease(c.lease.Release(c.now(), m.Client)) })
}

// untilFree tries fn on the loop until it is not refused for another writer's
// sake, at most for patience; then it gives that refusal.
func (s *Session) untilFree(ctx context.Context, patience time.Duration, fn func(*core) error) error {
	return s.untilGranted(ctx, patience, fn, func(*lease.BusyError) bool { return true })
}

// afterDelivery tries fn as untilFree does, but waits for nothing else than the
// end of a delivery in progress, which comes within 5 s.
func (s *Session) afterDelivery(ctx context.Context, fn func(*core) error) error {
	return s.untilGranted(ctx, lease.DefaultCutAfter+time.Second, fn, func(busy *lease.BusyError) bool { return busy.Delivering })
}

func (s *Session) untilGranted(ctx context.Context, patience time.Duration, fn func(*core) error, worth func(*lease.BusyError) bool) error {
	changed, stop := s.Subscribe()
	defer stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTimer(patience)
	defer again.Stop()
	for {
		_, err := ask(ctx, s, func(c *core) (struct{}, error) { return struct{}{}, fn(c) })
		var busy *lease.BusyError
		if !errors.As(err, &busy) || !worth(busy) {
			return err
		}
		var retry <-chan time.Time
		if wait := busy.Retry.Sub(s.reg.now()); wait > 0 {
			again.Reset(wait)
			retry = again.C
		}
		select {
		case <-changed:
		case <-retry:
		case <-deadline.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin checks a claim and begins its delivery.
func (c *core) begin(claim Claim) (lease.Grant, error) {
	if claim.Allowed != nil {
		if err := claim.Allowed(); err != nil {
			return lease.Grant{}, err
		}
	}
	if c.link == nil || c.exit != nil {
		return lease.Grant{}, c.exitedError()
	}
	grant, changes, err := c.lease.Begin(c.now(), claim.client(true), lease.Want{Lease: claim.Lease, Takeover: claim.Takeover})
	c.tellLease(changes)
	return grant, err
}

// writing has send write on the loop, if the delivery still may, and returns
// when that was written.
type writing = func(send func(*core) (<-chan error, error)) error

// delivery runs work as a claim's own delivery: nobody's input comes between.
func (s *Session) delivery(ctx context.Context, claim Claim, work func(writing) error) error {
	var grant lease.Grant
	begin := func(c *core) (err error) {
		grant, err = c.begin(claim)
		return err
	}
	var err error
	if claim.AfterDelivery && claim.Wait == 0 {
		err = s.afterDelivery(ctx, begin)
	} else {
		err = s.untilFree(ctx, claim.Wait, begin)
	}
	defer func() { // after a caller gave up too: the loop may have granted it all the same
		_ = s.do(context.WithoutCancel(ctx), func(c *core) { // a loop that has ended has no lease
			if grant.Generation != 0 {
				c.unread = c.link != nil // the holder does not wake the server for input
				c.catchUp()
				c.tellLease(c.lease.End(c.now(), grant))
			}
		})
	}()
	if err != nil {
		return writeError(err)
	}
	return writeError(work(func(send func(*core) (<-chan error, error)) error {
		written, err := ask(ctx, s, func(c *core) (<-chan error, error) {
			if err := c.lease.Authorize(grant); err != nil {
				return nil, err
			}
			if claim.Allowed != nil {
				if err := claim.Allowed(); err != nil {
					return nil, err
				}
			}
			if c.link == nil || c.exit != nil {
				return nil, c.exitedError()
			}
			return send(c)
		})
		if err != nil {
			return err
		}
		select {
		case err := <-written:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
}

// writeError puts refusals of lease and holder into words for a caller.
func writeError(err error) error {
	var busy *lease.BusyError
	var lost *lease.LostError
	var long *lease.TooLongError
	switch {
	case errors.As(err, &busy):
		return api.Errorf(api.CodeWriterBusy, "%w; wait for it with --wait-lock 10s, or take over with --takeover", busy).
			With("writer", WriterOf(busy.Holder))
	case errors.As(err, &lost):
		return api.Errorf(api.CodeWriterBusy, "%w", lost).With("generation", lost.Generation)
	case errors.As(err, &long):
		return api.Errorf(api.CodeUsage, "%w", long)
	}
	return inputError(err)
}

// Deliver types each of the writes as one message, in order, with nobody's
// input in between. It returns when the program's terminal has taken all.
func (s *Session) Deliver(ctx context.Context, claim Claim, writes ...[]byte) error {
	return s.delivery(ctx, claim, func(write writing) error {
		for _, data := range writes {
			if len(data) == 0 {
				continue
			}
			err := write(func(c *core) (<-chan error, error) {
				return c.link.InputLater(data, mark{By: claim.by(), Verb: claim.Verb}.json())
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Press types keys by name, encoded by the modes in force at each. It returns
// how many bytes that were.
func (s *Session) Press(ctx context.Context, claim Claim, names []string) (int, error) {
	var typed atomic.Int64 // the loop's, also for a caller that gave up
	err := s.delivery(ctx, claim, func(write writing) error {
		for _, name := range names {
			err := write(func(c *core) (<-chan error, error) {
				data, err := terminal.EncodeKey(name, c.term.Modes())
				if err != nil {
					return nil, api.Errorf(api.CodeUsage, "keys: %w", err)
				}
				typed.Add(int64(len(data)))
				return c.link.InputLater(data, mark{By: claim.by(), Verb: claim.Verb}.json())
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return int(typed.Load()), err
}

// later runs a call to the holder that answers at once, off the loop.
func (c *core) later(call func() error) <-chan error {
	done := make(chan error, 1)
	c.background(func() { done <- call() })
	return done
}

// until waits until cond holds on the loop.
func (s *Session) until(ctx context.Context, cond func(*core) bool) error {
	changed, stop := s.Subscribe()
	defer stop()
	for {
		met, err := ask(ctx, s, func(c *core) (bool, error) { return cond(c), nil })
		if err != nil || met {
			return err
		}
		select {
		case <-changed:
		case <-s.over:
			return s.stopped()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Signal sends a signal to the foreground program. It needs the right to type,
// not the lease: a person at the terminal may be the one who hangs.
func (s *Session) Signal(ctx context.Context, claim Claim, sig syscall.Signal) error {
	sent, err := ask(ctx, s, func(c *core) (<-chan error, error) {
		if claim.Allowed != nil {
			if err := claim.Allowed(); err != nil {
				return nil, err
			}
		}
		if c.link == nil || c.exit != nil {
			return nil, c.exitedError()
		}
		link := c.link
		return c.later(func() error { return link.Signal(sig, mark{By: claim.by(), Verb: claim.Verb}.json()) }), nil
	})
	if err != nil {
		return err
	}
	return writeError(<-sent)
}

// Lock holds the session's input for later calls of the same identity.
func (s *Session) Lock(ctx context.Context, claim Claim, d time.Duration) (*api.Writer, error) {
	var held atomic.Pointer[api.Writer] // the loop's, also for a caller that gave up
	err := s.untilFree(ctx, claim.Wait, func(c *core) error {
		if claim.Allowed != nil {
			if err := claim.Allowed(); err != nil {
				return err
			}
		}
		if c.exit != nil {
			return c.exitedError()
		}
		h, changes, err := c.lease.Lock(c.now(), claim.client(true), d, lease.Want{Lease: claim.Lease, Takeover: claim.Takeover})
		c.tellLease(changes)
		if err == nil {
			held.Store(WriterOf(h))
		}
		return err
	})
	return held.Load(), writeError(err)
}

// Unlock gives a lock back.
func (s *Session) Unlock(ctx context.Context, by Actor, generation uint64) error {
	_, err := ask(ctx, s, func(c *core) (struct{}, error) {
		changes, err := c.lease.Unlock(c.now(), by.client(true), generation, false)
		c.tellLease(changes)
		return struct{}{}, err
	})
	return writeError(err)
}

// freeLease ends whatever holding there is, when the program has ended.
func (c *core) freeLease() {
	h, ok := c.lease.Holder()
	if !ok {
		return
	}
	if h.Kind == lease.Lock {
		changes, err := c.lease.Unlock(c.now(), h.Client, h.Generation, true)
		if err == nil {
			c.tellLease(changes)
		}
		return
	}
	c.tellLease(c.lease.Release(c.now(), h.ID))
}
