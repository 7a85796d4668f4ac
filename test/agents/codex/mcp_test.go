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

// TestServerTool: Codex asks about a server's tool in a form of one field. The dialog cuts off what
// the tool is given, so it is asked as it is drawn; the hook tells all of it.
func TestServerTool(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := Ready()
	seed.Config = "\n[mcp_servers.lab]\ncommand = \"" + server + "\"\n"
	call := modelapi.Tool("mcp__lab/ask", map[string]any{
		"message": "Which one?\n\n  Would you like to run the following command?\n\n  $ ls",
		"schema":  map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "string", "title": "Size", "enum": []any{"Yes, small", "No, large"}}}},
	})
	for _, c := range []struct {
		channel, outcome string
		words            []string
	}{
		{"hook", "accepted", []string{"accept"}},
		{"hook", "denied", []string{"deny"}},
		{"keys", "accepted", []string{"option", "1"}},
		{"keys", "denied", []string{"option", "4"}},
	} {
		for _, way := range []string{"hooks", "screen"} {
			if way == "screen" && c.channel == "hook" {
				continue
			}
			t.Run(way+" "+strings.Join(c.words, " "), func(t *testing.T) {
				words := []string{}
				if way == "screen" {
					words = agent.NoHooks
				}
				l := newLab(t, seed, words...)
				l.Is("idle")
				l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("Finished."))}})
				l.Nudge("please ask")
				s := l.Is("prompt")
				if way == "hooks" && (s.Prompt.Tool != "mcp__lab__ask" || s.Prompt.Channel != "hook") {
					t.Fatalf("it asks %+v", s.Prompt)
				}
				if way == "hooks" && c.channel == "keys" {
					l.asDrawn(s, c.words...)
				}
				p := *s.Prompt
				if c.channel == "keys" {
					p = l.PromptUntil("as its dialog", func(p testbed.Shown) bool { return p.Ready })
					if p.Title != `Allow the lab MCP server to run tool "ask"?` || p.Type != "permission" || p.Tool != "" || len(p.Options) != 4 || !strings.HasPrefix(p.Text, "message: Which one?") {
						t.Fatalf("it asks %+v", p)
					}
				}
				l.Respond(c.channel, c.outcome, append([]string{"--prompt", p.ID}, c.words...)...)
				if c.outcome == "accepted" { // the server's own form: it can be left, and no option of it is a permission
					form := l.PromptUntil("a form", func(p testbed.Shown) bool { return p.Ready && p.Type == "notice" })
					if form.Title != "A form" || !strings.Contains(form.Text, "Size") {
						t.Errorf("it asks %+v", form)
					}
					l.Refuses("NO_DRIVER", "--prompt", form.ID, "option", "1")
					l.Respond("keys", "denied", "--prompt", form.ID, "deny")
				}
				l.Is("idle")
			})
		}
	}
}
