package detect

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"berth/agent"
)

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

// Explanation is why the state is what it is: what it is owed to, and the last
// word of each source, the surest first.
type Explanation struct {
	Status Status
	Words  []Word
}

// hear keeps the source's last word.
func (f *Fold) hear(fact *agent.Fact) {
	if fact.Kind == agent.Spoke {
		return
	}
	w := Word{
		Source: fact.Source, Tier: fact.Source.Tier(), Kind: fact.Kind, Time: f.now, Cause: fact.Cause,
		Evidence: fact.Evidence, Conversation: fact.Conversation,
	}
	if fact.Reading != nil {
		w.Cause, w.Evidence = tell(fact.Reading)
	}
	w.Foreign = fact.Conversation != "" && f.m.Conversation != "" && fact.Conversation != f.m.Conversation
	f.m.Words[fact.Source] = w
}

// tell is a reading in a line.
func tell(r *agent.Reading) (cause, evidence string) {
	switch {
	case r.Dialog != nil:
		return "screen:dialog", string(r.Dialog.Type) + ": " + r.Dialog.Title
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

// Explain is what stands behind the state.
func (f *Fold) Explain() Explanation {
	e := Explanation{Status: f.Status()}
	for _, w := range f.m.Words {
		e.Words = append(e.Words, w)
	}
	sort.Slice(e.Words, func(i, j int) bool {
		a, b := e.Words[i], e.Words[j]
		return a.Tier < b.Tier || a.Tier == b.Tier && a.Source < b.Source
	})
	return e
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
	Turn         string // id of the turn under way
	Composer     *agent.Composer
	// RestDue is when an end of the turn that is being inferred will be
	// believed; zero when none is.
	RestDue time.Time
}

// Status is a copy: it does not change with the fold.
func (f *Fold) Status() Status {
	m := &f.m
	s := Status{
		State: m.State, Since: m.Since, Tier: m.Owed.Tier, Cause: m.Owed.Cause, Evidence: m.Owed.Evidence,
		Exit: m.Exit, Conversation: m.Conversation, Turn: m.Turn.ID,
	}
	if m.Screen.Reading != nil {
		s.Composer = m.Screen.Reading.Composer
	}
	switch m.State {
	case agent.Working:
		s.Activity = m.Activity
		if !m.Screen.Bare.IsZero() {
			s.RestDue = f.next
		}
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
	for _, r := range m.Requests {
		if r == nil || r.Prompt == nil {
			return nil, fmt.Errorf("read a checkpoint of detection: a request without its prompt")
		}
		r.Prompt.FullInput, r.Prompt.Lines = r.Full, r.Lines
	}
	f.m, f.now = m, now
	f.settle()
	return f, nil
}
