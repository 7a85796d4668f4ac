package detect

import (
	"fmt"
	"time"

	"berth/agent"
)

// Options of a Fold.
type Options struct {
	// Conversation is the id that Berth gave the agent; empty: the first that
	// arrives is followed.
	Conversation string
	// Forked is the id of the conversation that this one begins as a copy of: the
	// agent announces the copy by it.
	Forked string
	// Headless says that the agent takes no messages: it works until its end.
	Headless bool
	// Again says that the agent may end, to be started once more, when what it asked
	// at its start was answered.
	Again bool
	// Start is when the program was started.
	Start time.Time
	// ScreenGrace is how long a composer must be seen before it is believed
	// with nothing else to go by; 0 is 2 s.
	ScreenGrace time.Duration
	// IdleGrace is how long nothing must have been logged or printed before an
	// agent whose turn nobody told to end is taken to rest; 0 is 60 s.
	IdleGrace time.Duration
	// Dir is the folder that the program was started in.
	Dir string
	// PromptID makes an id of a prompt's number, which grows from 1; nil makes
	// "1", "2" ...
	PromptID func(number uint64) string
}

// Fold makes a state of facts. It is pure: it has no clock but the facts' and
// Tick's, and does nothing but keep what it was told. It is for one goroutine.
//
// Time must not go back between calls. Between two facts, Tick is due at
// Deadline; a Tick that comes late is only late.
type Fold struct {
	driver  agent.Driver
	table   agent.Table
	o       Options
	m       memory
	now     time.Time
	next    time.Time // the earliest moment at which a rule may have its way
	pending []Wait    // the rules that wait for it
	result  Result
	asleep  bool
}

// Result is what one fact, or the passing of time, has changed.
type Result struct {
	Foreign     bool // the fact was of another conversation, and moved nothing
	Transitions []Transition
	Opened      []*agent.Request
	Closed      []Resolution
	Mismatches  []Mismatch // sources that are doubted from now on, or not any more
}

// Transition is a change of state, or of what is asked while in prompt.
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
	Words    []Word // the last of each source by then, the surest first
}

// Resolution is the end of a prompt.
type Resolution struct {
	Request *agent.Request
	How     string // answered, ended, gone, superseded, too_many
	Tier    int
	Cause   string
	Stopped bool // the work stopped with it, as after a refusal
}

// New is the fold of an agent that was just started.
func New(d agent.Driver, o Options) *Fold {
	if o.ScreenGrace == 0 {
		o.ScreenGrace = 2 * time.Second
	}
	if o.IdleGrace == 0 {
		o.IdleGrace = time.Minute
	}
	if o.PromptID == nil {
		o.PromptID = func(n uint64) string { return fmt.Sprint(n) }
	}
	f := &Fold{driver: d, table: d.Table(), o: o, now: o.Start}
	f.m = memory{
		standing:     standing{State: agent.Starting, Since: o.Start, Why: why{Tier: agent.TierProcess, Cause: "process:start"}},
		conversation: conversation{Conversation: o.Conversation, Given: o.Conversation != ""},
		turns:        turns{Background: map[string]bool{}},
		sources:      sources{Levels: map[agent.Source]*level{}, Words: map[agent.Source]Word{}, Strangers: map[agent.Source]Word{}, Changed: o.Start},
	}
	return f
}

// Deadline is when Tick is due, the zero time when nothing waits for it.
func (f *Fold) Deadline() time.Time { return f.next }

func (f *Fold) begin(now time.Time) {
	if now.After(f.now) {
		f.now = now
	}
	f.result = Result{}
}

// may says whether the driver's table lets the source cause the move.
func (f *Fold) may(m agent.Move, s agent.Source) bool {
	_, ok := f.table.May(m, s)
	return ok
}

// due says whether what began at since has held for d, so that the source may
// cause the move. When it has not, the fold asks for a Tick when it will have.
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

// mark keeps what the state will be owed to, should it change now.
func (f *Fold) mark(s agent.Source, cause, evidence string) {
	f.m.Why = why{Tier: s.Tier(), Cause: cause, Evidence: evidence}
}

// hold keeps since when something has been so without a break.
func hold(since *time.Time, so bool, now time.Time) {
	switch {
	case !so:
		*since = time.Time{}
	case since.IsZero():
		*since = now
	}
}

// Doubt is a source that another one has contradicted. What it says is believed
// by the slow rule: all other sources must agree, for the longest time that the
// driver's table names.
type Doubt struct {
	Source      agent.Source
	Said        string // the word that was contradicted
	Against     agent.Source
	AgainstSaid string
	Since       time.Time
	Agreed      int // ends of turns in a row that the others have confirmed since
}

// Mismatch is the begin of a Doubt, or with Over its end.
type Mismatch struct {
	Doubt
	Over bool
}

// Word is the last a source said.
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

// Wait is a rule that waits for what a source shows to have held for long
// enough.
type Wait struct {
	Move   agent.Move
	Source agent.Source
	Since  time.Time
	Due    time.Time
}
