// Package outbox brings messages to a session's agent: at once (Nudge), or when the agent rests
// (Enqueue), each exactly once and into a composer that is the message's alone.
//
// A delivery is a machine of package deliver. It is stepped on the loop, which sees all that
// there is to see, and what a step writes is written before anything else can happen there; the
// goroutine of the delivery only waits between two steps. How far a message has come (waiting,
// typed, entered) is on disk before the bytes are on their way, so that the next server knows
// what may have happened to it: one that was typed and not entered is cleared away and typed
// again, one that may have been entered waits for the agent's own word. That word makes the
// event of the message together with what carried it (Taken), so that a kill leaves both or
// none.
//
// One goroutine a session (work) looks after the queue and the draft that a delivery has put
// aside. It lives as long as there is either, and asks the loop what to do next.
package outbox

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Env is what the outbox uses of its session.
type Env struct {
	loop.Env
	Removed func() bool   // the session is being removed
	Keeps   func() bool   // the agent shows messages that it keeps for later
	Next    func() uint64 // the number of the session's next event
	Gather  func()        // writes the event of the keystrokes so far
	Write   func(file string, data []byte) error
	// Rights gives the identity with the rights that it has now on this session, or why it may
	// not nudge it.
	Rights func(keys.Identity) (keys.Identity, error)
	// Change is Do for a function that may fail.
	Change func(ctx context.Context, fn func() error) error
}

// Outbox is the part. New makes one.
type Outbox struct {
	env      Env
	followed bool // a program runs whose agent Berth follows
	program  int  // counts the programs: a delivery to one is none to the next
	queue    []*queued
	aside    *aside
	carrying bool         // a goroutine looks after both
	since    time.Time    // when this server took it up
	taken    *queued      // which the agent has by its own word; its event is written with that word's
	takenBy  agent.Fact   // that word
	nudging  []*nudging   // deliveries in progress: one, and those that wait for their confirmation
	watches  []*turnWatch // turns that a caller waits for
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
	out.followed, out.nudging, out.watches, out.own = false, nil, nil, ""
}

// Close ends the following of messages: the loop ends.
func (out *Outbox) Close() {
	for _, q := range out.queue {
		q.settle(Nudged{}, out.env.Stopped())
	}
}

// Record has nothing to do: what the agent says comes as facts.
func (out *Outbox) Record(hold.Record) (loop.Told, error) { return loop.Told{}, nil }

// Tick has nothing to do: a goroutine looks after the queue.
func (out *Outbox) Tick(time.Time) (never time.Time) { return never }

// saved is what the next server has to know beside the files.
type saved struct {
	Own string `json:"own,omitempty"`
}

// Save gives the last message of ours.
func (out *Outbox) Save() (json.RawMessage, error) { return json.Marshal(saved{out.own}) }

// Restore takes it in.
func (out *Outbox) Restore(data json.RawMessage, followed bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	if out.End(); followed {
		out.followed, out.own = true, from.Own
	}
	return nil
}

// Recall takes in that a delivery's end has its event. The kill came between that and the end of
// its file.
func (out *Outbox) Recall(line events.Line) {
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
	out.heedTaken(f)
	for _, w := range out.watches {
		w.fact(f)
	}
}

// First says that the message which the session was made with has yet to be given.
func (out *Outbox) First() bool {
	return slices.ContainsFunc(out.queue, func(q *queued) bool { return q.First })
}
