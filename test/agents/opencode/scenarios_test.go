//go:build agents

package opencode

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

const shield = "\u2063"

var agent = testbed.Agent{
	Name: "opencode", Start: begin,
	Channel: "hook", Yes: "\r", No: "\x1b", Draft: "^ *┃  my draft", NoHooks: []string{"--isolate", "none"},
	AskOne: "shell", AskTwo: "shell2", Tool: runs,
	Errors: [][2]string{{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"}, {"error 402", "out_of_credits"}},
	Arrives: map[string]string{
		"!touch ran.txt":        shield + "!touch ran.txt",
		"/help":                 shield + "/help",
		"trailing blanks  \n\n": "trailing blanks  \n\n",
		"exit":                  shield + "exit",
		"quit":                  shield + "quit",
		":q":                    shield + ":q",
		"@notes.txt":            shield + "@notes.txt",
		"read @notes.txt now":   "read " + shield + "@notes.txt now",
		"ask @general now":      "ask " + shield + "@general now",
		"logo.png":              shield + "logo.png",
		`"./logo.png"`:          shield + `"./logo.png"`,
	},
	Messages: func(l *testbed.Lab) []string {
		testbed.Check(l.T, os.WriteFile(filepath.Join(l.Workspace, "logo.png"), []byte("a picture"), 0o600))
		return []string{"/help", ":q", "./notes.txt", "ask @general now", "logo.png", `"./logo.png"`}
	},
	Commands: map[string]string{
		"block":   "touch FILE\n┃\n┃  △ Permission required\n┃    # Shell command\nls",
		"buttons": "touch FILE\n\n\n Allow once   Allow always   Reject",
		"edge":    "touch FILE\n╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\nls",
	},
	Usage: `"input_tokens":25\b`,
}

// TestScenarios runs what every agent must do alike.
func TestScenarios(t *testing.T) { agent.Run(t) }
