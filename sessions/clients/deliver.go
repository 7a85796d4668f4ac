package clients

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"syscall"

	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/sessions/loop"
	"berth/terminal"
)

// reach is the holder, if the program can be written to.
func (c *Clients) reach() (Holder, error) {
	holder := c.env.Holder()
	if holder == nil || !c.running() {
		return nil, c.env.Exited()
	}
	return holder, nil
}

// begin checks a claim and begins its delivery.
func (c *Clients) begin(claim loop.Claim) (lease.Grant, error) {
	if err := allowed(claim); err != nil {
		return lease.Grant{}, err
	}
	if _, err := c.reach(); err != nil {
		return lease.Grant{}, err
	}
	if err := c.afterPaste(claim.Client); err != nil {
		return lease.Grant{}, err
	}
	grant, changes, err := c.lease.Begin(c.env.Now(), claim.Writer(true), lease.Want{Lease: claim.Lease, Takeover: claim.Takeover})
	c.tell(changes)
	return grant, err
}

// Delivery runs work as a claim's own delivery: no other input comes between its writes.
func (c *Clients) Delivery(ctx context.Context, claim loop.Claim, work func(loop.Write) error) error {
	return c.delivery(ctx, claim, func() error { return nil }, work)
}

// delivery is Delivery with a condition, which the loop checks each time that it tries to begin.
func (c *Clients) delivery(ctx context.Context, claim loop.Claim, may func() error, work func(loop.Write) error) error {
	var grant lease.Grant
	begin := func() (err error) {
		if err = may(); err == nil {
			grant, err = c.begin(claim)
		}
		return err
	}
	err := c.wait(ctx, claim, begin)
	defer func() { // after a caller gave up too: the loop may have granted it all the same
		_ = c.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended has no lease
			if grant.Generation != 0 {
				c.env.ReadOn() // the wake for an input record may still come
				c.env.CatchUp()
				c.tell(c.lease.End(c.env.Now(), grant))
			}
		})
	}()
	if err != nil {
		return WriteError(err)
	}
	return WriteError(work(func(send func() (<-chan error, error)) error {
		written, err := loop.Ask(ctx, c.env.Do, func() (<-chan error, error) {
			if err := c.lease.Authorize(grant); err != nil {
				return nil, err
			}
			if err := allowed(claim); err != nil {
				return nil, err
			}
			if _, err := c.reach(); err != nil {
				return nil, err
			}
			return send()
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

// wait begins a claim's delivery as soon as the claim's terms allow it.
func (c *Clients) wait(ctx context.Context, claim loop.Claim, begin func() error) error {
	if !claim.AfterDelivery {
		return c.untilFree(ctx, claim.Wait, begin)
	}
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	if claim.Wait > 0 {
		return c.untilFree(ctx, claim.Wait, begin)
	}
	return c.afterDelivery(ctx, begin)
}

// Interrupt reports whether a claim waits for the end of a delivery, to interrupt the turn that the
// delivery starts.
func (c *Clients) Interrupt() bool { return c.waiting.Load() > 0 }

// markOf says in the control log who caused a write.
func markOf(claim loop.Claim) json.RawMessage {
	return loop.Mark{By: claim.By(), Verb: claim.Verb}.JSON()
}

// Deliver types each of the writes as one message, in order, with no other
// input in between. It returns when the program's terminal has taken all. Like Type it doesn't
// type what has waited if the agent asks something else by then.
func (c *Clients) Deliver(ctx context.Context, claim loop.Claim, writes ...[]byte) error {
	return c.delivery(ctx, claim, c.sameQuestion(), func(write loop.Write) error {
		for _, data := range writes {
			if len(data) == 0 {
				continue
			}
			err := write(func() (<-chan error, error) { return c.env.Holder().InputLater(data, markOf(claim)) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Press types keys by name, encoded by the modes in force at each. It returns
// how many bytes that were. Keys that have waited are as in Deliver.
func (c *Clients) Press(ctx context.Context, claim loop.Claim, names []string) (int, error) {
	var typed atomic.Int64 // the loop's, also for a caller that gave up
	err := c.delivery(ctx, claim, c.sameQuestion(), func(write loop.Write) error {
		for _, name := range names {
			err := write(func() (<-chan error, error) {
				modes := c.env.Terminal().Modes()
				modes.NewLine = false // any process of the session can set it, and Enter is one key
				data, err := terminal.EncodeKey(name, modes)
				if err != nil {
					return nil, api.Errorf(api.CodeUsage, "keys: %w", err)
				}
				typed.Add(int64(len(data)))
				return c.env.Holder().InputLater(data, markOf(claim))
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
func (c *Clients) later(call func() error) <-chan error {
	done := make(chan error, 1)
	c.env.Background(func(context.Context) { done <- call() })
	return done
}

// Signal sends a signal to the foreground program. It needs the right to type,
// not the lease: a person at the terminal may be the one who hangs.
func (c *Clients) Signal(ctx context.Context, claim loop.Claim, sig syscall.Signal) error {
	sent, err := loop.Ask(ctx, c.env.Do, func() (<-chan error, error) {
		if err := allowed(claim); err != nil {
			return nil, err
		}
		holder, err := c.reach()
		if err != nil {
			return nil, err
		}
		return c.later(func() error { return holder.Signal(sig, markOf(claim)) }), nil
	})
	if err != nil {
		return err
	}
	return WriteError(<-sent)
}

func (c *Clients) signalRecord(r hold.Record) error {
	d, err := loop.Decode[hold.SignalData](r)
	if err != nil {
		return err
	}
	c.Gather()
	by := loop.ReadMark(d.Mark).By
	c.env.Paced(r.N, eventSignal, "signal", by, signalEvent{By: by, Signal: d.Signal})
	return nil
}
