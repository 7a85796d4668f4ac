package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// formAgent is a Claude Code that asks with the form of the file schema-KIND.
const formAgent = `#!/bin/sh
[ "$1" = --version ] && echo 1.0.0 && exit
while [ $# -gt 0 ]; do case $1 in --session-id | --resume) id=$2 ;; esac; shift; done
tell() { printf '{"hook_event_name":"%s","session_id":"%s","prompt_id":"p"%s}' "$1" "$id" "$2" | "$HOOK" hook --tell "$1"; }
tell SessionStart ',"source":"startup"'
tell UserPromptSubmit ',"prompt":"go"'
{ printf '{"hook_event_name":"Elicitation","session_id":"%s","prompt_id":"p","mcp_server_name":"bank","message":"Pay?","requested_schema":' "$id"; cat "schema-$KIND"; printf '}'; } | "$HOOK" hook --ask 1h 1h Elicitation
exec cat
`

// TestFleetForms: a form of another host is at the gateway what it is on its host, and none keeps the host's other
// sessions from the gateway.
func TestFleetForms(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	b := newBox(t)
	long := func(bytes int) string {
		return `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string","description":"` + strings.Repeat("x", bytes) + `"}},"required":[]}`
	}
	odd := `{"type":"object","properties":{"zeta":{"type":"integer","default":9007199254740993},"alpha":{"type":"string"}},"required":[]}`
	for name, text := range map[string]string{
		"asker": asker, "claude": formAgent, "berth.yaml": strings.NewReplacer("@DIR@", b.dir, "@BERTH@", berth).Replace(askerRules), "schema-odd": odd,
		"schema-huge":  `{"type":"object","properties":{"alpha":{"type":"number","default":1e400}},"required":[]}`,
		"schema-long":  long(100000),
		"schema-large": long(3400000),
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.kill()
	b.serve("--config", filepath.Join(b.dir, "berth.yaml"))
	b.join(gw, "box4")
	for _, kind := range []string{"odd", "huge", "long", "large"} {
		b.must("admin", "new", kind, "--cwd", b.dir, "--env", "KIND="+kind, "--", "claude")
		b.sees(`"type":"form"`, "admin", "ls", kind)
	}
	b.must("admin", "new", "deploy", "--cwd", b.dir, "--", filepath.Join(b.dir, "asker"))
	gw.sees(`"session":"box4/deploy".*"state":"prompt"`, "admin", "ls")

	shown := gw.must("admin", "ls", "box4/odd", "--json=prompt")
	if !strings.Contains(shown, `"schema":`+odd) || shown != b.must("admin", "ls", "odd", "--json=prompt") {
		t.Errorf("the gateway shows\n%s", shown)
	}
	if jq := gw.must("admin", "ls", "box4/huge", "--jq", "'.[].prompt.schema.properties[].default'"); jq != "1e400\n" {
		t.Errorf("--jq shows %q", jq)
	}
	gw.sees(`box4/large +prompt .* prompt box4/large --full, which shows all of it`, "admin", "waiting", "--text")
	if shown := gw.must("admin", "ls", "box4/large", "--json=prompt"); len(shown) > 2000 || !strings.Contains(shown, "Too large for this list") {
		t.Errorf("the large one is %d bytes: %.2000s", len(shown), shown)
	}

	// What the rows lack of a long form is read at its host, but not too much. The card has the fields in the host's order, and y counts.
	person := gw.glance("forms", "120x30", "operator")
	person.shows(`5 sessions by host`)
	person.keys("/", "large", "Enter")
	person.shows(`Too large for this list`)
	person.keys("Escape")
	person.shows(`─ 5 sessions by host`)
	person.keys("/", "long", "Enter")
	person.shows(`· zeta(?s:.*)· alpha:(?s:.*) of \d+ lines`)
	person.keys("Escape")
	person.shows(`─ 5 sessions by host`)
	person.keys("/", "odd", "Enter")
	person.shows(`zeta, default 9007199254740993(?s:.*)alpha`)
	for end := time.Now().Add(patienceSeconds * time.Second); !strings.Contains(b.must("admin", "screen", "odd", "--text"), `"action":"accept"`); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("y doesn't accept:\n%s\n%s", person.shows("."), gw.lastLog())
		}
		person.keys("y") // it counts once the form was seen for a moment
	}
}
