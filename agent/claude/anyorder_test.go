package claude_test

import (
	"fmt"
	"testing"

	"berth/agent"
	"berth/agent/claude"
	"berth/test/anyorder"
)

// ordered is a command with and without the sandbox, and with a time. Its dialog draws neither. The log is written after the dialog.
func ordered(t *testing.T) *anyorder.Agent {
	inputs := []string{"", `,"dangerouslyDisableSandbox":true`, `,"timeout":7`}
	for i, more := range inputs {
		inputs[i] = `{"command":"ls","description":"List"` + more + `}`
	}
	inputs = append(inputs, `{"command":"ls -a","description":"List"}`, `{"command":"l","description":"List"}`)
	hook := func(name, more, tool, id, input string) []agent.Fact {
		facts, err := claude.Driver{}.Hook(fmt.Appendf(nil, `{"session_id":"s","hook_event_name":%q,"prompt_id":"t"%s,"tool_name":%q,"tool_use_id":%q,"tool_input":%s}`, name, more, tool, id, input))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	event := func(name, more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact { return hook(name, more, "Bash", id, inputs[n]) }
	}
	line := func(text string) []agent.Fact {
		facts, err := claude.Driver{}.Log([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	ends := event("PostToolUse", "")
	return &anyorder.Agent{
		Driver: claude.Driver{}, Dir: "/w", Adds: true, Lines: []string{"", "dangerouslyDisableSandbox: true", "timeout: 7"},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Logged: func(id string, n int) []agent.Fact {
				return line(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":` + inputs[n] + `}]}}`)
			},
			anyorder.Began:  event("PreToolUse", ""),
			anyorder.Asks:   event("PermissionRequest", ""),
			anyorder.AsksAs: event("PermissionRequest", `,"agent_id":"x","agent_type":"y"`),
			anyorder.AsksElse: func(id string, _ int) []agent.Fact {
				return hook("PermissionRequest", "", "Skill", id, `{"skill":"ls"}`)
			},
			anyorder.BeganElse: func(id string, _ int) []agent.Fact {
				return line(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"pwd"}}]}}`)
			},
			anyorder.Over: func(id string, n int) []agent.Fact {
				return append(ends(id, n), line(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"x"}]}}`)...)
			},
			anyorder.Step:    event("PostToolBatch", ""),
			anyorder.Stop:    event("Stop", ""),
			anyorder.Message: event("UserPromptSubmit", `,"prompt":"x"`),
		},
		Before: []anyorder.Event{anyorder.Began}, After: []anyorder.Event{anyorder.Logged},
		Dialog: []*agent.Reading{plainCommand("Bash command", "ls"), asksOfCommand("List", "ls")},
		Others: []anyorder.Other{
			anyorder.Asking("Bash", "ls -a", plainCommand("Bash command", "ls -a"), asksOfCommand("List", "ls -a")),
			anyorder.Asking("Bash", "l", plainCommand("Bash command", "l"), asksOfCommand("List", "l")),
		},
		Subagent: []*agent.Reading{plainCommand("Bash command · from the y agent", "ls")},
		Works:    atComposer("✻ Thinking… (3s · esc to interrupt)\n\n"), Composer: atComposer(""),
	}
}

// TestAnyOrder: whatever another process reports and draws, a key allows no command whose prompt leaves out what its dialog does.
func TestAnyOrder(t *testing.T) { anyorder.Play(t, ordered(t), 30, 60) }

// TestCoveredWithoutAnswer: a call whose dialog was covered, and not answered, is named by the prompt of a forged report.
func TestCoveredWithoutAnswer(t *testing.T) { anyorder.Covered(t, ordered(t)) }

// TestKilledAtADialog: what a session without a server showed isn't known, so no call is forgotten meanwhile.
func TestKilledAtADialog(t *testing.T) { anyorder.Killed(t, ordered(t)) }

// TestNamedByAnotherTool: a call whose id is in another tool's permission is named by the prompt of a forged report.
func TestNamedByAnotherTool(t *testing.T) { anyorder.NamedByAnother(t, ordered(t)) }

// TestHonestOrders: without another process each dialog takes an answer in time.
func TestHonestOrders(t *testing.T) { anyorder.Honest(t, ordered(t), 12, 60) }
