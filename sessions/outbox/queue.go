package outbox

import (
	"berth/sessions/loop"
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
	queueMost  = 100     // messages
	queueBytes = 8 << 20 // of their texts together, which are held in memory
)

// Files of the session's folder: a message each, and the draft that a delivery
// has put aside.
const (
	queueDir  = "queue"
	stashFile = "aside.json"
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
	By      loop.By   `json:"by"`
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
	First   bool      `json:"first,omitempty"` // it came with the session: the session's creator was allowed to

	// Limit is the event of the limit that the message goes on after, at NotBefore. 0: it is another message.
	Limit     uint64   `json:"limit,omitempty"`
	NotBefore api.Time `json:"not_before"`
	Row       int      `json:"row,omitempty"` // its number among those after limits that followed each other
	// Over is why a message after a limit isn't sent any more although it may be in the composer. It is taken
	// back there first.
	Over string `json:"over,omitempty"`

	// For is the agent in the session's shell that it was queued for; nil when that was the session's own program.
	For *Recipient `json:"for,omitempty"`

	// Direct: it was never queued. It is on disk while it is typed, for the next server after a kill. That
	// server takes it back and reports it as lost, because its caller went with the connection and may
	// have sent it again.
	Direct bool `json:"direct,omitempty"`

	number uint64
	// StageAt and Entered, by this server's clock.
	staged, entered time.Time

	why    string // it waits
	busy   bool   // it is being delivered
	ticket *Ticket
}

// stash is a draft that a delivery has put aside and that is to be brought back.
type stash struct {
	By    loop.By   `json:"by"`
	Nudge string    `json:"nudge"`
	gone  time.Time // since when the screen shows none put aside
	late  time.Time // when the delivery ended that pressed the key for it and never saw its effect
}

const (
	// The footer shows that a draft is stashed; other words may replace that for a
	// moment.
	stashGone = 2 * time.Second
	// An agent that is busy at a dialog may read its keys later. How much later was
	// not measured; 30 s is chosen to be long enough.
	stashLate = 30 * time.Second
)

// over takes in what the screen shows, and says that no draft is put aside any
// more: a person has brought it back, or it never was. person is when one typed
// last.
func (a *stash) over(r *agent.Reading, person, now time.Time) bool {
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
		return now.Sub(a.late) >= stashLate
	}
	return now.Sub(a.gone) >= stashGone
}

// pending is what a session's loop keeps of messages beyond a delivery.
type pending struct {
	queue   []*queued
	stash   *stash
	working bool       // a goroutine looks after it
	since   time.Time  // when this server took it up
	taken   *queued    // the message that the agent confirmed in the current record, and
	takenBy agent.Fact // what that was
}

// Ticket follows one queued message. Its holder closes it.
type Ticket struct {
	ID     string
	Parked <-chan struct{}  // closed once it has to wait
	Done   <-chan Delivered // what became of it

	outbox *Outbox
	parked chan struct{}
	done   chan Delivered
}

// Delivered is what became of a queued message: as Nudge returns it.
type Delivered struct {
	Nudged
	Err error
}

// Enqueue keeps a message until the agent rests and delivers it then, in the
// order of the queue; expires is 0 for no end. It survives the server and a
// restart of the program. Errors: LIMIT, EXITED, those of the message itself.
func (out *Outbox) Enqueue(ctx context.Context, claim loop.Claim, n Nudge, expires time.Duration) (*Ticket, error) {
	typer, err := out.typer()
	if err != nil {
		return nil, err
	}
	if _, err := n.Typed(typer); err != nil {
		return nil, err
	}
	return loop.Ask(context.WithoutCancel(ctx), out.env.Do, func() (*Ticket, error) { return out.enqueue(claim, n, expires) })
}

func (out *Outbox) enqueue(claim loop.Claim, n Nudge, expires time.Duration) (*Ticket, error) {
	if claim.Allowed != nil {
		if err := claim.Allowed(); err != nil {
			return nil, err
		}
	}
	if out.env.Program().Ended && out.env.Program().State != agent.Restarting {
		return nil, out.env.Exited()
	}
	if _, ok := out.env.Driver().(agent.MessageTyper); !ok && out.env.Program().Follows { // an agent in a shell, and it has left
		return nil, api.Errorf(api.CodeNoDriver, "the agent in %s has ended: the message wasn't queued", out.env.Name()).With("session", out.env.Name())
	}
	size := len(n.Text)
	for _, q := range out.queue {
		size += len(q.Nudge.Text)
	}
	if len(out.queue) >= queueMost || size > queueBytes {
		return nil, api.Errorf(api.CodeLimit, "%d messages already wait for %s: the limit is %d, and %d bytes in total. queue %s lists them",
			len(out.queue), out.env.Name(), queueMost, queueBytes, out.env.Name()).With("session", out.env.Name())
	}
	now := out.env.Now()
	number := out.env.Next()
	q := &queued{
		ID: queueID(number), number: number, By: claim.By(), Kind: claim.Identity.Kind, Source: claim.Identity.Source, Proof: claim.Identity.Certificate,
		Nudge: n, For: out.env.Recipient(), Since: api.At(now), Stage: stageWaiting, ticket: &Ticket{outbox: out, parked: make(chan struct{}), done: make(chan Delivered, 1)},
	}
	if expires > 0 {
		q.Expires = api.At(now.Add(expires))
	}
	q.ticket.ID, q.ticket.Parked, q.ticket.Done = q.ID, q.ticket.parked, q.ticket.done
	if err := out.saveQueued(q); err != nil {
		return nil, err
	}
	out.queue = append(out.queue, q)
	out.order()
	out.tellQueued(q, "queued", q.By, "")
	out.DeliverQueued()
	return q.ticket, nil
}

// EnqueueFirst keeps the message that a session is made with. It is on disk
// before the program is started, and part of the event session_created.
func (out *Outbox) EnqueueFirst(by loop.Actor, text string) error {
	q := &queued{ID: FirstID, By: by.By(), Kind: by.Identity.Kind, Source: by.Identity.Source, Nudge: Nudge{Text: text}, Since: api.At(out.env.Now()), Stage: stageWaiting, First: true}
	if err := out.saveQueued(q); err != nil {
		return err
	}
	out.queue = append(out.queue, q)
	return nil
}

// queueID is the id of a message with the number of its event.
func queueID(number uint64) string { return fmt.Sprintf("q%d", number) }

// FirstID is the queue's id of a session's first message: those of others have
// the numbers of events, which begin with 1.
const FirstID = "q0"

// FirstWaiting is that id while the message waits.
func (out *Outbox) FirstWaiting() string {
	if len(out.queue) > 0 && out.queue[0].First {
		return FirstID
	}
	return ""
}

// Close ends the following; the message stays queued.
func (t *Ticket) Close() {
	out := t.outbox
	_ = out.env.Do(context.Background(), func() { // a loop that has ended follows nothing
		for _, q := range out.queue {
			if q.ticket == t {
				q.ticket = nil
			}
		}
		select {
		case done := <-t.done:
			if done.turn != nil {
				out.unwatch(done.turn)
			}
		default:
		}
	})
}

// park reports to the caller that follows the message that it has to wait.
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

// settle reports the message's outcome to the caller that follows it. It says whether there is such a
// caller.
func (q *queued) settle(done Nudged, err error) bool {
	if q.ticket == nil {
		return false
	}
	q.ticket.done <- Delivered{done, err} // it holds one, and there is but one
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
	By      loop.By   `json:"by"`
	Since   api.Time  `json:"since"`
	Expires *api.Time `json:"expires"`
	// NotBefore is when the message after a limit goes on; null for other messages.
	NotBefore *api.Time `json:"not_before_at"`
	Stage     string    `json:"stage"` // waiting, or typed or entered while it is delivered
	Why       string    `json:"why"`   // it waits
}

// Queue lists the messages that wait, the next first.
func (out *Outbox) Queue(ctx context.Context) ([]Queued, error) {
	return loop.Ask(ctx, out.env.Do, func() ([]Queued, error) {
		list := []Queued{}
		for _, q := range out.queue {
			if q.Direct {
				continue // it is not given any more
			}
			row := Queued{
				Session: out.env.Name(), ID: out.env.ID, QueueID: q.ID, Text: q.Nudge.Text, Bytes: len(q.Nudge.Text), By: q.By, Since: q.Since,
				Stage: string(q.Stage), Why: q.why,
			}
			if !q.Expires.IsZero() {
				row.Expires = &q.Expires
			}
			if q.Limit != 0 {
				row.NotBefore = &q.NotBefore
			}
			list = append(list, row)
		}
		return list, nil
	})
}

// Len is how many messages Queue lists. Only the loop calls it.
func (out *Outbox) Len() (n int) {
	for _, q := range out.queue {
		if !q.Direct {
			n++
		}
	}
	return n
}

// Unqueue takes a message out of the queue. may is asked whether the caller may
// take out one that is by's.
func (out *Outbox) Unqueue(ctx context.Context, by loop.Actor, id string, may func(by loop.By) error) error {
	return out.env.Change(ctx, func() error {
		i := slices.IndexFunc(out.queue, func(q *queued) bool { return q.ID == id && !q.Direct })
		if i < 0 {
			return api.Errorf(api.CodeNotFound, "there is no message %s for %s: queue %s lists the messages", api.Quote(id), out.env.Name(), out.env.Name()).With("session", out.env.Name())
		}
		q := out.queue[i]
		if err := may(q.By); err != nil {
			return err
		}
		if q.busy || q.Stage == stageEntered {
			return api.Errorf(api.CodeNotReady, "the message %s is being delivered now", id).With("session", out.env.Name())
		}
		out.dropQueued(q, "removed", by.By(), "")
		return nil
	})
}

// dropQueued removes a message from the queue and reports it.
func (out *Outbox) dropQueued(q *queued, what string, by loop.By, why string) {
	if q.letter() != 0 { // its event comes first: it has no other
		out.dropLetter(q, what, by, why)
	}
	out.forgetQueued(q)
	if q.Limit != 0 { // it wasn't sent
		out.row.N, out.row.Last = q.Row-1, q.Since.Time
	}
	if q.letter() == 0 {
		out.tellQueued(q, what, by, why)
	}
	text := "the message " + q.ID + " was " + what
	if why != "" {
		text += ": " + why
	}
	code := map[string]api.Code{"expired": api.CodeTimeout, "denied": api.CodeDenied}[what]
	if code == "" {
		code = api.CodeNotFound
	}
	q.settle(Nudged{}, api.Errorf(code, "%s", text).With("session", out.env.Name()).With("queue_id", q.ID))
}

func (out *Outbox) tellQueued(q *queued, what string, by loop.By, why string) {
	e := messageEvent{By: by, Queue: q.ID, What: what, Bytes: len(q.Nudge.Text), Why: why, Limit: q.Limit}
	if !q.Expires.IsZero() {
		e.Expires = &q.Expires
	}
	out.env.Note(eventMessage, e)
}

// forgetQueued takes a message out of the queue.
func (out *Outbox) forgetQueued(q *queued) {
	out.queue = slices.DeleteFunc(out.queue, func(o *queued) bool { return o == q })
	if err := os.Remove(out.queuedFile(q)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.env.Trouble("remove a message from the queue", err)
	}
}

// withdrawn says that what may be in the composer of the message is taken back, and nothing is sent.
func (q *queued) withdrawn() bool { return q.Direct || q.Over != "" }

// cutOff is a message that a delivery before this one has typed, or may have;
// empty without.
func (q *queued) cutOff(typer agent.MessageTyper) string {
	if q == nil || q.Stage == stageWaiting {
		return ""
	}
	typed, err := q.Nudge.Typed(typer)
	if err != nil {
		return ""
	}
	return typed
}

// Recipient is an agent that a person has started in the session's shell. A message that is queued for it goes to no
// other agent.
type Recipient struct {
	Agent string `json:"agent"`
	PID   int    `json:"pid"`
	Start string `json:"start"` // its start time, which distinguishes processes with the same pid
}

// goesTo reports whether the agent that is followed now may get the message.
func (out *Outbox) goesTo(q *queued) bool {
	now := out.env.Recipient()
	return q.For == nil || now != nil && *now == *q.For
}

// next is the first message for the agent that is followed now; nil for none.
func (out *Outbox) next() *queued {
	at := slices.IndexFunc(out.queue, out.goesTo)
	if at < 0 {
		return nil
	}
	return out.queue[at]
}

// dropLeft removes the messages for agents that have ended. Those for one that is suspended wait for it.
func (out *Outbox) dropLeft() {
	for _, q := range append([]*queued(nil), out.queue...) {
		switch {
		case q.busy || out.goesTo(q):
		case out.env.Lives(*q.For):
			q.park("it is for " + q.For.Agent + ", which isn't in the foreground")
		case q.Stage == stageEntered:
			out.unconfirmed(q, nudgeEvent{By: q.By, Bytes: len(q.Nudge.Text), Evidence: q.For.Agent + " ended before it confirmed the message"})
		default:
			out.dropQueued(q, "removed", loop.Berth, q.For.Agent+", which it was for, has ended")
		}
	}
}

// Moved records that a recipient is followed as another process from now on: a program that only started the agent was
// found first.
func (out *Outbox) Moved(from, to Recipient) {
	for _, q := range out.queue {
		if q.For == nil || *q.For != from {
			continue
		}
		q.For = &to
		if err := out.saveQueued(q); err != nil {
			out.env.Trouble("store a message", err)
		}
	}
}
