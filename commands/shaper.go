package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/commands/shape"
	"berth/terminal"
)

// everyField is the value of a bare --json.
const everyField = "true"

// fieldList is the value of --json. The zero value is no --json.
type fieldList string

func (f *fieldList) String() string { return string(*f) }
func (f *fieldList) Type() string   { return "fields" }
func (f *fieldList) Set(s string) error {
	*f = fieldList(s)
	return nil
}

// shapeFlags adds the options that shape JSON. A verb may have an option of the same name.
func shapeFlags(flags *pflag.FlagSet, verb *Verb) {
	flags.String(shape.JQ, "", "print what this jq expression makes of the JSON")
	flags.String(shape.Template, "", "print this Go template for each item of the JSON, such as '{{.session}}'")
	// A text may well have a word -q.
	if !verb.Tail && slices.Contains(fieldNames(verb), "session") {
		flags.BoolP("quiet", "q", false, "print only the sessions' names")
	}
}

// shaper prints a verb's JSON in the form that the caller asked for. Each line of JSON that the verb
// writes becomes the lines that it prints.
type shaper struct {
	ctx     context.Context
	call    *Call
	out     io.Writer
	fields  []string       // of --json=; nil: all
	quiet   bool           // names only
	process *shape.Process // of --jq and --format
	pace    *matcher       // of the caller
	leave   func()
	rest    []byte // an unfinished line
	changes bool   // the verb changes something: a failure to shape its answer doesn't stop it
	failed  error  // why the answer of such a verb couldn't be shaped
}

// shapeOption is the option among --jq, --format and --quiet that the caller gave; empty: none.
func (c *Call) shapeOption(verb *Verb) (string, error) {
	given := ""
	if verb.Answer == nil {
		return given, nil
	}
	for _, name := range []string{shape.JQ, shape.Template, "quiet"} {
		switch {
		case c.flags.Lookup(name) == nil || !c.flags.Changed(name):
		case given != "":
			return "", verb.usage(fmt.Errorf("--%s and --%s exclude each other", given, name))
		default:
			given = name
		}
	}
	return given, nil
}

// shape prepares what the caller asked for, so that a wrong expression fails before the verb does
// anything.
func (c *Call) shape(ctx context.Context, verb *Verb) error {
	if c.flags == nil || c.flags.Lookup("json") == nil { // VERB --help
		return nil
	}
	option, err := c.shapeOption(verb)
	if err != nil {
		return err
	}
	s := &shaper{ctx: ctx, call: c, out: c.Out, quiet: option == "quiet", changes: verb.changes(c.Args)}
	if list := c.flags.Lookup("json").Value.String(); list != "" && list != everyField {
		s.fields = strings.Split(list, ",")
		if err := checkFields(verb, s.fields); err != nil {
			return err
		}
	}
	if option == "" && s.fields == nil {
		return nil
	}
	for _, name := range []string{"raw", "ansi"} {
		if on, _ := c.flags.GetBool(name); on && printsBytes[verb.Name] {
			return api.Errorf(api.CodeUsage, "--%s prints bytes, which have no fields: leave it out, or the option that chooses a part", name)
		}
	}
	if option == shape.JQ || option == shape.Template {
		expression := c.flags.Lookup(option).Value.String()
		if s.pace, s.leave, err = c.matchers.enter(c.Identity(), shapes); err != nil {
			return err
		}
		if s.process, err = shape.Start(ctx, option, expression); err != nil {
			s.leave()
			return err
		}
	}
	c.shaped, c.Out = s, s
	return nil
}

// endShape ends the process of --jq or --format.
func (c *Call) endShape() {
	if c.shaped != nil && c.shaped.process != nil {
		c.shaped.process.Close()
		c.shaped.leave()
	}
}

// unshape restores the plain output, for a failure. It reports whether the failure is printed there
// too: who reads the results of --jq, --format or --quiet can't tell an error from a result.
func (c *Call) unshape() bool {
	if c.shaped == nil {
		return true
	}
	c.Out = c.shaped.out
	return c.shaped.process == nil && !c.shaped.quiet
}

// printsBytes are the verbs whose --raw or --ansi prints what the program printed.
var printsBytes = map[string]bool{"output": true, "screen": true}

// reportUnshaped reports that a verb that changes something has ended, but its answer couldn't be shaped. The
// exit status stays the verb's own: a caller that repeats a failed call mustn't repeat this one.
func (c *Call) reportUnshaped() {
	if c.shaped != nil && c.shaped.failed != nil {
		c.warn(c.verbName() + " has ended, but its answer can't be shown: " + api.AsError(c.shaped.failed).Message)
	}
}

// Write shapes the complete lines.
func (s *shaper) Write(p []byte) (int, error) {
	if s.failed != nil {
		return len(p), nil
	}
	s.rest = append(s.rest, p...)
	for {
		end := bytes.IndexByte(s.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		line := bytes.TrimSuffix(s.rest[:end:end], []byte("\r"))
		s.rest = s.rest[end+1:]
		if err := s.line(line); err != nil && s.changes {
			s.failed = err
			return len(p), nil
		} else if err != nil {
			return 0, err
		}
	}
}

func (s *shaper) line(line []byte) error {
	var err error
	if s.fields != nil {
		if line, err = selectFields(line, s.fields); err != nil {
			return err
		}
	}
	switch {
	case s.process != nil:
		var text []byte
		failed := s.pace.work(s.ctx, func() error {
			text, err = s.process.Shape(s.ctx, append(line, '\n'))
			return err
		})
		return errors.Join(s.print(text), failed)
	case s.quiet:
		names, err := sessionsOf(line)
		return errors.Join(s.print([]byte(names)), err)
	}
	_, err = s.out.Write(s.call.lines(append(line, '\n')))
	return err
}

// print writes text. Values may have control characters, which would take effect in a terminal. Tabs
// stay, for cut.
func (s *shaper) print(text []byte) error {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		for i, cell := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(terminal.Printable(cell))
		}
		out.WriteByte('\n')
	}
	_, err := s.out.Write(s.call.lines([]byte(out.String())))
	return err
}

// elements are the items of an answer: a list's elements, or the answer itself.
func elements(line []byte) (list []map[string]json.RawMessage, isList bool, err error) {
	if isList = bytes.HasPrefix(line, []byte("[")); isList {
		err = json.Unmarshal(line, &list)
	} else {
		list = make([]map[string]json.RawMessage, 1)
		err = json.Unmarshal(line, &list[0])
	}
	if err != nil {
		return nil, false, api.Errorf(api.CodeBadRequest, "the answer isn't an object or a list of objects: leave out the fields of --json, and -q")
	}
	return list, isList, nil
}

// selectFields keeps these fields of an answer, in this order. A missing one is null.
func selectFields(line []byte, fields []string) ([]byte, error) {
	list, isList, err := elements(line)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for i, item := range list {
		for n, name := range fields {
			out.WriteString(map[bool]string{true: "{", false: ","}[n == 0])
			key, _ := json.Marshal(name) // a string always marshals
			out.Write(append(key, ':'))
			if value := item[name]; value != nil {
				out.Write(value)
			} else {
				out.WriteString("null")
			}
		}
		out.WriteByte('}')
		if i < len(list)-1 {
			out.WriteByte(',')
		}
	}
	if isList {
		return append(append([]byte("["), out.Bytes()...), ']'), nil
	}
	return out.Bytes(), nil
}

// sessionsOf are the names of the sessions of an answer, one a line.
func sessionsOf(line []byte) (string, error) {
	list, _, err := elements(line)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, item := range list {
		var name string
		if json.Unmarshal(item["session"], &name) == nil && name != "" {
			out.WriteString(name + "\n")
		}
	}
	return out.String(), nil
}

// checkFields refuses fields that the verb's answer doesn't have.
func checkFields(verb *Verb, fields []string) error {
	known := fieldNames(verb)
	for _, name := range fields {
		switch {
		case (verb.Open || verb.Parts != nil) && name != "":
		case known == nil:
			return verb.usage(errors.New("--json=FIELD needs a verb that answers with JSON"))
		case !slices.Contains(known, name):
			near := didYouMean(name, known)
			return api.Errorf(api.CodeUsage, "%s has no field %s: %sits fields are %s", verb.Name, api.Quote(name), near, strings.Join(known, " "))
		}
	}
	return nil
}

// fieldsOf remembers fieldNames by the verb's name. Reading them takes longer than the rest of a verb's parsing.
var fieldsOf sync.Map

// fieldNames are the fields of a verb's answer, or of the elements of its list. No caller changes them.
func fieldNames(verb *Verb) []string {
	if verb.Answer == nil {
		return nil
	}
	t := reflect.TypeOf(verb.Answer)
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if names, read := fieldsOf.Load(verb.Name); read {
		return names.([]string)
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
			if r, ok := api.NewNameOf(verb.Name, name); ok && !api.Unversioned(verb.Name) && !slices.Contains(names, r.New) {
				names = append(names, r.New)
			}
		}
	}
	fieldsOf.Store(verb.Name, names)
	return names
}
