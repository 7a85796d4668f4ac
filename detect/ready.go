package detect

import (
	"time"

	"berth/agent"
)

// readyOnceDrawn ends the start that was reported before anything was drawn. The report closes no page that
// asks something, because that came later. An agent that draws nothing that Berth can read has started anyway.
func (f *Fold) readyOnceDrawn() {
	m := &f.m
	r := m.Reported
	if m.Ready || r.At.IsZero() || f.drawsNothing() && !f.due(agent.MoveReady, r.By, r.At, silence) {
		return
	}
	m.Ready = true
	f.mark(r.By, r.Cause, "")
}

// returned ends the start of an agent that is back in the foreground.
func (f *Fold) returned(s agent.Source, cause string) {
	if m := &f.m; m.Returns && !m.Ready {
		m.Ready = true
		f.mark(s, cause, "")
	}
}

// readyByScreen ends the start when the screen shows a composer and no other source reported it. If
// the table has a time for the screen, that is the measured one; otherwise ScreenGrace applies.
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

// endsWithin is how long after a startup answer an agent may still exit to be started again, while
// it already draws its composer. Gemini CLI took 0.75 s on a machine with ten times the work it can
// do.
const endsWithin = 2 * time.Second
