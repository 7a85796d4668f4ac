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
				was := l.PromptUntil("the first form's", func(p testbed.Shown) bool { return p.Ready && p.OnScreen == (isolate == "none") })
				l.Poll(func() bool {
					p, err := l.prompt()
					return err == nil && p.ID != was.ID && p.OnScreen == (isolate == "none") && p.Ready
				}, func() string { return fmt.Sprintf("the second form is not a prompt of its own: %+v", l.Said()) })
				if r, status := l.Try("", "--prompt", was.ID, "accept"); status == 0 || r.Delivered {
					t.Fatalf("%s: accepting the first form: status %d, %+v", message, status, r)
				}
				now, err := l.prompt()
				check(t, err)
				if isolate == "none" { // the first form went without an answer, so a process may have drawn the second over it
					l.Refuses("NOT_READY", "--prompt", now.ID, "cancel")
					l.Call("keys", "lab", "Escape")
					l.ModelGot(message, `\"cancel\"`)
					l.Is("idle")
					continue
				}
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

// TestFormDrawn: a form is on the screen once a client is attached that may write, and keys answer it. One that is drawn because a
// process of the session has ended its hook is left to a person.
func TestFormDrawn(t *testing.T) {
	fields := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}
	l := newFormLab(t, "hooks")
	hidden := func(message string) testbed.Shown {
		t.Helper()
		l.serverAsks(message, map[string]any{"message": "Your name?", "schema": fields})
		return l.PromptUntil("a form that is not drawn", func(p testbed.Shown) bool { return p.Type == "form" && p.Channel == "hook" && p.Ready && !p.OnScreen })
	}

	was := hidden("please ask 1")
	if _, status := l.Interrupt(); status != 5 {
		t.Errorf("an interrupt at a form: status %d", status)
	}
	l.endHooks()
	l.PromptUntil("one that takes no key", func(p testbed.Shown) bool { return p.ID == was.ID && p.OnScreen && p.Channel == "none" })
	l.Refuses("NOT_READY", "--prompt", was.ID, "accept")
	l.Refuses("NOT_READY", "--prompt", was.ID, "deny")
	l.key("Escape")
	l.ModelGot("please ask 1", `\"cancel\"`)
	l.Is("idle")

	was = hidden("please ask 2")
	v := l.Attach()
	now := l.PromptUntil("drawn", func(p testbed.Shown) bool { return p.OnScreen && p.Channel == "keys" })
	if now.ID != was.ID {
		t.Errorf("the form is prompt %s, and drawn it is %s", was.ID, now.ID)
	}
	if r, status := l.Try(`{"action":"accept","content":{"name":"Ann"}}`, "--prompt", was.ID, "-"); status != 0 || !r.Confirmed || r.Channel != "keys" {
		t.Errorf("accepted: status %d, %+v, %+v", status, r, r.Error)
	}
	l.ModelGot("please ask 2", `\"name\":\"Ann\"`)
	l.Is("idle")

	l.serverAsks("please ask 3", map[string]any{"message": "Your name?", "schema": fields}) // while the client is attached
	now = l.promptShown("form")
	if r, status := l.Try("", "--prompt", now.ID, "deny"); status != 0 || !r.Confirmed || r.Channel != "keys" {
		t.Errorf("denied: status %d, %+v, %+v", status, r, r.Error)
	}
	l.ModelGot("please ask 3", `\"decline\"`)
	l.Is("idle")
	v.Close()
}
