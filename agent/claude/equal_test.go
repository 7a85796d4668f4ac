package claude_test

import (
	"testing"
	"time"

	"berth/agent"
)

// TestEqualCallsAtOnce: two equal calls ask at once, with a hook each. Their dialogs look the same, and each has a prompt of its own.
// Claude's hooks name no call.
func TestEqualCallsAtOnce(t *testing.T) {
	const call = `,"prompt_id":"t","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}`
	for name, waits := range map[string]bool{"by its hook": true, "by keys": false} {
		s, r := newLogged(t), plainCommand("Bash command", "ls")
		s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`, "Bash", `{"command":"ls","description":"List"}`})
		s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest"`+call+`}`, "7")
		s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest"`+call+`}`, "8")
		s.show(r)
		s.pass(time.Second)
		first, held := s.f.HeldBy("7")
		second, also := s.f.HeldBy("8")
		if !held || !also || first.ID == second.ID || !first.OnScreen {
			t.Fatalf("%s: the hooks wait for %+v and %+v", name, first, second)
		}
		if !waits {
			s.gone("8")
		}
		s.f.Answered(first.ID, true)
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
		s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":"c0"`+call+`}`, "")
		for range 3 {
			s.show(r)
			s.pass(time.Second)
		}
		now := s.f.Status().Requests
		if len(now) != 1 || now[0].ID != second.ID || !now[0].OnScreen || now[0].Contested || s.keyed(second.ID, r.Dialog) == waits {
			t.Errorf("%s: after the first answer it asks %+v", name, now)
		}
	}
}

// TestEqualCallsInTurn: the log has two equal calls, and Claude asks about one after the other. The end of the first closes its prompt.
func TestEqualCallsInTurn(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	s := newLogged(t)
	s.logsCalls([]string{"Bash", list, "Bash", list})
	s.asks("Bash", list, "7")
	s.show(plainCommand("Bash command", "ls"))
	p, _ := s.f.HeldBy("7")
	s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","tool_name":"Bash","tool_use_id":"c0","tool_input":`+list+`}`, "")
	s.show(draw(80, 40, "✻ Thinking… (3s · esc to interrupt)"))
	if _, open := s.f.Pending(p.ID); open {
		t.Error("the prompt of a call that has ended is open")
	}
}
