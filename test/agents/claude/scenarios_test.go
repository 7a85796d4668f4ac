//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

const shield = "\u2800"

var agent = testbed.Agent{
	Name: "claude",
	Start: func(t *testing.T, flags ...string) *testbed.Lab {
		l := newStartLab(t, Ready(), nil)
		l.start("lab", map[string]string{"CLAUDE_CODE_MAX_RETRIES": "1"}, flags)
		l.Is("idle")
		l.ready()
		return l.Lab
	},
	Ready: func(l *testbed.Lab) { (&lab{Lab: l}).ready() },
	Listens: func(l *testbed.Lab) {
		if newer(330) {
			(&lab{Lab: l}).pause(700) // it ignores a key in a dialog's first moment
		}
	},
	Channel: "hook", Yes: "1", No: "\x1b", Draft: prompt + "my draft$", NoHooks: []string{"--isolate", "none"},
	AskOne: "bash", AskTwo: "bash2",
	Tool: func(command string) modelapi.Block {
		return modelapi.Tool("Bash", map[string]any{"command": command, "description": "Run the lab's command"})
	},
	Errors: [][2]string{
		{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"}, {"error 429", "rate_limited"},
		{"error 500", "overloaded"}, {"error 529", "overloaded"}, {"credit", "out_of_credits"}, {"drop", "network"},
	},
	Arrives: map[string]string{
		"!touch ran.txt":      shield + "!touch ran.txt",
		"/help":               shield + "/help",
		" /clear":             shield + " /clear",
		"exit":                shield + "exit",
		"quit":                shield + "quit",
		"?":                   shield + "?",
		"@notes.txt":          shield + "@notes.txt",
		"read @notes.txt now": "read " + shield + "@notes.txt now",
		"ping @no":            "ping " + shield + "@no",
		"tab\there":           "tab    here",
		"e\u0301te\u0301":     "\u00e9t\u00e9",
		"e\u0301 👨‍👩‍👧\n漢字 🇩🇪\n\t-\n4\n5": "é 👨‍👩‍👧\n漢字 🇩🇪\n    -\n4\n5",
	},
	Messages: func(l *testbed.Lab) []string {
		picture := filepath.Join(l.Workspace, "shot.png")
		check(l.T, os.WriteFile(picture, []byte("\x89PNG\r\n\x1a\n"), 0o600))
		return []string{
			"/help", " /clear", "ping @no", "e\u0301te\u0301", "one\n\n\n\n\ntwo\n\n\nend",
			"look at\n" + picture + "\nand\nthat\nis all", "e\u0301 👨‍👩‍👧\n漢字 🇩🇪\n\t-\n4\n5",
		}
	},
	Commands: map[string]string{
		"frame":    "touch FILE\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n ls\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌",
		"rule":     "touch FILE\n────────────────────────────────\n Bash command\n\n   ls\n   List files",
		"question": "touch FILE\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel",
		"options":  "touch FILE # 1. Yes\n ❯ 1. Yes\n   2. No, and keep all",
		"bars":     "touch FILE\n│ ls\n│\n│ pwd",
		"tip":      "Tip=1; touch FILE\n# it is below",
		"more":     "touch FILE\n ↑ 12 more lines\nls",
		"long":     "touch FILE; echo " + strings.Repeat("abcdefghij", 30) + "; ls",
		"tall":     "touch FILE\n" + strings.Repeat("# a line of the text\n", 60) + "ls",
		"wide":     "touch FILE # " + strings.Repeat("漢字", 70) + " é e\u0301",
		"blank":    "touch FILE #\u00a0❯\u00a0x",
		"tabs":     "cat > FILE <<EOF\nfirst\n\n\tsecond\nEOF\necho done  \nls",
	},
	Usage: `"output_tokens":[1-9]`,
}

// TestScenarios runs what every agent must do alike.
func TestScenarios(t *testing.T) { agent.Run(t) }

// TestMessagesByLog: without hooks the session log confirms the messages.
func TestMessagesByLog(t *testing.T) { agent.RunOne(t, "messages", "--isolate", "none") }
