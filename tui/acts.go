package tui

import (
	"fmt"
	"slices"
	"strings"

	"berth/sessions"
)

// action is something that one key does with the chosen session, or with all marked ones.
type action struct {
	key, verb, does string
	can             func(*sessions.Status) bool           // whether it applies to this session; nil: always
	all             bool                                  // applies to all marked sessions
	doing           string                                // such as "restarting"
	ask             string                                // format of the confirmation, with the sessions' names
	asking          func([]*sessions.Status) string       // the confirmation, in place of ask
	words           func(*sessions.Status) []string       // the verb's words; nil: the session is its argument
	always          bool                                  // asks for it also for one session that isn't marked
	do              func(*Model, *sessions.Status) Effect // nil: the verb runs
	here            bool                                  // only for sessions of this server, not of a fleet's other hosts
}

// actions lists all of them, in the order of the help page. Those that the person may not use are
// neither listed nor done.
func actions() []action {
	running := func(s *sessions.Status) bool { return !s.Over() }
	return []action{
		{key: "i", verb: "interrupt", does: "interrupt its turn", can: takesMessages, all: true, doing: "interrupting", ask: "Interrupt %s?"},
		{key: "R", verb: "restart", does: "restart its program", all: true, doing: "restarting", always: true, ask: "Restart %s? A turn in progress is lost."},
		{key: "X", verb: "kill", does: "end its program", can: running, all: true, doing: "ending", always: true, ask: "End the program of %s?"},
		{key: "x", verb: "rm", does: "remove the session", all: true, doing: "removing", always: true, asking: removeText, words: removeWords},
		{key: "N", verb: "rename", does: "rename it", do: (*Model).rename},
		{key: "F", verb: "fork", does: "fork its conversation", do: (*Model).fork},
		{key: "T", verb: "tag", does: "change its tags", all: true, do: (*Model).editTags},
		{key: "h", verb: "screen", does: "scrollback", here: true, do: (*Model).history},
		{key: "e", verb: "explain", does: "explain its state", do: page("explain", "Evidence for the state of %s", "explain")},
		{key: "l", verb: "transcript", does: "its session log", do: page("transcript", "Session log of %s · a number opens a part", "transcript")},
		{key: "v", verb: "transcript", does: "its conversation", here: true, do: (*Model).openTalk},
		{key: "E", verb: "watch", does: "its newest events", do: (*Model).events},
		{key: "u", verb: "queue", does: "queued messages", do: (*Model).queued},
		{key: "D", verb: "worktree", does: "diff of its worktree", do: (*Model).treeDiff},
		{key: "w", verb: "who", does: "who is attached", do: page("who", "Who is attached to %s", "who")},
		{key: "A", verb: "audit", does: "audit log, last day", here: true, do: page("audit", "Audit log of %s, last day", "audit", "--since", "24h", "--session")},
	}
}

// pressAction handles a key that does something with the chosen session, or with all marked ones. It
// returns false for other keys.
func (m *Model) pressAction(k Key) (Effect, bool) {
	if k.Name == "delete" {
		k.Name = "x"
	}
	i := slices.IndexFunc(actions(), func(d action) bool { return d.key == k.Name })
	if i < 0 {
		return nil, false
	}
	d, s, list := actions()[i], m.current(), m.marked()
	if !d.all || len(list) == 0 {
		if s == nil || !m.may(d, s) {
			return nil, false
		}
		if m.jumped() {
			return nil, true
		}
		list = nil
	}
	switch {
	case !m.world.May[d.verb]:
		return nil, false
	case d.do != nil:
		return d.do(m, s), true
	case list == nil && !d.always:
		return m.act(actOn(d, s), d.doing+" "+s.Name), true
	}
	c := &confirm{action: d, marked: list != nil}
	if !c.marked {
		list = []*sessions.Status{s}
	}
	for _, one := range list {
		c.acts = append(c.acts, actOn(d, one))
	}
	if d.asking != nil {
		c.text = d.asking(list)
	} else {
		c.text = fmt.Sprintf(d.ask, listed(list))
	}
	m.flash, m.confirm = flash{}, c
	return nil, true
}

// actOn is the verb of an action for one session.
func actOn(d action, s *sessions.Status) Act {
	a := Act{Kind: d.verb, Session: s.ID, Name: s.Name, Words: []string{d.verb, s.ID}}
	if d.words != nil {
		a.Words = d.words(s)
	}
	return a
}

func (m *Model) may(d action, s *sessions.Status) bool {
	return m.world.May[d.verb] && (d.can == nil || d.can(s)) && !(d.here && away(s))
}

// confirm is an action that waits for the person's yes.
type confirm struct {
	text   string
	action action
	marked bool // it applies to the sessions that were marked
	acts   []Act
}

func (m *Model) pressConfirm(k Key) Effect {
	c := m.confirm
	m.confirm = nil
	if k.Name != "y" {
		m.Flash("nothing was done", faint)
		return nil
	}
	acts := slices.DeleteFunc(c.acts, func(a Act) bool {
		s := m.byID[a.Session]
		return s == nil || !m.world.May[c.action.verb] || !c.marked && !m.may(c.action, s)
	})
	switch {
	case len(acts) == 0:
		m.Flash("that isn't possible any more", waits)
		return nil
	case c.marked:
		return m.each(acts, c.action.doing)
	}
	return m.act(acts[0], c.action.doing+" "+acts[0].Name)
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
	if s.Worktree == nil && !away(s) {
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
	cursor := fmt.Sprintf("%s:%d", s.ID, since)
	if len(m.world.Hosts) > 0 { // a gateway has one stream of all hosts' events, and no place in a session's
		cursor = "0"
	}
	return m.act(Act{
		Kind: "page watch", Session: s.ID, Name: s.Name, Text: true, end: true, title: "Newest events of " + s.Name,
		Words: []string{"watch", s.ID, "--past", "--since", cursor},
	}, "loading")
}

func (m *Model) history(s *sessions.Status) Effect {
	return m.act(Act{Kind: "history", Session: s.ID, Name: s.Name, end: true, title: "Scrollback of " + s.Name}, "loading")
}

func (m *Model) editTags(s *sessions.Status) Effect {
	m.write(editing{what: tagging, label: "Tags of %s: words to add, -word to remove"}, s, true)
	return nil
}

// write opens the editor for a text for the marked sessions, or for one session if none is marked.
func (m *Model) write(e editing, s *sessions.Status, one bool) {
	list := m.marked()
	for _, marked := range list {
		e.all = append(e.all, marked.ID)
	}
	if len(list) == 0 {
		e.session, list = s.ID, []*sessions.Status{s}
	}
	e.label = fmt.Sprintf(e.label, listed(list))
	m.open(e, one)
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
	m.Flash(m.who()+": you may not "+what+" (verb "+verb+")", faint)
}
