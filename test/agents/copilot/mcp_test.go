//go:build agents

package copilot

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestServerTool: Copilot's dialog of a server's tool draws some characters as nothing, also in the names of fields. The
// prompt's text has them.
func TestServerTool(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l := prepare(t, Ready())
	servers := map[string]any{"lab": map[string]any{"type": "local", "command": server, "args": []string{}, "tools": []string{"*"}}}
	check(t, host.WriteJSON(filepath.Join(l.home.Files, "mcp-config.json"), map[string]any{"mcpServers": servers}))
	l.start("lab")
	l.Is("idle")
	l.See(rests)
	for i, c := range []struct {
		input map[string]any
		says  string
	}{
		{map[string]any{"dry_run": true, "message": "Which of the two?"}, ""},
		{map[string]any{"dry\u200b_run": true, "message": "Which\u0085 one?"}, `\"dry\u200b_run\":true,\"message\":\"Which\u0085 one?\"`},
	} {
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("lab-ask", c.input)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Takes(fmt.Sprintf("please ask %d", i))
		p := l.PromptUntil("with what isn't drawn", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && strings.Contains(p.Text, c.says) })
		if p.Title != "Do you want to use this tool?" || c.says == "" && strings.Contains(p.Text, "may be that of") {
			t.Errorf("it asks %+v", p)
		}
		l.Respond("keys", "denied", "--prompt", p.ID, "deny")
		l.Is("idle")
		l.See(rests)
	}
}
