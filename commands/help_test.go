package commands

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/spf13/pflag"
)

// TestSchemasAreWhole: every field of an answer is in its schema.
func TestSchemasAreWhole(t *testing.T) {
	d := newDesk(t)
	for _, name := range Names() {
		answer, err := json.Marshal(Lookup(name).Answer)
		var fields, schema struct{ Properties map[string]any }
		if err != nil || json.Unmarshal(answer, &fields.Properties) != nil || fields.Properties == nil {
			continue // text, or a list
		}
		if err := json.Unmarshal([]byte(d.call(admin, "schema "+name).out), &schema); err != nil {
			t.Fatal(err)
		}
		for field := range fields.Properties {
			if _, ok := schema.Properties[field]; !ok {
				t.Errorf("schema %s lacks %s", name, field)
			}
		}
	}
}

// TestSynopsesNameEveryOption: an option that is there is in the verb's usage, and one
// that is in the usage is there.
func TestSynopsesNameEveryOption(t *testing.T) {
	for _, name := range Names() {
		v := Lookup(name)
		own := pflag.NewFlagSet(name, pflag.ContinueOnError)
		if v.Flags != nil {
			v.Flags(own)
		}
		named := map[string]bool{}
		for _, m := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(v.Synopsis, -1) {
			named[m[1]] = true
			if own.Lookup(m[1]) == nil && newFlags(v).Lookup(m[1]) == nil {
				t.Errorf("%s has no option --%s", v.Usage(), m[1])
			}
		}
		own.VisitAll(func(f *pflag.Flag) {
			if !named[f.Name] {
				t.Errorf("%s does not name --%s", v.Usage(), f.Name)
			}
		})
	}
}
