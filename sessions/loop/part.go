// Package loop is what a session's loop and the parts of a session share. A part is one
// concern of a session: its stop gate, its messages, its clients. The loop takes a part's
// records and its clock to it, and writes the events that it returns; what a part may do in
// turn is in its Env. So a part is tested with an Env of the test's own, without a loop.
package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/deliver"
	"berth/sessions/events"
	"berth/sessions/hold"
)

// Part is one concern of a session. The loop alone calls its methods, one at a time, so a
// part needs no lock. No method waits or reads a file: what may take time is for
// Env.Background.
type Part interface {
	// Begin is called when a program starts whose agent Berth follows, at that moment. What was
	// known of the program before is of no use any more.
	Begin(at time.Time)
	// End is called when the program has ended, and when there is no driver for its agent.
	End()
	// Record takes in a control record. The loop appends the events that follow from one
	// record in one step, so that a kill leaves all of them or none. It throws the events
	// away if a server before this one has written them.
	Record(r hold.Record) (Told, error)
	// Tick does what is due at now, at the end of each turn of the loop. It gives when it has
	// something to do next by time alone; zero: never.
	Tick(now time.Time) (next time.Time)
	// Save gives what the next server has to know, as JSON.
	Save() (json.RawMessage, error)
	// Restore takes it in. followed says that the program that ran then is still followed;
	// otherwise only what outlives a program counts.
	Restore(saved json.RawMessage, followed bool) error
	// Recall takes in an event of this session that was written after the checkpoint.
	Recall(line events.Line)
}

// Told is what follows from a record: events, in their order, and what has changed in what is
// believed of the agent. The loop makes events of the latter and appends them after the former.
type Told struct {
	Events  []events.Event
	Results []detect.Result
}

// Program is how the session's program stands now, for the loop.
type Program struct {
	State    agent.State
	Ended    bool
	Follows  bool      // it runs, and Berth follows its agent
	Reaches  bool      // it runs, and its holder answers
	Awake    bool      // Follows, and the agent's sources have been read again since the server started
	PersonAt time.Time // when a person typed last
	LastIn   time.Time // when anything was typed last
}

// Ready says that all is there to act on: the program, its holder, and its agent's sources.
func (p Program) Ready() bool { return p.Awake && p.Reaches }

// Standing is how the session stands, as others see it.
type Standing struct {
	Name, Agent string
	State       agent.State
	Seq         uint64         // of the newest event
	Prompt      *agent.Request // what the agent asks; nil for nothing
	Driver      agent.Driver
}

// Env is what any part may use of its session's loop. All but Do are the loop's to call, unless
// it says otherwise.
type Env struct {
	ID  string // of the session
	Dir string // its folder
	Log *slog.Logger

	Now     func() time.Time
	Name    func() string       // the session's
	Driver  func() agent.Driver // of its agent; nil without one
	Program func() Program
	Exited  func() error // why the program cannot be reached
	// Freshen takes in all that the agent's sources say now. Seen is what a delivery goes by
	// then.
	Freshen func()
	Seen    func() deliver.Seen
	// Link is the link to the holder; nil without a holder that answers.
	Link func() *hold.Link
	// Note writes an event that the server itself caused, and gives its number in the session.
	Note func(kind string, data any) uint64
	// SaveSoon writes a checkpoint at the end of this turn of the loop.
	SaveSoon func()
	// Background runs work that may take time on a goroutine of its own. ctx ends when the
	// server does, which waits for the work.
	Background func(work func(ctx context.Context))
	// Do runs fn on the loop and returns when it has run. Any goroutine but the loop's may call
	// it. If ctx ends first, fn may run all the same, so fn keeps its results to itself. It
	// fails once the loop has ended: then the next server goes on.
	Do func(ctx context.Context, fn func()) error
	// Deliver runs work as a delivery under the claim: no other input comes between. Like Do, it
	// is not for the loop's goroutine.
	Deliver func(ctx context.Context, claim Claim, work func(Write) error) error
	// Changed holds one signal when the session's picture or state changed. Any goroutine may
	// call it.
	Changed func() (changed <-chan struct{}, stop func())
	// Standing is how the session stands as others see it. Any goroutine may call it.
	Standing func() Standing
	// Stopped is why the loop has ended. Over is closed then.
	Stopped func() error
	Over    <-chan struct{}
	// Trouble keeps a failure that the session survives, for health to show; Cured takes it
	// back once the same thing has worked.
	Trouble func(what string, err error)
	Cured   func(what string)
}

// OnClock is a moment that a file reports, as the loop's own clock has it. The system's clock
// may have been set back since: a moment ahead of it would be waited for.
func (e Env) OnClock(at time.Time) time.Time {
	now := e.Now()
	return now.Add(min(at.Round(0).Sub(now.Round(0)), 0))
}

// By says in an event who caused it.
type By struct {
	Identity    string `json:"identity"`
	Fingerprint string `json:"fingerprint"`
	Client      string `json:"client"`
}

// Berth is the server itself, in events.
var Berth = By{Identity: "berth"}

// Mark is what the server writes into the control log beside an input, resize or signal, so
// that the event made of it says who it was.
type Mark struct {
	By    By     `json:"by"`
	Typed bool   `json:"typed,omitempty"` // keystrokes of an attached client
	Verb  string `json:"verb,omitempty"`
}

// JSON is the mark as the control log has it.
func (m Mark) JSON() json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		return nil // strings always encode
	}
	return data
}

// ReadMark reads what JSON made. A mark that cannot be read has no name.
func ReadMark(data json.RawMessage) (m Mark) {
	_ = json.Unmarshal(data, &m) // as said above
	return m
}

// HookID is the id, as facts carry it, of the hook with this record.
func HookID(record uint64) string { return strconv.FormatUint(record, 10) }

// Decode reads the data of a control record.
func Decode[T any](r hold.Record) (T, error) {
	var v T
	err := json.Unmarshal(r.Data, &v)
	if err != nil {
		err = fmt.Errorf("decode the data: %w", err)
	}
	return v, err
}
