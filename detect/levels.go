package detect

import (
	"time"

	"berth/agent"
)

// levelIs keeps what a level source shows now. Spoke is renewed by every report, Since only by a
// change.
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
	if fact.Level == agent.LevelBusy && m.Returns && !m.Ready {
		return // it is in the middle of a turn
	}
	if fact.Source != agent.SourceProcess && fact.Level != agent.LevelWaiting {
		f.returned(fact.Source, fact.Cause)
	}
	f.ready(fact.Source, fact.Cause)
}

// settle applies the rules that wait until something has held for long enough. A later rule may
// change what an earlier one reads: when a turn ends, its dialog counts as answered, and then the
// fold waits until it is removed. So settle repeats the rules until none changes anything, which
// takes two or three rounds.
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

// settleRounds bounds the rounds, in case two rules undo each other.
const settleRounds = 4

// settled is what rules change and other rules read.
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
	if f.frozen { // a reported end counts anyway
		f.rest()
		return
	}
	f.modeByScreen()
	f.unpark()
	f.outlived()
	f.answeredByLevel()
	f.seen()
	f.gone()
	f.landed()
	f.outstayed()
	f.retyped()
	f.waiting()
	f.held()
	f.rest()
	f.interrupted()
	f.failedByScreen()
	f.stuck()
	f.works()
	f.readyOnceDrawn()
	f.readyByScreen()
	f.contradicted()
}

// answeredByLevel closes prompts when a level that said "waiting" or "not busy" while the agent
// asked says "busy" or "idle" now.
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
		begins := false // a question about the last turn is answered by the next turn's start
		f.closeAll("answered", s, l.Cause, l.Value == agent.LevelIdle, func(r *request) bool {
			goesOn := f.hidden(r) && (l.Value == agent.LevelBusy || f.m.inBackground(r.Agent))
			over := r.Opened.Add(r.overtakes(s)).Before(l.Since) && r.levelCovers(s) && !goesOn
			begins = begins || over && r.AfterTurn
			return over
		})
		if begins && l.Value == agent.LevelBusy && m.Turn.Phase == "" && f.may(agent.MoveWork, s) {
			f.start("", s, l.Cause, l.Evidence)
		}
	}
}

// levelCovers reports whether the source shows when the prompt is answered. A title says "busy"
// while a form is open, and only the state file covers what is asked outside of turns.
func (r *request) levelCovers(s agent.Source) bool {
	switch r.Prompt.Type {
	case agent.PromptSetup, agent.PromptNotice:
		return s == agent.SourceRegistry
	case agent.PromptForm:
		return s == agent.SourceRegistry
	}
	return true
}

// unread is how long what the agent drew before it ran a hook may reach the fold after the hook's report: the terminal's
// output takes another way than the report, and waits on a busy machine. Without it, the title of a turn's start that came
// 18 ms after the report of its prompt closed that prompt.
const unread = 250 * time.Millisecond

// overtakes is how much older than its report a prompt's opening may be for the source.
func (r *request) overtakes(s agent.Source) time.Duration {
	if r.By == agent.SourceHook && (s == agent.SourceTitle || s == agent.SourceOSC) {
		return unread
	}
	return 0
}

// waiting opens a prompt when a level says that a dialog is open, and no source reported which.
func (f *Fold) waiting() {
	m := &f.m
	l := f.waits()
	if l == nil || len(m.Requests) > 0 || !f.may(agent.MoveAsk, l.Source) {
		return
	}
	since, hold := l.Since, f.after(agent.MoveAsk, l.Source)
	if m.ClosedAt.After(since) {
		since, hold = m.ClosedAt, spentHolds // the source may not have noticed the last answer yet
	}
	if !f.due(agent.MoveAsk, l.Source, since, hold) {
		return
	}
	fact := agent.Fact{Source: l.Source, Cause: l.Cause, Evidence: l.Evidence, Text: l.Text, Turn: m.Turn.ID}
	var asks *agent.Request
	if n := len(m.Calls); n > 0 {
		m.Calls[n-1].name(&fact)
		asks = m.Calls[n-1].asks()
	}
	p := f.driver.Waiting(&fact)
	f.showUndrawn(p, p)
	if asks != nil {
		f.showUndrawn(p, asks)
	}
	if m.Turn.Phase == "" && (p.Type == agent.PromptPermission || p.Type == agent.PromptQuestion) {
		f.start("", l.Source, l.Cause, l.Evidence) // the agent asks this only during a turn
		fact.Turn = ""
	}
	f.open(p, &fact, false)
}

// held opens a prompt for a tool call that the agent will ask about, while a hook runs that isn't
// Berth's: that hook decides. A hook of Berth's would have reported the prompt.
func (f *Fold) held() {
	m := &f.m
	if m.Turn.Phase != running || len(m.Requests) > 0 || m.Screen.Hook.IsZero() || !f.may(agent.MoveAsk, agent.SourceLog) {
		return
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		if c.Asks == nil || c.Asks.Channel == agent.ChannelNone || c.Held || c.Hooked || !f.due(agent.MoveAsk, agent.SourceLog, latest(m.Screen.Hook, c.Since), f.after(agent.MoveAsk, agent.SourceLog)) {
			continue
		}
		p := c.Asks.Clone()
		p.FullInput, p.Raw = c.Full, []byte(c.Input)
		c.Held = true
		f.open(p, &agent.Fact{
			Source: agent.SourceLog, Cause: "log:held", Evidence: m.Screen.Reading.Busy,
			Turn: m.Turn.ID, Tool: c.Tool, Call: c.ID, Agent: c.Agent, Input: []byte(c.Input),
		}, false)
		return
	}
}

// works starts a turn when a level, or the spinner on the screen, shows work without a reported
// turn.
func (f *Fold) works() {
	m := &f.m
	if m.Turn.Phase != "" || len(m.Requests) > 0 {
		return
	}
	if w := f.waits(); w != nil && w.Prev == agent.LevelBusy && w.Since.After(m.EndedAt) && f.may(agent.MoveWork, w.Source) {
		f.start("", w.Source, w.Cause, w.Evidence) // the agent asks, so it was working
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
		return // a level overrules a spinner on the screen
	}
	if m.Screen.Reading.Guess && !m.Screen.Busy.After(m.EndedAt) {
		return // the screen looked the same when the turn ended
	}
	after := f.after(agent.MoveWork, agent.SourceScreen)
	drawnLate := m.EndedAt // an agent on a busy machine still draws the ended turn's spinner, or draws it late
	if m.EndedBy == agent.SourceHook {
		drawnLate = m.EndedAt.Add(mostLag)
	}
	if !m.Screen.Busy.After(drawnLate) {
		after = max(after, mostLag)
	}
	if f.due(agent.MoveWork, agent.SourceScreen, latest(m.Screen.Busy, m.EndedAt), after) {
		since := m.Screen.Busy
		f.start("", agent.SourceScreen, "screen:spinner", m.Screen.Reading.Busy)
		m.Turn.Started = since
	}
}
