package detect

import (
	"cmp"
	"reflect"
	"time"

	"berth/agent"
)

// Apply applies a fact. Its Time must be set.
func (f *Fold) Apply(fact agent.Fact) Result {
	f.begin(fact.Time)
	f.settle() // what the passed time alone decides comes first
	f.conclude()
	if f.m.EndedAt.Equal(f.now) {
		f.now = f.now.Add(1) // what the fact says is later than the end, and may be a new turn
	}
	f.inFolder(&fact)
	if !f.follows(&fact) {
		f.observeForeign(&fact)
		f.loseForeign(&fact)
		f.conclude()
		f.result.Foreign = true
		return f.result
	}
	f.observe(&fact)
	f.take(&fact)
	if fact.Kind == agent.TurnStarted && fact.Source == agent.SourceScreen {
		f.conclude() // the turn may be over already, and has been all the same
	}
	f.settle()
	f.conclude()
	return f.result
}

// Hooked reports whether a hook has reported a conversation, a turn or a tool.
func (f *Fold) Hooked() bool { return f.m.Hooked }

// Tick applies the rules that time allows.
func (f *Fold) Tick(now time.Time) Result {
	f.begin(now)
	f.settle()
	f.conclude()
	return f.result
}

// Unread handles a line of the session log that can't be read. Another process may have written the start of it, so
// that the agent's own line, which may have had a call, became a part of it.
func (f *Fold) Unread(now time.Time) Result {
	if _, ok := f.driver.(agent.CallLogReader); ok {
		f.begin(now)
		f.unpast("")
	}
	return f.Skipped(now)
}

// Skipped handles a line of the session log that was too long to be read. It may have had a call.
func (f *Fold) Skipped(now time.Time) Result {
	f.begin(now)
	f.m.Skipped = f.now
	f.nameSkipped()
	f.settle()
	f.conclude()
	return f.result
}

// LoggedBefore handles an entry of the past in a log that wasn't read until now: of that, only the open calls count.
func (f *Fold) LoggedBefore(fact agent.Fact) Result {
	f.begin(fact.Time)
	f.inFolder(&fact)
	f.followsLog(&fact, true)
	f.conclude()
	return f.result
}

// LacksLog handles that a log of the conversation isn't read, and won't be. As long as the agent has that conversation, any dialog may be that of
// a call there.
func (f *Fold) LacksLog(now time.Time) Result {
	f.begin(now)
	f.m.Unlogged = f.m.Conversation
	f.conclude()
	return f.result
}

// SetGate reports whether the stop gate holds the agent at the end of its turn.
func (f *Fold) SetGate(held bool, now time.Time) Result {
	f.begin(now)
	f.m.Gate = held
	f.settle()
	f.conclude()
	return f.result
}

// LosesCall applies that a hook's report was lost which may be that of a call. Until the agent rests, any dialog may be that call's, and no
// key answers it.
func (f *Fold) LosesCall(now time.Time) Result {
	f.begin(now)
	f.m.Cut = f.now
	f.settle()
	f.conclude()
	return f.result
}

// Freeze starts the time when old facts are applied again, after a restart of the server. The
// levels and the screen are newer than those facts, so they decide nothing until Thaw.
func (f *Fold) Freeze() { f.frozen = true }

// Thaw ends Freeze, once the facts are as new as the levels and the screen.
func (f *Fold) Thaw(now time.Time) Result {
	f.begin(now)
	f.frozen, f.thawed = false, f.now
	f.learnUncompleted()
	f.settle()
	f.conclude()
	return f.result
}

// take applies a fact of the followed conversation.
func (f *Fold) take(fact *agent.Fact) {
	m := &f.m
	if fact.Kind != agent.Noted && !(fact.Kind == agent.LevelIs && fact.Source == agent.SourceProcess) {
		m.Changed = f.now
	}
	m.Version = cmp.Or(fact.Version, m.Version)
	f.modeSaid(fact)
	if fact.Kind == agent.ConversationStarted || fact.Kind == agent.TurnStarted || fact.Kind == agent.ToolStarted {
		m.Hooked, m.Logs = m.Hooked || fact.Source == agent.SourceHook, m.Logs || fact.Source == agent.SourceLog
	}
	m.Threads = m.Threads || fact.Agent != ""
	f.followsLog(fact, false)
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
			if fact.Hook != "" && r.Hook == fact.Hook {
				r.Given = true
			}
		}
		f.closeAll("answered", fact.Source, fact.Cause, false, func(r *request) bool { return r.Hook == fact.Hook && fact.Hook != "" })
	case agent.HookGone:
		f.hookGone(fact)
	case agent.LevelIs:
		f.levelIs(fact)
	case agent.Queued:
		m.mayFollow()
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

// judge derives the state from what the fold knows.
func (f *Fold) judge() agent.State {
	m := &f.m
	switch {
	case m.Exit != nil:
		return agent.Exited
	case len(m.Requests) > 0:
		return agent.Prompt
	case m.Turn.Phase != "":
		return agent.Working
	case f.parked():
		return agent.Parked
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

// conclude puts a change of the state into the result.
func (f *Fold) conclude() {
	m := &f.m
	f.learnSkipped()
	f.learnLogged()
	f.learnPast()
	f.learnAlike()
	f.drawsCalls()
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
	case agent.InError, agent.Parked:
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

// screenShows keeps a reading of the screen, and since when each of its parts has been as it is.
func (f *Fold) screenShows(r *agent.Reading) {
	s := &f.m.Screen
	if r == nil {
		r = &agent.Reading{}
	}
	f.placed(r.Dialog)
	f.modeShown(r)
	f.threads(r)
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
	if r.Bare() {
		f.returned(agent.SourceScreen, "screen:composer")
	}
	hold(&s.Gone, (r.Composer != nil || r.Clear) && r.Dialog == nil, f.now)
	s.turn(dialogKey(r.Dialog), f.now)
	f.retries(r)
	f.match(r.Dialog)
}
