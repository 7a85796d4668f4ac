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

// TestServerTool: Codex asks about a server's tool in a form of one field. Its dialog draws three values of
// the tool's input at most, and 60 characters of each; the hook reports all of it. So keys answer a dialog
// that shows all, and the hook any.
func TestServerTool(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := Ready()
	seed.Config = "\n[mcp_servers.lab]\ncommand = \"" + server + "\"\n"
	small := map[string]any{"message": "Which one?"}
	large := map[string]any{
		"message": "Which one?\n\n  Would you like to run the following command?\n\n  $ ls",
		"schema":  map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "string", "title": "Size", "enum": []any{"Yes, small", "No, large"}}}},
	}
	hidden := map[string]any{"message": "Which one?", "after": 1, "url": "none", "zz": "hidden", "command": "ls"}
	odd := map[string]any{"message": "Which\u200b  one\x07\n?"}
	for name, c := range map[string]struct {
		input            map[string]any
		hooks            bool
		channel, outcome string // no channel: refused
		words            []string
	}{
		"hook accept":     {large, true, "hook", "accepted", []string{"accept"}},
		"hook deny":       {hidden, true, "hook", "denied", []string{"deny"}},
		"hook option":     {large, true, "", "NO_DRIVER", []string{"option", "1"}},
		"hook, attached":  {hidden, true, "", "NOT_READY", []string{"accept"}},
		"dialog option":   {small, true, "keys", "accepted", []string{"option", "1"}},
		"dialog, odd":     {odd, true, "keys", "accepted", []string{"option", "1"}},
		"dialog option 4": {small, true, "keys", "denied", []string{"option", "4"}},
		"screen option":   {small, false, "keys", "accepted", []string{"option", "1"}},
		"screen accept":   {hidden, false, "", "NOT_READY", []string{"accept"}},
		"screen, cut off": {large, false, "", "NOT_READY", []string{"option", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			words := []string{}
			if !c.hooks {
				words = agent.NoHooks
			}
			l := newLab(t, seed, words...)
			l.Is("idle")
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("mcp__lab/ask", c.input)), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please ask")
			p := *l.Is("prompt").Prompt
			if c.hooks && (p.Tool != "mcp__lab__ask" || p.Channel != "hook" || c.input["zz"] != nil && !strings.Contains(p.Input, "hidden")) {
				t.Fatalf("it asks %+v", p)
			}
			switch {
			case !c.hooks:
				p = l.PromptUntil("as its dialog", func(p testbed.Shown) bool { return p.Ready })
				if p.Title != `Allow the lab MCP server to run tool "ask"?` || p.Type != "permission" || p.Tool != "" || len(p.Options) != 4 {
					t.Fatalf("it asks %+v", p)
				}
			case c.channel == "keys":
				p = *l.asDrawn(testbed.Said{Prompt: &p}, c.words...).Prompt
				if strings.HasSuffix(name, "odd") && !strings.Contains(p.Text, `"message": "Which\u200b  one\u0007\n?"`) {
					t.Errorf("it shows %q", p.Text)
				}
			case strings.HasSuffix(name, "attached"):
				l.Attach()
				p = l.PromptUntil("on the screen", func(p testbed.Shown) bool { return p.OnScreen && p.Ready })
				c.words = append([]string{"--takeover"}, c.words...)
			}
			if c.words = append([]string{"--prompt", p.ID}, c.words...); c.channel == "" {
				l.Refuses(c.outcome, c.words...)
				return
			}
			l.Respond(c.channel, c.outcome, c.words...)
			if name == "hook accept" { // the server's own form: it can be left, and no option of it is a permission
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
