package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSchemaHasAnEnd: a schema that leads back to itself without consuming a part of the message would fill the
// stack, which ends the server. One whose references double at each step would take years. Both are refused.
func TestSchemaHasAnEnd(t *testing.T) {
	const ref = `{"$ref":"#/$defs/%d"}`
	doubling := []string{}
	for n := range 60 {
		next := fmt.Sprintf(ref, n+1)
		doubling = append(doubling, fmt.Sprintf(`"%d":{"allOf":[%s,%s]}`, n, next, next))
	}
	for name, c := range map[string]struct{ schema, wrong string }{
		"itself":              {`{"$ref":"#"}`, "leads back"},
		"two":                 {`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, "leads back"},
		"within allOf":        {`{"allOf":[{"$ref":"#"}]}`, "leads back"},
		"within not":          {`{"not":{"anyOf":[{"if":{"$ref":"#"}}]}}`, "leads back"},
		"by an anchor":        {`{"$anchor":"top","oneOf":[{"$ref":"#top"}]}`, "#/$defs/NAME"},
		"by a dynamic anchor": {`{"$dynamicAnchor":"top","oneOf":[{"$dynamicRef":"#top"}]}`, "#/$defs/NAME"},
		"escaped":             {`{"$defs":{"a/b c":{"$ref":"#/$defs/a~1b%20c"}},"$ref":"#/$defs/a~1b%20c"}`, "leads back"},
		"by its id":           {`{"$id":"https://x.test/report.json","allOf":[{"$ref":"report.json"}]}`, "#/$defs/NAME"},
		"an id within":        {`{"$defs":{"a":{"$id":"a","$ref":"#"}},"$ref":"#/$defs/a"}`, "$id"},
		"through the message": {`{"properties":{"parts":{"items":{"$ref":"#"}}}}`, "leads back"},
		"doubling":            {`{"$defs":{` + strings.Join(doubling, ",") + `,"60":{}},"$ref":"#/$defs/0"}`, "too large"},
		"nowhere":             {`{"$ref":"#/$defs/none"}`, "cannot be used"},
		"by name":             {`{"$id":"https://x.test/r.json","$defs":{"pr":{"type":"integer"}},"properties":{"pr":{"$ref":"#/$defs/pr"},"other":{"$ref":"#/$defs/pr"}}}`, ""},
		"a name like one":     {`{"properties":{"$ref":{"type":"string"}},"const":{"$ref":"x"}}`, ""},
	} {
		err := Config{Mode: Auto, Schema: json.RawMessage(c.schema)}.Check()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}
