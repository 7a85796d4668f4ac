// Package gates answers the agent's hooks at two moments. At the end of a turn the stop gate may send the
// agent on. At the start of a conversation the agent may get a context. The package also handles the agent's
// reports, which open the gate, and saves the session log before the agent clears or compacts it. It is a
// part of the session's loop.
//
// All of these work the same way. A hook of the agent waits, and Fact, Begins or Log records that on the
// loop. Tick starts a goroutine that computes the answer and gives it over the holder's link. The control
// record of the hook's end (Record) makes the event. Each link starts the answer once, so a new server gives
// the answer that the one before could not give.
package gates

import (
	"encoding/json"
	"errors"
	"time"

	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/gates/begin"
	"berth/sessions/gates/gate"
	"berth/sessions/gates/transcript"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Verbs: marks in the control log, and types of events.
const (
	VerbGate         = "gate"
	VerbStartContext = "start-context"
)

// Kinds of records that the server writes.
const (
	KindOpened = "gate_opened" // a caller opened the gate for this turn
	KindReport = "report"      // both the record and the event of a report
)

// Env is what the gates use of their session.
type Env struct {
	loop.Env
	Gate  func() gate.Config
	Start func() begin.Config
	Berth func() string // how the agent calls berth
	// Held applies to the agent's state whether the gate holds the agent back.
	Held func(held bool, at time.Time) detect.Result
	// EndTurn applies the turn's end that the gate held back, once its hook has gone without a verdict.
	EndTurn func(hook uint64, at time.Time) []detect.Result
	// Printer returns a function that runs a command as the session's user, in its folder and environment. The
	// function returns the output and whether it was cut. Any goroutine may call it.
	Printer func(argv []string, source begin.Source) func() (text string, cut bool, err error)
	// Store keeps transcripts; nil if the agent has no session log that Berth knows.
	Store func() *transcript.Store
	// ReleaseHooks releases the hooks that no part needs.
	ReleaseHooks func()
}

// Gates is the part. New makes one.
type Gates struct {
	env      Env
	followed bool // a program with a driver runs
	turn     gate.State
	kept     keeping
	begun    map[uint64]*beginning // conversations that begin, by the hooks that wait
	logs     logs
	reports  reports
}

var _ loop.Part = (*Gates)(nil)

// New returns the part of a session.
func New(env Env) *Gates { return &Gates{env: env} }

// Begin forgets the turn of the program before.
func (g *Gates) Begin(time.Time) { g.End(); g.followed = true }

// End keeps the state of the session log, because saving it outlives the program.
func (g *Gates) End() { g.followed, g.turn, g.kept, g.begun = false, gate.State{}, keeping{}, nil }

// Record applies reports, an opened gate, and the ends of waiting hooks.
func (g *Gates) Record(r hold.Record) (told loop.Outcome, err error) {
	switch r.Kind {
	case KindReport:
		return g.reported(r)
	case KindOpened:
		return g.opened(r)
	case hold.KindVerdict:
		return g.answered(r)
	case hold.KindDelivered, hold.KindGone:
		return g.over(r)
	}
	return told, nil
}

// Tick answers the hooks that wait.
func (g *Gates) Tick(time.Time) (never time.Time) {
	if g.env.Program().Ready() { // all sources have been read
		g.keepBack()
		g.giveContexts()
		g.KeepLogs()
	}
	return never
}

// Waits reports whether the hook with this record still needs an answer of the gates.
func (g *Gates) Waits(hook uint64) bool {
	return g.turn.Hook == hook || g.begun[hook] != nil || g.logs.waiting[hook]
}

// saved is the part's data in the checkpoint.
type saved struct {
	Gate       gate.State            `json:"gate"`
	Beginnings map[uint64]*beginning `json:"beginnings,omitempty"` // by the hooks that wait
	LogWords   []transcript.Word     `json:"log_words,omitempty"`  // the agent's reports about its log that are still to be handled
	Saved      int                   `json:"saved"`                // the last transcript that has its event
}

// Save returns the turn, what waits, and how far transcripts have their events.
func (g *Gates) Save() (json.RawMessage, error) {
	return json.Marshal(saved{Gate: g.turn, Beginnings: g.begun, LogWords: g.logs.words, Saved: g.logs.emitted})
}

// Restore continues from what Save returned.
func (g *Gates) Restore(data json.RawMessage, followed bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	g.logs.restore(from.LogWords, from.Saved)
	if g.End(); followed {
		g.followed, g.turn, g.begun = true, from.Gate, from.Beginnings
	}
	return nil
}

// Recall records that a transcript has its event.
func (g *Gates) Recall(line events.Line) {
	if line.Type != eventTranscript {
		return
	}
	var told transcriptEvent
	if json.Unmarshal(line.Raw, &told) == nil {
		g.logs.emitted = max(g.logs.emitted, told.N)
	}
}

// unanswered logs that an answer to a hook failed. The ends of the hook and of the link have records, so it
// doesn't log these.
func unanswered(err error) bool {
	return err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed)
}
