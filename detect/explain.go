package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"berth/agent"
)

// Explanation says why the state is what it is, and what would change it.
type Explanation struct {
	Status  Status
	Words   []Word // the last report of each source, the most reliable first
	Turn    *Turn  // the current turn; nil without one
	Asked   []Asked
	Calls   []Call   // tool calls that haven't ended
	Subs    []string // subagents that continue after their turn
	Pending []Wait   // rules that wait for time to pass
	Ways    []Way    // what would change the state
}

// Turn is the current turn.
type Turn struct {
	ID      string
	Phase   string    // running; ending: its end was reported, but a source still shows work
	How     agent.How // of a turn that is ending
	Started time.Time
	Source  agent.Source // the source that reported it first
}

// Asked is an open prompt and the source that reported it.
type Asked struct {
	Request *agent.Request
	Opened  time.Time
	Tier    int
	Cause   string
	Told    bool // by the agent's own event; otherwise only seen
	Seen    bool // its dialog was on the screen
	Hook    bool // a hook waits for the answer
}

// Call is a tool call that hasn't ended.
type Call struct{ ID, Tool, Agent string }

// Way is a move that would change the state, and the sources that may cause it.
type Way struct {
	Move agent.Move
	Next agent.State
	By   []agent.Witness
}

// observe keeps the source's last report.
func (f *Fold) observe(fact *agent.Fact) {
	if fact.Kind != agent.Spoke {
		f.m.Words[fact.Source] = f.word(fact)
	}
}

// observeForeign keeps the last report about another conversation, next to that of the followed
// one.
func (f *Fold) observeForeign(fact *agent.Fact) {
	w := f.word(fact)
	w.Foreign = true
	f.m.Strangers[fact.Source] = w
}

func (f *Fold) word(fact *agent.Fact) Word {
	w := Word{
		Source: fact.Source, Tier: fact.Source.Tier(), Kind: fact.Kind, Time: f.now, Cause: fact.Cause,
		Evidence: fact.Evidence, Conversation: fact.Conversation,
	}
	if fact.Reading != nil {
		w.Cause, w.Evidence = describe(fact.Reading)
	}
	return w
}

// Reported reports whether the program itself has reported anything.
func (f *Fold) Reported() bool {
	if f.m.Turns > 0 || f.m.Failure != nil || len(f.m.Requests) > 0 {
		return true
	}
	for s := range f.m.Levels {
		if s != agent.SourceProcess {
			return true
		}
	}
	return false
}

// describe is a reading in one line.
func describe(r *agent.Reading) (cause, evidence string) {
	switch {
	case r.Dialog != nil:
		return "screen:dialog", string(r.Dialog.Type) + ": " + r.Dialog.Title
	case r.Composer == nil && r.Failed != nil:
		return "screen:error", r.Failed.Text
	case r.Composer == nil && r.Busy != "":
		return "screen:working", r.Busy
	case r.Composer == nil:
		return "screen:nothing", "neither composer nor dialog"
	case r.Busy != "":
		return "screen:working", r.Busy
	case r.Composer.Empty:
		return "screen:composer", "empty"
	default:
		return "screen:composer", "draft"
	}
}

// words returns the last report of each source, the most reliable first. Reports about other
// conversations come after the followed one's.
func (f *Fold) words() []Word {
	var list []Word
	for _, w := range f.m.Words {
		list = append(list, w)
	}
	for _, w := range f.m.Strangers {
		list = append(list, w)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.Tier != b.Tier {
			return a.Tier < b.Tier
		}
		if a.Source != b.Source {
			return a.Source < b.Source
		}
		return !a.Foreign && b.Foreign
	})
	return list
}

// Explain says why the state is what it is.
func (f *Fold) Explain() Explanation {
	m := &f.m
	e := Explanation{Status: f.Status(), Words: f.words(), Pending: f.waiters(), Ways: f.ways()}
	if t := m.Turn; t.Phase != "" {
		e.Turn = &Turn{ID: t.ID, Phase: t.Phase, How: t.How, Started: t.Started, Source: t.Source}
	}
	for _, r := range m.Requests {
		e.Asked = append(e.Asked, Asked{
			Request: r.Prompt.Clone(), Opened: r.Opened, Tier: r.Why.Tier, Cause: r.Why.Cause,
			Told: r.Told, Seen: r.Seen, Hook: r.Hook != "",
		})
	}
	for _, c := range m.Calls {
		e.Calls = append(e.Calls, Call{c.ID, c.Tool, c.Agent})
	}
	for id := range m.Background {
		e.Subs = append(e.Subs, id)
	}
	sort.Strings(e.Subs)
	return e
}

// waiters returns the rules that wait, the soonest first. Two rules may wait for the same; it is
// listed once.
func (f *Fold) waiters() []Wait {
	var list []Wait
	for _, w := range f.pending {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Due.Before(list[j].Due) })
	return list
}

// leads are the moves out of each state, and the state that each leads to if nothing else holds the
// agent.
var leads = map[agent.State][]Way{
	agent.Starting: {{Move: agent.MoveReady, Next: agent.Idle}, {Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.Idle:     {{Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.Parked:   {{Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.InError:  {{Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.Working: {
		{Move: agent.MoveDone, Next: agent.Idle}, {Move: agent.MoveRest, Next: agent.Idle}, {Move: agent.MoveFail, Next: agent.InError},
		{Move: agent.MoveAsk, Next: agent.Prompt},
	},
	agent.Prompt: {
		{Move: agent.MoveAnswer, Next: agent.Working}, {Move: agent.MoveDone, Next: agent.Idle}, {Move: agent.MoveFail, Next: agent.InError},
	},
}

// ways returns the moves out of the current state that the driver's table has a source for.
func (f *Fold) ways() []Way {
	var list []Way
	for _, w := range leads[f.m.State] {
		if w.By = append([]agent.Witness(nil), f.table[w.Move]...); len(w.By) > 0 {
			list = append(list, w)
		}
	}
	return list
}

// Status is what the fold knows.
type Status struct {
	State        agent.State
	Since        time.Time
	Tier         int
	Cause        string
	Evidence     string
	Activity     *agent.Activity // while working
	Request      *agent.Request  // the one on the screen
	Requests     []*agent.Request
	Failure      *agent.Failure // while in error
	Exit         *agent.Exit
	Conversation string
	Turn         string  // id of the current turn
	Version      string  // the agent's version; empty if it hasn't reported one
	Doubts       []Doubt // sources with the slow rule
	Composer     *agent.Composer
	Ready        bool // the agent has started up
	// RestDue is when an inferred end of the turn will take effect; zero without one.
	RestDue time.Time
}

// Status returns a copy: it doesn't change with the fold.
func (f *Fold) Status() Status {
	m := &f.m
	s := Status{
		State: m.State, Since: m.Since, Tier: m.Owed.Tier, Cause: m.Owed.Cause, Evidence: m.Owed.Evidence,
		Exit: m.Exit, Conversation: m.Conversation, Turn: m.Turn.ID, Version: m.Version, Doubts: f.doubted(), Ready: m.Ready,
	}
	if m.Screen.Reading != nil {
		s.Composer = m.Screen.Reading.Composer
	}
	switch m.State {
	case agent.Working:
		s.Activity = m.Activity
		s.RestDue = f.restDue()
	case agent.InError, agent.Parked:
		s.Failure = m.Failure
	}
	for _, r := range m.Requests {
		s.Requests = append(s.Requests, r.Prompt.Clone())
	}
	if r := f.current(); r != nil {
		s.Request = r.Prompt.Clone()
	}
	return s
}

// Failure is the error of the last turn, in each state; nil without one.
func (f *Fold) Failure() *agent.Failure { return f.m.Failure }

// restDue is when the first of the inferred ends will take effect.
func (f *Fold) restDue() time.Time {
	var due time.Time
	for _, w := range f.pending {
		if w.Move == agent.MoveRest && (due.IsZero() || w.Due.Before(due)) {
			due = w.Due
		}
	}
	return due
}

// Checkpoint is all that the fold knows, as JSON. Restore makes a fold from it that continues where
// this one is.
func (f *Fold) Checkpoint() ([]byte, error) {
	out, err := json.Marshal(&f.m)
	if err != nil {
		return nil, fmt.Errorf("encode detection's checkpoint: %w", err)
	}
	return out, nil
}

// Restore makes a fold from a checkpoint. now is when the fold continues.
func Restore(d agent.Driver, o Options, checkpoint []byte, now time.Time) (*Fold, error) {
	f := New(d, o)
	m := f.m
	if err := json.Unmarshal(checkpoint, &m); err != nil {
		return nil, fmt.Errorf("decode detection's checkpoint: %w", err)
	}
	for _, r := range append(slices.Clone(m.Requests), m.Lost...) {
		if r == nil || r.Prompt == nil {
			return nil, fmt.Errorf("decode detection's checkpoint: a request has no prompt")
		}
		r.restore()
	}
	f.m, f.now = m, now
	f.settle()
	return f, nil
}
