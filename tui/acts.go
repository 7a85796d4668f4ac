package tui

import (
	"fmt"
	"strings"

	"berth/sessions"
)

// action is something that one key does with the chosen session.
type action struct {
	key, verb, does string
	can             func(*sessions.Status) bool // whether it applies to this session; nil: always
	ask             string                      // format of the confirmation, with the session's name; empty: none
	do              func(*Model, *sessions.Status) Effect
}

// actions lists all of them, in the order of the help page. Those that the person may not use are
// neither listed nor done.
func actions() []action {
	running := func(s *sessions.Status) bool { return !s.Over() }
	return []action{
		{key: "i", verb: "interrupt", does: "interrupt its turn", can: func(s *sessions.Status) bool { return takesMessages(s) }, do: verb("interrupt", "interrupting")},
		{key: "R", verb: "restart", does: "restart its program", ask: "Restart %s? What it is doing is lost.", do: verb("restart", "restarting")},
		{key: "X", verb: "kill", does: "end its program", can: running, ask: "End the program of %s?", do: verb("kill", "ending")},
		{key: "T", verb: "tag", does: "change its tags", do: (*Model).editTags},
		{key: "h", verb: "screen", does: "scrollback", do: (*Model).history},
		{key: "e", verb: "explain", does: "explain its state", do: page("explain", "Evidence for the state of %s", "explain")},
		{key: "l", verb: "transcript", does: "its session log, in parts", do: page("transcript", "Session log of %s · a number opens a part", "transcript")},
		{key: "v", verb: "transcript", does: "its conversation", do: (*Model).openTalk},
		{key: "E", verb: "watch", does: "its newest events, raw", do: (*Model).events},
		{key: "u", verb: "queue", does: "queued messages", do: (*Model).queued},
		{key: "D", verb: "worktree", does: "the work in its worktree, as a diff", do: (*Model).treeDiff},
		{key: "w", verb: "who", does: "who is attached", do: page("who", "Who is attached to %s", "who")},
		{key: "A", verb: "audit", does: "audit log of the last day", do: page("audit", "Audit log of %s, last day", "audit", "--since", "24h", "--session")},
	}
}

// pressAction handles a key that does something with the chosen session. It returns false for other
// keys.
func (m *Model) pressAction(k Key) (Effect, bool) {
	s := m.current()
	if s == nil {
		return nil, false
	}
	for _, d := range actions() {
		if d.key != k.Name || !m.may(d, s) {
			continue
		}
		if m.jumped() {
			return nil, true
		}
		if d.ask != "" {
			m.flash = flash{}
			m.confirm = &confirm{text: fmt.Sprintf(d.ask, s.Name), session: s.ID, action: d}
			return nil, true
		}
		return d.do(m, s), true
	}
	return nil, false
}

func (m *Model) may(d action, s *sessions.Status) bool {
	return m.world.May[d.verb] && (d.can == nil || d.can(s))
}

// confirm is an action that waits for the person's yes.
type confirm struct {
	text    string
	session string
	action  action
}

func (m *Model) pressConfirm(k Key) Effect {
	c := m.confirm
	m.confirm = nil
	s := m.byID[c.session]
	switch {
	case k.Name != "y":
		m.Flash("nothing was done", faint)
		return nil
	case s == nil || !m.may(c.action, s):
		m.Flash("that isn't possible any more", waits)
		return nil
	}
	return c.action.do(m, s)
}

// verb is an action that runs a verb with the session as its only argument.
func verb(name, doing string) func(*Model, *sessions.Status) Effect {
	return func(m *Model, s *sessions.Status) Effect {
		return m.act(Act{Kind: name, Session: s.ID, Name: s.Name, Words: []string{name, s.ID}}, doing+" "+s.Name)
	}
}

// page is an action that shows the text output of a verb. The session's id is the verb's last argument.
func page(kind, title string, words ...string) func(*Model, *sessions.Status) Effect {
	return func(m *Model, s *sessions.Status) Effect {
		return m.act(Act{
			Kind: "page " + kind, Session: s.ID, Name: s.Name, Text: true, title: fmt.Sprintf(title, s.Name), Words: append(words[:len(words):len(words)], s.ID),
		}, "loading")
	}
}

// treeDiff shows the work in the session's worktree.
func (m *Model) treeDiff(s *sessions.Status) Effect {
	if s.Worktree == nil {
		m.Flash(s.Name+" has no worktree: it works in "+s.Cwd+" itself", faint)
		return nil
	}
	return page("diff", "Work in the worktree of %s", "worktree", "diff")(m, s)
}

// eventsShown is how many of a session's newest events a page shows.
const eventsShown = 300

func (m *Model) events(s *sessions.Status) Effect {
	since := uint64(0)
	if s.Seq > eventsShown {
		since = s.Seq - eventsShown
	}
	return m.act(Act{
		Kind: "page watch", Session: s.ID, Name: s.Name, Text: true, end: true, title: "Newest events of " + s.Name,
		Words: []string{"watch", s.ID, "--past", "--since", fmt.Sprintf("%s:%d", s.ID, since)},
	}, "loading")
}

func (m *Model) history(s *sessions.Status) Effect {
	return m.act(Act{Kind: "history", Session: s.ID, Name: s.Name, end: true, title: "Scrollback of " + s.Name}, "loading")
}

func (m *Model) editTags(s *sessions.Status) Effect {
	m.open(editing{what: tagging, session: s.ID, label: "Tags of " + s.Name + ": words to add, -word to remove"}, true)
	return nil
}

// tagWords turns the written text into the words of the verb tag.
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

// refuse says that the person may not do something.
func (m *Model) refuse(what, verb string) {
	who := m.person.Role
	if who == "" {
		who = m.person.Name
	}
	m.Flash(who+": you may not "+what+" (verb "+verb+")", faint)
}
