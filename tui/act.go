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

// Press handles a key.
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
	case m.talk != nil:
		return m.pressTalk(k)
	case m.page != nil:
		return m.pressPage(k)
	case m.start != nil:
		return m.pressStart(k)
	case m.command != nil:
		return m.pressCommand(k)
	case m.filter.typing:
		return m.pressFilter(k)
	case m.edit != nil:
		return m.pressEdit(k)
	case k.Name == "esc" && m.running:
		return Stop{}
	}
	if effect, ok := m.pressCard(k); ok {
		return effect
	}
	if m.pressWall(k) {
		return nil
	}
	if effect, ok := m.pressAction(k); ok {
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
	m.order = nil // the person filters the list, so it may move
	m.sort()
	return nil
}

// filterLimit is the maximum length of a filter: more characters than any name, state or agent has.
const filterLimit = 100

func (m *Model) pressList(k Key) Effect {
	switch k.Name {
	case "q":
		if m.detail && !m.layout().split {
			m.detail = false
			return nil
		}
		return Quit{}
	case "?", "f1":
		m.help, m.helpTop = true, 0
	case ":":
		if m.running {
			m.Flash("a line is running: esc stops it", waits)
			return nil
		}
		return m.openCommand()
	case "/":
		m.filter.typing, m.detail = true, false
	case "esc":
		m.escape()
	case "tab":
		m.goNext(1)
	case "shift+tab":
		m.goNext(-1)
	case "a":
		m.switchAdvance()
	case "enter", "o":
		return m.attach(k)
	case "s":
		if c := m.current(); c == nil || c.Request == nil || !m.world.May["screen"] {
			m.Flash(m.whyNot(k), faint)
			return nil
		}
		m.card.hidden = !m.card.hidden
	case "m":
		m.writeMessage(k)
	case " ":
		m.mark()
	case "S":
		m.regroup()
	case "W":
		m.openWall()
	case "M":
		m.switchMouse()
	case "b":
		m.alarm = (m.alarm + 1) % alarms
		m.Flash(m.alarm.String(), faint)
	case "n":
		if m.mayStart() {
			return m.openStart()
		}
		m.refuse("start sessions", "new")
	case "paste":
		m.Flash("nothing here takes a paste", faint)
	default:
		if !m.pressPreview(k) && !m.move(k.Name) {
			m.Flash(m.whyNot(k), faint)
		}
	}
	return nil
}

// escape leaves the session's view, or removes the marks or the filter.
func (m *Model) escape() {
	switch {
	case m.detail && !m.layout().split:
		m.detail = false
	case len(m.marks) > 0:
		m.marks = nil
	case m.filter.text != "":
		m.filter = filter{}
		m.sort()
	}
}

// writeMessage opens the editor for a message to the chosen session, or to all marked ones.
func (m *Model) writeMessage(k Key) {
	s, several := m.current(), len(m.marked()) > 0
	switch {
	case !m.world.May["nudge"], !several && (s == nil || !takesMessages(s)):
		m.Flash(m.whyNot(k), faint)
	case several || !m.jumped():
		m.write(editing{what: nudging, label: "Message to %s"}, s, false)
	}
}

// attach attaches to the chosen session. On a small terminal Enter first shows it instead of the list.
func (m *Model) attach(k Key) Effect {
	s := m.current()
	if s == nil {
		m.Flash(m.whyNot(k), faint)
		return nil
	}
	if m.jumped() {
		return nil
	}
	if k.Name == "enter" && !m.layout().split && !m.detail {
		m.detail = true
		m.markSeen()
		return nil
	}
	if !m.world.May["attach"] {
		m.Flash(m.whyNot(k), faint)
		return nil
	}
	if s.Over() {
		m.Flash(s.Name+" has ended: you can't attach to it", faint)
		return nil
	}
	if m.lost(s) != nil {
		m.Flash(m.unreachable(s), failed)
		return nil
	}
	m.markSeen()
	return Attach{ID: s.ID}
}

// move chooses another session in the list. It returns false if the key is for something else.
func (m *Model) move(name string) bool {
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
		return false
	}
	if len(m.order) > 0 {
		m.selected = m.order[min(max(at, 0), len(m.order)-1)]
		m.markSeen()
	}
	return true
}

// takesMessages reports whether Berth knows how to send the session's program a message.
func takesMessages(s *sessions.Status) bool {
	return (s.Driven || s.RulesName != "") && !s.Over()
}
