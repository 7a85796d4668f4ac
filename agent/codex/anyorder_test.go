package codex_test

import (
	"testing"

	"berth/agent"
	"berth/agent/codex"
	"berth/test/anyorder"
)

// ordered is ls in three folders. Its dialog draws none.
func ordered(t *testing.T) *anyorder.Agent {
	dirs, commands := []string{"/w", "/srv", "/etc", "/w"}, []string{"ls", "ls", "ls", "ls -a"}
	event := func(name, fields string) []agent.Fact { return hook(t, name, fields) }
	line := func(payload string) []agent.Fact {
		facts, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":` + payload + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	asks := func(more string) func(string, int) []agent.Fact {
		return func(_ string, n int) []agent.Fact {
			return event("PermissionRequest", more+`,"cwd":"`+dirs[n]+`","tool_name":"Bash","tool_input":{"command":"`+commands[n]+`","description":"May I?"}`)
		}
	}
	began := func(more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact {
			return event("PreToolUse", more+`,"cwd":"`+dirs[n]+`","tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"`+commands[n]+`"}`)
		}
	}
	return &anyorder.Agent{
		Driver: codex.Driver{}, Dir: "/w", Lines: []string{"", `workdir: "/srv"`, `workdir: "/etc"`},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Logged: func(id string, n int) []agent.Fact {
				at := map[bool]string{true: `,\"workdir\":\"` + dirs[n] + `\"`}[dirs[n] != "/w"]
				return line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"` + commands[n] + `\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"` + at + `}","call_id":"` + id + `"}`)
			},
			anyorder.Began:  began(""),
			anyorder.Asks:   asks(""),
			anyorder.AsksAs: asks(`,"agent_id":"x","agent_type":"y"`),
			anyorder.AsksElse: func(id string, _ int) []agent.Fact {
				return event("PermissionRequest", `,"turn_id":"t","cwd":"/w","tool_name":"apply_patch","tool_use_id":"`+id+`","tool_input":{"command":"ls"}`)
			},
			anyorder.BeganElse: func(id string, _ int) []agent.Fact {
				return event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"pwd"}`)
			},
			anyorder.Over: func(id string, n int) []agent.Fact {
				return append(event("PostToolUse", `,"tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"`+commands[n]+`"}`), line(`{"type":"function_call_output","call_id":"`+id+`"}`)...)
			},
			anyorder.Step:    func(string, int) []agent.Fact { return event("PreModelRequest", "") },
			anyorder.Stop:    func(string, int) []agent.Fact { return event("Stop", "") },
			anyorder.Message: func(string, int) []agent.Fact { return event("UserPromptSubmit", `,"prompt":"go on"`) },
		},
		SubagentBegan: began(`,"agent_id":"x","agent_type":"y"`),
		Before:        []anyorder.Event{anyorder.Logged, anyorder.Began},
		Dialog:        []*agent.Reading{asksInSomeFolder()},
		Others:        []anyorder.Other{anyorder.Asking("Bash", "ls -a", asksToRun("ls -a"))},
		Works:         draw(work+"\n\n"+hint+footer, 2, 2), Composer: draw(hint+footer, 0, 2),
	}
}

// TestAnyOrder: whatever another process reports and draws, a key allows no command in a folder that its prompt doesn't name.
func TestAnyOrder(t *testing.T) { anyorder.Play(t, ordered(t), 30, 60) }

// TestHonestOrders: without another process each dialog takes an answer in time.
func TestHonestOrders(t *testing.T) { anyorder.Honest(t, ordered(t), 12, 60) }
