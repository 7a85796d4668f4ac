package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/api"
	"berth/sessions/hold"
)

// Resize sets the session's size and returns when the emulator has it.
func (s *Session) Resize(ctx context.Context, claim Claim, cols, rows int) error {
	if err := CheckSize(cols, rows); err != nil {
		return err
	}
	taken := make(chan struct{})
	err := s.delivery(ctx, claim, func(write func(func(*core) (<-chan error, error)) error) error {
		return write(func(c *core) (<-chan error, error) {
			c.sizes = append(c.sizes, sizeWait{claim.Client, taken})
			c.asked = window{cols, rows}
			link := c.link
			return c.later(func() error { return link.Resize(cols, rows, mark{By: claim.by(), Verb: claim.Verb}.json()) }), nil
		})
	})
	defer func() {
		_ = s.do(context.WithoutCancel(ctx), func(c *core) { // a loop that has ended keeps no list
			c.sizes = slices.DeleteFunc(c.sizes, func(w sizeWait) bool { return w.taken == taken })
		})
	}()
	if err != nil {
		return err
	}
	late := time.NewTimer(resizeWithin)
	defer late.Stop()
	select {
	case <-taken:
		return nil
	case <-late.C:
		return api.Errorf(api.CodeNotReady, "the terminal of %s has not taken the size yet", s.Status().Name)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resizeWithin is how long a size may wait behind input that the program does
// not read: the holder lets it overtake after a second.
const resizeWithin = 5 * time.Second

// sizeWait is a client that waits for its own resize, whatever comes after it.
type sizeWait struct {
	client string
	taken  chan struct{}
}

// sized tells a client that its resize is in the emulator.
func (c *core) sized(client string) {
	c.sizes = slices.DeleteFunc(c.sizes, func(w sizeWait) bool {
		if w.client == client {
			close(w.taken)
			return true
		}
		return false
	})
}

// sizesDone lets go of all who wait for a size that will not come.
func (c *core) sizesDone() {
	for _, w := range c.sizes {
		close(w.taken)
	}
	c.sizes = nil
}

// fitSize makes the session's size what the policy says of the windows of the
// clients here. Without any it stays.
func (c *core) fitSize() {
	if c.link == nil || c.exit != nil || c.spec.SizePolicy == SizeFixed {
		return
	}
	cols, rows := 0, 0
	if c.spec.SizePolicy == SizeSmallest {
		c.wantBy = By{Identity: "berth"}
		for _, m := range c.members {
			if m.Terminal && m.Cols > 0 {
				if cols == 0 {
					cols, rows = m.Cols, m.Rows
				}
				cols, rows = min(cols, m.Cols), min(rows, m.Rows)
			}
		}
	} else if m := c.fitted(); m != nil && m.Terminal {
		cols, rows = m.Cols, m.Rows
		c.wantBy = m.by()
	}
	if cols <= 0 || CheckSize(cols, rows) != nil {
		return
	}
	c.wantCols, c.wantRows = cols, rows
	if c.resizing {
		return // the one under way is followed by the newest: bursts are coalesced
	}
	c.sendSize()
}

// fitted is the member that gives the session its size: the writer, and while no
// client writes the only one that may, once for each window it comes with. A
// size that a call sets after that stays.
func (c *core) fitted() *Member {
	h, held := c.lease.Holder()
	writer := c.members[h.ID]
	if held && writer == nil {
		return nil // a call or a lock: windows wait for its end
	}
	var alone *Member
	able := 0
	for _, m := range c.members {
		if m.Terminal && m.mayWrite() == nil {
			able++
			if m.fresh {
				alone = m
			}
		}
		m.fresh = false
	}
	switch {
	case held:
		return writer
	case able == 1:
		return alone
	}
	return nil
}

// sendSize asks the holder for the wanted size, off the loop.
func (c *core) sendSize() {
	cols, rows := c.wantCols, c.wantRows
	if cols == 0 || c.asked == (window{cols, rows}) {
		c.wantCols, c.wantRows = 0, 0
		return
	}
	by := c.wantBy
	c.resizing, c.asked = true, window{cols, rows}
	link := c.link
	c.background(func() {
		err := link.Resize(cols, rows, mark{By: by, Verb: "attach"}.json())
		_ = c.s.do(c.s.reg.ctx, func(c *core) { // a loop that has ended resizes nothing
			c.resizing = false
			if err != nil && !errors.Is(err, hold.ErrEnded) {
				c.log.Warn("the session could not be resized", "error", err)
			} else if c.wantCols != cols || c.wantRows != rows {
				c.fitAgain()
			}
		})
	})
}

// fitAgain follows a resize that was overtaken by another window change.
func (c *core) fitAgain() {
	if c.link != nil && c.exit == nil {
		c.sendSize()
	}
}
