//go:build agents

package codex

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestServerForm: a server's form with a field for text is a notice that deny cancels, also while a person
// types into it. Codex asks otherwise about a form whose fields it can't draw.
func TestServerForm(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := Ready()
	seed.Config = "\n[mcp_servers.lab]\ncommand = \"" + server + "\"\n"
	for name, c := range map[string]struct {
		kind, typed string
		title       string
	}{
		"text":   {"string", "", "A form"},
		"typed":  {"string", "Bob", "A form"},
		"number": {"integer", "", "lab needs your approval."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, seed)
			l.Is("idle")
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("mcp__lab/ask", map[string]any{
				"message": "Tell me about it.",
				"schema":  map[string]any{"type": "object", "properties": map[string]any{"it": map[string]any{"type": c.kind, "title": "Thing"}}},
			})), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please ask")
			s := l.Is("prompt")
			l.Respond("hook", "accepted", "--prompt", s.Prompt.ID, "accept")
			p := l.PromptUntil("its form", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Title == c.title })
			if !strings.Contains(p.Text, "Tell me about it.") {
				t.Errorf("it asks %+v", p)
			}
			if name == "number" { // it takes an answer without content
				l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
				l.Is("idle")
				l.ModelGot("please ask", "accept")
				return
			}
			if c.typed != "" {
				l.Call("input", l.Name, c.typed)
				l.See("› " + c.typed)
			}
			l.Refuses("NO_DRIVER", "--prompt", p.ID, "accept")
			l.Respond("keys", "denied", "--prompt", p.ID, "deny")
			l.Is("idle")
			l.ModelGot("please ask", "cancel")
		})
	}
}
