// Package clients knows who is attached to a session, who has control of it, and which size it has.
//
// A Member is an attached client. Members and calls (Delivery, Press, Resize) write under the
// session's lease, one at a time: a call's delivery has the lease for itself, and what a member
// types gets the lease with its first key. Deliveries, the verbs of a lease and joining run on
// the loop. Two things don't, because they must not wait for it: the keys of the member that
// holds the lease (the fast path), and a new window size (Window), which the loop looks at when
// WindowChanged has a signal.
//
// The fast path is open only while the loop sleeps (OpenFastPath, CloseFastPath), and only for the
// member with the lease, if no delivery is in progress. Only the loop changes the lease, so
// TryType needs no other check of it. Opening, closing and each write have one mutex.
//
// What is typed comes back as control records (Record), which make the events. Keystrokes are
// gathered for a second. The holder announces a keystroke's record up to 10 ms late; Tick reads it
// after a second even without a wake.
//
// The server that follows goes on with the generations of the lease and with its locks. It
// reports that all clients of the server before it have left (Resume, Start).
package clients

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/lease"
	"berth/sessions/loop"
	"berth/terminal"
)

// Env is what the clients use of their session. Settled is not for the loop's goroutine.
type Env struct {
	loop.Env
	Policy func() SizePolicy
	Holder func() Holder // nil without a holder that answers

	Terminal func() *terminal.Terminal // nil for an ended session that no client looks at
	Picture  func() *terminal.Terminal // the same, loaded if it was nil
	Resize   func(cols, rows int)      // gives the emulator another size

	// Paced writes an event that a caller of the verb caused, or lets it wait. record is the
	// control record that it comes from; zero: none.
	Paced  func(record uint64, kind, verb string, by loop.By, data loop.Paced)
	Dirty  func()      // the status has changed
	Active func()      // something went in: the foreground may have changed
	Looked func()      // a client that may write has come: no dialog is kept from the screen any more
	Wanted func() bool // a caller beside the members waits for something of the session

	// MayLock says whether a client that isn't connected may keep control of the session, with its rights as they are now.
	MayLock func(lease.Client) bool

	ReadOn  func() // reads records that no wake has announced yet
	CatchUp func() // takes in what the holder has written

	// Settled runs fn on the loop when there is a picture to show. It fails as Do does.
	Settled func(ctx context.Context, fn func()) error
}

// Clients is the part. New makes one.
type Clients struct {
	env           Env
	lease         *lease.Lease
	members       map[string]*Member // by their clients' ids
	followers     map[Follower]*Member
	comings       comings
	typing        typing
	pasting       pasting // the fast path changes it while the loop sleeps
	input         input
	fastPath      fastPath
	size          sizing
	pace          pace
	review        time.Time      // when a lock's rights are looked up again
	before        saved          // what the last server left, until Resume
	unsaid        []lease.Change // what the end of the last server did to the lease, until Start
	departed      []loop.By      // clients whose connections ended with it, likewise
	windowChanged chan struct{}  // holds one signal: a window has changed, or a client looks
	waiting       atomic.Int32   // claims that wait for the end of a delivery: see loop.Claim.AfterDelivery
}

var _ loop.Part = (*Clients)(nil)

// New makes the clients of a session: none yet.
func New(env Env) *Clients {
	return &Clients{
		env: env, lease: lease.New(lease.Options{}), members: map[string]*Member{}, followers: map[Follower]*Member{}, comings: comings{},
		windowChanged: make(chan struct{}, 1),
	}
}

// Begin forgets what the program before was typed: clients look at any program.
func (c *Clients) Begin(time.Time) { c.pasting = pasting{} }

// End has nothing to do either: see ProgramEnded.
func (c *Clients) End() {}

// Record takes in what was typed, sizes and signals. Their events are paced, and none of them
// belongs to what another part makes of the record.
func (c *Clients) Record(r hold.Record) (told loop.Outcome, err error) {
	switch r.Kind {
	case hold.KindInput:
		err = c.inputRecord(r)
	case hold.KindResize:
		err = c.resizeRecord(r)
	case hold.KindSignal:
		err = c.signalRecord(r)
	}
	return told, err
}

// Tick lets time pass for the lease and for keystrokes.
func (c *Clients) Tick(now time.Time) (next time.Time) {
	c.pace.tick(now, c.watched, c.askPace)
	c.readTyped(now)
	if at := c.typing.due(); !at.IsZero() && !now.Before(at) {
		c.Gather()
	}
	c.tell(c.lease.Tick(now))
	review := c.reviewLock(now)
	next, _ = c.lease.Next(now)
	for _, due := range []time.Time{c.typing.due(), c.input.due(), review} {
		if !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// saved is what the next server has to know.
type saved struct {
	Lease  lease.State `json:"lease"`
	Here   []loop.By   `json:"here"` // clients that had joined
	Last   api.Time    `json:"last_input"`
	Person api.Time    `json:"person_input"` // when a person typed last
	Window grownBack   `json:"window"`
}

// Save gives the lease and who is here.
func (c *Clients) Save() (json.RawMessage, error) {
	return json.Marshal(saved{Lease: c.lease.State(), Here: c.here(), Last: api.At(c.input.last), Person: api.At(c.input.person), Window: c.size.grownBack})
}

// Restore takes both in; Recall brings them up to date, and Resume goes on from there.
func (c *Clients) Restore(data json.RawMessage, _ bool) error {
	if err := json.Unmarshal(data, &c.before); err != nil {
		return err
	}
	c.input.last = c.before.Last.Time
	if !c.before.Person.IsZero() {
		c.input.person = c.env.OnClock(c.before.Person.Time)
	}
	return nil
}

// Recall takes in who came and went, changes of the lease, and sizes.
func (c *Clients) Recall(line events.Line) {
	before := &c.before
	switch line.Type {
	case eventAttached, eventDetached:
		var e clientEvent
		if json.Unmarshal(line.Raw, &e) == nil {
			before.Here = slices.DeleteFunc(before.Here, func(by loop.By) bool { return by == e.By })
			if line.Type == eventAttached {
				before.Here = append(before.Here, e.By)
			}
		}
	case eventWriter:
		var e writerEvent
		if json.Unmarshal(line.Raw, &e) == nil {
			before.Lease = before.Lease.After(e.change())
		}
	case eventResize:
		var e resizeEvent
		if json.Unmarshal(line.Raw, &e) == nil {
			member := ""
			if e.By == loop.Berth || slices.Contains(before.Here, e.By) {
				member = memberOf(e.By)
			}
			before.Window.took(window{e.Cols, e.Rows}, member)
		}
	}
}

// Resume goes on where the last server left off. ran says that the program ran then: clients of
// an ended session have gone before.
func (c *Clients) Resume(ran bool) {
	c.lease, c.unsaid = lease.Restore(lease.Options{}, c.before.Lease, c.env.Now())
	if ran {
		c.departed = c.before.Here
	}
	c.size.grownBack, c.before = c.before.Window, saved{}
	c.size.By = "" // whose window it was has gone
}

// Start writes the events of what the end of the last server meant for its clients.
func (c *Clients) Start() {
	c.tell(c.unsaid)
	for _, by := range c.departed {
		c.env.Note(eventDetached, clientEvent{By: by, Why: "restart"})
	}
	c.unsaid, c.departed = nil, nil
	c.fit()
}

// ProgramEnded frees the lease.
func (c *Clients) ProgramEnded() {
	c.Gather()
	h, ok := c.lease.Holder()
	if !ok {
		return
	}
	if h.Kind == lease.Lock {
		changes, err := c.lease.Unlock(c.env.Now(), h.Client, h.Generation, true)
		if err == nil {
			c.tell(changes)
		}
		return
	}
	c.tell(c.lease.Release(c.env.Now(), h.ID))
}

// running says that the program is there, as far as known.
func (c *Clients) running() bool { return !c.env.Program().Ended }

// watched says that a client looks at the session or waits for something of it,
// or that it has no holder to ask.
func (c *Clients) watched() bool {
	return c.env.Holder() == nil || len(c.members) > 0 || c.env.Wanted()
}

func (c *Clients) askPace(pause time.Duration) {
	if holder := c.env.Holder(); holder != nil {
		holder.Pace(pause)
	}
}

// Watch has the loop hurry the holder: a caller looks at the session. Any goroutine may call it.
func (c *Clients) Watch() {
	if c.pace.slowed.Load() {
		loop.Ring(c.windowChanged)
	}
}

// WindowChanged has a signal for the loop: it looks at the windows, and ticks.
func (c *Clients) WindowChanged() <-chan struct{} { return c.windowChanged }
