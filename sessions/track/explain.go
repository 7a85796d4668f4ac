package track

import (
	"time"

	"berth/agent"
	"berth/api"
)

// Explain returns the evidence for the session's state. The caller adds the session's name and id.
func (t *Track) Explain(now time.Time) Explanation {
	e := Explanation{
		State: string(t.state), Since: api.At(t.since), Seq: t.stateSeq,
		Tier: t.tier, Cause: short(t.cause), SourcesKept: true,
	}
	if t.d == nil {
		e.Sources = append(sourceWords(t.lastWords, now), t.processWord(now))
		e.fill()
		return e
	}
	x := t.d.fold.Explain()
	if string(x.Status.State) == e.State {
		e.Evidence, e.Prompt, e.Activity, e.Failure = short(x.Status.Evidence), x.Status.Request, x.Status.Activity, x.Status.Failure
	}
	e.Sources = sourceWords(x.Words, now)
	e.Conversation = orNil(x.Status.Conversation)
	if due := x.Status.RestDue; !due.IsZero() {
		left := max(due.Sub(now).Milliseconds(), 0)
		e.IdleGraceRemainingMS = &left
	}
	e.addFold(x, now)
	e.fill()
	return e
}

// processWord is the system's report about a program without a driver.
func (t *Track) processWord(now time.Time) SourceWord {
	w := SourceWord{Source: string(agent.SourceProcess), Tier: agent.TierProcess, Kind: string(agent.Noted), Cause: short(t.cause)}
	exit, looked := t.env.Exit(), t.front.looked
	switch {
	case exit != nil:
		w.Kind, w.AgeMS = string(agent.ProgramExited), max(now.Sub(exit.Time.Time).Milliseconds(), 0)
	case !looked.IsZero():
		w.Evidence, w.AgeMS = short(t.front.program), max(now.Sub(looked).Milliseconds(), 0)
	}
	return w
}

// View is the agent's part of a session's status.
type View struct {
	Now       agent.State
	Since     time.Time
	StateSeq  uint64 // number of the event that made the state
	Tier      int
	Cause     string
	Program   string // the foreground program
	Hooks     HookCounts
	ReadsKeys bool   // it is an agent that reads keys, see agent.KeyReader
	Attached  string // how the agent came into the session: foreground for a visitor; empty for its own program

	Activity        *api.Activity    // while working, as far as known
	Failure         *api.Failure     // while in error or parked
	Request         *agent.Request   // the prompt on the screen
	Requests        []*agent.Request // all open prompts
	Mode            *string          // what the agent may do unasked, in its own word; nil while unknown
	RestDue         time.Time        // when silence ends the turn; zero: not expected
	AgentVersion    *AgentVersion    // nil while unknown
	Mismatches      []DriverMismatch // sources with the slow rule
	ConversationNow string           // the agent's id of its conversation
	Said            *Said            // the last message of its last turn that ended well; nil: none yet
}

// View returns the current view.
func (t *Track) View() View {
	v := View{Now: t.state, Since: t.since, StateSeq: t.stateSeq, Tier: t.tier, Cause: t.cause, Program: t.front.program, Hooks: t.hooks, Said: t.lastSaid()}
	if t.visitors.now != nil {
		v.Attached = AttachedForeground
	}
	if t.d == nil || t.env.Exit() != nil {
		return v
	}
	_, v.ReadsKeys = t.d.driver.(agent.KeyReader)
	b := t.d.fold.Status()
	v.Request, v.Requests, v.RestDue = b.Request, b.Requests, b.RestDue
	v.ConversationNow = b.Conversation
	if t.d.restored || t.d.fold.Mode().Word != "" { // the last event's is newer than a restored fold's
		v.Mode = orNil(t.mode)
	}
	v.AgentVersion, v.Mismatches = agentVersion(t.d.driver, b), mismatches(b.Doubts)
	if b.Activity != nil {
		v.Activity = &api.Activity{Kind: string(b.Activity.Kind), Tool: b.Activity.Tool, Input: b.Activity.Input, Attempt: b.Activity.Attempt, Of: b.Activity.Of, DelayMS: b.Activity.DelayMS}
	}
	if b.Failure != nil {
		v.Failure = &api.Failure{Class: string(b.Failure.Class), Text: b.Failure.Text, Since: api.At(b.Failure.Since)}
		if at := b.Failure.ResumeAt; at != nil {
			resume := api.At(*at)
			v.Failure.ResumeAt = &resume
		}
	}
	return v
}
