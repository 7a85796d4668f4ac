package clients

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"berth/api"
	"berth/sessions/lease"
	"berth/sessions/loop"
)

// Writer is the holder of the lease as it is shown.
func (c *Clients) Writer() *api.Writer {
	h, ok := c.lease.Holder()
	if !ok {
		return nil
	}
	return WriterOf(h)
}

// Viewers counts the attached clients that do not write.
func (c *Clients) Viewers() int {
	n := len(c.members)
	if h, ok := c.lease.Holder(); ok && c.members[h.ID] != nil {
		n--
	}
	return n
}

// tell reports what became of the lease: as events, and to the client that lost it.
func (c *Clients) tell(changes []lease.Change) {
	for _, change := range changes {
		c.Gather()
		c.env.Paced(0, eventWriter, "", causeOf(change), eventOf(change))
		if loser, lost := change.Loser(); lost && change.By != nil {
			if m := c.members[loser.ID]; m != nil {
				m.notify(Notice{LostTo: change.By.Identity})
			}
		}
	}
	if len(changes) > 0 {
		c.fit()
	}
}

// Take takes the lease, from another client too. It waits for a delivery in
// progress, at most 5 s.
func (m *Member) Take(ctx context.Context) error {
	c := m.clients
	return c.untilFree(ctx, lease.DefaultCutAfter+time.Second, func() error {
		if err := m.mayWrite(); err != nil {
			return err
		}
		if !c.running() {
			return c.env.Exited()
		}
		_, changes, err := c.lease.Take(c.env.Now(), m.Writer(true))
		c.tell(changes)
		return err
	})
}

// Release gives the lease back; without it nothing happens.
func (m *Member) Release(ctx context.Context) error {
	c := m.clients
	return c.env.Do(ctx, func() { c.tell(c.lease.Release(c.env.Now(), m.Client)) })
}

// untilFree tries fn on the loop until it is not refused for another writer's
// sake, at most for patience; then it gives that refusal.
func (c *Clients) untilFree(ctx context.Context, patience time.Duration, fn func() error) error {
	return c.untilGranted(ctx, patience, fn, func(*lease.BusyError) bool { return true })
}

// afterDelivery tries fn as untilFree does, but waits for nothing else than the
// end of a delivery in progress, which comes within 5 s.
func (c *Clients) afterDelivery(ctx context.Context, fn func() error) error {
	return c.untilGranted(ctx, lease.DefaultCutAfter+time.Second, fn, func(busy *lease.BusyError) bool { return busy.Delivering })
}

func (c *Clients) untilGranted(ctx context.Context, patience time.Duration, fn func() error, worth func(*lease.BusyError) bool) error {
	changed, stop := c.env.Changed()
	defer stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTimer(patience)
	defer again.Stop()
	for {
		err := c.onLoop(ctx, fn)
		var busy *lease.BusyError
		if !errors.As(err, &busy) || !worth(busy) {
			return err
		}
		var retry <-chan time.Time
		if wait := busy.Retry.Sub(c.env.Now()); wait > 0 {
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

// onLoop is Env.Do for a function that may fail.
func (c *Clients) onLoop(ctx context.Context, fn func() error) error {
	_, err := loop.Ask(ctx, c.env.Do, func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

// Lock holds the session's input for later calls of the same identity.
func (c *Clients) Lock(ctx context.Context, claim loop.Claim, d time.Duration) (*api.Writer, error) {
	var held atomic.Pointer[api.Writer] // the loop's, also for a caller that gave up
	err := c.untilFree(ctx, claim.Wait, func() error {
		if err := allowed(claim); err != nil {
			return err
		}
		if !c.running() {
			return c.env.Exited()
		}
		h, changes, err := c.lease.Lock(c.env.Now(), claim.Writer(true), d, lease.Want{Lease: claim.Lease, Takeover: claim.Takeover})
		c.tell(changes)
		if err == nil {
			held.Store(WriterOf(h))
		}
		return err
	})
	return held.Load(), WriteError(err)
}

// lockReview is how often the rights of a client with a lock are looked up: a lock lasts up to 10 minutes, and a
// key that was removed must not keep others from typing until then.
const lockReview = 500 * time.Millisecond

// reviewLock ends a lock whose client may no longer type. next is when it looks again; zero without a lock.
func (c *Clients) reviewLock(now time.Time) (next time.Time) {
	h, held := c.lease.Holder()
	if !held || h.Kind != lease.Lock {
		c.review = time.Time{}
		return c.review
	}
	if now.Before(c.review) {
		return c.review
	}
	c.review = now.Add(lockReview)
	if !c.env.MayLock(h.Client) {
		c.tell(c.lease.Revoke(now))
	}
	return c.review
}

// Unlock gives a lock back.
func (c *Clients) Unlock(ctx context.Context, by loop.Actor, generation uint64) error {
	return WriteError(c.onLoop(ctx, func() error {
		changes, err := c.lease.Unlock(c.env.Now(), by.Writer(true), generation, false)
		c.tell(changes)
		return err
	}))
}

// allowed judges the caller's rights as they are now.
func allowed(claim loop.Claim) error {
	if claim.Allowed == nil {
		return nil
	}
	return claim.Allowed()
}
