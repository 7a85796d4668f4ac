package tui

import (
	"fmt"
	"slices"
)

// flow is how the person gets from one session that needs input to the next.
type flow struct {
	advance bool   // after an answer, the next session that needs input is selected
	onward  string // the session that was selected because of that
	stray   string // says why a key that was typed for a session does nothing
}

// choose takes over what the person has chosen in an earlier visit.
func (m *Model) choose(c Choices) {
	m.mouse.off, m.advance, m.by, m.mixed = c.NoMouse, c.Advance, c.By, c.Mixed
}

func (m *Model) chosen() Choices {
	return Choices{NoMouse: m.mouse.off, Advance: m.advance, By: m.by, Mixed: m.mixed}
}

// inOrder are the sessions that the list shows, or those that have tiles on the Wall.
func (m *Model) inOrder() []string {
	if m.wall.up {
		return m.wall.tiles
	}
	return m.order
}

// nextWaiting is the session that needs input and comes next after the selected one (step 1) or before it
// (step -1), in the list or on the Wall. It is empty if no other one does.
func (m *Model) nextWaiting(step int) string {
	order := m.inOrder()
	at, n := slices.Index(order, m.selected), len(order)
	for i := 1; i <= n; i++ {
		id := order[((at+step*i)%n+n)%n]
		if id != m.selected && needs(m.byID[id]) {
			return id
		}
	}
	return ""
}

// goNext selects the next session that needs input, and shows it on a small terminal.
func (m *Model) goNext(step int) {
	id := m.nextWaiting(step)
	if id == "" {
		m.Flash(m.whyNoNext(), faint)
		return
	}
	m.Select(id)
	m.detail = !m.wall.up
}

func (m *Model) whyNoNext() string {
	hidden, order := 0, m.inOrder()
	for _, s := range m.world.Sessions {
		if needs(s) && !slices.Contains(order, s.ID) {
			hidden++
		}
	}
	switch s := m.current(); {
	case hidden > 0 && m.wall.up:
		return fmt.Sprintf("no other tile needs input: W goes to the list, which has %d more", hidden)
	case hidden > 0:
		return fmt.Sprintf("the filter hides %d that need input: esc shows all sessions", hidden)
	case s != nil && needs(s):
		return "no other session needs input"
	}
	return "no session needs input"
}

// afterAnswer selects the next session that needs input after a session was answered, if the person wants
// that. The person may have gone on in the meantime.
func (m *Model) afterAnswer(session string) {
	if !m.advance || m.selected != session || m.busyWriting() || m.help || m.talk != nil || m.page != nil || m.filter.typing || m.card.begun() {
		return
	}
	id := m.nextWaiting(1)
	if id == "" {
		return
	}
	m.Select(id)
	m.onward, m.moved = id, m.now
	m.flash.text += " · next: " + m.byID[id].Name
}

// switchAdvance turns on or off that an answer leads to the next session that needs input.
func (m *Model) switchAdvance() {
	if !m.world.May["respond"] {
		m.Flash(m.lookOnly(), faint)
		return
	}
	m.strayed, m.stray = m.now, noAttach // the key attached in an earlier version, and more may be typed ahead
	if m.advance = !m.advance; m.advance {
		m.Flash("after an answer: on to the next session that needs input · a turns it off · enter or o attaches", faint)
		return
	}
	m.Flash("after an answer: the session stays selected · tab goes to the next one · enter or o attaches", faint)
}

const noAttach = "a doesn't attach: enter or o does. Keys right after it do nothing"

// justMoved reports whether the selection has moved by itself, so recently that a key is meant for the session
// before.
func (m *Model) justMoved() bool {
	return !m.moved.IsZero() && m.now.Sub(m.moved) < settleTime || m.onward != "" && m.onward == m.selected && m.carded() && !m.settled()
}

// jumped says so if the selection has just moved by itself, and reports it.
func (m *Model) jumped() bool {
	switch {
	case !m.justMoved():
		return false
	case m.onward != "" && m.onward == m.selected:
		m.Flash("this is the next session that needs input: press again", waits)
	case m.onward != "":
		m.Flash("the selection has just moved by itself: press again", waits)
	default:
		m.Flash("the selected session is gone, and this one took its place: press again", waits)
	}
	return true
}
