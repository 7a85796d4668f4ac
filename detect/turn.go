package detect

import (
	"slices"
	"time"

	"berth/agent"
)

const (
	// turnGap is how long levels may show "not busy" between a turn and the queued one after it.
	// The state stays working.
	turnGap = 100 * time.Millisecond
	// silence is how long a source, and everything else, must have been silent before a less
	// reliable source counts.
	silence = 5 * time.Second
	// drawsWithin is how much later than a hook the title may show a turn's start. Gemini CLI took
	// 6 s with a message of 10 KB at a load of 19.
	drawsWithin = 20 * time.Second
	// reportsWithin is how long after the end of a background subagent the turn may start that
	// reports its result. Claude Code's state file said "not busy" for 0.1 to 0.3 s between the
	// two, and "busy" 0.45 s after the subagent's end, at a load of 37.
	reportsWithin = time.Second
	// paintedLate is how long after a turn's end its error may still be drawn.
	paintedLate = 2 * time.Second
)

// ready ends the start. All startup prompts are over.
func (f *Fold) ready(s agent.Source, cause string) {
	m := &f.m
	if m.Ready || !f.may(agent.MoveReady, s) {
		return
	}
	if w, _ := f.table.Witness(agent.MoveReady, s); w.Drawn && !f.o.Headless && f.drawsNothing() {
		if m.Reported.At.IsZero() {
			m.Reported = readiness{By: s, Cause: cause, At: f.now}
		}
		return
	}
	m.Ready = true
	f.mark(s, cause, "")
	f.closeAll("answered", s, cause, false, func(r *request) bool { return !r.Told })
}

// drawsNothing reports whether the agent shows neither a composer nor a prompt that has been opened, on a screen that is read.
func (f *Fold) drawsNothing() bool {
	r := f.m.Screen.Reading
	return r != nil && len(f.m.Requests) == 0 && (r.Composer == nil || r.Dialog != nil)
}

func (f *Fold) turnStarted(fact *agent.Fact) {
	m := &f.m
	if fact.Agent != "" || !f.may(agent.MoveWork, fact.Source) {
		return
	}
	if fact.Turn != "" && (m.Turn.is(fact.Turn) && m.Turn.Phase != "" || m.ended(fact.Turn)) {
		// A quicker source has reported it, or another message waits for its end.
		f.result.Kept = m.Turn.ID == fact.Turn && m.waits(fact)
		return
	}
	if f.overBy(fact) {
		return
	}
	m.Turns++
	if f.sameTurn(fact) {
		if !fact.At.IsZero() {
			m.Turn.At, m.Turn.Started = fact.At, earlier(m.Turn.Started, fact.At)
		}
		if fact.Activity != nil {
			m.Activity = fact.Activity
		}
		return
	}
	if m.Turn.Phase == running && m.Turn.ID == "" && fact.Turn != "" {
		m.Turn.ID = fact.Turn // the level that reported it first didn't have its id
		m.said(fact)
		return
	}
	f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
	m.said(fact)
	m.Turn.Started, m.Turn.At = f.when(fact), fact.At
	if fact.Activity != nil {
		m.Activity = fact.Activity
	}
}

// queuedKept bounds the messages that are remembered as queued.
const queuedKept = 16

// waits reports whether a hook reports a message that waits for the current turn's end. Claude Code
// 2.1.330 reports such a message once, when it is queued, by the id of the turn that runs.
func (m *turns) waits(fact *agent.Fact) bool {
	if fact.Source != agent.SourceHook || fact.Text == "" {
		return false
	}
	if m.Turn.Message == "" {
		m.said(fact) // a quicker source has reported the turn
		return false
	}
	message := hashed(fact.Text)
	if message == m.Turn.Message {
		return false
	}
	m.mayFollow()
	m.Queued = append(m.Queued, message)
	m.Queued = m.Queued[max(0, len(m.Queued)-queuedKept):]
	return true
}

// mayFollow records that a message may wait for the current turn's end.
func (m *turns) mayFollow() { m.Follows = m.Turn.Phase != "" }

// said keeps which message the turn began with, if its hook has reported that: now, or when the
// message was queued.
func (m *turns) said(fact *agent.Fact) {
	if fact.Text == "" {
		return
	}
	message := hashed(fact.Text)
	if fact.Source == agent.SourceHook || slices.Contains(m.Queued, message) {
		m.Turn.Message = message
	}
}

// overBy reports whether the fact's turn is over, by the time that the source gives. A hook's time
// is that of the event itself, and the sources showed the end a little before the fold applied it.
func (f *Fold) overBy(fact *agent.Fact) bool {
	end := f.m.EndedAt
	if fact.Source == agent.SourceHook {
		end = end.Add(-turnGap)
	}
	return !fact.At.IsZero() && fact.At.Before(end)
}

// sameTurn reports whether a turn without an id is the current one: a level reported it first, or a
// second hook reports it again.
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

// when is the time of what the fact reports. A log may be read long after it was written; what it
// says next isn't older than that.
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

// start starts a turn. The turn before is over, and so is an error.
func (f *Fold) start(id string, s agent.Source, cause, evidence string) {
	m := &f.m
	also := f.together(id)
	f.ready(s, cause)
	m.Ready = true
	f.closeAll("ended", s, cause, false, func(r *request) bool {
		if id == "" && r.Hook != "" {
			return false // the waiting hook may belong to the turn that becomes visible now
		}
		return r.Agent == "" && (r.Turn != id || id == "")
	})
	m.mayFollow() // something waited for the end of the turn before, and more of it may
	m.Turn = turn{Phase: running, ID: id, Also: also, Started: f.now, Source: s}
	f.unasked(m.Calls...)
	m.Failure, m.Pending, m.Calls = nil, nil, nil
	m.Activity = f.defaultActivity()
	f.mark(s, cause, evidence)
}

// defaultActivity is the activity of an agent that only shows that it works.
func (f *Fold) defaultActivity() *agent.Activity {
	if l, ok := f.driver.(agent.ActivityReporter); ok {
		return l.DefaultActivity()
	}
	return &agent.Activity{Kind: agent.Thinking}
}

// togetherWithin is the most time between the starts of messages that the agent takes as one turn.
// 10 to 70 ms were measured.
const togetherWithin = 2 * time.Second

// together returns the ids of the current turn when another message is taken into the same turn.
// The log names all of them by the last one's id, and so does the turn's end.
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

// nextTurn starts the turn of a hook that names another turn than the one whose end was reported. A
// queued message may be reported with the id of the turn before it (Claude Code 2.1.330).
func (f *Fold) nextTurn(fact *agent.Fact) {
	t := &f.m.Turn
	if fact.Source == agent.SourceHook && fact.Agent == "" && fact.Turn != "" && t.Phase == ending && t.ID != "" && !t.is(fact.Turn) && !f.m.ended(fact.Turn) {
		f.start(fact.Turn, fact.Source, fact.Cause, fact.Evidence)
	}
}

// turnEnded handles the agent's own report of a turn's end.
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
		return // an earlier turn's end, which another source has reported
	}
	if fact.Turn == "" && (!fact.At.IsZero() && fact.At.Before(m.Turn.Started) || f.asksSince(fact)) {
		return // an earlier turn's end, read late
	}
	f.m.remember(fact.Turn)
	if m.Turn.Phase == ending && fact.How == m.Turn.How && fact.Source.Tier() > m.Why.Tier {
		return // a more reliable source has reported it
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
	if fact.How != agent.Interrupted { // a denial ends the prompt and the turn at once
		f.drop("ended", m.Why, false, m.ofTurn)
	}
}

// asksSince reports whether the agent has asked since, by the clock of the fact's source. The turn of
// a queued message may have started before the end of the turn before, and the next server reads the
// hooks of both before the log.
func (f *Fold) asksSince(fact *agent.Fact) bool {
	return slices.ContainsFunc(f.m.Requests, func(r *request) bool { return r.Told && r.Agent == "" && r.since(fact) })
}

// unbelieved reports whether the source said "busy", but not for long enough to start a turn, and
// now reports a turn's end. Then there was a turn.
func (f *Fold) unbelieved(fact *agent.Fact) bool {
	l := f.m.Levels[fact.Source]
	return l != nil && l.Value == agent.LevelBusy && l.Since.After(f.m.EndedAt) && fact.Turn == ""
}

// reason completes the last turn's failure with its text, which was reported later.
func (f *Fold) reason(failure *agent.Failure) bool {
	m := &f.m
	if failure == nil || m.Failure == nil || m.Failure.Text != "" || f.now.Sub(m.EndedAt) >= silence {
		return false
	}
	f.failed(*failure, m.Failure.Since)
	return true
}

// lateFailure handles a failure after the turn's end: a level said "not busy" before the event
// arrived, or the failure was reported without a text.
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

// failureSeen handles an error that ends the turn, or ended it: a state file may say idle before
// the log has the error.
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

// fail ends the turn with an error.
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
	f.failed(*failure, f.now)
	m.Ready = true
	f.mark(fact.Source, fact.Cause, fact.Evidence)
	if seen {
		f.mark(agent.SourceScreen, "screen:error", failure.Text)
	}
}

// failing is the error of the current turn: reported, or drawn since its start.
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

// failedByScreen handles an error that is drawn after the turn's reported end.
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

// finish ends the turn. inferred: no source reported its end.
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
	m.Turn, m.EndedAt, m.Inferred, m.Follows = turn{}, ended, inferred, false
	f.unasked(m.Calls...)
	m.Activity, m.Pending, m.Calls = nil, nil, nil
	if failure != nil {
		one := *failure
		one.Since = f.now
		m.Failure = &one
	}
}

// retries follows the line that reports another attempt.
func (f *Fold) retries(r *agent.Reading) {
	m := &f.m
	if m.Turn.Phase != running {
		return
	}
	switch {
	case r.Retry != nil:
		m.Activity = r.Retry
	case m.Activity != nil && m.Activity.Kind == agent.Retrying:
		m.Activity = &agent.Activity{Kind: agent.Thinking}
	}
}
