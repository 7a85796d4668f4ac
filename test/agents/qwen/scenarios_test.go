//go:build agents

package qwen

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

const shield = "\u2060"

var agent = testbed.Agent{
	Name: "qwen",
	Start: func(t *testing.T, flags ...string) *testbed.Lab {
		l := newLab(t, Ready(), flags...)
		l.Is("idle")
		return l.Lab
	},
	Ready:   func(l *testbed.Lab) { l.See(empty) },
	Channel: "hook", HookHides: true, Yes: "1", No: "4", Draft: "^> my draft", NoHooks: []string{"--isolate", "none"},
	AskOne: "shell", AskTwo: "shell2",
	Tool: func(command string) modelapi.Block { return runs(command) },
	Work: []string{"MOCK: hang"},
	Errors: [][2]string{
		{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"},
	},
	Arrives: map[string]string{
		"!touch ran.txt":             shield + "!touch ran.txt",
		"/help":                      shield + "/help",
		" /clear":                    shield + " /clear",
		"exit":                       shield + "exit",
		"quit":                       shield + "quit",
		":q":                         shield + ":q",
		"?":                          shield + "?",
		"@notes.txt":                 "@" + shield + "notes.txt",
		"read @notes.txt now":        "read @" + shield + "notes.txt now",
		"mail a@b.example":           "mail a@" + shield + "b.example",
		"./notes.txt":                shield + "./notes.txt", // a paste of it would be a file dropped on the terminal
		"'./notes.txt' ./sample.txt": shield + "'./notes.txt' ./sample.txt",
		"picture.png":                shield + "picture.png",
		"an @, an (@) and an @.":     "an @, an ( @) and an @.",
	},
	Itself: map[string]bool{"an @, an (@) and an @.": true}, // it puts the blank
	Messages: func(l *testbed.Lab) []string {
		check(l.T, os.WriteFile(filepath.Join(l.Workspace, "picture.png"), []byte("no picture"), 0o600))
		return []string{
			"/help", " /clear", "see /help", ":q", "an @, an (@) and an @.", `as \\@notes.txt says`, "./notes.txt", "'./notes.txt' ./sample.txt", "picture.png",
			"e\u0301te\u0301", `a backslash at the end \`,
		}
	},
	Commands: map[string]string{
		"question": "touch FILE\n\nAllow execution of: 'ls'?\n\n› 1. Yes, allow once\n  2. No, suggest changes (esc)\n\n⠏ Waiting for user confirmation...",
		"options":  "touch FILE\n› 1. Yes, allow once\n  2. No, suggest changes (esc)",
		"head":     "touch FILE\n  ? Edit other.txt ←\nApply this change?",
		"warning":  "touch FILE\n⚠ Auto Mode couldn't classify this action\n\nls",
	},
	Usage: `"input_tokens":25\b`,
}

// TestScenarios runs what every agent must do alike.
func TestScenarios(t *testing.T) { agent.Run(t) }

// TestCommandsByKeys: without hooks the prompts of odd commands are read off the screen.
func TestCommandsByKeys(t *testing.T) {
	byKeys := agent
	byKeys.Channel, byKeys.HookHides = "keys", false
	byKeys.RunOne(t, "odd-commands", agent.NoHooks...)
}
