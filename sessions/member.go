package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
	"berth/terminal"
)

// noticesKept is how many notices wait for a client that does not look.
const noticesKept = 16

// A Visitor is a client that wants to join a session.
type Visitor struct {
	Actor
	Allowed  func() error // whether it may write, with its rights as they are now; nil result: it may
	Sees     func() bool  // whether it may know of the session as it is now; nil: it may
	ReadOnly bool         // it does not want to
	Terminal bool
	Cols     int // of its window; 0 without a terminal
	Rows     int
}

// Member is a client that has joined a session. Its methods may be called from
// anywhere; they never wait for another client.
type Member struct {
	Visitor
	session *Session
	since   time.Time
	changed chan struct{}
	notices chan Notice
	window  atomic.Pointer[window] // told and not looked at yet
	mark    json.RawMessage        // beside its keystrokes
	joined  bool                   // the loop's
	told    bool                   // the loop's: its coming is an event
	fresh   bool                   // the loop's: its window is new and not looked at by fitSize
	gone    bool                   // the loop's: it has left
}

type window struct{ cols, rows int }

// Notice is something one client is told.
type Notice struct {
	LostTo string // who took the lease from it
	Kicked string // why it has to go
}

// Join registers a client. It gets the lease with the first key that it types.
func (s *Session) Join(ctx context.Context, v Visitor) (*Member, error) {
	m := &Member{Visitor: v, session: s, changed: make(chan struct{}, 1), notices: make(chan Notice, noticesKept)}
	m.mark = mark{By: m.by(), Typed: true}.json()
	err := s.do(ctx, func(c *core) {
		m.since, m.joined = c.now(), true
		c.members[v.Client] = m
		if told, before := c.comings.tell(v.Identity.Name+" "+v.Identity.Fingerprint, c.now()); told {
			m.told = true
			c.note("client_attached", clientEvent{By: v.by(), Terminal: v.Terminal, Cols: v.Cols, Rows: v.Rows, repeated: repeated{before}})
		}
		m.fresh, c.dirty = true, true
		if c.exit == nil && m.mayWrite() == nil {
			c.unveil()
		}
		c.fitSize()
	})
	if err != nil {
		m.Leave() // a caller that gave up may have joined all the same
		return nil, err
	}
	m.awaitSize(ctx)
	return m, nil
}

// sizePatience is how long a client that joins waits for its window to become
// the session's: the holder answers within a millisecond or so.
const sizePatience = 250 * time.Millisecond

// awaitSize lets a resize that joining has caused come into force, so that the
// first picture has the size of those that follow.
func (m *Member) awaitSize(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sizePatience)
	defer cancel()
	_ = m.session.until(ctx, func(c *core) bool { // a size that comes late is a repaint, no harm
		return !c.resizing && (c.wantCols == 0 || c.spec.Cols == c.wantCols && c.spec.Rows == c.wantRows) || c.exit != nil
	})
}

// mayWrite is nil when the client may and wants to write.
func (m *Member) mayWrite() error {
	if m.ReadOnly {
		return ErrReadOnly
	}
	if m.Allowed == nil {
		return nil
	}
	return m.Allowed()
}

// ErrReadOnly is what a client gets that asked to only look on.
var ErrReadOnly = api.Errorf(api.CodeDenied, "this client only looks on")

// Leave ends the membership. A second call does nothing.
func (m *Member) Leave() {
	_ = m.session.do(context.Background(), func(c *core) { // a loop that has ended knows no members
		if m.gone || !m.joined {
			return
		}
		m.gone = true
		for f, owner := range c.followers {
			if owner == m {
				c.unfollow(f)
			}
		}
		delete(c.members, m.Client)
		c.flushTyping(c.now(), true)
		c.leaseOnLeave(m)
		if m.told {
			c.note("client_detached", clientEvent{By: m.by(), Terminal: m.Terminal, Cols: m.Cols, Rows: m.Rows})
		}
		c.dirty = true
		c.fitSize()
	})
}

// here lists the clients that have joined a running session. From an ended one
// they go at once, and its checkpoint is not written again.
func (c *core) here() []By {
	var list []By
	if c.exit != nil {
		return nil
	}
	for _, m := range c.members {
		if m.told {
			list = append(list, m.by())
		}
	}
	return list
}

// tellDeparted tells what the end of the last server meant for its clients.
func (c *core) tellDeparted() {
	c.tellLease(c.unsaid)
	for _, by := range c.departed {
		c.note("client_detached", clientEvent{By: by, Why: "restart"})
	}
	c.unsaid, c.departed = nil, nil
}

// ID is the client's id.
func (m *Member) ID() string { return m.Client }

// Session is what the client has joined.
func (m *Member) Session() *Session { return m.session }

// Changed holds one signal when the picture or the status changed.
func (m *Member) Changed() <-chan struct{} { return m.changed }

// Notices are things to tell this client; one that does not look loses the
// newest.
func (m *Member) Notices() <-chan Notice { return m.notices }

func (m *Member) notify(n Notice) {
	select {
	case m.notices <- n:
	default: // bounded: a client that does not look sees the writer in the status
	}
}

// Paint is a repaint and what it is for.
type Paint struct {
	Bytes      []byte
	Cols, Rows int
}

// Resync gives, in one step, the bytes that repaint a terminal of the returned
// size, and starts f as a follower from exactly there.
func (m *Member) Resync(ctx context.Context, f Follower, o terminal.RepaintOptions) (Paint, error) {
	return settled(ctx, m.session, func(c *core) (Paint, error) {
		term, err := c.picture()
		if err != nil {
			return Paint{}, err
		}
		c.passOn()
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
	_ = m.session.do(context.Background(), func(c *core) { c.unfollow(f) }) // a loop that has ended pushes no more
}

func (c *core) unfollow(f Follower) {
	if _, follows := c.followers[f]; !follows {
		return
	}
	delete(c.followers, f)
	if len(c.followers) == 0 && c.term != nil {
		c.term.SetPass(false)
	}
}

// follows says that the member is pushed the output, so that it need not be
// told that there was some.
func (c *core) follows(m *Member) bool {
	for _, owner := range c.followers {
		if owner == m {
			return true
		}
	}
	return false
}

// Type writes data to the program as one message. It takes the lease when it
// may; else a *lease.BusyError, DENIED or EXITED. A delivery in progress, of
// which nobody's keys may come in between, is waited for: what a person types
// meanwhile arrives behind it. Type waits too while the program does not read,
// until ctx is done.
func (m *Member) Type(ctx context.Context, data []byte) error {
	var written atomic.Pointer[chan error] // the loop's, also for a caller that gave up
	err := m.session.afterDelivery(ctx, func(c *core) error {
		if err := m.mayWrite(); err != nil {
			return err
		}
		if c.link == nil || c.exit != nil {
			return c.exitedError()
		}
		if err := c.leaseOnType(m); err != nil {
			return err
		}
		if c.typedAt.IsZero() {
			c.typedAt = c.now()
		}
		c.personAt = c.now()
		answer := make(chan error, 1)
		written.Store(&answer)
		return c.link.Type(data, m.mark, func(err error) { answer <- err })
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

// inputError puts what the holder says into words for a caller.
func inputError(err error) error {
	switch {
	case errors.Is(err, hold.ErrBusy):
		return api.Errorf(api.CodeLimit, "the program does not read its input and too much waits already: nothing was typed")
	case errors.Is(err, hold.ErrEnded):
		return api.Errorf(api.CodeExited, "the session's program has ended")
	case errors.Is(err, hold.ErrTooLarge):
		return api.Errorf(api.CodeLimit, "one message is at most %d bytes: nothing was typed", hold.MaxInput)
	}
	return err
}

func (c *core) exitedError() error {
	if c.exit == nil && c.state != agent.Exited {
		return api.Errorf(api.CodeNotReady, "the program of %s cannot be reached now: its state is %s", c.spec.Name, c.state)
	}
	return api.Errorf(api.CodeExited, "%s has ended: restart starts it again", c.spec.Name).With("session", c.spec.Name)
}

// Window tells the client's present window. It does not wait.
func (m *Member) Window(cols, rows int) {
	if CheckSize(cols, rows) != nil {
		return // nobody can see anything in it
	}
	m.window.Store(&window{cols, rows})
	ringOne(m.session.poke)
}

// lookAtWindows takes up what clients have told of their windows.
func (c *core) lookAtWindows() {
	changed := false
	for _, m := range c.members {
		if w := m.window.Swap(nil); w != nil {
			m.Cols, m.Rows, m.fresh, changed = w.cols, w.rows, true, true
		}
	}
	if changed {
		c.fitSize()
	}
}

// Attached is somebody who has joined, as who lists them.
type Attached struct {
	Session     string   `json:"session"`
	ID          string   `json:"id"`
	Client      string   `json:"client"`
	Identity    string   `json:"identity"`
	Fingerprint string   `json:"fingerprint"`
	Terminal    bool     `json:"terminal"`
	Cols        int      `json:"cols"`
	Rows        int      `json:"rows"`
	Writer      bool     `json:"writer"`
	Since       api.Time `json:"since"`
}

// Who is everybody who has joined, the writer first, then in the order they
// came.
func (s *Session) Who(ctx context.Context) ([]Attached, error) {
	return ask(ctx, s, func(c *core) ([]Attached, error) {
		writer := c.writer()
		list := []Attached{}
		for _, m := range c.members {
			list = append(list, Attached{
				Session: c.spec.Name, ID: s.id, Client: m.Client, Identity: m.Identity.Name, Fingerprint: m.Identity.Fingerprint,
				Terminal: m.Terminal, Cols: m.Cols, Rows: m.Rows, Since: api.At(m.since), Writer: writer != nil && writer.Client == m.Client,
			})
		}
		sortAttached(list)
		return list, nil
	})
}

func sortAttached(list []Attached) {
	slices.SortFunc(list, func(a, b Attached) int {
		if a.Writer != b.Writer {
			if a.Writer {
				return -1
			}
			return 1
		}
		return cmp.Or(a.Since.Compare(b.Since.Time), cmp.Compare(a.Client, b.Client))
	})
}
