// Package gates is what a session says to its agent at the two moments at which the agent's
// hooks ask: at the end of a turn, where the stop gate may send it on, and when a conversation
// begins, where it may be given a context. It also takes in the agent's reports, which the
// gate goes by, and saves the session log before the agent clears or compacts it.
//
// All of it has one shape. A hook of the agent waits; Fact, Begins or Log takes that in on the
// loop; Tick has the answer found off the loop and given over the holder's link; the control
// record of the hook's end (Record) makes the event. The answer is begun once by each link, so
// a new server gives what the one before it could not.
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

// Verbs, as marks in the control log and types of events.
const (
	VerbGate         = "gate"
	VerbStartContext = "start-context"
)

// Records of the server's own.
const (
	KindOpened = "gate_opened" // a caller lets the agent go for this turn
	KindReport = "report"      // both the record and the event of a report
)

// Env is what the gates use of their session.
type Env struct {
	loop.Env
	Gate  func() gate.Config
	Start func() begin.Config
	Berth func() string // how the agent calls berth
	// Held says whether the gate holds the agent back, for what is believed of its state.
	Held func(held bool, at time.Time) detect.Result
	// EndTurn believes the end of the turn that a hook has reported.
	EndTurn func(hook uint64, at time.Time) []detect.Result
	// Printer gives a function that runs a command of the session's user in its folder and
	// environment and returns what it printed and whether that was cut. It may be called on
	// any goroutine.
	Printer func(argv []string, source begin.Source) func() (text string, cut bool, err error)
	// Store keeps transcripts; nil if the agent has no session log that Berth knows.
	Store func() *transcript.Store
	// LetGo releases the hooks that nothing waits for.
	LetGo func()
}

// Gates is the part. Its zero value is of no use: New makes one.
type Gates struct {
	env      Env
	followed bool // a program runs whose agent Berth follows
	turn     gate.State
	kept     keeping
	begun    map[uint64]*beginning // conversations that begin, by the hooks that wait
	logs     logs
	reports  reports
}

var _ loop.Part = (*Gates)(nil)

// New makes the gates of a session.
func New(env Env) *Gates { return &Gates{env: env} }

// Begin forgets the turn of the program before.
func (g *Gates) Begin(time.Time) { g.End(); g.followed = true }

// End keeps what the session log is saved by: that outlives the program.
func (g *Gates) End() { g.followed, g.turn, g.kept, g.begun = false, gate.State{}, keeping{}, nil }

// Record takes in reports, an opened gate, and what became of hooks that waited.
func (g *Gates) Record(r hold.Record) (told loop.Told, err error) {
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
	if g.env.Program().Ready() { // what is decided now rests on all there is
		g.keepBack()
		g.giveContexts()
		g.KeepLogs()
	}
	return never
}

// Waits says that the answer of the hook with this record is still to be given.
func (g *Gates) Waits(hook uint64) bool {
	return g.turn.Hook == hook || g.begun[hook] != nil || g.logs.waiting[hook]
}

// saved is what the next server has to know.
type saved struct {
	Gate       gate.State            `json:"gate"`
	Beginnings map[uint64]*beginning `json:"beginnings,omitempty"` // by the hooks that wait
	LogWords   []transcript.Word     `json:"log_words,omitempty"`  // of the agent's, not taken in yet
	Saved      int                   `json:"saved"`                // the last transcript that has its event
}

// Save gives the turn, what waits, and how far transcripts have their events.
func (g *Gates) Save() (json.RawMessage, error) {
	return json.Marshal(saved{Gate: g.turn, Beginnings: g.begun, LogWords: g.logs.words, Saved: g.logs.told})
}

// Restore goes on where Save left off.
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

// Recall takes in that a transcript has its event.
func (g *Gates) Recall(line events.Line) {
	if line.Type != eventTranscript {
		return
	}
	var told transcriptEvent
	if json.Unmarshal(line.Raw, &told) == nil {
		g.logs.told = max(g.logs.told, told.N)
	}
}

// unanswered says that an answer to a hook failed for another reason than the hook's or the
// link's end: those have records.
func unanswered(err error) bool {
	return err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed)
}
