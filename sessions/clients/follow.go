package clients

import (
	"context"
	"runtime"

	"berth/sessions/loop"
	"berth/terminal"
)

// A Follower takes the output stream of one client as the emulator passed it
// on. Its methods are called on the session's loop and must not wait.
type Follower interface {
	Start()        // what is pushed from now on follows the repaint just made
	Push(p []byte) // whole sequences; p is only lent
	Lag()          // what comes next does not fit the screen the client has
}

// Paint is a repaint and what it is for.
type Paint struct {
	Bytes      []byte
	Cols, Rows int
}

// Resync gives, in one step, the bytes that repaint a terminal of the returned
// size, and starts f as a follower from exactly there.
func (m *Member) Resync(ctx context.Context, f Follower, o terminal.RepaintOptions) (Paint, error) {
	return loop.Ask(ctx, m.clients.env.Settled, func() (Paint, error) {
		c := m.clients
		term := c.env.Picture()
		c.PassOn()
		p := Paint{Bytes: term.Repaint(o)}
		p.Cols, p.Rows = term.Size()
		if m.gone {
			return p, nil
		}
		term.SetPass(true)
		_ = term.TakePass() // it is in the repaint
		f.Start()
		c.followers[f] = m
		return p, nil
	})
}

// Unfollow ends the pushing into f; it returns when no Push can follow.
func (m *Member) Unfollow(f Follower) {
	_ = m.clients.env.Do(context.Background(), func() { m.clients.unfollow(f) }) // a loop that has ended pushes no more
}

func (c *Clients) unfollow(f Follower) {
	if _, follows := c.followers[f]; !follows {
		return
	}
	delete(c.followers, f)
	if term := c.env.Terminal(); len(c.followers) == 0 && term != nil {
		term.SetPass(false)
	}
}

func (c *Clients) unfollowAll(m *Member) {
	for f, owner := range c.followers {
		if owner == m {
			c.unfollow(f)
		}
	}
}

// follows says that the member is pushed the output, so that it needs no signal
// that there was some.
func (c *Clients) follows(m *Member) bool {
	for _, owner := range c.followers {
		if owner == m {
			return true
		}
	}
	return false
}

// PassOn hands what the emulator let through to the clients that follow.
func (c *Clients) PassOn() {
	if len(c.followers) == 0 {
		return
	}
	if p := c.env.Terminal().TakePass(); len(p) > 0 {
		for f := range c.followers {
			f.Push(p)
		}
		runtime.Gosched() // what writes the echo to its client goes first: no client waits for the rest of this turn
	}
}

// Resized has the clients that follow repainted: the emulator has another size. PassOn comes
// before the change, with the last bytes of the old size.
func (c *Clients) Resized() {
	if len(c.followers) > 0 {
		_ = c.env.Terminal().TakePass() // nothing of a resize is for a client
	}
	for f := range c.followers {
		f.Lag()
	}
}
