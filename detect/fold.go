// Package detect turns what sources report into a session's state. It is
// pure: values in, values out, the clock passed in.
package detect

import (
	"cmp"
	"fmt"
	"reflect"
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

// Apply takes a fact in. Its Time must be set.
func (f *Fold) Apply(fact agent.Fact) Result {
	f.begin(fact.Time)
	f.settle() // what time alone had already decided
	f.conclude()
	if !f.follows(&fact) {
		f.overhear(&fact)
		f.result.Foreign = true
		return f.result
	}
	f.hear(&fact)
	f.take(&fact)
	f.settle()
	f.conclude()
	return f.result
}

// Tick lets time pass.
func (f *Fold) Tick(now time.Time) Result {
	f.begin(now)
	f.settle()
	f.conclude()
	return f.result
}

// Deadline is when Tick is due, the zero time when nothing waits for it.
func (f *Fold) Deadline() time.Time { return f.next }

// SetGate says whether the stop gate holds the agent at the end of its turn.
func (f *Fold) SetGate(held bool, now time.Time) Result {
	f.begin(now)
	f.m.Gate = held
	f.settle()
	f.conclude()
	return f.result
}

// Sleep begins a time in which facts of the past are taken in again while what
// the screen and the levels show is older than they: they
// decide nothing. Wake ends it, once both are of the present.
func (f *Fold) Sleep() { f.asleep = true }

// Wake ends Sleep.
func (f *Fold) Wake(now time.Time) Result {
	f.begin(now)
	f.asleep = false
	f.settle()
	f.conclude()
	return f.result
}

func (f *Fold) begin(now time.Time) {
	if now.After(f.now) {
		f.now = now
	}
	f.result = Result{}
}

// take lets a fact of the conversation that is followed have its way.
func (f *Fold) take(fact *agent.Fact) {
	m := &f.m
	if fact.Kind != agent.Noted && !(fact.Kind == agent.LevelIs && fact.Source == agent.SourceProcess) {
		m.Changed = f.now
	}
	m.Version = cmp.Or(fact.Version, m.Version)
	switch fact.Kind {
	case agent.ConversationStarted:
		f.ready(fact.Source, fact.Cause)
	case agent.ConversationEnded:
		m.ConversationOver = true
	case agent.TurnStarted:
		f.turnStarted(fact)
	case agent.TurnEnded:
		f.turnEnded(fact)
	case agent.FailureSeen:
		f.failureSeen(fact)
	case agent.ToolStarted:
		f.toolStarted(fact)
	case agent.ToolEnded, agent.StepEnded:
		f.toolEnded(fact)
	case agent.Acting:
		f.acting(fact)
	case agent.Asked:
		f.asked(fact)
	case agent.Answered:
		f.answered(fact)
	case agent.HookAnswered:
		for _, r := range m.Requests {
			r.Given = r.Given || fact.Hook != "" && r.Hook == fact.Hook
		}
		f.closeAll("answered", fact.Source, fact.Cause, false, func(r *request) bool { return r.Hook == fact.Hook && fact.Hook != "" })
	case agent.HookGone:
		f.hookGone(fact)
	case agent.LevelIs:
		f.levelIs(fact)
	case agent.SubagentEnded:
		if m.Background[fact.Agent] && m.Turn.Phase == ending {
			m.Turn.Reports = f.now
		}
		delete(m.Background, fact.Agent)
	case agent.ScreenShows:
		f.screenShows(fact.Reading)
	case agent.ProgramExited:
		if m.Exit = fact.Exit; m.Exit == nil {
			m.Exit = &agent.Exit{}
		}
		f.mark(fact.Source, fact.Cause, fact.Evidence)
	}
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

// judge is the state that follows from what is known.
func (f *Fold) judge() agent.State {
	m := &f.m
	switch {
	case m.Exit != nil:
		return agent.Exited
	case len(m.Requests) > 0:
		return agent.Prompt
	case m.Turn.Phase != "":
		return agent.Working
	case m.Failure != nil:
		return agent.InError
	case m.Ready && f.o.Headless:
		return agent.Working
	case m.Ready:
		return agent.Idle
	case f.dark():
		return agent.Unknown
	default:
		return agent.Starting
	}
}

// conclude tells of the change of state, if there is one.
func (f *Fold) conclude() {
	m := &f.m
	f.contest()
	next := f.judge()
	current := f.current()
	asked := uint64(0)
	if next == agent.Prompt {
		asked = current.Number
	}
	if next == m.State && asked == m.Asked {
		return
	}
	t := Transition{
		Time: f.now, Prev: m.State, Next: next, Tier: m.Why.Tier, Cause: m.Why.Cause, Evidence: m.Why.Evidence,
	}
	switch next {
	case agent.Prompt:
		t.Request = current.Prompt.Clone()
		if m.State != agent.Prompt {
			t.Tier, t.Cause, t.Evidence = current.Why.Tier, current.Why.Cause, current.Why.Evidence
		}
	case agent.Working:
		t.Activity = m.Activity
	case agent.InError:
		t.Failure = m.Failure
	}
	if next != m.State {
		m.Since = f.now
	}
	m.State, m.Asked = next, asked
	m.Owed = why{Tier: t.Tier, Cause: t.Cause, Evidence: t.Evidence}
	t.Words = f.words()
	f.result.Transitions = append(f.result.Transitions, t)
}

// screenShows takes a reading of the screen in, and since when it has been so.
func (f *Fold) screenShows(r *agent.Reading) {
	s := &f.m.Screen
	if r == nil {
		r = &agent.Reading{}
	}
	f.placed(r.Dialog)
	if s.Reading == nil || !reflect.DeepEqual(s.Reading, r) {
		s.Changed = f.now
	}
	if r.Failed == nil || s.Reading == nil || s.Reading.Failed == nil || s.Reading.Failed.Text != r.Failed.Text {
		s.Failed = time.Time{}
	}
	s.Reading = r
	hold(&s.Failed, r.Failed != nil, f.now)
	hold(&s.Blank, r.Composer == nil && r.Dialog == nil, f.now)
	hold(&s.Bare, r.Bare(), f.now)
	hold(&s.Busy, r.Busy != "", f.now)
	hold(&s.Hook, r.Hook, f.now)
	hold(&s.Gone, (r.Composer != nil || r.Clear) && r.Dialog == nil, f.now)
	s.turn(dialogKey(r.Dialog), f.now)
	f.retries(r)
	f.match(r.Dialog)
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
