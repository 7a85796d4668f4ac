//go:build agents

package codex

import (
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// oddCommands are commands with several lines, and commands that contain words and marks of a
// dialog. Each creates the file FILE.
var oddCommands = map[string]string{
	"lines":   "touch FILE\n\n\necho done\nls",
	"text":    "cat > FILE <<EOF\nfirst\n\n  second\nEOF",
	"head":    "touch FILE\nWould you like to make the following edits?\n\nDestination: x",
	"options": "touch FILE\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\nPress enter to confirm or esc to cancel",
	"cells":   "touch FILE\n• Proposed Plan\n› hello\nls",
	"reason":  "touch FILE\nReason: none\n\n$ ls",
}

// TestOddCommands: the prompt of any command shows the command unchanged.
func TestOddCommands(t *testing.T) {
	for name, flags := range map[string][]string{"hooks": nil, "none": {"--isolate", "none"}} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Ready(), append(flags, "--", "--no-daemon")...)
			l.await("idle")
			for name, command := range oddCommands {
				file := name + ".txt"
				command = strings.ReplaceAll(command, "FILE", file)
				l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
					modelapi.Say(modelapi.Tool("exec_command", map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "The lab wants it"})),
					modelapi.Say(modelapi.Text("The command finished.")),
				}})
				l.give("please make " + file)
				p := l.await("prompt").Prompt
				if p.Input == nil || *p.Input != command {
					t.Errorf("%s: it asks %+v", name, p)
				}
				if r, status := l.try("--prompt", p.ID, "accept"); status != 0 || !r.Confirmed {
					t.Fatalf("%s: status %d, %+v %+v", name, status, r, r.Error)
				}
				l.await("idle")
				if !l.Made(file) {
					t.Errorf("%s: accepted, and it did not run", name)
				}
			}
		})
	}
}
