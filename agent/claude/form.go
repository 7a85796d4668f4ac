package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// An MCP server's requests, after its name in a form's title.
const (
	wantsInput = "requests your input"
	wantsURL   = "wants to open a URL"
)

var server = pattern.New("^MCP server “.*” (" + wantsInput + "|" + wantsURL + ")")

// form reads an MCP server's form, with its fields and two buttons; or its request to open an
// address.
func (b *bottomBlock) form() bool {
	top := b.screen.top(b.screen.last)
	text := b.screen.view.Text(top+1, b.screen.last)
	title, _ := head(text)
	if !server.MatchString(title) || !strings.Contains(text, "Accept") || !strings.Contains(text, "Esc to cancel") {
		return false
	}
	d := b.dialog
	d.Type, d.Title = agent.PromptForm, title
	d.Cut = top < 0 || moreAbove.MatchString(text) // its first rows have no room, and its message may look like them
	d.Options = []agent.Option{{Label: buttonAccept}, {Label: buttonDecline}}
	for i := top + 2; i <= b.screen.last; i++ {
		readFormRow(d, b.screen.text(i))
	}
	b.message(top)
	d.Sections = []string{d.Body, strings.Join(labels(d), "\x00")}
	focused := 0
	for _, f := range d.Fields {
		if f.Focused {
			focused++
		}
	}
	if d.Options[0].Focused || d.Options[1].Focused {
		focused++
	}
	d.Partial = focused > 1 // the message looks like a field
	return true
}

// message reads the text of a form: the rows below its title that aren't indented like its fields.
// A server can write anything into it, also text that looks like a field.
func (b *bottomBlock) message(top int) {
	d, s := b.dialog, b.screen
	_, end := s.lastWords(top)
	first, last := top+1, top
	for first < end && !server.MatchString(strings.TrimSpace(s.text(first))) {
		first++
	}
	fields := false
	for i := first + 1; i < end; i++ {
		text := s.text(i)
		field := formButtons.MatchString(text) || formField.MatchString(text)
		fields = fields || field
		if strings.TrimSpace(text) != "" && !field && (!fields || !strings.HasPrefix(text, "    ")) {
			last = i
		}
	}
	for first++; first <= last && strings.TrimSpace(s.text(first)) == ""; first++ {
	}
	var rows []string
	for i := first; i <= last; i++ {
		d.Rows = append(d.Rows, agent.Drawn(s.view.Lines[i]))
		rows = append(rows, strings.TrimPrefix(s.text(i), formIndent))
	}
	d.Body = strings.TrimRight(strings.Join(rows, "\n"), " \n")
}

// formIndent is the indent of a form's message, and besideForm the most columns that are free
// beside it.
const (
	formIndent = "  "
	besideForm = 6
)

// matchForm compares a form. Its message is prose, so a full row's end makes no difference. A form
// with other fields than reported is a prompt of its own, as the dialog shows it.
func matchForm(d *agent.Dialog, p *agent.Request) agent.Match {
	if p.Title != nil && drawn.Squeeze(*p.Title) != drawn.Squeeze(d.Title) {
		return agent.NoMatch
	}
	m := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - besideForm, Prose: true, Undrawn: undrawn}.Of(strings.TrimSpace(agent.Value(p.Text)))
	if d.Cut || !hasFields(d, p.Schema) {
		m = both(m, agent.PartMatch)
	}
	return m
}

// hasFields reports whether the shown fields are the schema's, in its order. Fields without room
// aren't shown.
func hasFields(d *agent.Dialog, schema json.RawMessage) bool {
	if len(d.Fields) == 0 {
		return true
	}
	told, err := properties(schema)
	for _, f := range d.Fields {
		at := slices.IndexFunc(told, func(p property) bool { return p.heads(f) })
		if err != nil || at < 0 {
			return false
		}
		told = told[at+1:]
	}
	return true
}

// heads reports whether the field is the property's, by its label and its description. An error or
// a list of choices may be in place of the description.
func (p *property) heads(f agent.Field) bool {
	f = p.under(f)
	return strings.TrimSpace(f.Label) == strings.TrimSpace(p.title) && (f.Wrong || f.List != nil || flat(f.Explained) == flat(p.explained))
}

// under is the field, read with the property's title. Without the title, a label's text after a
// colon would be read as the value.
func (p *property) under(f agent.Field) agent.Field {
	if rest, ok := strings.CutPrefix(f.Label+": "+f.Value, p.title+":"); ok {
		f.Label, f.Value = p.title, fieldValue(rest)
		f.Set = f.Set && f.Value != ""
	}
	return f
}

// titled is the form with its fields read with the titles of these properties.
func titled(d *agent.Dialog, all []property) *agent.Dialog {
	if d == nil || len(d.Fields) != len(all) {
		return d
	}
	read := *d
	read.Fields = slices.Clone(d.Fields)
	for i := range all {
		read.Fields[i] = all[i].under(d.Fields[i])
	}
	return &read
}

// labels are those of the form's fields. They don't change when it is filled in.
func labels(d *agent.Dialog) (all []string) {
	for _, f := range d.Fields {
		all = append(all, f.Heading())
	}
	return all
}

const (
	buttonAccept  = "Accept"
	buttonDecline = "Decline"
)

var (
	formButtons  = pattern.New(`^ *(❯ )? *Accept +(❯ )? *Decline$`)
	formField    = pattern.New(`^([ ❯*✔⚠]{6})([^ ].*?):(?: (.*))?$`)
	formChoice   = pattern.New(`^ {8}(❯| ) ([◯◉☐☒]) (.*)$`)
	formExplains = pattern.New(`^ {8}(\S.*)$`)
	formGoesOn   = pattern.New(`^ {9,}(\S.*)$`) // the rest of a value; a field's description starts at the ninth column
)

// readFormRow reads a row of a form.
func readFormRow(d *agent.Dialog, row string) {
	if m := formButtons.FindStringSubmatch(row); m != nil {
		d.Options[0].Focused, d.Options[1].Focused = m[1] != "", m[2] != ""
		return
	}
	if m := formField.FindStringSubmatch(row); m != nil {
		f := agent.Field{Label: m[2], Value: fieldValue(m[3]), Focused: strings.Contains(m[1], "❯"), Wrong: strings.Contains(m[1], "⚠")}
		f.Set = f.Value != "" && strings.Contains(m[1], "✔")
		f.Missing = strings.Contains(m[1], "*")
		d.Fields = append(d.Fields, f)
		return
	}
	if len(d.Fields) == 0 || d.Options[0].Focused || d.Options[1].Focused {
		return
	}
	f := &d.Fields[len(d.Fields)-1]
	if m := formChoice.FindStringSubmatch(row); m != nil {
		f.List = append(f.List, agent.Option{Label: m[3], Focused: m[1] == "❯", Multiple: m[2] == "☐" || m[2] == "☒", Ticked: m[2] == "◉" || m[2] == "☒"})
	} else if m := formGoesOn.FindStringSubmatch(row); m != nil && f.Value != "" {
		f.Value += "\n" + m[1]
	} else if m := formExplains.FindStringSubmatch(row); m != nil {
		f.Explained += "\n" + m[1]
	}
}

// Values of a checkbox.
const (
	valueYes = "☒"
	valueNo  = "☐"
)

// fieldValue is a value without placeholders and marks.
func fieldValue(shown string) string {
	shown = strings.TrimSpace(shown)
	for _, mark := range []string{"▸", "▾"} {
		shown = strings.TrimSpace(strings.TrimPrefix(shown, mark))
	}
	if shown == "not set" || shown == "Type something…" {
		return ""
	}
	return shown
}

// property is a field of a form's schema.
type property struct {
	name      string
	title     string // its field's label
	explained string
	kind      string // string, number, integer, boolean, array
	required  bool
	values    []string // the values to choose from
	labels    []string // their labels
	preset    any      // its initial value; nil for none
	limits    limits
}

// limits are what else a field's schema asks of its value.
type limits struct {
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum *float64
	MinLength, MaxLength, MinItems, MaxItems             *int
	Pattern, Format                                      string
}

func (p *property) missing() error {
	return fmt.Errorf(`%w: the form wants %s: give it as {"action":"accept","content":{%q:...}} on standard input`, agent.ErrAnswer, p.name, p.name)
}

// properties are the fields of a schema in their order, which is also the form's. Parsers disagree on names that differ in letter
// case alone, and on those that are there twice: such a schema can't be read.
func properties(schema json.RawMessage) ([]property, error) {
	bad := func(err error) error {
		return fmt.Errorf("%w: the form's schema can't be read (%w); attach, and answer at the terminal", agent.ErrCannot, err)
	}
	top, err := agent.ReadInput(schema)
	if err != nil {
		return nil, bad(err)
	}
	var required []string
	if list := top["required"]; list != nil {
		if err := json.Unmarshal(list, &required); err != nil {
			return nil, bad(err)
		}
	}
	if fields := top["properties"]; len(fields) == 0 || string(fields) == "{}" { // a question for yes or no, without fields
		return nil, nil
	}
	each, err := agent.ReadInput(top["properties"])
	if err != nil {
		return nil, bad(err)
	}
	var all []property
	for _, name := range names(top["properties"]) {
		var in struct {
			Type        string
			Title       string
			Description string
			Default     any
			Enum        []string
			EnumNames   []string
			OneOf       []constant
			Items       struct {
				Enum  []string
				AnyOf []constant
			}
			limits
		}
		d := json.NewDecoder(bytes.NewReader(each[name]))
		d.UseNumber() // as in an answer's numbers
		if _, err := agent.ReadInput(each[name]); err != nil || d.Decode(&in) != nil {
			in.Type, in.Default = "", nil // a type that Berth can't fill in
		}
		p := property{name: name, title: cmp.Or(in.Title, name), explained: in.Description, kind: in.Type, required: slices.Contains(required, name), values: in.Enum, labels: in.EnumNames, preset: in.Default, limits: in.limits}
		if in.Type == "array" {
			p.values = in.Items.Enum
		}
		for _, t := range append(in.OneOf, in.Items.AnyOf...) {
			p.values, p.labels = append(p.values, t.Const), append(p.labels, t.Title)
		}
		if len(p.labels) != len(p.values) {
			p.labels = p.values
		}
		all = append(all, p)
	}
	return all, nil
}

type constant struct{ Const, Title string }

// names are the names in a JSON object, in their order.
func names(object json.RawMessage) []string {
	var all []string
	d := json.NewDecoder(bytes.NewReader(object))
	depth := 0
	for {
		t, err := d.Token()
		if err != nil {
			return all
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth != 1 {
				continue
			}
			all = append(all, t)
			var value json.RawMessage
			if d.Decode(&value) != nil {
				return all
			}
		}
	}
}

// wanted is what a field must hold: the text as it is typed and shown, or the indexes of the
// choices.
type wanted struct {
	text   string
	yes    bool
	chosen []int
}

// want converts a value to the form of its field.
func (p *property) want(value any) (wanted, error) {
	bad := func(what string) (wanted, error) {
		return wanted{}, fmt.Errorf("%w: %s wants %s", agent.ErrAnswer, p.name, what)
	}
	choose := func(s string) (int, error) {
		if i := slices.Index(p.values, s); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("%w: %s wants one of %s", agent.ErrAnswer, p.name, strings.Join(p.values, ", "))
	}
	switch {
	case p.kind == "boolean":
		yes, ok := value.(bool)
		if !ok {
			return bad("true or false")
		}
		return wanted{yes: yes}, nil
	case p.kind == "array" && len(p.values) > 0:
		list, ok := value.([]any)
		if !ok {
			return bad("a list of " + strings.Join(p.values, ", "))
		}
		var w wanted
		for _, one := range list {
			s, _ := one.(string)
			i, err := choose(s)
			if err != nil {
				return wanted{}, err
			}
			w.chosen = append(w.chosen, i)
		}
		return w, nil
	case p.kind == "string" && len(p.values) > 0:
		s, ok := value.(string)
		if !ok {
			return bad("one of " + strings.Join(p.values, ", "))
		}
		i, err := choose(s)
		return wanted{chosen: []int{i}}, err
	case p.kind == "string":
		s, ok := value.(string)
		if !ok || s == "" {
			return bad("a text")
		}
		return wanted{text: s}, nil
	case p.kind == "number" || p.kind == "integer":
		n, ok := value.(json.Number)
		if !ok {
			return bad("a number")
		}
		return wanted{text: n.String()}, nil
	}
	return wanted{}, fmt.Errorf("%w: Berth can't fill in %s; attach, and answer at the terminal", agent.ErrCannot, p.name)
}

// untouched reports whether the field is empty or has its initial value. The prompt shows no other
// values, so that Berth sends none that the caller didn't give.
func (p *property) untouched(f agent.Field) bool {
	if !f.Set {
		return true
	}
	w, err := p.want(p.preset)
	return p.preset != nil && err == nil && p.shown(f, w)
}

// shown reports whether the field has the wanted value.
func (p *property) shown(f agent.Field, w wanted) bool {
	if !f.Set {
		return p.kind == "array" && len(w.chosen) == 0 && !f.Wrong
	}
	switch {
	case p.kind == "boolean":
		return f.Value == map[bool]string{true: valueYes, false: valueNo}[w.yes]
	case len(p.values) > 0:
		var labels []string
		for i, label := range p.labels {
			if slices.Contains(w.chosen, i) {
				labels = append(labels, label)
			}
		}
		shown := strings.Split(f.Value, ", ") // in the order of choice, or of the list
		slices.Sort(shown)
		slices.Sort(labels)
		return drawn.Squeeze(strings.Join(shown, ",")) == drawn.Squeeze(strings.Join(labels, ","))
	}
	return drawnAs(f.Value, w.text)
}

// drawnAs reports whether a field's rows are the text. Only the end of a row may be a blank, or nothing.
func drawnAs(rows, text string) bool {
	blank := func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\u00a0' }
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if blank(r) {
				return ' '
			}
			return r
		}, s)
	}
	rest := text
	for row := range strings.SplitSeq(rows, "\n") {
		var is bool
		if rest, is = strings.CutPrefix(plain(strings.TrimLeftFunc(rest, blank)), plain(strings.TrimFunc(row, blank))); !is {
			return false
		}
	}
	return strings.TrimFunc(rest, blank) == ""
}

// unclear reports whether the field may show another choice, or several, as it shows one: labels that differ in no more
// than blanks, or a comma in one of several. Any process can have chosen at the terminal.
func (p *property) unclear() bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(p.labels, func(label string) bool {
		plain := drawn.Squeeze(label)
		twice := seen[plain]
		seen[plain] = true
		return twice || p.kind == "array" && strings.Contains(label, ",")
	})
}
