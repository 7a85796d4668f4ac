package codex_test

import (
	"testing"

	"berth/agent"
)

// TestUnderByItsOptions: another process draws a plan without its middle option. "No" is then the option that begins anew.
func TestUnderByItsOptions(t *testing.T) {
	const top, no, end = "• Proposed Plan\n\n  Delete it.\n\n\n  Implement this plan?\n\n› 1. Yes, implement this plan          Switch to Default and start coding\n",
		"No, stay in Plan mode             Continue planning with the model\n", "\n  enter select · esc back"
	below, drawn := draw(top+"  2. Yes, clear context and implement  Fresh thread\n  3. "+no+end, -1, 0), draw(top+"  2. "+no+end, -1, 0)
	for _, covers := range []bool{true, false} {
		s := newSeen()
		if covers {
			s.show(below)
		}
		if p := s.show(drawn); p == nil || s.keyed(p.ID, drawn.Dialog) == covers {
			t.Errorf("drawn over the whole one: %v: it asks %+v", covers, p)
		}
	}
}

// TestNeverSeen: a command's hook waited, another process ended it, and drew edits, which no hook reports, over the dialog before it was seen.
func TestNeverSeen(t *testing.T) {
	const command = `,"cwd":"/w","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"touch hidden.txt"}`
	drawn := draw(edits, -1, 0)
	for how, keyed := range map[string]bool{"": false, agent.HookReleased: true} {
		s := newSeen()
		for _, event := range []string{"PreToolUse", "PermissionRequest"} {
			for _, f := range hook(t, event, command) {
				if f.Time = s.now; event == "PermissionRequest" {
					f.Hook = "7"
				}
				s.f.Apply(f)
			}
		}
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Evidence: how, Hook: "7", Time: s.now})
		var p *agent.Request
		for range 12 {
			p = s.show(drawn)
		}
		for _, one := range s.f.Status().Requests {
			if one.OnScreen {
				p = one
			}
		}
		if p == nil || s.keyed(p.ID, drawn.Dialog) != keyed {
			t.Errorf("%q: it asks %+v", how, p)
		}
	}
}
