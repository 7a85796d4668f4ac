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
	// Begin is called when a program has started and Berth follows its agent. at is the time of
	// the start. The part forgets what it knew of the program before.
	Begin(at time.Time)
	// End is called when the program has ended, and when its agent has no driver.
	End()
	// Record takes in a control record; every part gets every record, and one that it doesn't
	// concern has a zero Outcome. The loop appends the events that follow from one record in one
	// step, so that a kill leaves all of them or none. It drops the events if an earlier server
	// has written them.
	Record(r hold.Record) (Outcome, error)
	// Tick does what is due at now, at the end of each turn of the loop. next is when the part
	// next has something to do because of time alone. Zero means never.
	Tick(now time.Time) (next time.Time)
	// Save gives what the next server has to know, as JSON.
	Save() (json.RawMessage, error)
	// Restore takes in what Save gave. followed says that the program of that time is still
	// followed. If it isn't, only what outlives a program counts.
	Restore(saved json.RawMessage, followed bool) error
	// Recall takes in an event of this session that was written after the checkpoint.
	Recall(line events.Line)
}

// Outcome is what follows from a record: events, in their order, and changes of the agent's state.
// The loop turns the changes into events and appends them after Events.
type Outcome struct {
	Events  []events.Event
	Results []detect.Result
}

// Program is the current condition of the session's program, for the loop.
type Program struct {
	State    agent.State
	Ended    bool
	Follows  bool      // it runs, and Berth follows its agent
	Reaches  bool      // it runs, and its holder answers
	Live     bool      // Follows, and the agent's sources have been read again since the server started
	PersonAt time.Time // when a person typed last
	LastIn   time.Time // when anything was typed last
	Typed    bool      // something was typed at it since it started
}

// Ready says that Berth can act on the program: it runs, its holder answers, and its agent's sources
// are up to date.
func (p Program) Ready() bool { return p.Live && p.Reaches }

// Standing is the session's condition as others see it.
type Standing struct {
	Name, Agent string
	State       agent.State
	Seq         uint64         // of the newest event
	Prompt      *agent.Request // what the agent asks; nil for nothing
	Driver      agent.Driver
}

// Env is what any part may use of its session's loop. Only the loop's goroutine may call these,
// except for Do and where a comment says otherwise.
type Env struct {
	ID  string // of the session
	Dir string // its folder
	Log *slog.Logger

	Now     func() time.Time
	Name    func() string       // the session's
	Driver  func() agent.Driver // of its agent; nil without one
	Program func() Program
	Exited  func() error // why the program cannot be reached
	// Freshen takes in all that the agent's sources say now. Seen is what a delivery then decides
	// by.
	Freshen func()
	Seen    func() deliver.Seen
	// Proven records that the agent's composer has shown a word that was typed at that time, and that no other process knew.
	Proven func(typed time.Time)
	// Link is the link to the holder; nil without a holder that answers.
	Link func() *hold.Link
	// Note writes an event that the server itself caused, and returns its number in the session.
	Note func(kind string, data any) uint64
	// SaveSoon writes a checkpoint at the end of this turn of the loop.
	SaveSoon func()
	// SaveNow writes one at once. The next server then knows what this one is about to type, also if this one is killed right after
	// the holder has it.
	SaveNow func()
	// Background runs work that may take time on a goroutine of its own. ctx ends when the server
	// ends. The server waits for the work.
	Background func(work func(ctx context.Context))
	// Do runs fn on the loop and returns when it has run. Any goroutine but the loop's may call
	// it. If ctx ends first, fn may still run later, so fn must not write to the caller's
	// variables then. Do fails once the loop has ended: the next server goes on.
	Do func(ctx context.Context, fn func()) error
	// Deliver runs work as a delivery under the claim: no other input comes in between. The
	// loop's goroutine must not call it.
	Deliver func(ctx context.Context, claim Claim, work func(Write) error) error
	// Changed gives a channel that holds one signal after the session's picture or state has
	// changed. Any goroutine may call it.
	Changed func() (changed <-chan struct{}, stop func())
	// Standing is the session's condition as others see it. Any goroutine may call it.
	Standing func() Standing
	// Stopped is why the loop has ended. Over is closed then.
	Stopped func() error
	Over    <-chan struct{}
	// Trouble keeps a failure that the session survives, for the verb health to show. Cured
	// removes it once the same thing has worked.
	Trouble func(what string, err error)
	Cured   func(what string)
}

// OnClock is a moment from a file on the loop's own clock. The system's clock may have been set back
// since. Without this the loop would wait for a moment in the future.
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

// Mark is what the server writes into the control log next to an input, resize or signal, so that
// the event made of it names its cause.
type Mark struct {
	By    By     `json:"by"`
	Typed bool   `json:"typed,omitempty"` // keystrokes of an attached client
	Focus bool   `json:"focus,omitempty"` // a report that its window was entered or left, or that the mouse was moved in it, and no key
	Verb  string `json:"verb,omitempty"`
}

// ByPerson reports whether the input is keys that a client or a script presses, and no message or answer.
func (m Mark) ByPerson() bool { return m.Typed || m.Verb == "input" || m.Verb == "keys" }

// JSON is the mark as the control log has it.
func (m Mark) JSON() json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		return nil // strings always encode
	}
	return data
}

// ReadMark reads what JSON has written. A mark that cannot be read is the zero Mark.
func ReadMark(data json.RawMessage) (m Mark) {
	_ = json.Unmarshal(data, &m) // a mark that cannot be read stays zero
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
