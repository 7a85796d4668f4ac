package tui

import (
	"cmp"
	"slices"

	"berth/sessions"
)

// whyNot says why a key does nothing now.
func (m *Model) whyNot(k Key) string {
	s := m.current()
	if k.Name == "delete" {
		k.Name = "x"
	}
	i := slices.IndexFunc(actions(), func(d action) bool { return d.key == k.Name })
	kind := kindOf(k.Name)
	switch {
	case i >= 0 && !m.world.May[actions()[i].verb]:
		return m.mayNot(actions()[i].verb)
	case k.Name == "m" && !m.world.May["nudge"]:
		return m.mayNot("nudge")
	case (k.Name == "enter" || k.Name == "o") && !m.world.May["attach"]:
		return m.mayNot("attach")
	case k.Name == "s" && !m.world.May["screen"]:
		return m.mayNot("screen")
	case answers[kind] && !m.world.May["respond"]:
		return m.lookOnly()
	case s == nil && (i >= 0 || answers[kind] || slices.Contains([]string{"m", "s", "enter", "o", " "}, k.Name)):
		return "no session is selected"
	case i >= 0 || k.Name == "m":
		return m.unable(s)
	case answers[kind] || k.Name == "s" || k.Name == "J" || k.Name == "K":
		return m.unasked(s, k.Name)
	}
	return k.Name + " does nothing here · ? shows the keys"
}

// answers are the kinds of keys that begin an answer.
var answers = map[string]bool{"option": true, "accept": true, "deny": true, "text": true, "cancel": true, "fill": true}

// who is the person's role, or the name of a person without one.
func (m *Model) who() string { return cmp.Or(m.person.Role, m.person.Name) }

func (m *Model) lookOnly() string { return m.who() + ": you can look, not answer" }

func (m *Model) mayNot(verb string) string { return m.who() + ": you may not use the verb " + verb }

// unable says why an action or a message isn't possible for a session.
func (m *Model) unable(s *sessions.Status) string {
	switch {
	case away(s):
		return "not from here for a session of " + hostOf(s) + ": o attaches, and : runs any verb there"
	case s.Over() && m.world.May["restart"]:
		return s.Name + " has ended: R restarts it"
	case s.Over():
		return s.Name + " has ended"
	}
	return "Berth can't send this program messages: attach, and type there"
}

// unasked says why a key of a question does nothing.
func (m *Model) unasked(s *sessions.Status, key string) string {
	switch {
	case s == nil || s.Request == nil:
		if s == nil {
			return "no session is selected"
		}
		return s.Name + " isn't asking anything"
	case m.card.hidden:
		return "the question is hidden: s shows it"
	case !m.carded():
		return "enter shows the question first"
	}
	return "this question doesn't take the key " + key
}
