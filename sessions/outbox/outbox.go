// Package outbox delivers messages to a session's agent: at once (Nudge), or when the agent is idle
// (Enqueue). Each goes into a composer that contains nothing else. A message that may have been sent
// isn't sent again: without the agent's report it ends as unconfirmed.
//
// A delivery is a machine of package deliver. Its steps run on the loop, which has the newest screen
// and facts, and a step's bytes are sent before anything else happens there. The goroutine of the
// delivery only waits between two steps. How far a message is (typed, entered) is in its file
// before the bytes are sent, so the next server knows what may have happened. It continues the
// delivery of a queued message. It takes back a direct one (Nudge), because the caller is gone and
// may send it again. docs/architecture.md has the cases in a table.
//
// The agent's report that it has a queued message, or one that a killed server left, is in the log
// with the event of that message in one step (Taken): a kill leaves both or none. The event of
// another direct message comes at the end of its delivery.
//
// One goroutine a session (work) looks after the queue and the stashed draft. It runs as long as there
// is either, and asks the loop what to do next.
package outbox

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Env is what the outbox uses of its session.
type Env struct {
	loop.Env
	Removed   func() bool       // the session is being removed
	Keeps     func() bool       // the agent shows messages that it keeps for later
	Began     func(agent.Fact)  // the agent has begun a turn that no source has reported
	Interrupt func() bool       // a client waits for the end of a delivery, to interrupt the turn
	Limit     func() Limit      // the agent's current one
	Recipient func() *Recipient // the followed agent in the session's shell; nil: the session's own program is followed
	Lives     func(Recipient) bool
	Next      func() uint64 // the number of the session's next event
	Gather    func()        // writes the event of the keystrokes so far
	// Append writes events in one step. Letters are the messages of other sessions.
	Append  func([]events.Event) []events.Event
	Letters Letters
	Printed func() int64 // how much output there was
	// ReadOutput reads output that was printed at an offset.
	ReadOutput func(buf []byte, offset int64) (int, error)
	Write      func(file string, data []byte) error
	// Rights gives the identity with the rights that it has now on this session, or why it may
	// not use the verb on it.
	Rights func(id keys.Identity, verb string) (keys.Identity, error)
	// Change is Do for a function that may fail.
	Change func(ctx context.Context, fn func() error) error
}

// Outbox is the part. New makes one.
type Outbox struct {
	env      Env
	followed bool // a program runs whose agent Berth follows
	program  int  // counts the programs: a delivery to one is none to the next
	queue    []*queued
	stash    *stash
	working  bool         // a goroutine looks after both
	since    time.Time    // when this server took it up, or the newest program began or ended
	taken    *queued      // which the agent has by its own word; its event is written with that word's
	takenBy  agent.Fact   // that word
	nudging  []*nudging   // deliveries in progress: one, and those that wait for their confirmation
	watches  []*turnWatch // turns that a caller waits for
	resumed  uint64       // the newest limit with a queued message, as in Limit.Seq
	row      row          // its message, among those after limits that followed each other
	own      string       // the last message of ours, as it was typed
}

var _ loop.Part = (*Outbox)(nil)

// New makes the outbox of a session. Load takes up what a server before this one has left.
func New(env Env) *Outbox { return &Outbox{env: env} }

// Begin is ready for deliveries to another program. The queue waits for it.
func (out *Outbox) Begin(time.Time) { out.End(); out.followed = true }

// End ends what goes with a program: deliveries, and turns that a caller waits for.
func (out *Outbox) End() {
	for _, w := range out.watches {
		w.cut = true
	}
	out.program++
	out.since = out.env.Now()
	out.followed, out.nudging, out.watches, out.own = false, nil, nil, ""
}

// Close ends the following of messages: the loop ends.
func (out *Outbox) Close() {
	for _, q := range out.queue {
		q.settle(Nudged{}, out.env.Stopped())
	}
}

// Record has nothing to do: track calls Fact with what the agent reports.
func (out *Outbox) Record(hold.Record) (loop.Outcome, error) { return loop.Outcome{}, nil }

// Tick queues the message after a limit. A goroutine looks after the queue.
func (out *Outbox) Tick(time.Time) (never time.Time) {
	out.resume()
	return never
}

// saved is what the next server has to know beside the files.
type saved struct {
	Own     string `json:"own,omitempty"`
	Resumed uint64 `json:"resumed,omitempty"`
	Row     row    `json:"row"`
}

// Save gives the last message of ours.
func (out *Outbox) Save() (json.RawMessage, error) {
	return json.Marshal(saved{out.own, out.resumed, out.row})
}

// Restore takes it in.
func (out *Outbox) Restore(data json.RawMessage, followed bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	out.resumed, out.row = max(out.resumed, from.Resumed), from.Row
	if out.End(); followed {
		out.followed, out.own = true, from.Own
	}
	return nil
}

// Recall takes in that a delivery's end has its event. The kill came between that and the end of
// its file.
func (out *Outbox) Recall(line events.Line) {
	var message messageEvent
	if line.Type == eventMessage && json.Unmarshal(line.Raw, &message) == nil {
		out.resumed = max(out.resumed, message.Limit)
	}
	var told nudgeEvent
	if line.Type != eventNudge || json.Unmarshal(line.Raw, &told) != nil {
		return
	}
	out.queue = slices.DeleteFunc(out.queue, func(q *queued) bool {
		over := q.Direct && q.ID == told.Nudge
		if over {
			out.dropDirect(q)
		}
		return over
	})
}

// Fact takes in a fact of the session's own conversation.
func (out *Outbox) Fact(f agent.Fact) {
	for _, n := range out.nudging {
		n.machine.Fact(f)
	}
	out.observeTaken(f)
	if f.Kind == agent.TurnEnded && f.How == agent.Completed && f.Agent == "" && !out.row.Completed.After(out.row.Last) {
		out.row.Completed = f.Time
	}
	for _, w := range out.watches {
		w.fact(f)
	}
}

// First says that the message which the session was made with has yet to be given.
func (out *Outbox) First() bool {
	return slices.ContainsFunc(out.queue, func(q *queued) bool { return q.First })
}

// Limit is an error that ends by itself, and the session's message for then.
type Limit struct {
	Seq     uint64    // number of the event that first made the state parked; 0 without such an error
	Since   time.Time // when the error came
	End     time.Time
	Message string // empty: none is sent
	Self    bool   // the agent goes on by itself then: no message is sent
}

// resumeMargin is how long after the end of a limit the message goes on. Providers name whole minutes and
// seconds, and clocks differ.
const resumeMargin = 5 * time.Second

// A limit may follow each message after a limit, such as "try again in 2s". The margin doubles then, up to
// resumeMost, and after mostResumed messages in a row none is sent.
const (
	mostResumed = 5
	resumeMost  = 50 * time.Second // the state is parked until a minute after the end
	// workedFor is how long an agent works after a message until its next limit isn't one in that row.
	workedFor = 10 * time.Minute
	// brokenOff is how soon after a turn's end a limit is still that turn's. Some agents report the end first.
	brokenOff = 10 * time.Second
)

// row counts the messages after limits that followed each other.
type row struct {
	N         int       `json:"n"`
	Last      time.Time `json:"last"`      // when the last one was due
	Completed time.Time `json:"completed"` // when the agent completed the first turn since
}

// next is how many messages came before the one after this limit. The row begins anew when the agent has
// completed a turn or worked for a while, or a person has typed.
func (r row) next(since, person time.Time) int {
	if since.Sub(r.Last) >= workedFor || person.After(r.Last) || r.Completed.After(r.Last) {
		return 0
	}
	return r.N
}

// resume keeps a message that goes on after a limit in the queue: one for each limit, for as long as the
// agent has that error and no person has typed since. It is in the queue from the limit's start, so a
// server that is killed at its end doesn't send it again.
func (out *Outbox) resume() {
	if p := out.env.Program(); !p.Live && !p.Ended {
		return // the limit isn't known yet
	}
	l := out.env.Limit()
	person := out.env.Program().PersonAt.After(l.Since)
	for _, q := range append([]*queued(nil), out.queue...) {
		if q.Limit != 0 {
			out.counts(q)
		}
		why := ""
		switch {
		case q.Limit == 0 || q.busy:
		case q.Limit != l.Seq:
			why = "the limit is over"
		case person:
			why = "a person has typed"
		case l.Self:
			why = "the agent goes on by itself"
		}
		if why != "" {
			out.withdraw(q, why)
		}
	}
	if l.Seq != 0 && l.Since.Sub(out.row.Completed) < brokenOff {
		out.row.Completed = time.Time{}
	}
	before := out.row.next(l.Since, out.env.Program().PersonAt)
	if l.Seq <= out.resumed || l.Message == "" || l.Self || person || before >= mostResumed || !out.env.Program().Ready() {
		return
	}
	now, number := out.env.Now(), out.env.Next()
	q := &queued{
		ID: queueID(number), number: number, By: loop.Berth, Nudge: Nudge{Text: l.Message}, Since: api.At(now), Stage: stageWaiting,
		Limit: l.Seq, NotBefore: api.At(l.End.Add(min(resumeMargin<<before, resumeMost))), Row: before + 1,
	}
	if err := out.saveQueued(q); err != nil {
		out.env.Trouble("queue the message after a limit", err)
		return
	}
	out.env.Cured("queue the message after a limit")
	out.counts(q)
	out.queue = append(out.queue, q)
	out.tellQueued(q, "queued", q.By, "")
	out.env.SaveSoon()
	out.DeliverQueued()
}

// counts counts a message after a limit.
func (out *Outbox) counts(q *queued) {
	out.resumed, out.row.N, out.row.Last = max(out.resumed, q.Limit), q.Row, q.NotBefore.Time
}

// withdraw removes a message that isn't sent any more. One that may be in the composer is taken back first.
func (out *Outbox) withdraw(q *queued, why string) {
	if q.Stage == stageWaiting || out.env.Program().Ended {
		out.dropQueued(q, "removed", loop.Berth, why)
		return
	}
	if q.Over != "" {
		return
	}
	q.Over = why
	if err := out.saveQueued(q); err != nil {
		out.env.Trouble("store a message", err)
	}
	out.DeliverQueued()
}
