package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"berth/api"
	"berth/keys"
)

func schemaVerb() *Verb {
	return &Verb{Name: "schema", Group: "see", Synopsis: "VERB", Short: "the JSON Schema of a verb's answer",
		Examples: []Example{
			{"schema state", "the JSON Schema of what state answers"},
			{"schema ls", "of what ls answers"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Alone: true, Run: schema}
}

func schema(_ context.Context, c *Call) error {
	verb := Lookup(c.Args[0])
	if verb == nil {
		return unknownVerb(c.Args[0])
	}
	if verb.Answer == nil {
		return api.Errorf(api.CodeBadRequest, "%s answers with text or bytes, not with JSON", verb.Name)
	}
	// A time is written as a string; its Go type doesn't show that.
	s, err := jsonschema.ForType(reflect.TypeOf(verb.Answer), &jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[api.Time]():        {Types: []string{"string", "null"}, Format: "date-time"},
			reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
			reflect.TypeFor[json.RawMessage](): {}, // any JSON, such as a form's schema
		},
	})
	if err != nil {
		return fmt.Errorf("schema of %s: %w", verb.Name, err)
	}
	open(s)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	return c.printJSON(s)
}

// open allows more properties than the named ones, because later versions may add fields.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" || len(s.Properties) > 0 {
		if named := s.AdditionalProperties; named != nil && named.Not != nil {
			s.AdditionalProperties = nil
		}
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
}
