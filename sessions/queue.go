package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
)

// Bounds of a session's queue.
const (
	queueMost  = 100     // messages; the design's figure
	queueBytes = 8 << 20 // of their texts together, which are held in memory
)

// Files of the session's folder: a message each, and the draft that a delivery
// has put aside.
const (
	queueDir  = "queue"
	asideFile = "aside.json"
)

// stage is how far the delivery of a queued message has come. It is on disk
// before the bytes are on their way, so that the next server knows.
type stage string

const (
	stageWaiting stage = "waiting"
	stageTyped   stage = "typed"   // it may stand in the composer; Enter was not pressed
	stageEntered stage = "entered" // Enter may have been pressed
)

// queued is a message that waits for its session's agent to rest.
type queued struct {
	ID      string    `json:"queue_id"`
	By      By        `json:"by"`
	Kind    keys.Kind `json:"kind"`
	Source  string    `json:"source"`                // where the caller came from
	Proof   []byte    `json:"certificate,omitempty"` // that the caller proved; nil for a plain key
	Nudge   Nudge     `json:"nudge"`
	Since   api.Time  `json:"since"`
	Expires api.Time  `json:"expires"` // zero: never
	Stage   stage     `json:"stage"`
	StageAt api.Time  `json:"stage_at"`
	Entered api.Time  `json:"entered"`         // when Enter may have been pressed first; it may work late
	Tries   int       `json:"tries"`           // of deliveries that left it in the composer
	First   bool      `json:"first,omitempty"` // it came with the session: whoever made that was allowed to

	// Direct: it was never queued. It is on disk while it is typed, for the server
	// after a kill: that takes it back and tells it as lost, for its caller went
	// with the connection and may have sent it again.
	Direct bool `json:"direct,omitempty"`

	number uint64
	// StageAt and Entered, by this server's clock.
	staged, entered time.Time

	why    string // it waits
	busy   bool   // it is being delivered
	ticket *Ticket
}

// aside is a draft that a delivery has put aside and that is to be brought back.
type aside struct {
	By    By        `json:"by"`
	Nudge string    `json:"nudge"`
	gone  time.Time // since when the screen shows none put aside
	late  time.Time // when the delivery ended that pressed the key for it and never saw its effect
}

const (
	// A draft that is put aside is told in the footer, which other words may take
	// for a moment.
	asideGone = 2 * time.Second
	// An agent that is busy at a dialog may read its keys later. How much later was
	// not measured; 30 s is chosen to be long enough.
	asideLate = 30 * time.Second
)

// over takes in what the screen shows, and says that no draft is put aside any
// more: a person has brought it back, or it never was. person is when one typed
// last.
func (a *aside) over(r *agent.Reading, person, now time.Time) bool {
	switch {
	case r == nil || r.Composer == nil:
		return false
	case r.Stashed:
		a.gone, a.late = time.Time{}, time.Time{}
		return false
	case a.gone.IsZero():
		a.gone = now
	}
	if !a.late.IsZero() && !person.After(a.late) {
		return now.Sub(a.late) >= asideLate
	}
	return now.Sub(a.gone) >= asideGone
}

// mail is what a session's loop keeps of messages beyond a delivery.
type mail struct {
	queue    []*queued
	aside    *aside
	carrying bool       // a goroutine looks after it
	since    time.Time  // when this server took it up
	taken    *queued    // which the agent has by its own word, to be told with what told it, and
	takenBy  agent.Fact // what that was
}

// Ticket follows one queued message. Its holder closes it.
type Ticket struct {
	ID     string
	Parked <-chan struct{} // closed once it has to wait
	Done   <-chan Carried  // what became of it

	session *Session
	parked  chan struct{}
	done    chan Carried
}

// Carried is what became of a queued message: as Nudge returns it.
type Carried struct {
	Nudged
	Err error
}

// Enqueue keeps a message until the agent rests and delivers it then, in the
// order of the queue; expires is 0 for no end. It survives the server and a
// restart of the program. Errors: LIMIT, EXITED, those of the message itself.
func (s *Session) Enqueue(ctx context.Context, claim Claim, n Nudge, expires time.Duration) (*Ticket, error) {
	typist, err := s.typist()
	if err != nil {
		return nil, err
	}
	if _, err := n.typed(typist); err != nil {
		return nil, err
	}
	if err := s.reg.mayCause(claim.Actor, eventsOfMessage); err != nil {
		return nil, err
	}
	return ask(context.WithoutCancel(ctx), s, func(c *core) (*Ticket, error) { return c.enqueue(claim, n, expires) })
}

func (c *core) enqueue(claim Claim, n Nudge, expires time.Duration) (*Ticket, error) {
	if claim.Allowed != nil {
		if err := claim.Allowed(); err != nil {
			return nil, err
		}
	}
	if c.exit != nil && c.state != agent.Restarting {
		return nil, c.exitedError()
	}
	size := len(n.Text)
	for _, q := range c.mail.queue {
		size += len(q.Nudge.Text)
	}
	if len(c.mail.queue) >= queueMost || size > queueBytes {
		return nil, api.Errorf(api.CodeLimit, "%d messages wait for %s already: at most %d, of %d bytes together, are kept; queue %s lists them",
			len(c.mail.queue), c.spec.Name, queueMost, queueBytes, c.spec.Name).With("session", c.spec.Name)
	}
	now := c.now()
	number := c.s.reg.events.LastSeq(c.s.id) + 1
	q := &queued{
		ID: fmt.Sprintf("q%d", number), number: number, By: claim.by(), Kind: claim.Identity.Kind, Source: claim.Identity.Source, Proof: claim.Identity.Certificate,
		Nudge: n, Since: api.At(now), Stage: stageWaiting, ticket: &Ticket{session: c.s, parked: make(chan struct{}), done: make(chan Carried, 1)},
	}
	if expires > 0 {
		q.Expires = api.At(now.Add(expires))
	}
	q.ticket.ID, q.ticket.Parked, q.ticket.Done = q.ID, q.ticket.parked, q.ticket.done
	if err := c.saveQueued(q); err != nil {
		return nil, err
	}
	c.mail.queue = append(c.mail.queue, q)
	c.tellQueued(q, "queued", q.By, "")
	c.carry()
	return q.ticket, nil
}

// enqueueFirst keeps the message that a session is made with. It is on disk
// before the program is started, and part of what session_created tells.
func (c *core) enqueueFirst(by Actor, text string) error {
	q := &queued{ID: FirstID, By: by.by(), Kind: by.Identity.Kind, Source: by.Identity.Source, Nudge: Nudge{Text: text}, Since: api.At(c.now()), Stage: stageWaiting, First: true}
	if err := c.saveQueued(q); err != nil {
		return err
	}
	c.mail.queue = append(c.mail.queue, q)
	return nil
}

// FirstID is the queue's id of a session's first message: those of others have
// the numbers of events, which begin with 1.
const FirstID = "q0"

// firstQueued is that id while the message waits.
func (c *core) firstQueued() string {
	if len(c.mail.queue) > 0 && c.mail.queue[0].First {
		return FirstID
	}
	return ""
}

// firstPending says that the message which the session was made with has yet to
// be given.
func (c *core) firstPending() bool {
	return slices.ContainsFunc(c.mail.queue, func(q *queued) bool { return q.First })
}

// Close ends the following; the message stays queued.
func (t *Ticket) Close() {
	_ = t.session.do(context.Background(), func(c *core) { // a loop that has ended follows nothing
		for _, q := range c.mail.queue {
			if q.ticket == t {
				q.ticket = nil
			}
		}
		select {
		case done := <-t.done:
			if c.detection != nil && done.turn != nil {
				c.detection.unwatch(done.turn)
			}
		default:
		}
	})
}

// park tells whoever follows the message that it has to wait.
func (q *queued) park(why string) {
	q.why = why
	if q.ticket == nil {
		return
	}
	select {
	case <-q.ticket.parked:
	default:
		close(q.ticket.parked)
	}
}

// settle tells whoever follows the message what became of it. It says whether
// somebody does.
func (q *queued) settle(done Nudged, err error) bool {
	if q.ticket == nil {
		return false
	}
	q.ticket.done <- Carried{done, err} // it holds one, and there is but one
	q.ticket = nil
	return true
}

// Queued is a message that waits, as queue lists it.
type Queued struct {
	Session string    `json:"session"`
	ID      string    `json:"id"`
	QueueID string    `json:"queue_id"`
	Text    string    `json:"text"` // its beginning
	Bytes   int       `json:"bytes"`
	By      By        `json:"by"`
	Since   api.Time  `json:"since"`
	Expires *api.Time `json:"expires"`
	Stage   string    `json:"stage"` // waiting, or typed or entered while it is delivered
	Why     string    `json:"why"`   // it waits
}

// Queue lists the messages that wait, the next first.
func (s *Session) Queue(ctx context.Context) ([]Queued, error) {
	return ask(ctx, s, func(c *core) ([]Queued, error) {
		list := []Queued{}
		for _, q := range c.mail.queue {
			if q.Direct {
				continue // it is not given any more
			}
			row := Queued{
				Session: c.spec.Name, ID: c.s.id, QueueID: q.ID, Text: q.Nudge.Text, Bytes: len(q.Nudge.Text), By: q.By, Since: q.Since,
				Stage: string(q.Stage), Why: q.why,
			}
			if !q.Expires.IsZero() {
				row.Expires = &q.Expires
			}
			list = append(list, row)
		}
		return list, nil
	})
}

// Unqueue takes a message out of the queue. may is asked whether the caller may
// take out one that is by's.
func (s *Session) Unqueue(ctx context.Context, by Actor, id string, may func(by By) error) error {
	return s.change(ctx, func(c *core) error {
		i := slices.IndexFunc(c.mail.queue, func(q *queued) bool { return q.ID == id && !q.Direct })
		if i < 0 {
			return api.Errorf(api.CodeNotFound, "no message %s waits for %s: queue %s lists those that do", api.Quote(id), c.spec.Name, c.spec.Name).With("session", c.spec.Name)
		}
		q := c.mail.queue[i]
		if err := may(q.By); err != nil {
			return err
		}
		if q.busy || q.Stage == stageEntered {
			return api.Errorf(api.CodeNotReady, "the message %s is being delivered right now", id).With("session", c.spec.Name)
		}
		c.dropQueued(q, "removed", by.by(), "")
		return nil
	})
}

// dropQueued takes a message out of the queue and tells it.
func (c *core) dropQueued(q *queued, what string, by By, why string) {
	c.forgetQueued(q)
	c.tellQueued(q, what, by, why)
	text := "the message " + q.ID + " was " + what
	if why != "" {
		text += ": " + why
	}
	code := map[string]api.Code{"expired": api.CodeTimeout, "denied": api.CodeDenied}[what]
	if code == "" {
		code = api.CodeNotFound
	}
	q.settle(Nudged{}, api.Errorf(code, "%s", text).With("session", c.spec.Name).With("queue_id", q.ID))
}

func (c *core) tellQueued(q *queued, what string, by By, why string) {
	e := messageEvent{By: by, Queue: q.ID, What: what, Bytes: len(q.Nudge.Text), Why: why}
	if !q.Expires.IsZero() {
		e.Expires = &q.Expires
	}
	c.note("message", e)
}

// forgetQueued takes a message out of the queue.
func (c *core) forgetQueued(q *queued) {
	c.mail.queue = slices.DeleteFunc(c.mail.queue, func(o *queued) bool { return o == q })
	if err := os.Remove(c.queuedFile(q)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.trouble("take a message out of the queue", err)
	}
}

// endTickets tells those who follow messages that the loop ends.
func (c *core) endTickets() {
	for _, q := range c.mail.queue {
		q.settle(Nudged{}, c.s.stopped())
	}
}

// cutOff is a message that a delivery before this one has typed, or may have;
// empty without.
func (q *queued) cutOff(typist agent.MessageTyper) string {
	if q == nil || q.Stage == stageWaiting {
		return ""
	}
	typed, err := q.Nudge.typed(typist)
	if err != nil {
		return ""
	}
	return typed
}
