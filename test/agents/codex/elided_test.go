//go:build agents

package codex

import (
	"fmt"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestNoRoom: a command that is longer than the screen is answered by its hook, or at a dialog with room for
// it. A dialog without room draws the command's first lines, and no key answers it.
func TestNoRoom(t *testing.T) {
	lines := []string{}
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("echo line %d", i))
	}
	command := strings.Join(append(lines, "touch hidden.txt"), "\n")
	for name, c := range map[string]struct {
		size             string
		hooks, attached  bool
		channel, outcome string // no channel: refused
	}{
		"hook":           {"80x24", true, false, "hook", "accepted"},
		"hook, attached": {"80x24", true, true, "", "NOT_READY"},
		"screen":         {"80x24", false, false, "", "NOT_READY"},
		"tiny":           {"80x10", false, false, "", "NOT_READY"},
		"room":           {"80x50", false, false, "keys", "accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			words := []string{"--size", c.size}
			if !c.hooks {
				words = append(words, agent.NoHooks...)
			}
			l := newLab(t, Ready(), words...)
			l.Is("idle")
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", map[string]any{
				"cmd": command, "sandbox_permissions": "require_escalated", "justification": "May it?",
			})), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please do it")
			if c.attached {
				l.Attach()
			}
			p := l.PromptUntil("asked", func(p testbed.Shown) bool { return p.Ready == (c.channel != "hook") && p.OnScreen == p.Ready })
			if c.hooks && p.Input != "" && !strings.HasPrefix(command, p.Input) {
				t.Errorf("it asks %+v", p)
			}
			if c.channel == "" {
				l.Refuses(c.outcome, "--takeover", "--prompt", p.ID, "accept")
				if l.Made("hidden.txt") {
					t.Error("the command ran")
				}
				return
			}
			l.Respond(c.channel, c.outcome, "--prompt", p.ID, "accept")
			l.Is("idle")
			if !l.Made("hidden.txt") {
				t.Error("the command did not run")
			}
		})
	}
}
