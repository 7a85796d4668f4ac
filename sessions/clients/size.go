package clients

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/terminal"
)

// SizePolicy says who decides a session's size.
type SizePolicy string

// The size policies.
const (
	SizeWriter   SizePolicy = "writer"   // the writer's window
	SizeFixed    SizePolicy = "fixed"    // only the verb resize
	SizeSmallest SizePolicy = "smallest" // the smallest attached window
)

// CheckSize refuses a terminal size that no screen has.
func CheckSize(cols, rows int) error {
	if cols < terminal.MinCols || rows < terminal.MinRows || cols > terminal.MaxCols || rows > terminal.MaxRows {
		return api.Errorf(api.CodeBadRequest, "size %dx%d is out of range: give COLSxROWS between %dx%d and %dx%d",
			cols, rows, terminal.MinCols, terminal.MinRows, terminal.MaxCols, terminal.MaxRows)
	}
	return nil
}

type window struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// sizing is which size the session is to have.
type sizing struct {
	asked    window     // the size the holder was asked for last
	want     window     // the size to ask for; zero: none
	wantBy   loop.By    // the client whose window that is
	resizing bool       // the holder has yet to answer a resize
	waits    []sizeWait // calls that wait for a size

	grownBack
}

// grownBack is what a session's size goes back to after a small client has left.
type grownBack struct {
	Size   window `json:"size"`   // that the program's terminal has
	Former window `json:"former"` // before a client's window made it smaller; zero: no window did
	By     string `json:"by"`     // the client whose window decided on Size, or berth for the smallest of several; empty: none is here
}

// took takes in a new size. member is the client whose window it is; empty for a size that was asked for
// by a call. A size that a call sets is there to stay.
func (g *grownBack) took(size window, member string) {
	switch {
	case member == "":
		g.Former = window{}
	case g.Former != (window{}):
		if size.holds(g.Former) {
			g.Former = window{}
		}
	case g.Size != (window{}) && !size.holds(g.Size):
		g.Former = g.Size
	}
	g.Size, g.By = size, member
}

// back is the size to go back to, now that no client's window decides; zero: stay.
func (g *grownBack) back() window {
	if g.By != "" {
		return window{}
	}
	return g.Former
}

// holds says whether all of another size can be seen in this one.
func (w window) holds(o window) bool { return w.Cols >= o.Cols && w.Rows >= o.Rows }

// sizeWait is a client that waits for its own resize, whatever comes after it.
type sizeWait struct {
	client string
	taken  chan struct{}
}

// SizeIs takes in a size that the program's terminal has without a resize: that of its start.
func (c *Clients) SizeIs(cols, rows int) {
	c.size.asked = window{cols, rows}
	if c.size.Size != c.size.asked {
		c.size.took(c.size.asked, "")
	}
}

// Resize sets the session's size and returns when the emulator has it.
func (c *Clients) Resize(ctx context.Context, claim loop.Claim, cols, rows int) error {
	if err := CheckSize(cols, rows); err != nil {
		return err
	}
	taken := make(chan struct{})
	err := c.Delivery(ctx, claim, func(write loop.Write) error {
		return write(func() (<-chan error, error) {
			c.size.waits = append(c.size.waits, sizeWait{claim.Client, taken})
			c.size.asked = window{cols, rows}
			holder := c.env.Holder()
			return c.later(func() error { return holder.Resize(cols, rows, markOf(claim)) }), nil
		})
	})
	defer func() {
		_ = c.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended keeps no list
			c.size.waits = slices.DeleteFunc(c.size.waits, func(w sizeWait) bool { return w.taken == taken })
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
		return api.Errorf(api.CodeNotReady, "the terminal of %s doesn't have the new size yet", c.env.Standing().Name)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resizeWithin is how long a size may wait for input that the program does
// not read: the holder lets it overtake after a second.
const resizeWithin = 5 * time.Second

func (c *Clients) resizeRecord(r hold.Record) error {
	d, err := loop.Decode[hold.ResizeData](r)
	if err != nil {
		return err
	}
	c.env.Resize(d.Cols, d.Rows)
	now := window{d.Cols, d.Rows}
	if c.size.want == now {
		c.size.want = window{}
	}
	if !c.size.resizing {
		c.size.asked = now
	}
	c.Gather()
	mark := loop.ReadMark(d.Mark)
	by, member := mark.By, ""
	if mark.Verb == windowVerb {
		member = memberOf(by)
	}
	c.size.took(now, member)
	c.env.Paced(r.N, eventResize, "resize", by, resizeEvent{By: by, Cols: d.Cols, Rows: d.Rows})
	c.sized(by.Client)
	return nil
}

// windowVerb is the verb of a resize to a client's window.
const windowVerb = "attach"

// memberOf names in grownBack who made a resize to a window.
func memberOf(by loop.By) string {
	if by == loop.Berth {
		return by.Identity
	}
	return by.Client
}

// sized lets a client go on whose resize is in the emulator.
func (c *Clients) sized(client string) {
	c.size.waits = slices.DeleteFunc(c.size.waits, func(w sizeWait) bool {
		if w.client == client {
			close(w.taken)
			return true
		}
		return false
	})
}

// SizesDone lets go of all who wait for a size that will not come.
func (c *Clients) SizesDone() {
	for _, w := range c.size.waits {
		close(w.taken)
	}
	c.size.waits = nil
}

// sizePatience is how long a client that joins waits for its window to become
// the session's: the holder answers within a millisecond or so.
const sizePatience = 250 * time.Millisecond

// awaitSize lets a resize that joining has caused come into force, so that the
// first picture has the size of those that follow.
func (m *Member) awaitSize(ctx context.Context) {
	c := m.clients
	ctx, cancel := context.WithTimeout(ctx, sizePatience)
	defer cancel()
	_ = c.env.Until(ctx, func() bool { // a size that comes late is a repaint, no harm
		return !c.running() || !c.size.resizing && (c.size.want == window{} || c.size.want == c.present())
	})
}

// present is the size of the emulator.
func (c *Clients) present() (now window) {
	if term := c.env.Terminal(); term != nil {
		now.Cols, now.Rows = term.Size()
	}
	return now
}

// Window reports the client's present window. It does not wait.
func (m *Member) Window(cols, rows int) {
	if CheckSize(cols, rows) != nil {
		return // nothing can be seen in it
	}
	m.window.Store(&window{cols, rows})
	loop.Ring(m.clients.windowChanged)
}

// LookAtWindows takes up what clients have reported of their windows.
func (c *Clients) LookAtWindows() {
	changed := false
	for _, m := range c.members {
		if w := m.window.Swap(nil); w != nil {
			m.Cols, m.Rows, m.fresh, changed = w.Cols, w.Rows, true, true
		}
	}
	if changed {
		c.fit()
	}
}

// fit makes the session's size what the policy says of the windows of the clients here. When the client
// has left whose window made the session smaller, it gets its former size again. Otherwise it stays.
func (c *Clients) fit() {
	policy := c.env.Policy()
	if c.env.Holder() == nil || !c.running() || policy == SizeFixed {
		return
	}
	var want window
	if policy == SizeSmallest {
		c.size.wantBy = loop.Berth
		for _, m := range c.members {
			if m.Terminal && m.Cols > 0 {
				if want.Cols == 0 {
					want = window{m.Cols, m.Rows}
				}
				want = window{min(want.Cols, m.Cols), min(want.Rows, m.Rows)}
			}
		}
	} else if m := c.fitted(); m != nil && m.Terminal {
		want = window{m.Cols, m.Rows}
		c.size.wantBy = m.By()
	}
	if h, held := c.lease.Holder(); want == (window{}) && (!held || c.members[h.ID] != nil) {
		want, c.size.wantBy = c.size.back(), loop.Berth
	}
	if want.Cols <= 0 || CheckSize(want.Cols, want.Rows) != nil {
		return
	}
	c.size.want = want
	if c.size.resizing {
		return // the one under way is followed by the newest: bursts are coalesced
	}
	c.sendSize()
}

// fitted is the member that gives the session its size: the writer, and while no
// client writes the only one that may, once for each window it comes with. A
// size that a call sets after that stays.
func (c *Clients) fitted() *Member {
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
	case held && writer.mayWrite() != nil: // its key has lost the right since
		return nil
	case held:
		return writer
	case able == 1:
		return alone
	}
	return nil
}

// sendSize asks the holder for the wanted size, off the loop.
func (c *Clients) sendSize() {
	s := &c.size
	want, by := s.want, s.wantBy
	if want.Cols == 0 || s.asked == want {
		s.want = window{}
		return
	}
	s.resizing, s.asked = true, want
	holder := c.env.Holder()
	c.env.Background(func(ctx context.Context) {
		err := holder.Resize(want.Cols, want.Rows, loop.Mark{By: by, Verb: windowVerb}.JSON())
		_ = c.env.Do(ctx, func() { // a loop that has ended resizes nothing
			s.resizing = false
			if err != nil && !errors.Is(err, hold.ErrEnded) {
				c.env.Log.Warn("the session couldn't be resized", "error", err)
			} else if s.want != want && c.env.Holder() != nil && c.running() {
				c.sendSize() // it was overtaken by another window
			}
		})
	})
}
