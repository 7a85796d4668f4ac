package commands

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"berth/api"
	"berth/sessions"
)

// TestFieldsAreNamedAlike: in each schema a time ends in _at and a size in _bytes, an answer about a session
// has its name and its id, and each part of a verb has a schema.
func TestFieldsAreNamedAlike(t *testing.T) {
	d := newDesk(t)
	for _, v := range verbs() {
		for _, part := range v.Parts {
			if v.Others[part] == nil {
				t.Errorf("schema %s %s: there is none", v.Name, part)
			}
		}
		for _, words := range v.schemas() {
			var s jsonschema.Schema
			if err := json.Unmarshal([]byte(d.call(admin, "schema "+words).out), &s); err != nil {
				t.Fatalf("schema %s: %v", words, err)
			}
			if s.Extra["api_version"] != float64(api.Version) {
				t.Errorf("schema %s has no api_version", words)
			}
			if api.Unversioned(v.Name) {
				continue
			}
			checkNames(t, words, &s)
			row := &s
			if s.Items != nil {
				row = s.Items
			}
			if row.Properties["session"] != nil && row.Properties["id"] == nil {
				t.Errorf("schema %s has session without id", words)
			}
		}
	}
}

func checkNames(t *testing.T, where string, s *jsonschema.Schema) {
	t.Helper()
	if s == nil {
		return
	}
	checkNames(t, where, s.Items)
	for name, p := range s.Properties {
		checkNames(t, where+"."+name, p)
		if p.Deprecated {
			continue
		}
		if p.Format == "date-time" && !strings.HasSuffix(name, "_at") {
			t.Errorf("schema %s: the time %s doesn't end in _at", where, name)
		}
		for _, unit := range []string{"bytes", "ms"} {
			if strings.Contains("_"+name+"_", "_"+unit+"_") && !strings.HasSuffix(name, "_"+unit) {
				t.Errorf("schema %s: %s doesn't end in _%s", where, name, unit)
			}
		}
		if r, ok := api.NewNameOf(where[strings.LastIndexAny(where, ". ")+1:], name); ok && len(r.In) == 0 && (!r.Text || slices.Contains(append(p.Types, p.Type), "string")) {
			t.Errorf("schema %s: %s should be %s", where, name, r.New)
		}
	}
}

// TestLinesOfWatch: schema watch has one schema for each type of line, and a line has to be as that says.
func TestLinesOfWatch(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(newDesk(t).call(admin, "schema watch").out), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.OneOf) != len(sessions.EventTypes)+1 { // and end
		t.Errorf("it has %d types of lines, and there are %d", len(s.OneOf), len(sessions.EventTypes)+1)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	const head = `{"cursor":"e1","type":"KIND","session":"a","id":"i","seq":1,"time":"2026-11-20T12:00:00.000Z","happened_at":"2026-11-20T12:00:00.000Z"`
	for kind, c := range map[string]struct {
		fields string
		valid  bool
	}{
		"tags":            {`,"by":{"identity":"ann","fingerprint":"","client":"c1"},"tags":["x"],"meta":{},"untold":0`, true},
		"heartbeat":       {``, true},
		"session_limit":   {`,"why":"ttl","more":"of a later version"`, true},
		"session_removed": {`,"why":"rm"`, false},
		"exited":          {`,"code":"1","signal":"","crashed":false,"lost":false`, false},
		"unheard":         {``, false},
	} {
		var line any
		if err := json.Unmarshal([]byte(strings.Replace(head, "KIND", kind, 1)+c.fields+"}"), &line); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(line); (err == nil) != c.valid {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
