package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Input is a tool's input by the exact names of its fields. A prompt's text and the comparison with
// its dialog both read it, so they see the same fields.
type Input map[string]json.RawMessage

// Unreadable is a prompt's text when the tool's input can't be read.
const Unreadable = "The tool's input can't be read. It is shown as the agent sent it."

// ReadInput reads a tool's input. It is an error when the input isn't an object, has a name twice,
// or has two names that differ only in letter case: parsers disagree on which field wins.
func ReadInput(raw json.RawMessage) (Input, error) {
	if Repeats(raw) {
		return nil, errors.New("read a tool's input: it has a name twice")
	}
	var in Input
	if err := json.Unmarshal(raw, &in); err != nil || in == nil {
		return nil, fmt.Errorf("read a tool's input: it is not an object: %w", err)
	}
	for a := range in {
		for b := range in {
			if a != b && strings.EqualFold(a, b) {
				return nil, fmt.Errorf("read a tool's input: it has both %q and %q", a, b)
			}
		}
	}
	return in, nil
}

// Text returns the text of a field, or nil without the field. It is an error when the value isn't
// text.
func (in Input) Text(name string) (*string, error) {
	var s *string
	if raw, ok := in[name]; ok {
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read the field %s: %w", name, err)
		}
	}
	return s, nil
}

// Words is the text of a field; empty without one.
func (in Input) Words(name string) string {
	s, err := in.Text(name)
	if err != nil {
		return ""
	}
	return Value(s)
}

// Texts stores each field's text in the variable that fields has for it.
func (in Input) Texts(fields map[string]*string) error {
	for name, to := range fields {
		s, err := in.Text(name)
		if err != nil {
			return err
		}
		if s != nil {
			*to = *s
		}
	}
	return nil
}

// ReadExactly reads JSON whose fields have these names. A duplicate name, or a name in other
// letter case, is an error: parsers disagree on which field wins.
func ReadExactly(raw json.RawMessage, v any, names ...string) error {
	if anyName(raw, func(name string, others map[string]bool) bool {
		other := func(known string) bool { return known != name && strings.EqualFold(known, name) }
		return others[name] || slices.ContainsFunc(names, other)
	}) {
		return errors.New("read a tool's input: it has a name twice, or in other letter case")
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read a tool's input: %w", err)
	}
	return nil
}

// Repeats reports whether an object within the JSON has a name twice.
func Repeats(raw json.RawMessage) bool {
	return anyName(raw, func(name string, others map[string]bool) bool { return others[name] })
}

// anyName says whether is returns true for the name of any field in the JSON. others are the
// names that the same object has before it.
func anyName(raw json.RawMessage, is func(name string, others map[string]bool) bool) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var names []map[string]bool // of the enclosing objects and lists; nil for a list
	name := false               // whether the next token may be a name
	for {
		t, err := d.Token()
		if err != nil { // not JSON; parsing it reports the error
			return false // not JSON: what reads it says so
		}
		switch v := t.(type) {
		case json.Delim:
			switch v {
			case '{':
				names = append(names, map[string]bool{})
			case '[':
				names = append(names, nil)
			default:
				names = names[:len(names)-1]
			}
			name = true
		case string:
			if around := len(names); around > 0 && names[around-1] != nil && name {
				if is(v, names[around-1]) {
					return true
				}
				names[around-1][v], name = true, false
				continue
			}
			name = true
		default:
			name = true
		}
	}
}

// Lines are the fields, one a line.
func (in Input) Lines() string {
	var lines []string
	for _, name := range in.Names() {
		lines = append(lines, name+": "+Compact(in[name]))
	}
	return strings.Join(lines, "\n")
}

// Encoded is a value as JSON; nil if it has no such form. A person may read it, so <, > and & stay as they are.
func Encoded(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	if e.SetEscapeHTML(false); e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// deepest is how many objects and lists of a report may be within each other. The decoder takes 10,000, and a checkpoint
// has the report within other objects: it could be written, and not read. No agent's call has a tenth of these.
const deepest = 1000

// Deep reports whether a report of an agent has more than that.
func Deep(report []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(report); i++ {
		switch c := report[i]; {
		case text && c == '\\':
			i++ // the next character doesn't end the text
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			if depth++; depth > deepest {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// All is an object's known fields, and all of its fields.
type All[T any] struct {
	Known  T
	Fields Input
}

// UnmarshalJSON fails for names that ReadInput refuses, too. Without an object there are no fields.
func (a *All[T]) UnmarshalJSON(text []byte) (err error) {
	if string(text) == "null" {
		return nil
	}
	a.Fields, err = ReadInput(text)
	return errors.Join(err, json.Unmarshal(text, &a.Known))
}
