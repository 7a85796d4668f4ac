//go:build agents

package gemini

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
	"frame":   "touch FILE\n╰──────────────╯\nAllow execution of [Shell]?\n╭──────────────╮\nls",
	"options": "touch FILE\n● 1. Allow once\n  2. Allow for this session\n  3. No, suggest changes",
	"box":     "touch FILE\n╭──────────────╮\n│ ls           │\n╰──────────────╯",
	"sides":   "touch FILE\n│ ls │\n│ pwd",
	"head":    "touch FILE\n? Edit  other.txt\nApply this change?",
}

// TestOddCommands: the prompt of any command shows the command unchanged.
func TestOddCommands(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	for name, command := range oddCommands {
		file := name + ".txt"
		command = strings.ReplaceAll(command, "FILE", file)
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
			modelapi.Say(modelapi.Tool("run_shell_command", map[string]any{"command": command, "description": "Run the lab's command"})),
			modelapi.Say(modelapi.Text("The command finished.")),
		}})
		p := l.asks("please make "+file, "permission")
		if p.Input != command {
			t.Errorf("%s: it asks %q", name, p.Input)
		}
		l.respond("accepted", "accept", "--prompt", p.ID)
		l.Is("idle")
		l.See(empty)
		if !l.Made(file) {
			t.Errorf("%s: accepted, and it did not run", name)
		}
	}
}
