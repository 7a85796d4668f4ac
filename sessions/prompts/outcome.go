package prompts

import (
	"time"

	"berth/agent"
)

// What became of an answer: whether the agent took it, and whether another client answered first.

// judgeAnswer returns the outcome of an answer. The agent took it if the prompt was closed after the agent had
// it, and no other client typed.
func (ps *Prompts) judgeAnswer(a *answering) respondEvent {
	e := respondEvent{By: a.By, Prompt: a.Prompt, Digest: a.Digest, Type: a.Type, Channel: a.Channel, Outcome: a.Outcome, Delivered: !a.Given.IsZero()}
	switch {
	case a.Closed == nil, a.Closed.How == "superseded": // still open, or asked as another
	case !e.Delivered || ps.othersTyped(a):
		e.Outcome = agent.OutcomeElsewhere
	case ps.mayBeTheirs(a), ps.stoppedLater(a):
	default:
		e.Confirmed = ps.env.GoesOn() || a.Outcome == agent.OutcomeDenied
	}
	return e
}

// othersTyped reports whether another client's key may have been the answer: a key shortly before Berth's answer,
// whose effect could not show yet; or any key, if Berth allowed and the work stopped.
func (ps *Prompts) othersTyped(a *answering) bool {
	typed, before := ps.othersAt, a.Given
	if a.Hook != "" {
		before = before.Add(hookAhead)
	}
	if !typed.After(a.Opened) || !typed.Before(before) {
		return false
	}
	if a.allows() {
		if ps.stopped(a) {
			return true
		}
		if a.Hook != "" && typed.After(a.At) {
			return false // either may have been first, but a refusal by their key would have stopped the work
		}
	}
	return typed.After(a.At.Add(-KeyShows))
}

// allows reports whether the answer lets the agent go on. Then the agent's work shows whether it took this answer.
func (a *answering) allows() bool {
	return a.Outcome == agent.OutcomeAccepted || a.Outcome == agent.OutcomeAnswered
}

// mayBeTheirs reports whether another client's key may have been the answer: Berth answered a hook, all that is
// known of the dialog is that it is gone, and the agent may have read an earlier key late.
func (ps *Prompts) mayBeTheirs(a *answering) bool {
	typed := ps.othersAt
	return a.Hook != "" && a.Closed.How == "gone" && a.allows() && typed.After(a.Opened) && typed.After(a.At.Add(-keyShowsUnseen)) && typed.Before(a.Given.Add(hookAhead))
}

// stopped reports whether the work that the answer is about has stopped since the answer was started.
func (ps *Prompts) stopped(a *answering) bool {
	return a.Closed.Stopped || a.Hook != "" && ps.env.Fold().StoppedSince(a.At)
}

// stoppedLater: a key of another client came well after our hook's answer, and the work has
// stopped. On a busy machine the agent may have read that key first, and refused; else it
// interrupted what we allowed.
func (ps *Prompts) stoppedLater(a *answering) bool {
	return a.Hook != "" && a.allows() && ps.stopped(a) && ps.othersAt.After(a.At)
}

// refusalShows is how much later than its dialog goes the end of a refused turn shows: up to
// 700 ms on a machine with 16 times the work that it can do.
const refusalShows = time.Second

// mayBeRefused: the screen says that the dialog is gone. A key of another client may have refused
// what our hook allowed, and then the turn's end is still to come.
func (ps *Prompts) mayBeRefused(a *answering) bool {
	return a.Hook != "" && a.Closed.How == "gone" && a.allows() && ps.othersAt.After(a.At) && !ps.stopped(a)
}

// othersJustTyped reports whether another client typed so recently that the key may still answer the prompt.
func (ps *Prompts) othersJustTyped(opened time.Time) bool {
	now := ps.env.Now()
	if !ps.othersAt.After(opened) {
		return false
	}
	return ps.othersAt.After(now.Add(-KeyShows)) || ps.env.Printed() <= ps.othersTo && ps.othersAt.After(now.Add(-keyShowsUnseen))
}
