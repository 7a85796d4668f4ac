//go:build agents

package copilot

import (
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

const shield = "\u2060"

var agent = testbed.Agent{
	Name: "copilot",
	Start: func(t *testing.T, flags ...string) *testbed.Lab {
		l := newLab(t, Ready(), flags...)
		l.Is("idle")
		return l.Lab
	},
	Ready:   func(l *testbed.Lab) { l.See(rests) },
	Channel: "keys", Yes: "1", No: "\x1b", Draft: "^┃ my draft", NoHooks: []string{"--isolate", "none"},
	AskOne: "bash", AskTwo: "bash2",
	Tool:   func(command string) modelapi.Block { return runs(command) },
	Errors: [][2]string{{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"}},
	Arrives: map[string]string{
		"!touch ran.txt":         shield + "!touch ran.txt",
		"/help":                  shield + "/help",
		"exit":                   shield + "exit",
		"quit":                   shield + "quit",
		"?":                      shield + "?",
		"@notes.txt":             "@" + shield + "notes.txt",
		"read @notes.txt now":    "read @" + shield + "notes.txt now",
		"mail a@b.example":       "mail a@" + shield + "b.example",
		"& in the background":    shield + "& in the background",
		"see #12 and @":          "see #12 and @" + shield,
		"an @, an (@) and an @.": "an @" + shield + ", an (@" + shield + ") and an @" + shield + ".",
		"tab\there":              "tab    here",
		"#1":                     shield + "#1",
	},
	Messages: func(*testbed.Lab) []string {
		return []string{"/help", "& in the background", "#1", "fix #12", "see #12 and @", "an @, an (@) and an @."}
	},
	Commands: map[string]string{
		"frame":   "touch FILE\n╰──────────────╯\nDo you want to run this command?\n╭──────────────╮\nls",
		"options": "touch FILE\n❯ 1. Yes\n  2. No, and tell Copilot what to do differently (Esc to stop)",
		"sides":   "touch FILE\n│ ls │\n│ pwd",
		"keys":    "touch FILE\n↑/↓ to navigate · enter to select · esc to cancel",
	},
	Usage: `"input_tokens":25\b`,
}

// TestScenarios runs what every agent must do alike.
func TestScenarios(t *testing.T) { agent.Run(t) }
