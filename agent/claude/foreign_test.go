package claude_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestForeignHookContests: a process of the session reports that the agent has left its conversation.
// The agent's own hook, which waits, is then foreign, and its dialog is still not another prompt's.
func TestForeignHookContests(t *testing.T) {
	const list = `{"command":"ls","description":"List"}`
	for call, keyed := range map[string]bool{`{"command":"ls` + strings.Repeat(`\t`, 40) + `; rm -rf x","description":"List"}`: false, list: true} {
		s := newForgery(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.hook(`{"session_id":"forged","hook_event_name":"SessionStart","source":"clear"}`, "")
		s.asks("Bash", call, "7")
		r := plainCommand("Bash command", "ls")
		s.show(r)
		p := s.f.Status().Request
		if p == nil || s.keyed(p.ID, r.Dialog) != keyed {
			t.Errorf("%s, as it is drawn: %+v", call, p)
		}
		s.hook(fmt.Sprintf(`{"session_id":"forged","hook_event_name":"PermissionRequest","prompt_id":"u","tool_name":"Bash","tool_input":%s}`, list), "")
		s.show(r)
		if p = s.f.Status().Request; p == nil || s.keyed(p.ID, r.Dialog) != keyed {
			t.Errorf("%s, as it was reported: %+v", call, p)
		}
	}
}
