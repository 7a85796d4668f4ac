package detect

import (
	"time"

	"berth/agent"
)

// levelIs: a source that always shows a state says what it shows. It speaks by
// changing.
func (f *Fold) levelIs(fact *agent.Fact) {
	m := &f.m
	if fact.Level == agent.LevelUnknown && fact.Source != agent.SourceProcess {
		f.withdraw(fact.Source, fact.Cause, fact.Evidence)
		return
	}
	l := m.Levels[fact.Source]
	if l == nil {
		l = &level{Source: fact.Source, Text: fact.Text}
		m.Levels[fact.Source] = l
	}
	if fact.Source == agent.SourceProcess && l.Text != fact.Text {
		l.Since = f.now
		f.succeeds(l, fact)
	}
	l.Spoke = f.now
	if l.Value != fact.Level {
		l.Prev, l.Value, l.Since, l.Text = l.Value, fact.Level, f.now, fact.Text
		if !fact.At.IsZero() && fact.At.Before(f.now) && f.now.Sub(fact.At) < silence {
			l.Since = fact.At
		}
	}
	l.Cause, l.Evidence = fact.Cause, fact.Evidence
	if fact.Level == agent.LevelUnknown {
		if !m.Ready {
			f.mark(fact.Source, fact.Cause, fact.Evidence)
		}
		return
	}
	f.ready(fact.Source, fact.Cause)
}

// settle applies the rules that wait for something to have held, in the order
// in which they rest on each other.
//
// The later ones may settle what the earlier ones look at: a turn that is over
// has its dialog answered, and from then on it is waited for to be taken away.
// So they are applied until none has anything to say, which two or three rounds
// bring about.
func (f *Fold) settle() {
	f.next, f.pending = time.Time{}, nil
	if f.m.Exit != nil {
		return
	}
	for range settleRounds {
		before := f.settled()
		f.next, f.pending = time.Time{}, nil
		f.rules()
		if f.settled() == before {
			return
		}
	}
}

// settleRounds bounds the rounds, whatever the rules make of each other.
const settleRounds = 4

// settled is what rules change of what other rules look at.
type settled struct {
	phase               string
	started, ended      time.Time
	asked               int
	opened              uint64
	closed, spent       time.Time
	ready, failed, busy bool
}

func (f *Fold) settled() settled {
	m := &f.m
	return settled{
		m.Turn.Phase, m.Turn.Started, m.EndedAt, len(m.Requests), m.Opened, m.ClosedAt, m.Screen.Spent,
		m.Ready, m.Failure != nil, len(m.Background) > 0,
	}
}

func (f *Fold) rules() {
	if f.asleep { // an end that was told is one all the same
		f.rest()
		return
	}
	f.outlived()
	f.answeredByLevel()
	f.seen()
	f.gone()
	f.landed()
	f.retyped()
	f.waiting()
	f.held()
	f.rest()
	f.interrupted()
	f.failedByScreen()
	f.stuck()
	f.works()
	f.readyByScreen()
	f.contradicted()
}

// answeredByLevel: what said "waiting" or "not busy" while the agent asked says
// "busy" or "idle" now.
func (f *Fold) answeredByLevel() {
	m := &f.m
	if len(m.Requests) == 0 {
		return
	}
	for _, s := range levelSources {
		l := m.Levels[s]
		if l == nil || !f.may(agent.MoveAnswer, s) {
			continue
		}
		over := l.Value == agent.LevelBusy && (l.Prev == agent.LevelNotBusy || l.Prev == agent.LevelWaiting) ||
			l.Value == agent.LevelIdle && l.Prev == agent.LevelWaiting
		if !over || !f.m.askedBefore(l.Since) || !f.due(agent.MoveAnswer, s, l.Since, f.after(agent.MoveAnswer, s)) {
			continue
		}
		begins := false // what was asked after a turn is answered by the next
		f.closeAll("answered", s, l.Cause, l.Value == agent.LevelIdle, func(r *request) bool {
			over := r.Opened.Before(l.Since) && r.levelTells(s)
			begins = begins || over && r.AfterTurn
			return over
		})
		if begins && l.Value == agent.LevelBusy && m.Turn.Phase == "" && f.may(agent.MoveWork, s) {
			f.start("", s, l.Cause, l.Evidence)
		}
	}
}

// levelTells says whether the source shows when the prompt is answered: a
// title goes on saying "busy" while a form is open, and no level speaks of
// what is asked outside of turns.
func (r *request) levelTells(s agent.Source) bool {
	switch r.Prompt.Type {
	case agent.PromptSetup, agent.PromptNotice:
		return s == agent.SourceRegistry
	case agent.PromptForm:
		return s == agent.SourceRegistry
	}
	return true
}

// waiting: a level says that a dialog is open, and nothing told which.
func (f *Fold) waiting() {
	m := &f.m
	l := f.waits()
	if l == nil || len(m.Requests) > 0 || !f.may(agent.MoveAsk, l.Source) {
		return
	}
	since, hold := l.Since, f.after(agent.MoveAsk, l.Source)
	if m.ClosedAt.After(since) {
		since, hold = m.ClosedAt, spentHolds // it has not noticed yet
	}
	if !f.due(agent.MoveAsk, l.Source, since, hold) {
		return
	}
	fact := agent.Fact{Source: l.Source, Cause: l.Cause, Evidence: l.Evidence, Text: l.Text, Turn: m.Turn.ID}
	if n := len(m.Calls); n > 0 {
		m.Calls[n-1].name(&fact)
	}
	p := f.driver.Waiting(&fact)
	if m.Turn.Phase == "" && (p.Type == agent.PromptPermission || p.Type == agent.PromptQuestion) {
		f.start("", l.Source, l.Cause, l.Evidence) // it asks in a turn
		fact.Turn = ""
	}
	f.open(p, &fact, false)
}

// held: a call for which the agent will ask waits for a hook of somebody
// else's, whose decision that is then. Our own would have told.
func (f *Fold) held() {
	m := &f.m
	if m.Turn.Phase != running || len(m.Requests) > 0 || m.Screen.Hook.IsZero() || !f.may(agent.MoveAsk, agent.SourceLog) {
		return
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		if c.Asks == nil || c.Hooked || !f.due(agent.MoveAsk, agent.SourceLog, latest(m.Screen.Hook, c.Since), f.after(agent.MoveAsk, agent.SourceLog)) {
			continue
		}
		p := c.Asks.Clone()
		p.FullInput, p.Raw = c.Full, []byte(c.Input)
		c.Asks = nil // once
		f.open(p, &agent.Fact{
			Source: agent.SourceLog, Cause: "log:held", Evidence: m.Screen.Reading.Busy,
			Turn: m.Turn.ID, Tool: c.Tool, Call: c.ID, Agent: c.Agent, Input: []byte(c.Input),
		}, false)
		return
	}
}

// works: a level, or the spinner on the screen, says that the agent works
// though no turn was told of.
func (f *Fold) works() {
	m := &f.m
	if m.Turn.Phase != "" || len(m.Requests) > 0 {
		return
	}
	if w := f.waits(); w != nil && w.Prev == agent.LevelBusy && w.Since.After(m.EndedAt) && f.may(agent.MoveWork, w.Source) {
		f.start("", w.Source, w.Cause, w.Evidence) // it asks, so it was at work
		return
	}
	l := f.level()
	if l != nil && l.Value == agent.LevelBusy {
		if f.may(agent.MoveWork, l.Source) && l.Since.After(m.EndedAt) && f.due(agent.MoveWork, l.Source, l.Since, f.after(agent.MoveWork, l.Source)) {
			f.start("", l.Source, l.Cause, l.Evidence)
			m.Turn.Started = l.Since
		}
		return
	}
	if l != nil || m.Screen.Busy.IsZero() || !f.may(agent.MoveWork, agent.SourceScreen) {
		return // a spinner on the screen does not undo what a level says
	}
	if m.Screen.Reading.Guess && !m.Screen.Busy.After(m.EndedAt) {
		return // so it stood there when the turn ended
	}
	if f.due(agent.MoveWork, agent.SourceScreen, latest(m.Screen.Busy, m.EndedAt), f.after(agent.MoveWork, agent.SourceScreen)) {
		since := m.Screen.Busy
		f.start("", agent.SourceScreen, "screen:spinner", m.Screen.Reading.Busy)
		m.Turn.Started = since
	}
}

// readyByScreen: a composer, with nothing else that told of the start. Where
// the table says how long it must stand, it is the sign to go by; else it is
// believed for want of a better one.
func (f *Fold) readyByScreen() {
	m := &f.m
	if m.Ready || m.Screen.Bare.IsZero() || !f.may(agent.MoveReady, agent.SourceScreen) {
		return
	}
	grace := f.after(agent.MoveReady, agent.SourceScreen)
	if grace == 0 {
		grace = f.o.ScreenGrace
	}
	if f.o.Again && m.Opened > 0 {
		grace = max(grace, endsWithin)
	}
	if f.due(agent.MoveReady, agent.SourceScreen, m.Screen.Bare, grace) {
		f.ready(agent.SourceScreen, "screen:composer")
	}
}

// endsWithin is how long after an answer at its start an agent may still end to be
// started once more, with its composer drawn meanwhile: Gemini CLI took 0.75 s on a
// machine with ten times the work it can do.
const endsWithin = 2 * time.Second
