package tui

import (
	"slices"
	"time"
	"unicode/utf8"

	"berth/sessions"
	"berth/terminal/keyboard"
)

// Key is one press of a key, or a paste.
type Key = keyboard.Key

// Press takes a key.
func (m *Model) Press(k Key, now time.Time) Effect {
	m.now, m.touched = now, now
	if m.astray() {
		return nil
	}
	if !now.Before(m.flash.until) {
		m.flash = flash{}
	}
	defer m.syncCard()
	switch {
	case k.Name == "ctrl+c":
		return Quit{}
	case m.help:
		m.pressHelp(k)
		return nil
	case m.confirm != nil:
		return m.pressConfirm(k)
	case m.page != nil:
		return m.pressPage(k)
	case m.start != nil:
		return m.pressStart(k)
	case m.filter.typing:
		return m.pressFilter(k)
	case m.edit != nil:
		return m.pressEdit(k)
	}
	if effect, ok := m.pressCard(k); ok {
		return effect
	}
	if effect, ok := m.pressDeed(k); ok {
		return effect
	}
	return m.pressList(k)
}

func (m *Model) pressFilter(k Key) Effect {
	switch k.Name {
	case "enter", "tab", "down":
		m.filter.typing = false
	case "esc":
		m.filter = filter{}
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter.text)
		m.filter.text = m.filter.text[:len(m.filter.text)-n]
	case "ctrl+u":
		m.filter.text = ""
	default:
		if k.Text != "" && len(m.filter.text)+len(k.Text) <= filterLimit {
			m.filter.text += k.Text
		}
	}
	m.order = nil // narrowed by the person: it may move
	m.sort()
	return nil
}

// filterLimit is more than names, states and agents have characters.
const filterLimit = 100

func (m *Model) pressList(k Key) Effect {
	switch k.Name {
	case "q":
		return Quit{}
	case "?", "f1":
		m.help, m.helpTop = true, 0
	case "/":
		m.filter.typing, m.detail = true, false
	case "esc":
		m.escape()
	case "tab":
		if !m.layout().split {
			m.detail = !m.detail
		}
		m.look()
	case "enter", "a":
		return m.attach(k)
	case "s":
		if c := m.current(); c != nil && c.Request != nil && m.world.May["screen"] {
			m.card.hidden = !m.card.hidden
		}
	case "n":
		if c := m.current(); c != nil && m.world.May["nudge"] && takesMessages(c) {
			m.open(editing{what: nudging, session: c.ID, label: "Message to " + c.Name}, false)
		}
	case "b":
		m.calling = (m.calling + 1) % callings
		m.Tell(m.calling.String(), faint)
	case "N":
		if m.mayStart() {
			m.openStart()
		}
	case "paste":
		m.Tell("a paste goes nowhere here", faint)
	default:
		m.move(k.Name)
	}
	return nil
}

// escape goes a step back.
func (m *Model) escape() {
	switch {
	case m.detail:
		m.detail = false
	case m.filter.text != "":
		m.filter = filter{}
		m.sort()
	}
}

// attach opens the chosen session; where there is no room for it beside the
// list, Enter shows it first.
func (m *Model) attach(k Key) Effect {
	s := m.current()
	if s == nil || m.jumped() {
		return nil
	}
	if k.Name == "enter" && !m.layout().split && !m.detail {
		m.detail = true
		m.look()
		return nil
	}
	if !m.world.May["attach"] {
		return nil
	}
	if s.Over() {
		m.Tell(s.Name+" has ended: there is nothing to attach to", faint)
		return nil
	}
	m.look()
	return Attach{ID: s.ID}
}

// move chooses another session.
func (m *Model) move(name string) {
	at := slices.Index(m.order, m.selected)
	page := max(m.layout().list.h-1, 1)
	switch name {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "home", "g":
		at = 0
	case "end", "G":
		at = len(m.order) - 1
	case "pgup", "ctrl+b":
		at -= page
	case "pgdown", "ctrl+f":
		at += page
	default:
		return
	}
	if len(m.order) > 0 {
		m.selected = m.order[min(max(at, 0), len(m.order)-1)]
		m.look()
	}
}

// takesMessages says whether something knows how the session's program is given
// a message.
func takesMessages(s *sessions.Status) bool {
	return (s.Driven || s.RulesName != "") && !s.Over()
}
