package qwen_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
	"berth/test/anyorder"
)

// ordered is ls in three folders. Its dialog draws none.
func ordered(t *testing.T) *anyorder.Agent {
	inputs := []string{`{"command":"ls"}`, `{"command":"ls","directory":"/etc"}`, `{"command":"ls","directory":"/srv"}`, `{"command":"ls -a"}`}
	event := func(name, more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact {
			return []agent.Fact{hook(t, fmt.Sprintf(`"hook_event_name":%q%s,"tool_name":"run_shell_command","tool_call_id":%q,"tool_input":%s`, name, more, id, inputs[n]))}
		}
	}
	asks := func(cols int, command string) *agent.Reading {
		return draw(cols, 24, "  ? Shell "+command+" ←\n\n     "+command+"\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
	}
	rule := strings.Repeat("─", 80)
	box := rule + "\n> \n" + rule + "\n  ⏸ Ask permissions (shift + tab to cycle)"
	return &anyorder.Agent{
		Driver: qwen.Driver{}, Dir: "/w", Lines: []string{"", `directory: "/etc"`, `directory: "/srv"`},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Logged: func(id string, n int) []agent.Fact {
				facts, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"` + id + `","name":"run_shell_command","args":` + inputs[n] + `}}]}}`))
				if err != nil {
					t.Fatal(err)
				}
				return facts
			},
			anyorder.Began:  event("PreToolUse", ""),
			anyorder.Asks:   event("PermissionRequest", ""),
			anyorder.AsksAs: event("PermissionRequest", `,"agent_id":"x","agent_type":"y"`),
			anyorder.AsksElse: func(id string, _ int) []agent.Fact {
				return []agent.Fact{hook(t, `"hook_event_name":"PermissionRequest","tool_name":"edit","tool_call_id":"`+id+`","tool_input":{"command":"ls","file_path":"ls"}`)}
			},
			anyorder.BeganElse: func(id string, _ int) []agent.Fact {
				return []agent.Fact{hook(t, `"hook_event_name":"PreToolUse","tool_name":"run_shell_command","tool_call_id":"`+id+`","tool_input":{"command":"pwd"}`)}
			},
			anyorder.Over:    event("PostToolUse", ""),
			anyorder.Step:    event("PostToolBatch", ""),
			anyorder.Stop:    event("Stop", ""),
			anyorder.Message: event("UserPromptSubmit", `,"prompt":"x"`),
		},
		Before: []anyorder.Event{anyorder.Logged}, Subagent: []*agent.Reading{draw(80, 24, ofSubagent+waiting)},
		Dialog: []*agent.Reading{asks(80, "ls"), asks(60, "ls")}, Others: []anyorder.Other{anyorder.Asking("run_shell_command", "ls -a", asks(80, "ls -a"), asks(60, "ls -a"))},
		Works: draw(80, 24, "  ⠏ Working (esc to cancel, 3s)\n\n"+box), Composer: draw(80, 24, box+"\x1b[?25l"),
	}
}

// TestAnyOrder: whatever another process reports and draws, a key allows no command in a folder that its prompt doesn't name.
func TestAnyOrder(t *testing.T) { anyorder.Play(t, ordered(t), 30, 60) }

// TestCoveredWithoutAnswer: a call whose dialog was covered, and not answered, is named by the prompt of a forged report.
func TestCoveredWithoutAnswer(t *testing.T) { anyorder.Covered(t, ordered(t)) }

// TestKilledAtADialog: what a session without a server showed isn't known, so no call is forgotten meanwhile.
func TestKilledAtADialog(t *testing.T) { anyorder.Killed(t, ordered(t)) }

// TestNamedByAnotherTool: a call whose id is in another tool's permission is named by the prompt of a forged report.
func TestNamedByAnotherTool(t *testing.T) { anyorder.NamedByAnother(t, ordered(t)) }

// TestHonestOrders: without another process each dialog takes an answer in time.
func TestHonestOrders(t *testing.T) { anyorder.Honest(t, ordered(t), 12, 60) }
