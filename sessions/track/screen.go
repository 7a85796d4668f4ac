package track

import (
	"time"

	"berth/agent"
	"berth/sessions/deliver"
	"berth/sessions/process"
	"berth/terminal"
)

// screenPace is how soon after output the screen is read: what an agent draws
// comes in several writes.
const screenPace = 25 * time.Millisecond

// spokeEvery is how often output is told of to a driver that does not look at
// it: who waits for silence waits for seconds.
const spokeEvery = 500 * time.Millisecond

// Printed plans a look at the screen: the program has printed.
func (t *Track) Printed() {
	if d := t.d; d != nil && d.screen.due.IsZero() {
		d.screen.due = t.env.Now().Add(screenPace)
	}
}

func (t *Track) readScreen() {
	d := t.d
	s := &d.screen
	s.due, d.waking.unseen = time.Time{}, false
	if !s.reads {
		if now := t.env.Now(); now.Sub(s.spokeAt) >= spokeEvery {
			s.spokeAt = now
			t.facts([]agent.Fact{{Kind: agent.Spoke, Source: agent.SourceProcess, Cause: "process:output"}})
		}
		return
	}
	s.reading = d.driver.Screen(s.viewer.View(t.env.Terminal().Snapshot(0)))
	begun := time.Time{}
	if d.waking.at.IsZero() {
		begun = t.env.Child().Started
	}
	s.drawing.read(s.reading, begun, t.env.Now())
	if f, ok := s.looks.Fact(s.reading, t.env.Now()); ok {
		t.facts([]agent.Fact{f})
	}
}

// Look takes in all that the holder has written and reads the screen as it is now; false while
// there is more to read, or the picture is half drawn.
func (t *Track) Look() (*agent.Reading, terminal.Modes, bool) {
	t.env.Sweep()
	if more := t.env.CatchUp(); more || t.env.Link() == nil || t.env.Unsettled() || t.d == nil {
		return nil, terminal.Modes{}, false
	}
	term := t.env.Terminal()
	return t.d.driver.Screen(t.d.screen.viewer.View(term.Snapshot(0))), term.Modes(), true
}

// Seen is what a delivery goes by.
func (t *Track) Seen() deliver.Seen {
	d, term, pid := t.d, t.env.Terminal(), t.env.Child().PID
	s := &d.screen
	seen := deliver.Seen{
		State: t.state, Asks: len(d.fold.Status().Requests) > 0, Paste: term.Modes().BracketedPaste, Typed: t.env.Program().PersonAt, Printed: t.env.LastOut(), Composed: s.drawing.composed, Drew: s.drawing.took,
		Unread: process.Unread(pid), Computes: process.Computing(pid),
	}
	written, _ := t.env.Link().Written()
	if d.waking.awake && s.due.IsZero() && !t.env.Unsettled() && term.Offset() >= written && !d.fold.Stirs() {
		seen.Reading = s.reading
	}
	return seen
}
