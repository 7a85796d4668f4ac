package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/sessions"
)

// field is one of a form.
type field struct {
	name, title, about string
	kind               string   // string, number, integer, boolean, array
	options            []string // of a choice: what is sent
	labels             []string // and what is shown
	required           bool
	preset             string // what it holds where nothing is filled in, as JSON; empty for nothing
}

// fieldsOf reads the fields of a form from its JSON Schema, in the order in
// which it has them.
func fieldsOf(schema json.RawMessage) []field {
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &form) != nil {
		return nil
	}
	var list []field
	d := json.NewDecoder(strings.NewReader(string(form.Properties)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var p struct {
			Type        string          `json:"type"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
			Enum        []string        `json:"enum"`
			EnumNames   []string        `json:"enumNames"`
			OneOf       []choice        `json:"oneOf"`
			Items       struct {
				Enum  []string `json:"enum"`
				AnyOf []choice `json:"anyOf"`
			} `json:"items"`
		}
		if d.Decode(&p) != nil {
			return nil
		}
		f := field{name: fmt.Sprint(name), title: p.Title, about: p.Description, kind: p.Type, options: p.Enum, labels: p.EnumNames, preset: string(p.Default)}
		f.required = slices.Contains(form.Required, f.name)
		if p.Type == "array" {
			f.options = p.Items.Enum
		}
		for _, c := range append(p.OneOf, p.Items.AnyOf...) {
			f.options, f.labels = append(f.options, c.Const), append(f.labels, c.Title)
		}
		if p.Type == "boolean" {
			f.options = []string{"yes", "no"}
		}
		if len(f.labels) != len(f.options) {
			f.labels = f.options
		}
		if f.title == "" {
			f.title = f.name
		}
		list = append(list, f)
	}
	return list
}

// says is the field in a line: accept sends what it holds.
func (f *field) says() string {
	text := f.title
	if f.about != "" {
		text += ": " + f.about
	}
	if f.preset != "" {
		text += ", with " + f.preset + " in it"
	}
	return text
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func (m *Model) beginForm(r *agent.Request) {
	m.card.fields = fieldsOf(r.Schema)
	if len(m.card.fields) == 0 {
		m.Tell("its fields cannot be read: attach to fill it in", waits)
		return
	}
	m.card.filling, m.card.step, m.card.review, m.card.content = true, 0, false, map[string]any{}
}

// field is the one to be filled in now; nil when there is none.
func (m *Model) field() *field {
	if !m.card.filling || m.card.review || m.card.step >= len(m.card.fields) {
		return nil
	}
	return &m.card.fields[m.card.step]
}

func (m *Model) nextField() {
	m.card.chosen = nil
	if m.card.step++; m.card.step >= len(m.card.fields) {
		m.card.step, m.card.review = len(m.card.fields)-1, true
	}
}

func (m *Model) fieldOption(n int) Effect {
	f := m.field()
	switch {
	case n > len(f.options):
		m.Tell("there is no option "+strconv.Itoa(n), waits)
	case f.kind == "array":
		if m.card.chosen == nil {
			m.card.chosen = map[int]bool{}
		}
		m.card.chosen[n] = !m.card.chosen[n]
	case f.kind == "boolean":
		m.card.content[f.name] = n == 1
		m.nextField()
	default:
		m.card.content[f.name] = f.options[n-1]
		m.nextField()
	}
	return nil
}

// setField takes a field's text; an error says why it is none.
func (m *Model) setField(text string) error {
	f := m.field()
	text = strings.TrimSpace(text)
	switch {
	case f == nil:
		return nil
	case text == "" && f.required:
		return fmt.Errorf("%s is needed", f.title)
	case text == "":
		delete(m.card.content, f.name)
	case f.kind == "number" || f.kind == "integer":
		if _, err := strconv.ParseFloat(text, 64); err != nil || f.kind == "integer" && strings.ContainsAny(text, ".eE") {
			return fmt.Errorf("%s wants a number", f.title)
		}
		m.card.content[f.name] = json.Number(text)
	default:
		m.card.content[f.name] = text
	}
	m.nextField()
	return nil
}

// enterForm goes on, or sends the form.
func (m *Model) enterForm(s *sessions.Status) Effect {
	f := m.field()
	switch {
	case f == nil:
		return m.respond(s, m.toJSON(map[string]any{"action": "accept", "content": m.card.content}), "-")
	case len(f.options) == 0:
		text := ""
		if v, ok := m.card.content[f.name]; ok {
			text = fmt.Sprint(v)
		}
		m.open(editing{what: filling, session: s.ID, prompt: m.card.prompt, label: f.title, text: text}, true)
	case f.kind == "array":
		list := []string{}
		for i, o := range f.options {
			if m.card.chosen[i+1] {
				list = append(list, o)
			}
		}
		m.card.content[f.name] = list
		m.nextField()
	case f.required:
		m.Tell("choose one: "+f.title+" is needed", waits)
	default:
		m.nextField()
	}
	return nil
}

// fieldLines are the form as far as it is filled in, and the field in question.
func (m *Model) fieldLines(width int) []line {
	var out []line
	for i, f := range m.card.fields {
		if i >= m.card.step && !m.card.review {
			break
		}
		if v, ok := m.card.content[f.name]; ok {
			for _, l := range m.lay(f.title+": "+fmt.Sprint(v), width) {
				out = append(out, line{tone: faint, text: l})
			}
		}
	}
	f := m.field()
	if f == nil {
		return append(out, line{tone: strong, text: "Send it with enter"})
	}
	title := f.title
	if f.required {
		title += " (needed)"
	}
	for _, l := range m.lay(title, width) {
		out = append(out, line{tone: strong, text: l})
	}
	if f.about != "" {
		for _, l := range m.lay(f.about, width) {
			out = append(out, line{tone: faint, text: l})
		}
	}
	for i, label := range f.labels {
		l := line{key: strconv.Itoa(i + 1), tone: plain}
		if m.card.chosen[i+1] {
			l.mark = "[x] "
		}
		for j, text := range m.lay(label, width-besideOption-boxCols) {
			if j > 0 {
				l = line{tone: plain, mark: " "}
			}
			l.text = text
			out = append(out, l)
		}
	}
	if len(f.options) == 0 {
		out = append(out, line{tone: faint, text: "enter writes it"})
	}
	return out
}
