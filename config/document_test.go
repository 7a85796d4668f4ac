package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/api"
)

func TestParseDocument(t *testing.T) {
	doc, err := ParseDocument("stdin", []byte("{\n\t\"cwd\": \"~/x\",\n\t\"start\": {\"any\": {\"text\": \"a\\tb \\ud83d\\ude00\"}},\n\t\"env\": {\"N\": 1.10, \"T\": true},\n\t\"limits\": {\"ttl\": \"1h\"}\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Cwd != "~/x" || doc.Start["any"].Text != "a\tb 😀" || doc.Env["N"] != "1.10" || doc.Env["T"] != "true" || doc.Limits.TTL != time.Hour {
		t.Errorf("%+v", doc.Session)
	}
	if got := strings.Join(doc.Set, " "); got != "cwd env start_context limits" {
		t.Errorf("set: %s", got)
	}
	if doc, err := ParseDocument("stdin", []byte("cwd: ~\n")); err != nil || doc.Cwd != "~" {
		t.Errorf("home: %q, %v", doc.Cwd, err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "sets no field"},
		{"cwd: x\n---\ncwd: y\n", "a second document starts here"},
		{"[a]", "expected a group of fields"},
		{"env: {A: &a [*a]}", "env.A"},
		{"a: &a {b: *a}", "unknown field"},
		{strings.Repeat("[", 60_000), "nested too deeply"},
		{"meta: {a: " + strings.Repeat("x", MaxDocument) + "}", "longer than"},
		{"env: {BERTH_X: a}", "Berth sets BERTH"},
		{"cwd: /a\ncwd: /b", "stdin:2:1: cwd: is set twice, first in line 1"},
		{"name: x", "stdin:1:1: name: the field can't be set here; give the name as a word"},
		{"size: 1x1", "stdin:1:7: size: 1x1 is out of bounds"},
	} {
		_, err := ParseDocument("stdin", []byte(c.text))
		var problems Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	doc, err := ParseDocument("stdin", []byte(`
env: {STAGE: test, API_KEY: hush}
settings: {env: {OTHER_TOKEN: hush}, model: m}
mcp: {a: {url: u, headers: {X: hush}}}
notify: [{on: [prompt], telegram: "123456:hush_hush_hush_hush_hush_hush_hush", chat: "1"}, {on: [error], webhook: "http://hush/"}]
limits: {memory: 2GiB, cpu: 1.5, idle_timeout: 90s}
trust: false
`))
	if err != nil {
		t.Fatal(err)
	}
	text := toJSON(t, doc.Plain())
	want := `{"env":{"API_KEY":"***","STAGE":"test"},"limits":{"cpu":1.5,"idle_timeout":"1m30s","memory":"2GiB"},"mcp":{"a":{"headers":"***","url":"u"}},` +
		`"notify":[{"chat":"1","on":["prompt"],"telegram":"***"},{"on":["error"],"webhook":"***"}],` +
		`"settings":{"env":{"OTHER_TOKEN":"***"},"model":"m"},"trust":false}`
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	// What is shown is a document again, but for what is hidden.
	doc.Notify = nil // where it goes is hidden, and checked first
	again, err := ParseDocument("stdin", []byte(toJSON(t, doc.Plain())))
	if err != nil || !again.HasHidden() || doc.HasHidden() {
		t.Errorf("%v, hidden %v and %v", err, again.HasHidden(), doc.HasHidden())
	}
	was := doc.Digests()
	doc.Env["API_KEY"] = "another"
	if now := doc.Digests(); now["env"] == was["env"] || now["mcp"] != was["mcp"] {
		t.Errorf("%v and %v", was, now)
	}
	if strings.Contains(toJSON(t, was), "hush") || api.Hidden != "***" {
		t.Error("a digest shows a value")
	}
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte("env: {A: b}\ngate: auto\n"))
	f.Add([]byte(`{"start": {"any": {"run": ["id"]}}, "mcp": {"a": {"command": "b"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<10 {
			return // the parser's time grows with the square
		}
		doc, err := ParseDocument("stdin", data)
		if err == nil && len(doc.Set) == 0 {
			t.Errorf("%q sets nothing", data)
		}
		_ = doc.Plain()
	})
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
