package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"berth/agent"
	"berth/api"
	"berth/keys"
)

func schemaVerb() *Verb {
	return &Verb{Name: "schema", Group: "see", Synopsis: "VERB [PART]", Short: "the JSON Schema of a verb's answer, or of a part of a verb",
		Examples: []Example{
			{"schema state", "the JSON Schema of what state answers"},
			{"schema worktree diff", "of a part of a verb"},
			{"schema watch snapshot", "of a line of watch"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 2, Alone: true, Run: schema}
}

func schema(_ context.Context, c *Call) error {
	name, part, _ := strings.Cut(strings.Join(c.Args, " "), " ") // both may be one quoted word
	verb := Lookup(name)
	if verb == nil {
		return unknownVerb(name)
	}
	if verb.Answer == nil {
		return api.Errorf(api.CodeBadRequest, "%s answers with text or bytes, not with JSON", verb.Name)
	}
	answer := verb.Answer
	if part != "" {
		if answer = verb.Others[part]; answer == nil {
			parts := slices.Sorted(maps.Keys(verb.Others))
			if len(parts) == 0 {
				return api.Errorf(api.CodeBadRequest, "%s has one schema: leave out %s", name, api.Quote(part))
			}
			return api.Errorf(api.CodeBadRequest, "%s has no schema %s: %sleave it out, or give one of %s", name, api.Quote(part), didYouMean(part, parts), strings.Join(parts, " "))
		}
	}
	s, err := schemaOf(verb.Name, part, answer)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", strings.Join(c.Args, " "), err)
	}
	return c.printJSON(s)
}

// schemas are the arguments of schema that name a schema of this verb, each schema once.
func (v *Verb) schemas() []string {
	if v.Answer == nil {
		return []string{}
	}
	list, alone := []string{}, true // alone: no part answers as the verb without one does
	for _, part := range slices.Sorted(maps.Keys(v.Others)) {
		list = append(list, v.Name+" "+part)
		alone = alone && reflect.TypeOf(v.Others[part]) != reflect.TypeOf(v.Answer)
	}
	if alone {
		list = slices.Insert(list, 0, v.Name)
	}
	return list
}

// schemaOf describes the JSON of an answer: its fields under their new names and, beside them, the old ones.
func schemaOf(verb, part string, answer any) (*jsonschema.Schema, error) {
	// A time is written as a string; its Go type doesn't show that.
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[api.Time]():        {Types: []string{"string", "null"}, Format: "date-time"},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[json.RawMessage](): {}, // any JSON, such as a form's schema
		reflect.TypeFor[Counts]():          {Types: []string{"object", "null"}},
	}
	prompt, err := jsonschema.ForType(reflect.TypeFor[*agent.Request](), &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, fmt.Errorf("schema of a prompt: %w", err)
	}
	types[reflect.TypeFor[api.Prompt]()] = prompt
	options := &jsonschema.ForOptions{TypeSchemas: types}
	s, err := jsonschema.ForType(reflect.TypeOf(answer), options)
	if event, ok := answer.(eventLine); ok {
		s, err = event.schema(options)
	}
	if err != nil {
		return nil, err
	}
	open(s)
	if !api.Unversioned(verb) {
		object := verb
		if verb == "watch" && part != "" {
			object = part + " event"
		}
		withNewNames(s, object)
	}
	if _, ok := answer.(snapshotLine); ok {
		if err := asAtGateways(s, options); err != nil {
			return nil, err
		}
	}
	if _, ok := answer.(api.EventHead); ok { // each line is as its type says
		parts := lines()
		for _, kind := range slices.Sorted(maps.Keys(parts)) {
			of, err := schemaOf(verb, kind, parts[kind])
			if err != nil {
				return nil, err
			}
			of.Schema, of.Extra = "", nil
			of.Properties["type"] = &jsonschema.Schema{Const: jsonschema.Ptr[any](kind)}
			s.OneOf = append(s.OneOf, of)
		}
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Extra = map[string]any{"api_version": api.Version}
	return s, nil
}

// asAtGateways requires of a snapshot what it has everywhere: at a fleet's gateway it is a row of ls.
func asAtGateways(s *jsonschema.Schema, options *jsonschema.ForOptions) error {
	row, err := jsonschema.ForType(reflect.TypeFor[api.Session](), options)
	if err != nil {
		return err
	}
	withNewNames(row, "ls")
	state := s.Properties["snapshot"]
	state.Required = slices.DeleteFunc(state.Required, func(name string) bool { return row.Properties[name] == nil })
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "seq" })
	return nil
}

// schema describes an event: its head, and the fields of its type in the same object.
func (e eventLine) schema(options *jsonschema.ForOptions) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(reflect.TypeFor[api.EventHead](), options)
	if err != nil {
		return nil, err
	}
	data, err := jsonschema.ForType(reflect.TypeOf(e.data), options)
	if err != nil {
		return nil, err
	}
	s.Properties["type"].Const = jsonschema.Ptr[any](e.kind)
	maps.Copy(s.Properties, data.Properties)
	s.PropertyOrder, s.Required = append(s.PropertyOrder, data.PropertyOrder...), append(s.Required, data.Required...)
	return s, nil
}

// open allows more properties than the named ones, because later versions may add fields.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if named := s.AdditionalProperties; named != nil && named.Not != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}

// withNewNames adds the new names of an object's fields to its schema, as api.WithNewNames adds them to its
// JSON.
func withNewNames(s *jsonschema.Schema, object string) {
	if s == nil {
		return
	}
	withNewNames(s.Items, object)
	withNewNames(s.AdditionalProperties, "")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if api.Foreign(name) {
			continue
		}
		withNewNames(p, name)
		r, ok := api.NewNameOf(object, name)
		if !ok || s.Properties[r.New] != nil || r.Text && p.Type != "string" && !slices.Contains(p.Types, "string") {
			continue
		}
		s.Properties[r.New] = p.CloneSchemas()
		s.PropertyOrder = append(s.PropertyOrder, r.New)
		if slices.Contains(s.Required, name) && (!r.Text || p.Type == "string") {
			s.Required = append(s.Required, r.New)
		}
		p.Deprecated, p.Description = true, "the name of version 1: use "+r.New
	}
}
