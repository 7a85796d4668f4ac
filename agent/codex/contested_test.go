package codex_test

import (
	"testing"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
)

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without hooks and with them.
func TestHonestPromptsAreNotContested(t *testing.T) {
	reference(t).AllHonest(t, codex.Driver{}, 15, func(p detect.Pending, hooked bool) bool { return hooked || !p.Told })
}

// TestEndIsQuickerThanItsAnswer: Berth answers a call through its hook, and Codex's word that the call is over is read before the hook's word
// that Codex got the answer. The next dialog isn't that call's. Any process could have sent the hook that took a refusal, so the call may
// still ask until the session log has its result.
func TestEndIsQuickerThanItsAnswer(t *testing.T) {
	const call = `,"cwd":"/w","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make"}`
	for how, answerable := range map[string]bool{"allowed": true, "refused": false, "refused, logged": true, "hook:gone": false} {
		s, id, cause := newSeen(), "", how
		for _, event := range []string{"PreToolUse", "PermissionRequest", "PostToolUse"} {
			if p := s.f.Status().Request; p != nil {
				id = p.ID
			}
			for _, f := range hook(t, event, call) {
				if f.Time = s.now; event == "PermissionRequest" {
					f.Hook = "7"
				}
				s.f.Apply(f)
			}
		}
		if n := len(s.f.Status().Requests); n != 0 {
			t.Fatalf("%d prompts after the call", n)
		}
		if how != "hook:gone" {
			s.f.Answered(id, how == "allowed")
			cause = agent.CauseDelivered
		}
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: cause, Hook: "7", Time: s.now})
		if how == "refused, logged" {
			s.f.Apply(agent.Fact{Kind: agent.ToolEnded, Source: agent.SourceLog, Cause: "log:function_call_output", Call: "1", Time: s.now})
		}
		s.ask(t, "8", "/w")
		s.release("8")
		r := asksInSomeFolder()
		if p := s.show(r); p == nil || s.keyed(p.ID, r.Dialog) != answerable {
			t.Errorf("after %s the next dialog takes keys: %v, want %v (%+v)", how, !answerable, answerable, p)
		}
	}
}
