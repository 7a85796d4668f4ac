package detect

import (
	"fmt"
	"time"

	"berth/agent"
)

// Options of a Fold.
type Options struct {
	// Conversation is the id that Berth gave to the agent's conversation. If empty, the fold
	// follows the first one that is reported.
	Conversation string
	// Forked is the id of the conversation that this one is a fork of. The agent announces the fork
	// by that id.
	Forked string
	// Headless: the agent takes no messages and works until its end.
	Headless bool
	// Again: the agent may exit and be started again, after its startup prompts were answered.
	Again bool
	// Left is what the fold before leaves: see Leaves.
	Left Left
	// Returns: the agent had started up before it left the foreground. It reports no start again, so its composer or a
	// level ends the start, whatever the driver's table says.
	Returns bool
	// Start is when the program was started.
	Start time.Time
	// ScreenGrace is how long the screen must show a composer before the agent counts as idle
	// without another source; 0 is 2 s.
	ScreenGrace time.Duration
	// IdleGrace is how long nothing must have been logged or printed before the agent counts as
	// idle without a report of its turn's end; 0 is 60 s.
	IdleGrace time.Duration
	// Dir is the folder that the program was started in.
	Dir string
	// RealDir is its path without links; empty where that isn't known.
	RealDir string
	// Zone is the program's time zone; nil is the server's.
	Zone *time.Location
	// PromptID makes a prompt's id from its number, which counts from 1; nil makes "1", "2" and so
	// on. reported: the applied fact itself reports the prompt, so it opens it again when it is applied
	// again.
	PromptID func(number uint64, reported bool) string
}

// Fold derives a state from facts. It is pure: its clock is the facts' and Tick's times, and it
// only keeps what it was given. Only one goroutine may use it.
//
// Time must not go back between calls. Between two facts, Tick is due at Deadline; a late Tick is
// only late.
type Fold struct {
	driver  agent.Driver
	table   agent.Table
	o       Options
	m       memory
	now     time.Time
	next    time.Time // the earliest time at which a waiting rule may apply
	pending []Wait    // the rules that wait
	result  Result
	frozen  bool
	thawed  time.Time

	comparedWith *agent.Dialog // the dialog of comparisons
	comparisons  map[pastCall]comparison
	drawnOn      *agent.Dialog                 // the dialog of drawnCalls and drawnElse
	drawnCalls   map[*agent.Request]*lookalike // by what the call asks; nil for one that the dialog isn't about
	drawnElse    map[drawnCall]bool            // whether the dialog draws another call's input
	drawnOpen    map[drawnCall]agent.Match     // how much of a call of the log the dialog may show
}

// Result is what one fact, or the passing of time, has changed.
type Result struct {
	Foreign     bool // the fact was about another conversation, and changed no state
	Kept        bool // a TurnStarted whose message waits for the end of the current turn
	Transitions []Transition
	Opened      []*agent.Request
	Closed      []Resolution
	Mismatches  []Mismatch // sources that became doubted, or no longer are
}

// Transition is a change of the state, or of the current prompt in the state prompt.
type Transition struct {
	Time     time.Time
	Prev     agent.State
	Next     agent.State
	Tier     int
	Cause    string
	Evidence string
	Request  *agent.Request // in prompt
	Activity *agent.Activity
	Failure  *agent.Failure
	Words    []Word // the last report of each source, the most reliable first
}

// Resolution is the end of a prompt.
type Resolution struct {
	Request *agent.Request
	How     string // answered, ended, gone, superseded, too_many
	Tier    int
	Cause   string
	Stopped bool // the turn stopped with it, as after a denial
}

// New makes the fold of an agent that was just started.
func New(d agent.Driver, o Options) *Fold {
	if o.ScreenGrace == 0 {
		o.ScreenGrace = 2 * time.Second
	}
	if o.IdleGrace == 0 {
		o.IdleGrace = time.Minute
	}
	if o.PromptID == nil {
		o.PromptID = func(n uint64, _ bool) string { return fmt.Sprint(n) }
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	f := &Fold{driver: d, table: d.Table(), o: o, now: o.Start}
	f.m = memory{
		current:      current{State: agent.Starting, Returns: o.Returns, Since: o.Start, Why: why{Tier: agent.TierProcess, Cause: "process:start"}},
		conversation: conversation{Conversation: o.Conversation, Given: o.Conversation != ""},
		turns:        turns{Background: map[string]bool{}},
		sources:      sources{Levels: map[agent.Source]*level{}, Words: map[agent.Source]Word{}, Strangers: map[agent.Source]Word{}, Changed: o.Start},
	}
	f.m.Before, f.m.Under = o.Left.Covered, o.Left.under
	return f
}

// Deadline is when Tick is due; the zero time when no rule waits.
func (f *Fold) Deadline() time.Time { return f.next }

func (f *Fold) begin(now time.Time) {
	if now.After(f.now) {
		f.now = now
	}
	f.result = Result{}
}

// may reports whether the driver's table lets the source cause the move.
func (f *Fold) may(m agent.Move, s agent.Source) bool {
	_, ok := f.table.May(m, s)
	return ok
}

// due reports whether something that started at since has held for d, so that the source may cause
// the move. If not, the fold asks for a Tick at that time.
func (f *Fold) due(m agent.Move, s agent.Source, since time.Time, d time.Duration) bool {
	at := since.Add(d)
	if !at.After(f.now) {
		return true
	}
	f.pending = append(f.pending, Wait{Move: m, Source: s, Since: since, Due: at})
	if f.next.IsZero() || at.Before(f.next) {
		f.next = at
	}
	return false
}

func latest(times ...time.Time) time.Time {
	var t time.Time
	for _, o := range times {
		if o.After(t) {
			t = o
		}
	}
	return t
}

// mark keeps the reason for a change of the state that may follow.
func (f *Fold) mark(s agent.Source, cause, evidence string) {
	f.m.Why = why{Tier: s.Tier(), Cause: cause, Evidence: evidence}
}

// hold keeps since when something has been true without a break.
func hold(since *time.Time, so bool, now time.Time) {
	switch {
	case !so:
		*since = time.Time{}
	case since.IsZero():
		*since = now
	}
}

// Doubt is a source that another one has contradicted. The slow rule applies to it: all other
// sources must agree, for the longest time that the driver's table names.
type Doubt struct {
	Source      agent.Source
	Said        string // the contradicted report
	Against     agent.Source
	AgainstSaid string
	Since       time.Time
	Agreed      int // turns' ends in a row that the others have confirmed since
}

// Mismatch is the start of a Doubt, or with Over its end.
type Mismatch struct {
	Doubt
	Over bool
}

// Word is the last report of a source.
type Word struct {
	Source       agent.Source
	Tier         int
	Kind         agent.Kind
	Time         time.Time
	Cause        string
	Evidence     string
	Conversation string
	Foreign      bool
}

// Wait is a rule that waits until a source has shown the same for long enough.
type Wait struct {
	Move   agent.Move
	Source agent.Source
	Since  time.Time
	Due    time.Time
}
