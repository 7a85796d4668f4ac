//go:build agents

package claude

import (
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// oddCommands are commands with several lines, and commands that contain words and marks of a
// dialog. Each creates the file FILE.
var oddCommands = map[string]string{
	"empty lines": "touch FILE\n\n\necho done  \nls",
	"text":        "cat > FILE <<EOF\nfirst\n\n\tsecond\nEOF",
	"frame":       "touch FILE\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n ls\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌",
	"rule":        "touch FILE\n────────────────────────────────\n Bash command\n\n   ls\n   List files",
	"question":    "touch FILE\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel",
	"options":     "touch FILE # 1. Yes\n ❯ 1. Yes\n   2. No, and keep all",
	"bars":        "touch FILE\n│ ls\n│\n│ pwd",
	"tip":         "Tip=1; touch FILE\n# it is below",
	"more":        "touch FILE\n ↑ 12 more lines\nls",
	"long":        "touch FILE; echo " + strings.Repeat("abcdefghij", 30) + "; ls",
	"tall":        "touch FILE\n" + strings.Repeat("# a line of the text\n", 60) + "ls",
	"wide":        "touch FILE # " + strings.Repeat("漢字", 70) + " é e\u0301",
	"blank":       "touch FILE #\u00a0❯\u00a0x",
}

// TestCommandsOfLines: any command is one prompt, the prompt shows the command unchanged, and the
// hook answers it.
func TestCommandsOfLines(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for name, command := range oddCommands {
		file := strings.ReplaceAll(name, " ", "-") + ".txt"
		command = strings.ReplaceAll(command, "FILE", file)
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
			modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": command, "description": "Run the lab's command"})),
			modelapi.Say(modelapi.Text("The command finished.")),
		}})
		l.send("please make " + file)
		id := l.hookWaits().ID
		p := l.promptShown("permission")
		if shown := string([]rune(command)[:min(200, len([]rune(command)))]); p.ID != id || p.Channel != "hook" || p.Input != shown {
			t.Errorf("%s: the prompt %s is %+v", name, id, p)
		}
		l.respond("hook", "accepted", "--prompt", id, "accept")
		l.Is("idle")
		l.ready()
		if !l.Made(file) {
			t.Errorf("%s: accepted, and it did not run", name)
		}
	}
}
