package deliver

import (
	"strings"
	"time"

	"berth/agent"
	"berth/api"
)

func (m *Machine) press(s Seen, now time.Time) Step {
	m.enter(entered, now)
	m.first, m.entry, m.sent = now, now, at(s)
	m.places = max(0, places(s.Rows, m.o.Typed)-places(strings.Split(m.sent.Text, "\n"), m.o.Typed))
	return write(m.enterKey())
}

// enterKey is what sends the message.
func (m *Machine) enterKey() []byte {
	if e, ok := m.o.Typer.(agent.MessageSubmitter); ok {
		return e.Enter(m.o.Typed)
	}
	return []byte{'\r'}
}

// confirm looks for evidence that the agent has the message.
func (m *Machine) confirm(s Seen, now time.Time) Step {
	box := at(s)
	m.observeEnter(s, now)
	if s.State == agent.Working && s.Reading != nil && s.Reading.Clear { // it was at rest before Enter
		m.worked = true
		if m.busy == "" {
			m.busy = "it is working"
		}
	}
	m.empty = m.empty || m.busy != "" && box != nil && box.Empty
	switch {
	case m.told && m.pasted:
		return m.end(s, now, Outcome{
			Verdict: Unconfirmed, Code: api.CodeUnconfirmed, Turn: m.turn, Pasted: true,
			Evidence: m.cause + " says that the model was given it as pasted content, which its user did not write",
		})
	case m.told:
		return m.end(s, now, m.confirmed(m.cause))
	case m.o.Slash && m.commanded(s, now):
		return m.end(s, now, m.confirmed("screen:composer"))
	case m.kept(s):
		m.queued = true
		return m.end(s, now, m.confirmed("screen:queue"))
	case now.Sub(m.entry) >= confirmFor && (m.took(s, box) || !m.late(s, box, now)):
		return m.end(s, now, m.undecided(s, box))
	case s.Interrupt && s.State == agent.Working && m.undecided(s, box).Verdict == Confirmed: // the agent's own report would only come later
		return m.end(s, now, m.undecided(s, box))
	// Not while a draft is put aside: the agent brings it back as it takes the
	// message, and where the first Enter was only late the second would send it. Not after a dialog either that
	// another process may have drawn over, with the message in it.
	case !m.resent && !s.Covered && !m.draft.stashed && now.Sub(m.entry) >= againAfter && m.occupied(s) == "" && m.holds(s, box) && !s.Reading.Stashed && !s.Held && m.again(box, now):
		m.resent, m.entry, m.sent, m.read = true, now, box, time.Time{}
		return write(m.enterKey())
	}
	return look()
}

// commanded says that the agent has taken a command: its composer does not hold
// it any more, or it has put something else in its place, and not for a frame
// that is half drawn.
func (m *Machine) commanded(s Seen, now time.Time) bool {
	if s.Reading == nil {
		return false
	}
	if s.Reading.Composer != nil || s.Reading.Dialog != nil {
		m.blank = time.Time{}
		return s.Reading.Dialog != nil || !m.o.Typer.Holds(m.o.Typed, s.Reading.Composer)
	}
	if m.blank.IsZero() {
		m.blank = now
	}
	return now.Sub(m.blank) >= blankFor
}

// again says that a second Enter does no harm where the first was only late: it
// broke a line, or was read long ago by a program that rests since.
func (m *Machine) again(box *agent.Composer, now time.Time) bool {
	b, ok := m.o.Typer.(agent.LineBreakDetector)
	return !ok || b.Broke(m.sent, box) || !m.read.IsZero() && now.Sub(m.read) >= lostAfter
}

// observeEnter keeps since when the last Enter is read, and the program at rest.
func (m *Machine) observeEnter(s Seen, now time.Time) {
	switch {
	case s.Unread > 0, s.Computes:
		m.read = time.Time{}
	case !m.read.IsZero():
	case s.Unread == 0:
		m.read = now
	default:
		m.read = m.entry.Add(2 * lostAfter)
	}
}

// late says that the agent may not have read Enter yet, or not reported what it
// took: its composer holds the message as it did, or nothing, or the screen is being drawn anew.
func (m *Machine) late(s Seen, box *agent.Composer, now time.Time) bool {
	b, ok := m.o.Typer.(agent.LineBreakDetector)
	if !ok || now.Sub(m.first) >= readFor || m.occupied(s) != "" {
		return false
	}
	if box == nil {
		return s.Reading != nil && s.Reading.Composer == nil && s.Reading.Busy == ""
	}
	return box.Empty || m.holds(s, box) && !b.Broke(m.sent, box)
}

// kept says that the agent shows the message among those that it keeps for the
// end of the turn: one began just before Enter.
func (m *Machine) kept(s Seen) bool {
	if s.Reading == nil {
		return false
	}
	for _, text := range s.Reading.Queued {
		if m.o.Typer.Displays(m.o.Typed, &agent.Composer{Mode: agent.ModeMessage, Text: text}) {
			return true
		}
	}
	return false
}

func (m *Machine) confirmed(cause string) Outcome {
	return Outcome{Verdict: Confirmed, Evidence: cause, Turn: m.turn, Queued: m.queued}
}

// undecided: the agent has not said that it has the message. That it works,
// and that its composer is empty, or holds the draft again, confirms it too: no other client
// could type. So does the screen that shows it in the conversation.
func (m *Machine) undecided(s Seen, box *agent.Composer) Outcome {
	if s.Reading != nil && m.busy != "" {
		switch {
		case s.Reading.Composer == nil && (s.Reading.Clear || m.worked && s.Reading.Dialog != nil):
			return m.confirmed(m.busy + ", and the composer has gone")
		case s.Reading.Composer == nil:
		case s.Reading.Composer.Empty:
			return m.confirmed(m.busy + ", and the composer is empty")
		case m.draft.before && !s.Reading.Stashed:
			return m.confirmed(m.busy + ", and the composer holds the draft again")
		}
		if m.empty && !m.holds(s, box) { // a half-drawn frame
			return m.confirmed(m.busy + ", and the composer is empty")
		}
	}
	if m.took(s, box) {
		o := m.confirmed("the screen shows the message, and not in the composer")
		o.Unseen = m.first
		return o
	}
	left, why := m.holds(s, box), "Enter was pressed, and nothing says that the message was taken"
	switch {
	case s.Unread > 0: // typed again it would arrive twice
		left, why = false, "Enter was pressed, and its program has not read it"
	case left:
		why = "Enter had no effect: the composer still holds the message"
	}
	return Outcome{Verdict: Unconfirmed, Code: api.CodeUnconfirmed, Evidence: why, Left: left}
}
