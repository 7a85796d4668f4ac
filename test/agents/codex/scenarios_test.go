//go:build agents

package codex

import (
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

var agent = testbed.Agent{
	Name: "codex",
	Start: func(t *testing.T, flags ...string) *testbed.Lab {
		l := newLab(t, Ready(), flags...)
		l.Is("idle")
		return l.Lab
	},
	Channel: "hook", HookHides: true, Yes: "y", No: "3", Draft: "› my draft$", NoHooks: []string{"--isolate", "none", "--", "--no-daemon"},
	AskOne: "bash", AskTwo: "bash2",
	Tool: func(command string) modelapi.Block {
		return modelapi.Tool("exec_command", map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "The lab wants it"})
	},
	Work: []string{"MOCK: hang", "MOCK: run sleep 20", "MOCK: ponder"},
	Errors: [][2]string{
		{"error 400", "invalid"}, {"error 401", "unauthorized"}, {"error 403", "unauthorized"}, {"error 429", "rate_limited"},
		{"error 500", "overloaded"}, {"error 503", "overloaded"}, {"quota", "out_of_credits"}, {"too-long", "context_full"}, {"drop", "network"},
	},
	Arrives: map[string]string{
		" /new": "/new",
		// The one case whose added blank arrives.
		"!touch ran.txt # " + strings.Repeat("漢", 983): " !touch ran.txt # " + strings.Repeat("漢", 983),
	},
	Messages: func(*testbed.Lab) []string {
		return []string{
			"!touch ran.txt # " + strings.Repeat("0123456789 ", 130) + "end",
			"/status",
			" /new",
			"/nosuch",
			"/nosuch " + strings.Repeat("x", 992),
			"!touch ran.txt # " + strings.Repeat("漢", 983),
			"/nosuch " + strings.Repeat("x", 993),
			strings.Repeat("x ", 497) + "@notes",
			"/nosuch " + strings.Repeat("0123456789 ", 130) + "end",
			"read @notes.txt",
			"first\n@notes.txt",
			"见\u3000@notes.txt",
			"say @",
			"/review @notes.txt",
			strings.Repeat("0123456789 ", 130) + "@notes.txt",
			"use $skill now",
			"$PATH is what it is, and so is $",
			"for f in $files; do\n\techo $f $1 $@\ndone\n$x",
			"$",
		}
	},
	Commands: map[string]string{
		"head":    "touch FILE\nWould you like to make the following edits?\n\nDestination: x",
		"options": "touch FILE\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\nPress enter to confirm or esc to cancel",
		"cells":   "touch FILE\n• Proposed Plan\n› hello\nls",
		"reason":  "touch FILE\nReason: none\n\n$ ls",
	},
	Usage: `"output_tokens":[1-9]`,
}

// TestScenarios runs what every agent must do alike.
func TestScenarios(t *testing.T) { agent.Run(t) }

// TestCommandsByKeys: without hooks the prompts of odd commands are read off the screen.
func TestCommandsByKeys(t *testing.T) {
	byKeys := agent
	byKeys.Channel, byKeys.HookHides = "keys", false
	byKeys.RunOne(t, "odd-commands", agent.NoHooks...)
}
