package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
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

// TestForeignFields: a process of the session reports that the agent has left its conversation, or ends
// the hook of the agent's call. The prompt of the call's dialog has what the dialog doesn't draw of the
// call all the same, and no key answers a dialog that may leave out a part of a text.
func TestForeignFields(t *testing.T) {
	const tabs = `\t\t\t\t\t\t\t\t\t\t`
	overwrites := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Overwrite file", " notes.txt", strings.Repeat("╌", 80), " 1 -hi", " 1 +hello", strings.Repeat("╌", 80),
		" Do you want to overwrite notes.txt?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
	for _, c := range []struct {
		dialog              *agent.Reading
		tool, call, undrawn string
		hidden              bool // the dialog may leave out a part of a text
	}{
		{asksOfCommand("Test", "npm test"), "Bash", `{"command":"npm test","description":"Test","dangerouslyDisableSandbox":true}`, "dangerouslyDisableSandbox: true", false},
		{plainCommand("Bash command", "ls"), "Bash", `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`, "dangerouslyDisableSandbox: true", false},
		{edits("   x = 1"), "Edit", `{"file_path":"/w/a.txt","old_string":"x = 0","new_string":"x = 1","replace_all":true}`, "replace_all: true", false},
		{overwrites, "Write", `{"file_path":"/w/notes.txt","content":"hello"}`, `content: "hello"`, false},
		{overwrites, "Write", `{"file_path":"/w/notes.txt","content":"rm -rf /"}`, `content: "rm -rf /"`, false}, // the drawn change is another process's
		{overwrites, "Write", `{"file_path":"/w/notes.txt","content":"hello` + tabs + `; rm"}`, "", true},
	} {
		play := map[byte]func(s *forgery){
			'c': func(s *forgery) {
				s.hook(`{"session_id":"forged","hook_event_name":"SessionStart","source":"clear"}`, "")
			},
			't': func(s *forgery) { s.asks(c.tool, c.call, "7") },
			'g': func(s *forgery) {
				s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7", Time: s.step()})
			},
			'd': func(s *forgery) { s.show(c.dialog) },
		}
		for _, order := range []string{"ctd", "cdt", "ctgd", "ctdg", "tgd", "tdg"} {
			s := newForgery(t)
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			was, answered := map[string]string{}, false
			for i := range order {
				play[order[i]](s)
				if i == len(order)-1 {
					s.pass(2 * time.Second)
					s.show(c.dialog)
				}
				for _, p := range s.f.Status().Requests {
					if before, known := was[p.ID]; known && before != text(p.Text) {
						t.Errorf("%s: %s: prompt %s showed %q, and shows %q now", c.call, order[:i+1], p.ID, before, text(p.Text))
					}
					was[p.ID] = text(p.Text)
				}
			}
			for _, p := range s.f.Status().Requests {
				if !s.keyed(p.ID, c.dialog.Dialog) {
					continue
				}
				if answered = true; c.hidden || !strings.Contains(text(p.Text), c.undrawn) {
					t.Errorf("%s: %s: answered at the dialog with the text %q", c.call, order, text(p.Text))
				}
			}
			if !answered && !c.hidden {
				t.Errorf("%s: %s: no prompt is answered at the dialog", c.call, order)
			}
		}
	}
}
