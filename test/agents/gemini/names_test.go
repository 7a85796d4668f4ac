//go:build agents

package gemini

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestNamesOfAServer: Gemini draws no characters without a width, also in the names of a server's tool's fields. The prompt's text has
// such an input whole.
func TestNamesOfAServer(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := Ready()
	seed.Settings = map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"command": server}}}
	l := prepare(t, seed)
	check(t, l.Host.Start())
	l.start("lab", nil, "--size", "100x30")
	l.See("1 MCP server")
	l.Is("idle")
	input := map[string]any{"message": "Which one?", "dry_run\u200b": true}
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("mcp_lab_ask", input)), modelapi.Say(modelapi.Text("Finished."))}})
	l.Takes("please ask")
	l.Is("prompt")
	p := l.PromptUntil("as it is drawn", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" })
	if !strings.Contains(p.Text, `dry_run\u200b`) {
		t.Errorf("title %q, input %q, text %q", p.Title, p.Input, p.Text)
	}
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
}
