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

// field is a field of a form.
type field struct {
	name, title, about string
	kind               string   // string, number, integer, boolean, array
	options            []string // the values of a choice
	labels             []string // the labels of these values
	required           bool
	preset             string // the default as JSON; empty if there is none
}

// fieldsOf reads the fields of a form from its JSON Schema, in the order of the schema.
func fieldsOf(schema json.RawMessage) []field {
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if _, err := agent.ReadInput(schema); err != nil || json.Unmarshal(schema, &form) != nil {
		return nil // or it has names that differ in letter case alone, and Berth sends no values for it
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

// says is the field in one line, with its default, which accept sends. A text that could be taken for
// more than itself is quoted: a description could give another default, or draw another field.
func (f *field) says() string {
	text := "· " + quotedIf(f.title, ": ", ", default ")
	if f.about != "" {
		text += ": " + quotedIf(f.about, ", default ")
	}
	if f.preset != "" {
		text += ", default " + agent.Compact(json.RawMessage(f.preset))
	}
	return text
}

// quotedIf quotes a text that has a line end, a quotation mark or one of the marks.
func quotedIf(text string, marks ...string) string {
	for _, mark := range append(marks, "\n", "\"") {
		if strings.Contains(text, mark) {
			return strconv.Quote(text)
		}
	}
	return text
}

// fields are the rows of a form's fields, with a bar, so that the text above can't draw one. A schema
// that can't be read is shown as it is, because accept sends its defaults too.
func (m *Model) fields(schema json.RawMessage, width int) []line {
	text := string(schema)
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &form) == nil && len(form.Properties) == 0 {
		return nil // it has none
	}
	if fields := fieldsOf(schema); len(fields) > 0 {
		var all []string
		for _, f := range fields {
			all = append(all, f.says())
		}
		text = strings.Join(all, "\n")
	}
	var out []line
	for _, row := range m.lay(text, width) {
		out = append(out, line{tone: plain, text: row, rail: true})
	}
	return out
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func (m *Model) beginForm(r *agent.Request) {
	m.card.fields = fieldsOf(r.Schema)
	if len(m.card.fields) == 0 {
		m.Flash("can't read the form's fields: attach to fill it in", waits)
		return
	}
	m.card.filling, m.card.step, m.card.review, m.card.content = true, 0, false, map[string]any{}
}

// field is the current field; nil if there is none.
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
		m.Flash("there is no option "+strconv.Itoa(n), waits)
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

// setField sets the current field from a text. An error says why the text isn't a valid value.
func (m *Model) setField(text string) error {
	f := m.field()
	text = strings.TrimSpace(text)
	switch {
	case f == nil:
		return nil
	case text == "" && f.required:
		return fmt.Errorf("%s is required", f.title)
	case text == "":
		delete(m.card.content, f.name)
	case f.kind == "number" || f.kind == "integer":
		if _, err := strconv.ParseFloat(text, 64); err != nil || f.kind == "integer" && strings.ContainsAny(text, ".eE") {
			return fmt.Errorf("%s must be a number", f.title)
		}
		m.card.content[f.name] = json.Number(text)
	default:
		m.card.content[f.name] = text
	}
	m.nextField()
	return nil
}

// enterForm goes on to the next field, or sends the form.
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
		m.Flash("choose one: "+f.title+" is needed", waits)
	default:
		m.nextField()
	}
	return nil
}

// written is a field's value. The texts of a list are quoted, so that no two lists look alike.
func written(v any) string {
	if list, is := v.([]string); is {
		return fmt.Sprintf("%q", list)
	}
	return fmt.Sprint(v)
}

// fieldLines are the filled fields of a form, and the current one.
func (m *Model) fieldLines(width int) []line {
	var out []line
	for i, f := range m.card.fields {
		if i >= m.card.step && !m.card.review {
			break
		}
		if v, ok := m.card.content[f.name]; ok {
			for _, l := range m.lay(f.title+": "+written(v), width) {
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
		if i >= 9 {
			l.key = "" // a 1 of "10" would choose the first one
		}
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
