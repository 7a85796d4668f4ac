package tui

import (
	"fmt"
	"strings"

	"berth/sessions"
)

// deed is something that can be done with the chosen session by one key.
type deed struct {
	key, verb, does string
	can             func(*sessions.Status) bool // whether it makes sense for this session; nil: always
	ask             string                      // what is asked before it is done, of the session's name; empty: nothing
	do              func(*Model, *sessions.Status) Effect
}

// deeds are all of them, as help lists them. What is not allowed is neither
// listed nor done.
func deeds() []deed {
	running := func(s *sessions.Status) bool { return !s.Over() }
	return []deed{
		{key: "i", verb: "interrupt", does: "interrupt its turn", can: func(s *sessions.Status) bool { return takesMessages(s) }, do: verb("interrupt", "interrupting")},
		{key: "R", verb: "restart", does: "restart its program", ask: "Restart %s? What it is doing is lost.", do: verb("restart", "restarting")},
		{key: "X", verb: "kill", does: "end its program", can: running, ask: "End the program of %s?", do: verb("kill", "ending")},
		{key: "T", verb: "tag", does: "change its tags", do: (*Model).editTags},
		{key: "h", verb: "screen", does: "history: what has scrolled by", do: (*Model).history},
		{key: "e", verb: "explain", does: "explain its state", do: page("explain", "Why %s is believed to be so", "explain")},
		{key: "l", verb: "transcript", does: "its session log, in parts", do: page("transcript", "Session log of %s · a number opens a part", "transcript")},
		{key: "v", verb: "watch", does: "its newest events", do: (*Model).events},
		{key: "u", verb: "queue", does: "messages that wait for it", do: page("queue", "Messages that wait for %s", "queue")},
		{key: "w", verb: "who", does: "who is here", do: page("who", "Who is at %s", "who")},
		{key: "A", verb: "audit", does: "audit log of the last day", do: page("audit", "What was done with %s in the last day", "audit", "--since", "24h", "--session")},
	}
}

// pressDeed takes a key that does something with the chosen session; false says
// that it is none.
func (m *Model) pressDeed(k Key) (Effect, bool) {
	s := m.current()
	if s == nil {
		return nil, false
	}
	for _, d := range deeds() {
		if d.key != k.Name || !m.may(d, s) {
			continue
		}
		if m.jumped() {
			return nil, true
		}
		if d.ask != "" {
			m.flash = flash{}
			m.confirm = &confirm{text: fmt.Sprintf(d.ask, s.Name), session: s.ID, deed: d}
			return nil, true
		}
		return d.do(m, s), true
	}
	return nil, false
}

func (m *Model) may(d deed, s *sessions.Status) bool {
	return m.world.May[d.verb] && (d.can == nil || d.can(s))
}

// confirm is a deed that waits for a yes.
type confirm struct {
	text    string
	session string
	deed    deed
}

func (m *Model) pressConfirm(k Key) Effect {
	c := m.confirm
	m.confirm = nil
	s := m.byID[c.session]
	switch {
	case k.Name != "y":
		m.Tell("nothing was done", faint)
		return nil
	case s == nil || !m.may(c.deed, s):
		m.Tell("that cannot be done any more", waits)
		return nil
	}
	return c.deed.do(m, s)
}

// verb is a deed that is a verb with a session and no more.
func verb(name, doing string) func(*Model, *sessions.Status) Effect {
	return func(m *Model, s *sessions.Status) Effect {
		return m.act(Act{Kind: name, Session: s.ID, Name: s.Name, Words: []string{name, s.ID}}, doing+" "+s.Name)
	}
}

// page is a deed that shows what a verb tells people; the session's id is the
// last word.
func page(kind, title string, words ...string) func(*Model, *sessions.Status) Effect {
	return func(m *Model, s *sessions.Status) Effect {
		return m.act(Act{
			Kind: "page " + kind, Session: s.ID, Name: s.Name, Text: true, title: fmt.Sprintf(title, s.Name), Words: append(words[:len(words):len(words)], s.ID),
		}, "asking")
	}
}

// eventsShown is how many of a session's newest events are shown.
const eventsShown = 300

func (m *Model) events(s *sessions.Status) Effect {
	since := uint64(0)
	if s.Seq > eventsShown {
		since = s.Seq - eventsShown
	}
	return m.act(Act{
		Kind: "page watch", Session: s.ID, Name: s.Name, Text: true, end: true, title: "Newest events of " + s.Name,
		Words: []string{"watch", s.ID, "--past", "--since", fmt.Sprintf("%s:%d", s.ID, since)},
	}, "asking")
}

func (m *Model) history(s *sessions.Status) Effect {
	return m.act(Act{Kind: "history", Session: s.ID, Name: s.Name, end: true, title: "History of " + s.Name}, "asking")
}

func (m *Model) editTags(s *sessions.Status) Effect {
	m.open(editing{what: tagging, session: s.ID, label: "Tags of " + s.Name + ": words to add, -word to remove"}, true)
	return nil
}

// tagWords is the verb for what was written about tags.
func tagWords(s *sessions.Status, text string) []string {
	words := []string{"tag", s.ID}
	for _, w := range strings.Fields(text) {
		if tag, ok := strings.CutPrefix(w, "-"); ok {
			words = append(words, "--remove", strings.TrimPrefix(tag, "#"))
			continue
		}
		words = append(words, strings.TrimPrefix(strings.TrimPrefix(w, "+"), "#"))
	}
	return words
}
