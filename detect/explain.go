package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"berth/agent"
)

// Explanation is why the state is what it is, and what would make it another.
type Explanation struct {
	Status  Status
	Words   []Word // the last of each source, the surest first
	Turn    *Turn  // under way; nil: none is
	Asked   []Asked
	Calls   []Call   // tool calls that have not come back
	Subs    []string // subagents that go on after their turn
	Pending []Wait   // what is on its way to be believed
	Ways    []Way    // what would change the state
}

// Turn is the turn under way.
type Turn struct {
	ID      string
	Phase   string    // running; ending: its end was told, but something still says busy
	How     agent.How // of one that is ending
	Started time.Time
	Source  agent.Source // that told of it first
}

// Asked is an open prompt with who told of it.
type Asked struct {
	Request *agent.Request
	Opened  time.Time
	Tier    int
	Cause   string
	Told    bool // by the agent's own event, not only seen
	Seen    bool // on the screen, at some time
	Hook    bool // one waits for the answer
}

// Call is a tool call that has not come back.
type Call struct{ ID, Tool, Agent string }

// Way is a move that would lead out of the state, and who may cause it.
type Way struct {
	Move agent.Move
	Next agent.State
	By   []agent.Witness
}

// hear keeps the source's last word.
func (f *Fold) hear(fact *agent.Fact) {
	if fact.Kind != agent.Spoke {
		f.m.Words[fact.Source] = f.word(fact)
	}
}

// overhear keeps the last word of another conversation, beside that of the one
// that is followed.
func (f *Fold) overhear(fact *agent.Fact) {
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
		w.Cause, w.Evidence = tell(fact.Reading)
	}
	return w
}

// Told says whether the program has told of itself in any way.
func (f *Fold) Told() bool {
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

// tell is a reading in a line.
func tell(r *agent.Reading) (cause, evidence string) {
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

// words are the last of each source, the surest first; those of other
// conversations behind the followed one's.
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

// Explain is what stands behind the state.
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

// waiters are the rules that wait, the soonest first, each once: two rules may
// wait for the same.
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

// leads are the moves out of each state, and where they lead when nothing else
// holds the agent.
var leads = map[agent.State][]Way{
	agent.Starting: {{Move: agent.MoveReady, Next: agent.Idle}, {Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.Idle:     {{Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.InError:  {{Move: agent.MoveWork, Next: agent.Working}, {Move: agent.MoveAsk, Next: agent.Prompt}},
	agent.Working: {
		{Move: agent.MoveDone, Next: agent.Idle}, {Move: agent.MoveRest, Next: agent.Idle}, {Move: agent.MoveFail, Next: agent.InError},
		{Move: agent.MoveAsk, Next: agent.Prompt},
	},
	agent.Prompt: {
		{Move: agent.MoveAnswer, Next: agent.Working}, {Move: agent.MoveDone, Next: agent.Idle}, {Move: agent.MoveFail, Next: agent.InError},
	},
}

// ways are the moves out of the present state that the driver's table lets
// anybody cause.
func (f *Fold) ways() []Way {
	var list []Way
	for _, w := range leads[f.m.State] {
		if w.By = append([]agent.Witness(nil), f.table[w.Move]...); len(w.By) > 0 {
			list = append(list, w)
		}
	}
	return list
}

// Status is what a fold believes.
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
	Turn         string  // id of the turn under way
	Version      string  // of the agent, empty when it has not told
	Doubts       []Doubt // sources for which the slow rule is in force
	Composer     *agent.Composer
	Ready        bool // it has started up
	// RestDue is when an end of the turn that is being inferred will be
	// believed; zero when none is.
	RestDue time.Time
}

// Status is a copy: it does not change with the fold.
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
	case agent.InError:
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

// restDue is when the first of the ends being inferred will be believed.
func (f *Fold) restDue() time.Time {
	var due time.Time
	for _, w := range f.pending {
		if w.Move == agent.MoveRest && (due.IsZero() || w.Due.Before(due)) {
			due = w.Due
		}
	}
	return due
}

// Checkpoint is all the fold knows, as JSON; Restore makes a fold of it that
// goes on where this one is.
func (f *Fold) Checkpoint() ([]byte, error) {
	out, err := json.Marshal(&f.m)
	if err != nil {
		return nil, fmt.Errorf("write a checkpoint of detection: %w", err)
	}
	return out, nil
}

// Restore makes a fold of a checkpoint. now is when it goes on.
func Restore(d agent.Driver, o Options, checkpoint []byte, now time.Time) (*Fold, error) {
	f := New(d, o)
	m := f.m
	if err := json.Unmarshal(checkpoint, &m); err != nil {
		return nil, fmt.Errorf("read a checkpoint of detection: %w", err)
	}
	for _, r := range append(slices.Clone(m.Requests), m.Lost...) {
		if r == nil || r.Prompt == nil {
			return nil, fmt.Errorf("read a checkpoint of detection: a request without its prompt")
		}
		r.Prompt.FullInput, r.Prompt.Lines, r.Prompt.Raw = r.Full, r.Lines, r.Raw
	}
	f.m, f.now = m, now
	f.settle()
	return f, nil
}
