package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// TestLoggedCallIsNotForgotten: a process of the session reports that a call is over whose dialog is still to
// come. What the dialog doesn't draw of it is shown or contested nevertheless.
func TestLoggedCallIsNotForgotten(t *testing.T) {
	tabs := strings.Repeat(`\t`, 40)
	hidden := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, tabs)
	const unsafe = `{"command":"ls","description":"List","dangerouslyDisableSandbox":true}`
	for name, forge := range map[string]func(s *forgery){
		"nothing": func(*forgery) {},
		"its end": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","tool_name":"Bash","tool_use_id":"c0","tool_input":{}}`, "")
		},
		"its step's end": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"PostToolBatch","prompt_id":"t"}`, "")
		},
		"a new turn": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"u","prompt":"x"}`, "")
		},
		"the turn's end": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
			s.pass(time.Second)
		},
		"a new conversation": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"SessionStart","source":"resume"}`, "")
		},
		"many other calls": func(s *forgery) {
			for i := range 70 {
				s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_name":"Read","tool_use_id":"x%d","tool_input":{"file_path":"/w/%d"}}`, i, i), "")
			}
		},
		"many others that hide": func(s *forgery) {
			for i := range 1100 {
				s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"x%d","name":"Bash","input":{"command":"id","timeout":%d}}]}}`, i, i))
				s.logs(fmt.Sprintf(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"x%d","content":"x"}]}}`, i))
			}
		},
		"its result in the log": func(s *forgery) {
			s.logs(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":[{"type":"tool_result","tool_use_id":"c0","content":"x"}]}}`)
		},
		"an interruption in the log": func(s *forgery) {
			s.logs(`{"type":"user","sessionId":"s","promptId":"t","message":{"content":"[Request interrupted by user]"}}`)
			s.pass(time.Second)
		},
	} {
		for _, late := range []time.Duration{0, 8 * time.Second} {
			s := newLogged(t)
			s.logsCalls([]string{"Bash", unsafe})
			forge(s)
			s.pass(late)
			r := asksOfCommand("List", "ls")
			s.show(r)
			s.pass(2 * time.Second)
			for _, p := range s.f.Status().Requests {
				if !strings.Contains(text(p.Text), "dangerouslyDisableSandbox") && s.keyed(p.ID, r.Dialog) {
					t.Errorf("%s, %s before the dialog: the field isn't shown: %+v", name, late, text(p.Text))
				}
			}
			s = newLogged(t)
			s.logsCalls([]string{"Bash", hidden})
			forge(s)
			s.pass(late)
			r = plainCommand("Bash command", "ls", "", "")
			s.show(r)
			s.pass(2 * time.Second)
			for _, p := range s.f.Status().Requests {
				if s.keyed(p.ID, r.Dialog) {
					t.Errorf("%s, %s before the dialog: the end of the command isn't shown", name, late)
				}
			}
		}
	}
}

// TestForgedReportOfALoggedCall: a process of the session ends the call's own hook, and reports what the dialog
// draws of the call. The session log has more.
func TestForgedReportOfALoggedCall(t *testing.T) {
	hidden := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, strings.Repeat(`\t`, 40))
	const plain = `{"command":"ls","description":"List"}`
	for _, waits := range []bool{true, false} {
		for _, over := range []bool{true, false} {
			s := newLogged(t)
			s.logsCalls([]string{"Bash", hidden})
			if over {
				s.hook(`{"session_id":"s","hook_event_name":"PostToolBatch","prompt_id":"t"}`, "")
			}
			s.asks("Bash", plain, map[bool]string{true: "7"}[waits])
			if waits {
				s.gone("7")
			}
			r := plainCommand("Bash command", "ls", "", "")
			s.show(r)
			s.pass(2 * time.Second)
			for _, p := range s.f.Status().Requests {
				if s.keyed(p.ID, r.Dialog) {
					t.Errorf("waits %v, over %v: a key answers %q", waits, over, text(p.Input))
				}
			}
		}
	}
}

// TestLoggedTwice: a process of the session writes a line with the id of the agent's call into the session log before
// the agent does. The agent's own line counts too.
func TestLoggedTwice(t *testing.T) {
	hidden := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, strings.Repeat(`\t`, 40))
	const plain = `{"command":"ls","description":"List"}`
	for name, inputs := range map[string][]string{"before": {plain, hidden}, "after": {hidden, plain}} {
		s := newLogged(t)
		for _, input := range inputs {
			s.logs(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"c0","name":"Bash","input":` + input + `}]}}`)
		}
		s.asks("Bash", plain, "")
		r := plainCommand("Bash command", "ls", "", "")
		s.show(r)
		s.pass(2 * time.Second)
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				t.Errorf("%s: a key answers %q", name, text(p.Input))
			}
		}
	}
}

// TestReportedBeforeItsLog: a process of the session reports a call by the id of the agent's, as another tool's or a
// subagent's, before the session log has the agent's. The agent's own call counts too, though the log has another
// one that is drawn like it.
func TestReportedBeforeItsLog(t *testing.T) {
	hidden := fmt.Sprintf(`{"command":"ls%s; rm -rf x","description":"List"}`, strings.Repeat(`\t`, 40))
	const plain = `{"command":"ls","description":"List"}`
	for _, forged := range []string{"", `"tool_name":"Read","tool_input":{"file_path":"/w/a"}`, `"agent_id":"x","agent_type":"y","tool_name":"Bash","tool_input":` + plain} {
		s := newLogged(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		if forged != "" {
			s.hook(`{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"t","tool_use_id":"c0",`+forged+`}`, "")
		}
		for i, input := range []string{hidden, plain} {
			s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"c%d","name":"Bash","input":%s}]}}`, i, input))
		}
		s.asks("Bash", plain, "")
		r := plainCommand("Bash command", "ls", "", "")
		s.show(r)
		s.pass(2 * time.Second)
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				t.Errorf("%s: a key answers %q", forged, text(p.Input))
			}
		}
	}
}

// TestUnreadLine: a process of the session writes a part of a line into the session log, and the agent's own line
// becomes a part of it. No key answers a dialog that may be about the call in it, until the agent has rested.
func TestUnreadLine(t *testing.T) {
	for _, unread := range []bool{false, true} {
		s := newLogged(t)
		s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
		if unread {
			s.f.Unread(s.step())
		}
		r := asksOfCommand("List", "ls")
		s.show(r)
		s.pass(2 * time.Second)
		all := s.f.Status().Requests
		if len(all) != 1 || all[0].Contested != unread || s.keyed(all[0].ID, r.Dialog) == unread {
			t.Errorf("unread %v: %+v", unread, all)
		}
	}
}

// TestSkippedLine: a line of the session log was too long to be read. The prompt of a dialog that may be about the call in it says so,
// and a key answers it, until the agent has rested.
func TestSkippedLine(t *testing.T) {
	for _, skipped := range []bool{false, true} {
		s := newLogged(t)
		s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
		if skipped {
			s.f.Skipped(s.step())
		}
		r := asksOfCommand("List", "ls")
		s.show(r)
		s.pass(2 * time.Second)
		all := s.f.Status().Requests
		if len(all) != 1 || strings.Contains(text(all[0].Text), "had no room to keep") != skipped || !s.keyed(all[0].ID, r.Dialog) {
			t.Errorf("skipped %v: %+v", skipped, all)
		}
	}
	s, r := newForgery(t), asksOfCommand("List", "ls")
	s.f.Skipped(s.step())
	s.asks("Bash", `{"command":"ls","description":"List"}`, "7")
	s.show(r)
	if p := s.f.Status().Request; p.Channel != agent.ChannelHook || !p.OnScreen || text(p.Text) != "" {
		t.Errorf("while its hook waits it asks %+v", p)
	}
}

// TestDialogWithoutItsHook: the agent's hooks report its dialogs, so the hook of one that no hook reports was
// ended or held up by another process. What that dialog leaves out isn't known.
func TestDialogWithoutItsHook(t *testing.T) {
	for _, head := range []string{"Bash command", "Bash command · from the helper agent"} {
		for _, hooked := range []bool{false, true} {
			s := newLogged(t)
			if hooked {
				s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			}
			r := plainCommand(head, "ls")
			s.show(r)
			s.pass(2 * time.Second)
			p := s.find("ls")
			if p == nil || p.Contested != hooked || s.keyed(p.ID, r.Dialog) == hooked {
				t.Errorf("%s, hooked %v: %+v", head, hooked, p)
			}
		}
	}
}

// TestForgedReportBesideTheLog: a process of the session ends the call's own hook, reports that the agent has left its
// conversation, so that its log isn't read, and reports what the dialog draws of the call. A forged hook that waits
// may be answered, and no option is chosen by a key.
func TestForgedReportBesideTheLog(t *testing.T) {
	for _, moved := range []bool{true, false} {
		for _, hook := range []string{"", "7"} {
			session := map[bool]string{true: "other", false: "s"}[moved]
			s := newLogged(t)
			if moved {
				s.hook(`{"session_id":"other","hook_event_name":"SessionStart","source":"resume"}`, "")
			}
			s.hook(`{"session_id":"`+session+`","hook_event_name":"UserPromptSubmit","prompt_id":"u","prompt":"x"}`, "")
			s.logsCalls([]string{"Bash", `{"command":"ls","description":"List"}`})
			s.hook(`{"session_id":"`+session+`","hook_event_name":"PermissionRequest","prompt_id":"u","tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, hook)
			r := plainCommand("Bash command", "ls")
			s.show(r)
			s.pass(2 * time.Second)
			p := s.find("ls")
			if p == nil || p.Contested != (moved && hook == "") || s.f.Asks(r.Dialog, p.ID) == moved {
				t.Errorf("moved %v, hook %q: %+v", moved, hook, p)
			}
		}
	}
}

// TestAutoModeHasNoHook: the dialogs of auto mode have no hook, so the session log alone confirms them.
func TestAutoModeHasNoHook(t *testing.T) {
	r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Bash command", " List", strings.Repeat("╌", 80), " ls", strings.Repeat("╌", 80),
		" Auto mode can't check actions in this session, so this one needs your approval", "", " Do you want to proceed?", " ❯ No", "   Yes", "", " Esc to cancel · Tab to amend"}, "\n"))
	for _, call := range []string{`{"command":"ls","description":"List"}`, `{"command":"id","description":"List"}`} {
		s := newLogged(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.logsCalls([]string{"Bash", call})
		s.show(r)
		s.pass(2 * time.Second)
		p, shown := s.find("ls"), strings.Contains(call, "ls")
		if p == nil || p.Contested == shown || s.keyed(p.ID, r.Dialog) != shown {
			t.Errorf("%s: %+v", call, p)
		}
	}
}
