package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/sessions/loop"
	"berth/terminal/keyboard"
)

// Gather writes the event of the keystrokes so far.
func (c *Clients) Gather() {
	t := c.typing
	if !t.open {
		return
	}
	c.typing = typing{}
	c.env.Paced(t.last, eventInput, "attach", t.by, inputEvent{By: t.by, Bytes: t.bytes, Verb: "attach"})
}

// readTyped reads the records of keystrokes a second after the first one, even
// without a wake of the holder.
func (c *Clients) readTyped(now time.Time) {
	if at := c.input.due(); !at.IsZero() && !now.Before(at) {
		c.input.unread = time.Time{}
		c.env.ReadOn()
	}
}

// LastInput is when something was typed last, by any caller.
func (c *Clients) LastInput() time.Time { return c.input.last }

// PersonAt is when a person typed last, at a terminal or by input and keys.
func (c *Clients) PersonAt() time.Time { return c.input.person }

// Mark says who caused the input that was recorded last.
func (c *Clients) Mark() loop.Mark { return c.input.mark }

func (c *Clients) inputRecord(r hold.Record) error {
	d, err := r.Input()
	if err != nil {
		return err
	}
	in := &c.input
	m := in.read(d.Mark)
	in.last = c.env.OnClock(r.Time.Time)
	if m.ByPerson() && !m.Focus && in.last.After(in.person) {
		in.person = in.last
	}
	c.env.Active()
	if !m.Typed {
		c.Gather()
		c.env.Paced(r.N, eventInput, m.Verb, m.By, inputEvent{By: m.By, Bytes: d.Bytes, Verb: m.Verb})
		return nil
	}
	if c.typing.open && (c.typing.by != m.By || in.last.Sub(c.typing.first) >= typingWindow) {
		c.Gather()
	}
	c.typing.add(m.By, d.Bytes, r.N, in.last)
	return nil
}

// markFor is the mark beside what the member types.
func (m *Member) markFor(data []byte) json.RawMessage {
	if noKey(data) {
		return loop.Mark{By: m.By(), Typed: true, Focus: true}.JSON()
	}
	return m.mark
}

// noKey reports whether the data are only reports that a window was entered or left, or that the mouse was moved in it. Any
// process of the session can have a terminal send these, and none answers a dialog.
func noKey(data []byte) bool {
	for len(data) > 0 {
		size := 1 + bytes.IndexByte(data[1:], 0x1b)
		if size == 0 {
			size = len(data)
		}
		seq := data[:size]
		e, mouse := keyboard.DecodeMouse(seq)
		if s := string(seq); s != "\x1b[I" && s != "\x1b[O" && (!mouse || e.What != keyboard.Move) {
			return false
		}
		data = data[size:]
	}
	return true
}

// Type writes data to the program as one message. It takes the lease when it
// may; else a *lease.BusyError, DENIED or EXITED. Keys never come in between a
// delivery in progress: Type waits for its end, and what a person types meanwhile
// arrives after it. It doesn't if the agent asks something else by then: the person meant
// what was on the screen, and the key would answer what they haven't seen. Type waits too
// while the program does not read, until ctx is done.
func (m *Member) Type(ctx context.Context, data []byte) error {
	c := m.clients
	var written atomic.Pointer[chan error] // the loop's, also for a caller that gave up
	same := c.sameQuestion()
	err := c.afterDelivery(ctx, func() error {
		if err := same(); err != nil {
			return err
		}
		if err := m.mayWrite(); err != nil {
			return err
		}
		holder, err := c.reach()
		if err != nil {
			return err
		}
		if err := c.leaseOnType(m); err != nil {
			return err
		}
		if err := c.afterPaste(m.Client); err != nil {
			return err
		}
		c.input.typed(c.env.Now(), !noKey(data))
		answer := make(chan error, 1)
		written.Store(&answer)
		if data = c.pasting.typed(m.Client, data, c.env.Now()); len(data) == 0 {
			answer <- nil
			return nil
		}
		return holder.Type(data, m.markFor(data), func(err error) { answer <- err })
	})
	if err != nil {
		return inputError(err)
	}
	select {
	case err := <-*written.Load():
		return inputError(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// afterPaste lets a client type only after another one's paste. One that has no end for 5 s, or whose client has left, is
// ended for it.
func (c *Clients) afterPaste(client string) error {
	p := &c.pasting
	until := p.until(client)
	if until.IsZero() {
		return nil
	}
	if c.members[p.by] == nil {
		*p = pasting{}
	} else if c.env.Now().Before(until) {
		h, _ := c.lease.Holder()
		return &lease.BusyError{Holder: h, Delivering: true, Retry: until}
	} else {
		p.cut = true
	}
	_, err := c.env.Holder().InputLater([]byte(keyboard.PasteEnd), loop.Mark{By: loop.Berth, Verb: "attach"}.JSON())
	return err
}

// sameQuestion returns a function for the loop. It returns an error once the session asks something else than at the
// function's first call, when the keys came.
func (c *Clients) sameQuestion() func() error {
	came, meant := false, ""
	return func() error {
		asks := promptOf(c.env.Standing())
		if !came {
			came, meant = true, asks
		}
		if asks != meant {
			return api.Errorf(api.CodeStalePrompt, "what %s asks has changed meanwhile: look, and type again", c.env.Name())
		}
		return nil
	}
}

// promptOf is the id of the prompt that a session asks now; empty for none.
func promptOf(st loop.Standing) string {
	if st.Prompt == nil {
		return ""
	}
	return st.Prompt.ID
}

// leaseOnType takes the lease for keystrokes, or says why not.
func (c *Clients) leaseOnType(m *Member) error {
	grant, changes, err := c.lease.Type(c.env.Now(), m.Writer(true))
	c.tell(changes)
	if err != nil {
		return err
	}
	return c.lease.Authorize(grant)
}

// OpenFastPath lets the holder of the lease type past the loop, if that is an attached client and no
// delivery is under way. The loop calls it before it sleeps.
func (c *Clients) OpenFastPath() {
	h, ok := c.lease.Holder()
	holder := c.env.Holder()
	if !ok || h.Kind != lease.Attach || c.lease.Delivering() || holder == nil || !c.running() {
		return
	}
	if m := c.members[h.ID]; m != nil {
		c.fastPath.open(m.Client, holder)
	}
}

// CloseFastPath ends that and takes in that the holder of the lease has typed.
func (c *Clients) CloseFastPath() {
	typed := c.fastPath.close()
	if typed.IsZero() {
		return
	}
	if h, ok := c.lease.Holder(); ok { // the member that typed: the loop has slept since
		_, changes, _ := c.lease.Type(typed, h.Client)
		c.tell(changes)
		c.input.typed(typed, true)
	}
}

// TryType types data as Type does, without waiting, if the fast path is open for this
// member: the member then has the lease. False says that nothing was typed: Type then
// does it, or says why not. answered
// is called later, from any goroutine, with what Type would have returned; it must
// not wait.
func (m *Member) TryType(data []byte, answered func(error)) bool {
	if m.mayWrite() != nil || noKey(data) {
		return false
	}
	c := m.clients
	return c.fastPath.use(m.Client, c.env.Now, func(holder Holder) error {
		if c.pasting.bars(m.Client) {
			return errBarred
		}
		c.pasting.typed(m.Client, data, c.env.Now())
		return holder.Type(data, m.markFor(data), func(err error) { answered(inputError(err)) })
	})
}

// errBarred says that the loop has to see what is typed.
var errBarred = errors.New("a paste has no end")
