package detect

import (
	"cmp"
	"reflect"
	"time"

	"berth/agent"
)

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
