package tui

import (
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
)

// purpose is what a text is written for.
type purpose string

// The purposes of texts.
const (
	nudging purpose = "nudge"
	denying purpose = "deny"
	wording purpose = "text"
	filling purpose = "field"
	tagging purpose = "tag"

	renaming purpose = "rename"
	forking  purpose = "fork"
)

// editing is the text that the person is writing, for one session.
type editing struct {
	what    purpose
	session string
	all     []string // the marked sessions that it is for, in place of session
	prompt  string   // the prompt that it answers
	digest  string   // the digest of that prompt, as drawn
	label   string
	text    string // the text to start with
	offer   string // what the person can do after a refusal
}

// writing keeps the text that the person is writing, and texts that were not sent.
type writing struct {
	edit   *editing // nil: the person isn't writing
	editor *editor
	drafts map[draft]kept
}

// draft is the key of a text that was not sent.
type draft struct {
	what            purpose
	session, prompt string
}

// draft is the key of the text, if it is not sent.
func (e *editing) draft() draft {
	if len(e.all) > 0 {
		return draft{e.what, setOf(e.all), e.prompt}
	}
	return draft{e.what, e.session, e.prompt}
}

// setOf names a set of sessions in a draft's key. Each set has its own draft, so that a text goes only to the
// sessions it was written for.
func setOf(ids []string) string { return strings.Join(slices.Sorted(slices.Values(ids)), " ") }

// open opens the editor, with the text that was not sent before.
func (w *writing) open(e editing, one bool) {
	text := e.text
	if kept, ok := w.drafts[e.draft()]; ok {
		text = kept.text
		e.offer = kept.offer
	}
	w.edit, w.editor = &e, newEditor(text, one)
}

// kept is a text that was not sent, and what the person can do with it.
type kept struct{ text, offer string }

// keep stores a text that was not sent. open restores it.
func (w *writing) keep(d draft, k kept) {
	if w.drafts == nil {
		w.drafts = map[draft]kept{}
	}
	if k.text == "" {
		delete(w.drafts, d)
		return
	}
	w.drafts[d] = k
}

// pressEdit handles a key while the editor is open.
func (m *Model) pressEdit(k Key) Effect {
	e := m.edit
	d := e.draft()
	switch k.Name {
	case "esc":
		m.keep(d, kept{m.editor.text, e.offer})
		m.edit = nil
	case "enter":
		return m.send("")
	case "ctrl+q":
		if e.what == nudging {
			return m.send("--queue")
		}
	case "ctrl+s":
		if e.what == nudging && e.offer == string(offerStash) {
			return m.send("--stash")
		}
	default:
		m.editor.press(k)
	}
	return nil
}

const offerStash = "stash"

// send uses the text for its purpose.
func (m *Model) send(option string) Effect {
	e, text := m.edit, m.editor.text
	s := m.byID[e.session]
	if s == nil && len(e.all) == 0 {
		m.edit = nil
		m.Flash("the session is gone", failed)
		return nil
	}
	d := e.draft()
	if strings.TrimSpace(text) == "" && e.what != denying && e.what != filling && e.what != forking {
		m.Flash("the text is empty: write something, or close with esc", waits)
		return nil
	}
	m.keep(d, kept{text: text}) // until the verb has succeeded
	if len(e.all) > 0 {
		return m.sendEach(option, d)
	}
	a := Act{Session: s.ID, Name: s.Name, Stdin: text, draft: d}
	switch e.what {
	case nudging:
		if option == "" && busy(s) {
			option = "--queue"
		}
		a.Kind, a.Words = "nudge", nudgeWords(s, option)
		m.edit = nil
		return m.act(a, "sending to "+s.Name)
	case denying:
		a.Kind, a.Words = "respond", respondWords(s.ID, e.prompt, "", "deny", "-")
		if strings.TrimSpace(text) == "" {
			a.Words, a.Stdin = respondWords(s.ID, e.prompt, "", "deny"), ""
		}
	case wording:
		a.Kind = "respond"
		if len(m.multi(e)) > 1 {
			m.edit = nil
			if m.card.prompt != e.prompt || m.card.digest != e.digest {
				m.Flash(changed, waits)
				return nil
			}
			m.keep(d, kept{})
			m.pick(s.Request, agent.QuestionPick{Text: text})
			return nil
		}
		a.Words = respondWords(s.ID, e.prompt, e.digest, "text", "-")
	case tagging, renaming, forking:
		words, saying := keepWords(e.what, s, text)
		a.Kind, a.Words, a.Stdin = words[0], words, ""
		m.edit = nil
		return m.act(a, saying)
	case filling:
		m.keep(d, kept{})
		if m.card.prompt != e.prompt || m.field() == nil {
			m.edit = nil
			m.Flash(changed, waits)
			return nil
		}
		if err := m.setField(text); err != nil {
			m.Flash(err.Error(), failed)
			return nil
		}
		m.edit = nil
		return nil
	}
	m.edit = nil
	return m.act(a, "answering "+s.Name)
}

// busy reports whether an agent takes no message now.
func busy(s *sessions.Status) bool {
	switch s.Now {
	case agent.Working, agent.Prompt, agent.Starting, agent.Restarting:
		return true
	}
	return false
}

func nudgeWords(s *sessions.Status, option string) []string {
	if option == "" {
		return []string{"nudge", s.ID, "-"}
	}
	return []string{"nudge", option, s.ID, "-"}
}

// sendEach uses the text for all marked sessions.
func (m *Model) sendEach(option string, d draft) Effect {
	e, text := m.edit, m.editor.text
	m.edit = nil
	var acts []Act
	for _, id := range e.all {
		s := m.byID[id]
		switch {
		case s == nil:
		case e.what == tagging:
			acts = append(acts, Act{Kind: "tag", Session: id, Name: s.Name, Words: tagWords(s, text)})
		case option == "" && busy(s):
			acts = append(acts, Act{Kind: "nudge", Session: id, Name: s.Name, Words: nudgeWords(s, "--queue"), Stdin: text})
		default:
			acts = append(acts, Act{Kind: "nudge", Session: id, Name: s.Name, Words: nudgeWords(s, option), Stdin: text})
		}
	}
	if len(acts) == 0 {
		m.Flash("the sessions are gone", failed)
		return nil
	}
	effect := m.each(acts, map[purpose]string{tagging: "tagging", nudging: "sending to"}[e.what])
	if a, ok := effect.(Act); ok {
		a.draft = d
		return a
	}
	return effect
}

// multi are the questions of the prompt that a text answers.
func (m *Model) multi(e *editing) []agent.Question {
	if s := m.byID[e.session]; s != nil && s.Request != nil && s.Request.ID == e.prompt {
		return s.Request.Questions
	}
	return nil
}

// drawEdit draws the editor at the bottom of the area.
func (m *Model) drawEdit(a area) {
	t := m.theme
	a.line(0, t.style(accent))
	title := " " + m.edit.label + " "
	a.text(1, 0, -1, t.style(accent), title)
	m.editor.draw(a.part(1, 1, a.w-2, a.h-1), t.style(plain))
}

// editHeight is how many rows of an area the editor gets.
func (m *Model) editHeight(w, h int) int {
	list, _, _ := m.editor.rows(w - 3)
	least := 5
	if m.editor.one {
		least = 3
	}
	return min(max(len(list)+2, least), max(h*2/3, 3), h)
}

// An Act is a verb that the person runs.
type Act struct {
	Kind    string // the verb, or the use of its output
	Session string // the session's id
	Name    string // the session's name
	Words   []string
	Stdin   string
	Text    bool   // the output is text for people, not JSON
	Line    string // the words as typed in the command bar, in place of Words
	draft   draft
	form    *starting // that it was made with
	title   string    // the page's title
	end     bool      // show the page's end first
	at      int       // or this line first
	each    []Act     // the verb for each marked session, in place of Words
}

// Done is the result of an act.
type Done struct {
	Act
	Status  int
	Out     string // its standard output
	Err     string
	Lines   []*terminal.Line // the lines of the scrollback
	queue   []sessions.Queued
	results []Done // of each of the act's sessions
}

// actsAtOnce is how many verbs one person may have under way: no person follows more.
const actsAtOnce = 8

// act runs a verb.
func (m *Model) act(a Act, saying string) Effect {
	if m.doing >= actsAtOnce {
		m.Flash("too many verbs are running: wait for one to end", waits)
		return nil
	}
	m.doing++
	m.Flash(saying+m.ellipsis(), faint)
	return a
}

func (m *Model) ellipsis() string {
	if m.theme.ascii {
		return "..."
	}
	return "…"
}

// resultTime is how long no key removes a result.
const resultTime = 3 * time.Second
