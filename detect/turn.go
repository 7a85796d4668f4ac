package detect

import (
	"time"

	"berth/agent"
)

const (
	// Between a turn and the one queued behind it, what shows a state shows "not
	// busy" for a moment; the state does not.
	turnGap = 100 * time.Millisecond
	// Before a source gives way to a less sure one, it and everything else must
	// have been silent for so long.
	silence = 5 * time.Second
	// A turn whose beginning a hook tells shows in a title only when it is drawn:
	// Gemini CLI took 6 s for that with a message of 10 KB at a load of 19.
	drawsWithin = 20 * time.Second
	// A subagent in the background that ends begins a turn, whose prompt is what it
	// says. Claude Code's live file said "not busy" for 0.1 to 0.3 s between the two,
	// and "busy" 0.45 s after the subagent's end, at a load of 37.
	reportsWithin = time.Second
	// How long after a turn's end its error may still be painted.
	paintedLate = 2 * time.Second
)

// ready: the agent has started up. Whatever it asked on the way is over.
func (f *Fold) ready(s agent.Source, cause string) {
	m := &f.m
	if m.Ready || !f.may(agent.MoveReady, s) {
		return
	}
	m.Ready = true
	f.mark(s, cause, "")
	f.closeAll("answered", s, cause, false, func(r *request) bool { return !r.Told })
}

func (f *Fold) turnStarted(fact *agent.Fact) {
	m := &f.m
	if fact.Agent != "" || !f.may(agent.MoveWork, fact.Source) {
		return
	}
	if fact.Turn != "" && (m.Turn.is(fact.Turn) && m.Turn.Phase != "" || m.ended(fact.Turn)) {
		return // told before, by a quicker source
	}
	if f.overBy(fact) {
		return
	}
	m.Turns++
	if f.sameTurn(fact) {
		if !fact.At.IsZero() {
			m.Turn.At, m.Turn.Started = fact.At, earlier(m.Turn.Started, fact.At)
		}
		return
	}
	if m.Turn.Phase == running && m.Turn.ID == "" && fact.Turn != "" {
		m.Turn.ID = fact.Turn // the level that spoke first did not know it
		return
	}
	f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
	m.Turn.Started, m.Turn.At = f.when(fact), fact.At
	if fact.Activity != nil {
		m.Activity = fact.Activity
	}
}

// overBy says that the turn which the fact is of is over: by the time that the
// source gives for it. A hook's is that of the event itself, and what showed the
// end did so a little before it was believed.
func (f *Fold) overBy(fact *agent.Fact) bool {
	end := f.m.EndedAt
	if fact.Source == agent.SourceHook {
		end = end.Add(-turnGap)
	}
	return !fact.At.IsZero() && fact.At.Before(end)
}

// sameTurn: of turns without ids, the one that a level told of first, or that
// a second hook tells of once more.
func (f *Fold) sameTurn(fact *agent.Fact) bool {
	t := &f.m.Turn
	if fact.Source == agent.SourceStream && fact.Turn == "" && t.Phase == running {
		return true // its turns do not overlap
	}
	if fact.Turn != "" || t.ID != "" || t.Phase != running || fact.At.IsZero() {
		return false
	}
	return t.At.Equal(fact.At) || t.At.IsZero() && t.Source != fact.Source
}

// when is the moment of what the fact tells of: a log may be read long after it
// was written, and what it says next is not older than that.
func (f *Fold) when(fact *agent.Fact) time.Time {
	if fact.At.IsZero() {
		return f.now
	}
	return earlier(f.now, fact.At)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// start begins a turn: the one before is over, and so is an error.
func (f *Fold) start(id string, s agent.Source, cause, evidence string) {
	m := &f.m
	also := f.together(id)
	f.ready(s, cause)
	m.Ready = true
	f.closeAll("ended", s, cause, false, func(r *request) bool {
		if id == "" && r.Hook != "" {
			return false // what waits for its answer may be of the turn that shows itself now
		}
		return r.Agent == "" && (r.Turn != id || id == "")
	})
	m.Turn = turn{Phase: running, ID: id, Also: also, Started: f.now, Source: s}
	m.Failure, m.Pending, m.Calls = nil, nil, nil
	m.Activity = f.labor()
	f.mark(s, cause, evidence)
}

// labor is what an agent is at of which all that is known is that it works.
func (f *Fold) labor() *agent.Activity {
	if l, ok := f.driver.(agent.ActivityReporter); ok {
		return l.DefaultActivity()
	}
	return &agent.Activity{Kind: agent.Thinking}
}

// togetherWithin is how far the beginnings of messages lie apart that are
// delivered as one turn, at the most: 10 to 70 ms were seen.
const togetherWithin = 2 * time.Second

// together are the ids of the turn that is under way when another message is
// delivered with its own. A log names them all by the last one's id, and so
// does the turn's end.
func (f *Fold) together(id string) []string {
	t := &f.m.Turn
	switch {
	case t.Phase == "":
		return nil
	case t.Phase == running && t.ID != "" && id != "" && f.now.Sub(t.Started) < togetherWithin && len(t.Also) < turnsKept:
		return append(t.Also, t.ID)
	}
	f.m.forget()
	return nil
}

// turnEnded: by the agent's own word.
func (f *Fold) turnEnded(fact *agent.Fact) {
	m := &f.m
	move := agent.MoveDone
	if fact.How == agent.Failed {
		move = agent.MoveFail
	}
	if fact.Agent != "" || !f.may(move, fact.Source) {
		return
	}
	if m.Turn.Phase == "" && f.unbelieved(fact) {
		f.start("", fact.Source, fact.Cause, fact.Evidence)
	}
	if m.Turn.Phase == "" {
		f.lateFailure(fact)
		return
	}
	if fact.Turn != "" && !m.Turn.is(fact.Turn) && (m.Turn.ID != "" && m.ended(fact.Turn) || f.overBy(fact)) {
		f.m.remember(fact.Turn)
		return // of one before, whose end something else told
	}
	if fact.Turn == "" && !fact.At.IsZero() && fact.At.Before(m.Turn.Started) {
		return
	}
	f.m.remember(fact.Turn)
	if m.Turn.Phase == ending && fact.How == m.Turn.How && fact.Source.Tier() > m.Why.Tier {
		return // said before, by a surer one
	}
	if fact.How == agent.Failed || f.failing() != nil && fact.How == agent.Completed {
		f.fail(fact)
		return
	}
	clear(m.Background)
	for _, id := range fact.Background {
		m.Background[id] = true
	}
	m.Turn.Phase, m.Turn.How, m.Turn.Ended, m.Turn.By = ending, fact.How, f.when(fact), fact.Source
	f.spend()
	f.mark(fact.Source, fact.Cause, fact.Evidence)
	m.Turn.Why = m.Why
	if fact.How != agent.Interrupted { // of a refusal, what was asked and the turn end at once
		f.drop("ended", m.Why, false, m.ofTurn)
	}
}

// unbelieved: the source said "busy", for too short a time to be believed, and
// now that a turn ended. So there was one.
func (f *Fold) unbelieved(fact *agent.Fact) bool {
	l := f.m.Levels[fact.Source]
	return l != nil && l.Value == agent.LevelBusy && l.Since.After(f.m.EndedAt) && fact.Turn == ""
}

// reason is why the last turn failed, told after that it did.
func (f *Fold) reason(failure *agent.Failure) bool {
	m := &f.m
	if failure == nil || m.Failure == nil || m.Failure.Text != "" || f.now.Sub(m.EndedAt) >= silence {
		return false
	}
	one := *failure
	one.Since = m.Failure.Since
	m.Failure = &one
	return true
}

// lateFailure: a level said "not busy" before the event that says why arrived;
// or the turn's failure was told without a reason, and this is it.
func (f *Fold) lateFailure(fact *agent.Fact) {
	m := &f.m
	if fact.How == agent.Failed && f.reason(fact.Failure) {
		f.m.remember(fact.Turn)
		return
	}
	late := m.Inferred && f.now.Sub(m.EndedAt) < silence
	if fact.How == agent.Failed && m.Failure == nil && (late || !m.ended(fact.Turn)) {
		f.m.remember(fact.Turn)
		f.fail(fact)
	}
}

// failureSeen: the turn will end in an error, or did: a live file may say that
// the agent rests before its log says why.
func (f *Fold) failureSeen(fact *agent.Fact) {
	m := &f.m
	switch {
	case fact.Agent != "":
	case m.Turn.Phase != "":
		if fact.At.IsZero() || !fact.At.Before(m.Turn.Started) {
			m.Pending = fact.Failure
		}
	case fact.At.IsZero():
		f.reason(fact.Failure)
	case m.Inferred && m.Failure == nil && f.now.Sub(m.EndedAt) < silence && !fact.At.Before(m.BegunAt):
		f.fail(fact)
	}
}

// fail ends the turn in an error.
func (f *Fold) fail(fact *agent.Fact) {
	m := &f.m
	failure := fact.Failure
	if failure == nil {
		failure = f.failing()
	}
	if failure == nil {
		failure = &agent.Failure{Class: agent.OtherFailure, Text: fact.Text}
	}
	f.m.Turn.By, f.m.Turn.Why = fact.Source, why{Tier: fact.Source.Tier(), Cause: fact.Cause, Evidence: fact.Evidence}
	seen := fact.Failure == nil && m.Pending == nil && f.failing() != nil
	f.finish(false)
	one := *failure
	one.Since = f.now
	m.Failure, m.Ready = &one, true
	f.mark(fact.Source, fact.Cause, fact.Evidence)
	if seen {
		f.mark(agent.SourceScreen, "screen:error", one.Text)
	}
}

// failing is the error that the turn under way has come to: told, or to be seen
// since it began.
func (f *Fold) failing() *agent.Failure {
	m := &f.m
	switch {
	case m.Pending != nil:
		return m.Pending
	case m.Turn.Phase == "" || m.Screen.Failed.IsZero() || !m.Screen.Failed.After(m.Turn.Started):
		return nil
	case !f.may(agent.MoveFail, agent.SourceScreen):
		return nil
	}
	return m.Screen.Reading.Failed
}

// failedByScreen: the error is painted after the turn's end was told.
func (f *Fold) failedByScreen() {
	m := &f.m
	if m.Turn.Phase != "" || m.Failure != nil || m.EndedAt.IsZero() || m.Screen.Failed.Before(m.EndedAt) || !f.may(agent.MoveFail, agent.SourceScreen) {
		return
	}
	if m.Screen.Failed.Sub(m.EndedAt) < paintedLate {
		one := *m.Screen.Reading.Failed
		one.Since = f.now
		m.Failure = &one
		f.mark(agent.SourceScreen, "screen:error", one.Text)
	}
}

// finish ends the turn. Inferred: nobody told of its end.
func (f *Fold) finish(inferred bool) {
	m := &f.m
	f.m.forget()
	stopped := inferred || m.Turn.How == agent.Interrupted
	if stopped {
		m.StoppedAt = f.now
	}
	f.drop("ended", m.Why, stopped, m.ofTurn)
	f.spend()
	failure := f.failing()
	ended := m.Turn.Ended
	if ended.IsZero() {
		ended = f.now
	}
	f.trust()
	m.BegunAt, m.EndedBy, m.EndedWhy = m.Turn.Started, m.Turn.By, m.Turn.Why
	if inferred {
		m.EndedWhy = m.Why
	}
	m.AloneAt = m.Turn.Alone
	if m.Turn.WorksOn {
		m.AloneAt = f.now
	}
	m.Turn, m.EndedAt, m.Inferred = turn{}, ended, inferred
	m.Activity, m.Pending, m.Calls = nil, nil, nil
	if failure != nil {
		one := *failure
		one.Since = f.now
		m.Failure = &one
	}
}
