package track

import (
	"bytes"
	"regexp"
	"time"

	"berth/agent"
	"berth/sessions/deliver"
	"berth/sessions/process"
	"berth/terminal"
)

// screenPace is the time from output to the reading of the screen, because an agent draws in several writes.
const screenPace = 25 * time.Millisecond

// spokeEvery is how often a driver that doesn't read the screen gets a fact about output. Such facts only
// end waits for silence, which last seconds.
const spokeEvery = 500 * time.Millisecond

// Printed plans a reading of the screen and polls of the foreground, because the program has printed.
func (t *Track) Printed() {
	t.front.looks = max(t.front.looks, looksAfterOutput)
	if d := t.d; d != nil && d.screen.due.IsZero() {
		d.screen.due = t.env.Now() // a driver that doesn't read the screen waits for no drawing: the loop wakes once less
		if d.screen.reads {
			d.screen.due = d.screen.due.Add(screenPace)
		}
	}
}

// syncMost is how long synchronized updates may keep the screen from being read. Any process of the session can end one and begin the next
// in one write, again and again, and a dialog that comes meanwhile has to be seen.
const syncMost = 250 * time.Millisecond

// mayLook reports whether the screen is due to be read, and isn't half drawn.
func (t *Track) mayLook(now time.Time) bool {
	due := t.d.screen.due
	return !due.IsZero() && !now.Before(due) && (!t.env.Terminal().InSync() || now.Sub(due) >= syncMost)
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
	view := s.viewer.View(t.env.Terminal().Snapshot(0))
	s.reading, s.view = d.driver.Screen(view), view
	begun := time.Time{}
	if d.waking.at.IsZero() {
		begun = t.env.Child().Started
	}
	s.drawing.read(s.reading, begun, t.env.Now())
	if !s.pasted && s.reading != nil && s.reading.Composer != nil && t.env.Terminal().Modes().BracketedPaste {
		s.pasted = true
		t.env.SaveSoon()
	}
	if f, ok := s.looks.Fact(s.reading, t.env.Now()); ok {
		t.facts([]agent.Fact{f})
	}
	if at := d.fold.Looked(); at.After(s.looked) { // the next server doesn't see what was covered by then, or whether a key came before that
		s.looked = at
		t.env.SaveSoon()
	}
}

// Look applies all that the holder has written and reads the current screen. It returns false if there is
// more to read, or if the picture is half drawn.
func (t *Track) Look() (*agent.Reading, terminal.Modes, bool) {
	t.env.Sweep()
	if more := t.env.CatchUp(); more || t.env.Link() == nil || t.env.Unsettled() || t.d == nil {
		return nil, terminal.Modes{}, false
	}
	term := t.env.Terminal()
	return t.d.driver.Screen(t.d.screen.viewer.View(term.Snapshot(0))), term.Modes(), true
}

// TakesReply reports whether the answer to a query of the terminal may be typed. Any process of the session can send a
// query, and an agent may take the answer for keys. So where the session asks, or an agent that reads keys has started up,
// only answers in the form of keys are typed, and CSI answers at agents that know them. Agents send the other queries at
// their start.
func (t *Track) TakesReply(answer []byte) bool {
	if t.d == nil || keyLike.Match(answer) {
		return true
	}
	_, keys := t.d.driver.(agent.KeyReader)
	_, strict := t.d.driver.(agent.StrictKeyReader)
	now, r := t.d.fold.Status(), t.d.screen.reading
	if asks := len(now.Requests) > 0 || r != nil && r.Dialog != nil; !asks && !(keys && now.Ready) {
		return true
	}
	return keys && !strict && bytes.HasPrefix(answer, []byte("\x1b["))
}

// keyLike matches an answer in the form that keys have, such as the position of the cursor.
var keyLike = regexp.MustCompile(`^\x1b\[[0-9;]+[A-Za-z]$`)

// Proven records that the agent's composer has shown a word that was typed at that time, and that no other process knew.
func (t *Track) Proven(typed time.Time) { t.d.fold.Proven(typed) }

// Seen is what a delivery checks before each step.
func (t *Track) Seen() deliver.Seen {
	d, term, pid, own := t.d, t.env.Terminal(), t.env.Child().PID, t.AgentPID()
	s := &d.screen
	_, keys := d.driver.(agent.KeyReader)
	_, ruled := d.driver.(agent.RulesNamer) // such a program may have no key that clears its line, and no paste
	seen := deliver.Seen{
		State: t.state, Asks: len(d.fold.Status().Requests) > 0, Paste: term.Modes().BracketedPaste, Typed: t.env.Program().PersonAt, Printed: t.env.LastOut(), Composed: s.drawing.composed, Drew: s.drawing.took,
		Unread: process.Unread(pid), Held: process.Held(pid, keys), Computes: process.Computing(pid), Covered: !ruled && d.fold.Covered(),
	}
	seen.Unpasted = s.pasted && !seen.Paste || keys && (process.Changes(pid) || own != pid && process.Changes(own))
	seen.Halted = process.Halted(pid) || own != pid && process.Stopped(own)
	seen.Held = seen.Held || seen.Halted || own != pid && process.Held(own, keys) || seen.Covered && t.env.Shared()
	written, _ := t.env.Link().Written()
	if d.waking.live && s.due.IsZero() && !t.Gone() && !t.env.Unsettled() && term.Offset() >= written && !d.fold.Stirs() {
		seen.Reading = s.reading
		if s.view != nil {
			seen.Rows = s.view.Texts()
		}
	}
	return seen
}
