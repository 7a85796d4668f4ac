package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// mostParts limits a schema with its references resolved, because a message is checked against each part on the
// session's loop.
const mostParts = 10_000

func (c Config) schema() (*jsonschema.Resolved, error) {
	if len(c.Schema) == 0 {
		return nil, nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(c.Schema, &s); err != nil {
		return nil, fmt.Errorf("the schema isn't a JSON Schema: %w", err)
	}
	resolved, err := s.Resolve(nil) // with no loader: nothing is fetched
	if err == nil {
		_, err = (&extent{root: &s, sizes: map[*jsonschema.Schema]int{}}).of(&s)
	}
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return resolved, nil
}

// extent computes the size of a schema with its references resolved. The check of a message follows references
// without a limit: a circle fills the stack, which ends the program, and references that double at each step take
// years.
type extent struct {
	root  *jsonschema.Schema
	sizes map[*jsonschema.Schema]int // 0 while it is being computed
}

// of is the number of its parts.
func (e *extent) of(s *jsonschema.Schema) (int, error) {
	if size, seen := e.sizes[s]; seen {
		if size == 0 {
			return 0, errors.New("it leads back to itself by a $ref, and a message has an end")
		}
		return size, nil
	}
	e.sizes[s] = 0
	parts := subschemas(s)
	for _, ref := range []string{s.Ref, s.DynamicRef} {
		if ref == "" {
			continue
		}
		part, err := e.named(ref)
		if err != nil {
			return 0, err
		}
		parts = append(parts, part)
	}
	size := 1
	for _, part := range parts {
		if part.ID != "" && part != e.root {
			return 0, fmt.Errorf("a part of it has the $id %q: only the whole schema may have one", part.ID)
		}
		n, err := e.of(part)
		if err != nil {
			return 0, err
		}
		if size += n; size > mostParts {
			return 0, fmt.Errorf("it is too large with its references filled in: at most %d parts", mostParts)
		}
	}
	e.sizes[s] = size
	return size, nil
}

// named is the part that a reference names. The reference was resolved, so the part exists.
func (e *extent) named(ref string) (*jsonschema.Schema, error) {
	if ref == "#" {
		return e.root, nil
	}
	for prefix, defs := range map[string]map[string]*jsonschema.Schema{"#/$defs/": e.root.Defs, "#/definitions/": e.root.Definitions} {
		name, ok := strings.CutPrefix(ref, prefix)
		if !ok {
			continue
		}
		name, err := url.PathUnescape(name)
		if part := defs[strings.NewReplacer("~0", "~", "~1", "/").Replace(name)]; err == nil && part != nil {
			return part, nil
		}
	}
	return nil, fmt.Errorf("a $ref is written #/$defs/NAME or #/definitions/NAME, not %q", ref)
}

// subschemas are the schemas in any field of a schema.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	add := func(part *jsonschema.Schema) {
		if part != nil {
			list = append(list, part)
		}
	}
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		if !fields.Type().Field(i).IsExported() {
			continue
		}
		switch value := fields.Field(i).Interface().(type) {
		case *jsonschema.Schema:
			add(value)
		case []*jsonschema.Schema:
			for _, part := range value {
				add(part)
			}
		case map[string]*jsonschema.Schema:
			for _, part := range value {
				add(part)
			}
		}
	}
	return list
}
