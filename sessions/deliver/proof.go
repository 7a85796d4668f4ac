package deliver

import (
	"time"

	"berth/agent"
	"berth/api"
)

// typing is what was typed into the composer.
type typing struct {
	text   string // the last text
	wrote  bool   // it was the message
	proven bool   // a word that no other process knew was drawn there; only dialogs that left the screen later count as covered then
}

// holds says that the composer holds what was typed and not yet taken: a draft
// that was put aside, and may be the same text, comes back when it is.
func (m *Machine) holds(s Seen, box *agent.Composer) bool {
	return box != nil && m.o.Typer.Holds(m.typing.text, box) && s.Reading.Stashed == m.draft.before
}

// prove types a word that no other process knows, and clears it again once the composer shows it. Any process of the session can draw
// a composer over a dialog, and the message in it: it can know what others send. Enter would then allow what the dialog asks.
func (m *Machine) prove(s Seen, now time.Time) Step {
	data, ok := m.o.Typer.Paste(m.o.Proof, s.Paste)
	if !ok || !s.Paste { // each letter would be a key of the dialog
		return refuse(api.CodeAgentBusy, unproven)
	}
	m.typing.text, m.draft.before = m.o.Proof, s.Reading.Stashed
	m.enter(proving, now)
	return write(data)
}

// Proving is the word that may be in the composer; empty for none.
func (m *Machine) Proving() string {
	if m.typing.wrote {
		return ""
	}
	return m.typing.text
}

// Proven reports whether the composer has shown that word.
func (m *Machine) Proven() bool { return m.typing.proven }

// unpasted and unproven are why a message isn't sent.
const unpasted = "its terminal takes no paste any more: another process may have set its modes, and characters would be keys. Attach and look"

const unproven = "its composer has not shown a word that was typed to try it, and a dialog has left the screen without an answer, or may have come while no server ran: another process may have drawn over it. Attach and look"

// awaitProof waits until the composer shows the word.
func (m *Machine) awaitProof(s Seen, now time.Time) Step {
	switch why := m.occupied(s); {
	case why != "":
		return m.retire(s, now, why)
	case m.holds(s, at(s)) && s.Echoed: // a dialog may have got it all the same
		return m.retire(s, now, unproven)
	case m.holds(s, at(s)) && !s.Held: // by no other program that reads the same terminal
		m.typing.proven, m.keys = true, clearer{}
		m.enter(clearing, now)
		return m.clear(s, now)
	case s.Unread > 0 && s.Computes && now.Sub(m.start) < echoMost: // it has yet to read the word
		m.since = now
	case m.over(now, echoFor):
		why := unproven
		if m.holds(s, at(s)) {
			why = held
		}
		m.enter(retiring, now)
		m.ending, m.keys = Outcome{Verdict: Refused, Code: api.CodeAgentBusy, Evidence: why}, clearer{}
		return m.takeBack(s, now)
	}
	return look()
}
