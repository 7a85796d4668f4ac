package shape

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	for _, c := range []struct {
		kind, expression, value string
		text, failure           string
	}{
		{JQ, ".", `{"b":1,"a":[12345678901234567,1.5]}`, `{"a":[12345678901234567,1.5],"b":1}` + "\n", ""},
		{JQ, ".", `[9007199254740993,123456789012345678901234567890,1e400,0.1000000000000000055,-0,1.0]`, "[9007199254740993,123456789012345678901234567890,1e400,0.1000000000000000055,-0,1.0]\n", ""},
		{JQ, "map(. > 80), .[0] + 1, (.[1] | tostring), .[3][.[2]]", `[81,80.5,1,["a","b"]]`, "[true,true,false,true]\n82\n80.5\nb\n", ""},
		{JQ, ".[]", `["x","y"]`, "x\ny\n", ""},
		{JQ, "1, error(\"no\")", `null`, "1\n", "error: no"},
		{JQ, "1, halt, 2", `null`, "1\n", ""},
		{JQ, "empty", `null`, "", ""},
		{Template, "{{.n}} {{json .l}} {{join `,` .l}}", `{"n":3,"l":["a",1]}`, "3 [\"a\",1] a,1\n", ""},
		{Template, "{{.b}} {{json .}} {{.e}}", `{"b":123456789012345678901234567890,"e":1e400}`, "123456789012345678901234567890 {\"b\":123456789012345678901234567890,\"e\":1e400} 1e400\n", ""},
		{Template, "{{gt .n 1.25}}", `{"n":1.5}`, "true\n", ""},
		{Template, "{{if gt .n 2}}many{{else}}few{{end}}", `[{"n":1},{"n":3}]`, "few\nmany\n", ""},
		{Template, "{{.n.m}}", `{"n":3}`, "", "can't evaluate field m"},
		{JQ, `"x" * 9000000`, `null`, "", errText.Error()},
		{Template, "{{printf `%9000000d` 1}}", `null`, "", errText.Error()},
	} {
		line, err := json.Marshal(c.expression)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		status := serve(c.kind, strings.NewReader(string(line)+"\n"+c.value+"\n"), &out, func() { t.Error("late") })
		replies := strings.Split(strings.TrimSpace(out.String()), "\n")
		if status != exitDone || len(replies) != 2 {
			t.Errorf("%s: status %d, %s", c.expression, status, out.String())
			continue
		}
		var got reply
		if err := json.Unmarshal([]byte(replies[1]), &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Text) != c.text || (c.failure == "") != (got.Error == "") || !strings.Contains(got.Error, c.failure) {
			t.Errorf("%s of %s: %q, %s", c.expression, c.value, got.Text, got.Error)
		}
	}
}
