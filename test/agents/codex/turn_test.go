//go:build agents

package codex

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTurn: a message is delivered as soon as Codex is ready, its turn is
// followed to its end, and what was said and used is known.
func TestTurn(t *testing.T) {
	l := newLab(t, Ready())
	if s := l.await("idle"); s.Prompt != nil {
		t.Fatalf("%+v", s)
	}
	var n struct {
		Confirmed       bool
		Evidence, State string
		Message         struct{ Text string }
	}
	out := l.call("nudge", name, "--wait", "--timeout", "30s", "MOCK: text The answer is 42.")
	check(t, json.Unmarshal(out, &n))
	if told := n.Evidence == "hook:UserPromptSubmit" || strings.HasPrefix(n.Evidence, "log:"); !n.Confirmed || !told || n.State != "idle" {
		t.Errorf("%s", out)
	}
	var last struct {
		Text  string
		Usage *struct {
			Output int `json:"output_tokens"`
		}
	}
	out = l.call("last", name, "--json")
	check(t, json.Unmarshal(out, &last))
	if last.Text != "The answer is 42." || last.Usage == nil || last.Usage.Output == 0 {
		t.Errorf("%s", out)
	}
	if out := string(l.call("ask", name, "MOCK: run echo inside")); !strings.Contains(out, "The command finished.") {
		t.Errorf("ask: %s", out)
	}
}
