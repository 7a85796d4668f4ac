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

// TestEndIsQuickerThanItsAnswer: Berth denies a call through its hook, and Codex's word that the call is over is read
// before the hook's word that Codex got the answer. The next dialog isn't that call's.
func TestEndIsQuickerThanItsAnswer(t *testing.T) {
	const call = `,"cwd":"/w","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make"}`
	for how, answerable := range map[string]bool{agent.CauseDelivered: true, "hook:gone": false} {
		s := newSeen()
		for _, event := range []string{"PreToolUse", "PermissionRequest", "PostToolUse"} {
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
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: how, Hook: "7", Time: s.now})
		s.ask(t, "8", "/w")
		s.release("8")
		r := asksInSomeFolder()
		if p := s.show(r); p == nil || s.keyed(p.ID, r.Dialog) != answerable {
			t.Errorf("after %s the next dialog takes keys: %v, want %v (%+v)", how, !answerable, answerable, p)
		}
	}
}
