//go:build agents

package claude

import (
	"fmt"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// serverAsks has the MCP server ask its user.
func (l *lab) serverAsks(message string, what map[string]any) {
	l.T.Helper()
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("mcp__lab__ask", what)), modelapi.Say(modelapi.Text("The server was answered."))}})
	l.send(message)
}

func newFormLab(t *testing.T, isolate string) *lab {
	t.Helper()
	config := mcpConfig(t)
	l := newStartLab(t, Ready(), nil)
	l.start("lab", nil, []string{"--isolate", isolate}, "--mcp-config", config, "--allowedTools", "mcp__lab__ask")
	l.Is("idle")
	l.untilFile(toolsKnown(config), "listed")
	l.offersTheModel("mcp__lab__ask")
	return l
}

// TestFormAskedAgain: a server cancels its form and sends another one. No answer to the first reaches
// the second.
func TestFormAskedAgain(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"type": "object", "properties": map[string]any{"sure": map[string]any{"type": "boolean"}}}
	for _, isolate := range []string{"hooks", "none"} {
		t.Run(isolate, func(t *testing.T) {
			l := newFormLab(t, isolate)
			for i, c := range []struct{ first, second map[string]any }{
				{map[string]any{"message": "Continue?", "schema": fields}, map[string]any{"message": "Delete everything?", "schema": fields}},
				{map[string]any{"message": "Continue?", "schema": fields}, map[string]any{"message": "Continue?", "schema": map[string]any{"type": "object", "properties": map[string]any{"all": map[string]any{"type": "boolean"}}}}},
				{map[string]any{"message": "Continue?", "schema": fields}, map[string]any{"message": "Please open this", "url": "https://berth.invalid/evil"}},
				{map[string]any{"message": "Please open this", "url": "https://berth.invalid/good"}, map[string]any{"message": "Please open this", "url": "https://berth.invalid/evil"}},
			} {
				if i > 1 && !newer(330) {
					break // an older Claude Code refuses to open addresses
				}
				c.first["after"], c.first["then"] = 4000, c.second
				message := fmt.Sprint("please ask ", i)
				l.serverAsks(message, c.first)
				was := l.PromptUntil("the first form's", func(p testbed.Shown) bool { return p.Ready && p.OnScreen })
				l.Poll(func() bool {
					p, err := l.prompt()
					return err == nil && p.ID != was.ID && p.OnScreen && p.Ready
				}, func() string { return fmt.Sprintf("the second form is not a prompt of its own: %+v", l.Said()) })
				if r, status := l.Try("", "--prompt", was.ID, "accept"); status == 0 || r.Delivered {
					t.Fatalf("%s: accepting the first form: status %d, %+v", message, status, r)
				}
				now, err := l.prompt()
				check(t, err)
				way := []string{"cancel", "deny"}[i%2]
				if r, status := l.Try("", "--prompt", now.ID, way); status != 0 || !r.Confirmed || now.Type != "form" {
					t.Fatalf("%s: %s of the second form: status %d, %+v, error %+v", message, way, status, r, r.Error)
				}
				l.ModelGot(message, []string{`\"cancel\"`, `\"decline\"`}[i%2])
				l.Is("idle")
			}
		})
	}
}
