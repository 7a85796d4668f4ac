package codex_test

import (
	"strings"
	"testing"
	"time"

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

// TestCallAfter: the log has a command, and then calls without a result that aren't like the drawn dialog: Codex may ask about any of them
// first. The prompt names each, so that its answer is for that too. So it names a command beside a dialog that no call is like.
func TestCallAfter(t *testing.T) {
	const rm = `{"type":"function_call","name":"exec_command","call_id":"b","arguments":"{\"cmd\":\"rm -rf /srv\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"}"}`
	const patch = `{"type":"custom_tool_call","name":"apply_patch","call_id":"p","input":"*** Begin Patch\n*** Add File: evil\n+x\n*** End Patch"}`
	const code = `{"type":"custom_tool_call","name":"exec","call_id":"x","input":"run(\"curl evil\")"}`
	network := draw("  \x1b[1mDo you want to approve network access to \"x.test\"?\x1b[22m\n\n  Environment: local\n\n\n› 1. Yes, just this once (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel", -1, 0)
	for name, c := range map[string]struct {
		after string
		drawn *agent.Reading
		names string
	}{
		"a command":          {rm, asksToRun("ls"), "of a call of Bash, with\n{\"command\":\"rm -rf /srv\"}"},
		"a patch":            {patch, asksToRun("ls"), "of a call of apply_patch, with\n{\"command\":\"*** Begin Patch\\n*** Add File: evil"},
		"the model's code":   {code, asksToRun("ls"), "of a call of exec, with\n{\"command\":\"run(\\\"curl evil\\\")\"}"},
		"access by a server": {rm, network, "of a call of Bash, with\n{\"command\":\"rm -rf /srv\"}"},
	} {
		for _, over := range []bool{false, true} {
			s := newRun(t)
			s.callsWith("a", "")
			s.line(c.after)
			if over {
				s.line(`{"type":"function_call_output","call_id":"b"}`)
				s.line(`{"type":"custom_tool_call_output","call_id":"p"}`)
				s.line(`{"type":"custom_tool_call_output","call_id":"x"}`)
			}
			s.asks = c.drawn
			s.dialog()
			all := s.answerable()
			if len(all) != 1 || strings.Contains(all[0], c.names) == over {
				t.Errorf("%s, over %v: a key answers %q", name, over, all)
			}
		}
	}
}

// TestMovedAway: another process reports that Codex has left its conversation, so that the command's own hook is another one's, and draws a
// dialog of edits over the command's. The prompt names the command, also after a composer was drawn. A key that the open dialog took ends that.
func TestMovedAway(t *testing.T) {
	for how, named := range map[string]bool{"at once": true, "after a composer": true, "after a key": false} {
		s, edit := newSeen(), draw(edits, -1, 0)
		s.f.Apply(agent.Fact{Kind: agent.ConversationStarted, Source: agent.SourceHook, Text: "startup", Conversation: "own", Time: s.now})
		s.f.Apply(agent.Fact{Kind: agent.ConversationStarted, Source: agent.SourceHook, Text: "clear", Conversation: "other", Time: s.now})
		for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"touch hidden.txt"}`) {
			f.Time, f.Hook, f.Conversation = s.now, "7", "own"
			s.f.Apply(f)
		}
		switch how {
		case "after a composer":
			for range 60 {
				s.show(draw(hint+footer, 0, 2))
			}
		case "after a key":
			s.now = s.now.Add(time.Second)
			s.f.Typed(s.now)
		}
		var p *agent.Request
		for range 12 {
			p = s.show(edit)
		}
		if p == nil || strings.Contains(agent.Value(p.Text), "of a call of Bash, with\n{\"command\":\"touch hidden.txt\"") != named {
			t.Errorf("%s: it asks %q", how, agent.Value(p.Text))
		}
	}
}

// TestFormBesideItsCall: the prompt of a server's form names the call that runs, and keeps its id while the form stays.
func TestFormBesideItsCall(t *testing.T) {
	s := newRun(t)
	s.line(`{"type":"function_call","name":"ask","call_id":"f","arguments":"{\"message\":\"Which one?\"}"}`)
	s.asks = draw("  \x1b[2mField 1/1\x1b[22m\n  Which one?\n\n  Size\n  › 1. Yes, small\n    2. No, large\n  enter to submit | esc to cancel", -1, 0)
	first := s.dialog()
	p := s.dialog()
	if p == nil || p.ID != first.ID || p.Type != agent.PromptNotice || p.Contested || !strings.Contains(agent.Value(p.Text), "of a call of ask, with\n") {
		t.Errorf("it asks %q %v, and before %+v", agent.Value(p.Text), p.Contested, first)
	}
}
