package clients

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"berth/api"
	"berth/sessions/loop"
)

// noticesKept is how many notices wait for a client that does not look.
const noticesKept = 16

// A Visitor is a client that wants to join a session.
type Visitor struct {
	loop.Actor
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
	clients *Clients
	since   time.Time
	changed chan struct{}
	notices chan Notice
	clip    chan string            // the newest write to its clipboard that it hasn't taken
	window  atomic.Pointer[window] // reported and not looked at yet
	mark    json.RawMessage        // beside its keystrokes
	joined  bool                   // the loop's
	written bool                   // the loop's: its coming is an event
	fresh   bool                   // the loop's: its window is new and not looked at by fit
	gone    bool                   // the loop's: it has left
	why     string                 // the loop's: it leaves because of that
}

// Notice is something for one client alone.
type Notice struct {
	LostTo   string // who took the lease from it
	Kicked   string // why it has to go
	Detached string // who detached it
}

// Join registers a client. It gets the lease with the first key that it types.
func (c *Clients) Join(ctx context.Context, v Visitor) (*Member, error) {
	m := &Member{Visitor: v, clients: c, changed: make(chan struct{}, 1), notices: make(chan Notice, noticesKept), clip: make(chan string, 1)}
	m.mark = loop.Mark{By: m.By(), Typed: true}.JSON()
	err := c.env.Do(ctx, func() {
		now := c.env.Now()
		m.since, m.joined = now, true
		c.members[v.Client] = m
		if written, before := c.comings.take(v.Identity.Name+" "+v.Identity.Fingerprint, now); written {
			m.written = true
			c.env.Note(eventAttached, clientEvent{By: v.By(), Terminal: v.Terminal, Cols: v.Cols, Rows: v.Rows, Repeated: loop.Repeated{Untold: before}})
		}
		m.fresh = true
		c.env.Dirty()
		if c.running() && m.mayWrite() == nil {
			c.env.Looked()
		}
		c.fit()
	})
	if err != nil {
		m.Leave() // a caller that gave up may have joined all the same
		return nil, err
	}
	m.awaitSize(ctx)
	return m, nil
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
var ErrReadOnly = api.Errorf(api.CodeDenied, "this client is view only")

// Leave ends the membership. A second call does nothing.
func (m *Member) Leave() {
	c := m.clients
	_ = c.env.Do(context.Background(), func() { // a loop that has ended knows no members
		if m.gone || !m.joined {
			return
		}
		m.gone = true
		c.unfollowAll(m)
		delete(c.members, m.Client)
		c.Gather()
		c.tell(c.lease.Detach(c.env.Now(), m.Client))
		if m.written {
			c.env.Note(eventDetached, clientEvent{By: m.By(), Terminal: m.Terminal, Cols: m.Cols, Rows: m.Rows, Why: m.why})
		}
		c.env.Dirty()
		if c.size.By == m.Client || !c.terminals() {
			c.size.By = ""
		}
		c.fit()
	})
}

// terminals says that a client with a terminal is attached.
func (c *Clients) terminals() bool {
	for _, m := range c.members {
		if m.Terminal {
			return true
		}
	}
	return false
}

// here lists the clients that have joined a running session. From an ended one
// they go at once, and its checkpoint is not written again.
func (c *Clients) here() []loop.By {
	if !c.running() {
		return nil
	}
	var list []loop.By
	for _, m := range c.members {
		if m.written {
			list = append(list, m.By())
		}
	}
	return list
}

// None says that no client is attached.
func (c *Clients) None() bool { return len(c.members) == 0 }

// MayWrite says that a client is attached that may write.
func (c *Clients) MayWrite() bool {
	for _, m := range c.members {
		if m.mayWrite() == nil {
			return true
		}
	}
	return false
}

// ID is the client's id.
func (m *Member) ID() string { return m.Client }

// Changed holds one signal when the picture or the status changed.
func (m *Member) Changed() <-chan struct{} { return m.changed }

// Ring signals a change to the members: of the status, or of its times and the output alone,
// which a member that is pushed the output knows already.
func (c *Clients) Ring(status bool) {
	for _, m := range c.members {
		if status || !c.follows(m) {
			loop.Ring(m.changed)
		}
	}
}

// Notices are for this client; one that does not look loses the newest.
func (m *Member) Notices() <-chan Notice { return m.notices }

// Clipboard holds what the program wrote to this client's clipboard last (see terminal.Handlers). A client
// that is slower than the program gets the newest write and misses those before it, as on a clipboard.
func (m *Member) Clipboard() <-chan string { return m.clip }

func (m *Member) notify(n Notice) {
	select {
	case m.notices <- n:
	default: // bounded: a client that does not look sees the writer in the status
	}
}

// Kick sends all clients away.
func (c *Clients) Kick(why string) {
	for _, m := range c.members {
		m.notify(Notice{Kicked: why})
	}
}

// Detach sends attached clients away: the one with an id, or without an id all that the caller may send
// away. These are its own; others is nil when it may also detach those of other callers, else the refusal.
// The clients leave on their own goroutines.
func (c *Clients) Detach(ctx context.Context, by loop.Actor, client string, others error) ([]Attached, error) {
	return loop.Ask(ctx, c.env.Do, func() ([]Attached, error) {
		if client != "" && c.members[client] == nil {
			return nil, api.Errorf(api.CodeNotFound, "%s isn't attached to %s: see `who %s`", api.Quote(client), c.env.Name(), c.env.Name())
		}
		list := []Attached{}
		for _, m := range c.members {
			if client != "" && m.Client != client {
				continue
			}
			if others != nil && (m.Identity.Name != by.Identity.Name || m.Identity.Fingerprint != by.Identity.Fingerprint) {
				if client != "" {
					return nil, others
				}
				continue
			}
			m.why = whyDetach
			m.notify(Notice{Detached: by.Identity.Name})
			list = append(list, c.attached(m))
		}
		sortAttached(list)
		return list, nil
	})
}

// Dismiss sends away clients that may not see the session under the name and
// the tags that it has now. They get no more of its output.
func (c *Clients) Dismiss() {
	for _, m := range c.members {
		if m.Sees == nil || m.Sees() {
			continue
		}
		c.unfollowAll(m)
		m.notify(Notice{Kicked: "the session has another name or other tags now, and your rights don't include it"})
	}
}

// Attached is a client that has joined, as who lists it.
type Attached struct {
	Session     string   `json:"session"`
	ID          string   `json:"id"`
	Client      string   `json:"client"`
	Identity    string   `json:"identity"`
	Fingerprint string   `json:"fingerprint"`
	Source      string   `json:"source"` // the address it comes from; unix for the server's own machine
	Terminal    bool     `json:"terminal"`
	Cols        int      `json:"cols"`
	Rows        int      `json:"rows"`
	Writer      bool     `json:"writer"`
	Since       api.Time `json:"since"`
}

// Who lists the clients that have joined, the writer first, then in the order they
// came.
func (c *Clients) Who(ctx context.Context) ([]Attached, error) {
	return loop.Ask(ctx, c.env.Do, func() ([]Attached, error) {
		list := []Attached{}
		for _, m := range c.members {
			list = append(list, c.attached(m))
		}
		sortAttached(list)
		return list, nil
	})
}

func (c *Clients) attached(m *Member) Attached {
	writer := c.Writer()
	return Attached{
		Session: c.env.Name(), ID: c.env.ID, Client: m.Client, Identity: m.Identity.Name, Fingerprint: m.Identity.Fingerprint, Source: m.Identity.Source,
		Terminal: m.Terminal, Cols: m.Cols, Rows: m.Rows, Since: api.At(m.since), Writer: writer != nil && writer.Client == m.Client,
	}
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
