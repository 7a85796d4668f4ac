package tui

import (
	"strings"
	"time"

	"berth/agent"
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
)

// editing is a text that is being written, for one session.
type editing struct {
	what    purpose
	session string
	prompt  string // that it answers
	digest  string // of that prompt, as it was drawn
	label   string
	text    string // that it begins with
	offer   string // what else can be done with it, after it was refused
}

// writing is the text that a person writes, and those that were not sent.
type writing struct {
	edit   *editing // nil: none is being written
	editor *editor
	drafts map[draft]kept
}

// draft names what is kept of a text that was not sent.
type draft struct {
	what            purpose
	session, prompt string
}

// open begins to write, with what was written before.
func (w *writing) open(e editing, one bool) {
	text := e.text
	if kept, ok := w.drafts[draft{e.what, e.session, e.prompt}]; ok {
		text = kept.text
		e.offer = kept.offer
	}
	w.edit, w.editor = &e, newEditor(text, one)
}

// kept is a text that was not sent, and what could be done with it.
type kept struct{ text, offer string }

// keep puts the text aside, so that it is there again when it is gone on with.
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

// pressEdit takes a key while a text is written.
func (m *Model) pressEdit(k Key) Effect {
	e := m.edit
	d := draft{e.what, e.session, e.prompt}
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

// send does with the text what it was written for.
func (m *Model) send(option string) Effect {
	e, text := m.edit, m.editor.text
	s := m.byID[e.session]
	if s == nil {
		m.edit = nil
		m.Tell("its session is gone", failed)
		return nil
	}
	d := draft{e.what, e.session, e.prompt}
	if strings.TrimSpace(text) == "" && e.what != denying && e.what != filling {
		m.Tell("there is nothing to send; esc leaves", waits)
		return nil
	}
	m.keep(d, kept{text: text}) // until it has arrived
	a := Act{Session: s.ID, Name: s.Name, Stdin: text, draft: d}
	switch e.what {
	case nudging:
		a.Kind, a.Words = "nudge", []string{"nudge", s.ID, "-"}
		if option != "" {
			a.Words = []string{"nudge", option, s.ID, "-"}
		}
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
				m.Tell(changed, waits)
				return nil
			}
			m.keep(d, kept{})
			m.pick(s.Request, agent.QuestionPick{Text: text})
			return nil
		}
		a.Words = respondWords(s.ID, e.prompt, e.digest, "text", "-")
	case tagging:
		a.Kind, a.Words, a.Stdin = "tag", tagWords(s, text), ""
		m.edit = nil
		return m.act(a, "tagging "+s.Name)
	case filling:
		m.keep(d, kept{})
		if m.card.prompt != e.prompt || m.field() == nil {
			m.edit = nil
			m.Tell(changed, waits)
			return nil
		}
		if err := m.setField(text); err != nil {
			m.Tell(err.Error(), failed)
			return nil
		}
		m.edit = nil
		return nil
	}
	m.edit = nil
	return m.act(a, "answering "+s.Name)
}

// multi are the questions of the prompt that a text is for.
func (m *Model) multi(e *editing) []agent.Question {
	if s := m.byID[e.session]; s != nil && s.Request != nil && s.Request.ID == e.prompt {
		return s.Request.Questions
	}
	return nil
}

// drawEdit draws the text that is being written, below all else in the area.
func (m *Model) drawEdit(a area) {
	t := m.theme
	a.line(0, t.style(accent))
	title := " " + m.edit.label + " "
	a.text(1, 0, -1, t.style(accent), title)
	m.editor.draw(a.part(1, 1, a.w-2, a.h-1), t.style(plain))
}

// editHeight is how many rows the editor gets of an area.
func (m *Model) editHeight(w, h int) int {
	list, _, _ := m.editor.rows(w - 3)
	least := 5
	if m.editor.one {
		least = 3
	}
	return min(max(len(list)+2, least), max(h*2/3, 3), h)
}

// An Act is a verb that the person has used.
type Act struct {
	Kind    string // the verb, or what its answer is wanted for
	Session string // id
	Name    string // of the session
	Words   []string
	Stdin   string
	Text    bool // the answer is text for people
	draft   draft
	title   string // of a page
	end     bool   // the page begins at its end
	at      int    // or there
}

// Done is what came of an act.
type Done struct {
	Act
	Status int
	Out    string // what it printed
	Err    string
	Lines  []*terminal.Line // of a history
}

// actsAtOnce is how many verbs one person has under way: more nobody follows.
const actsAtOnce = 8

// act has a verb run.
func (m *Model) act(a Act, saying string) Effect {
	if m.doing >= actsAtOnce {
		m.Tell("too much is under way: wait for it", waits)
		return nil
	}
	m.doing++
	m.Tell(saying+m.ellipsis(), faint)
	return a
}

func (m *Model) ellipsis() string {
	if m.theme.ascii {
		return "..."
	}
	return "…"
}

// resultTime is how long a result stays although keys come.
const resultTime = 3 * time.Second
