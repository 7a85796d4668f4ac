package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// A prompt names the subagent that asks. A hook that names another one for the same call is
// another prompt, so the answer to the first does not reach the call of the second.
func TestForgedAgent(t *testing.T) {
	for _, kinds := range [][2]string{{"reviewer", "general-purpose"}, {"general-purpose", "reviewer"}, {"", "reviewer"}} {
		s := newForgery(t)
		for i, id := range []string{"", "7"} {
			s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a1","agent_type":%q,"tool_name":"Bash","tool_input":{"command":"ls","description":"List"}}`, kinds[i]), id)
		}
		for _, p := range s.f.Status().Requests {
			if waits := p.Channel == agent.ChannelHook; waits != (text(p.Agent) == kinds[1]) {
				t.Errorf("the hook of %q waits for a prompt that shows %q: %v", kinds[1], text(p.Agent), waits)
			}
		}
	}
}

// Berth keeps a bounded number of prompts that were reported to be over before their dialogs were
// seen. A flood of forged ones does not end the contest of a true one.
func TestForgedFlood(t *testing.T) {
	const hidden = `{"command":"ls -la\u0000;rm -rf ~","description":"List"}`
	s := newForgery(t)
	s.asks("Bash", hidden, "7")
	s.about("PostToolUse", "Bash", hidden, "")
	for i := range 40 {
		input := fmt.Sprintf(`{"a":%d}`, i)
		s.asks("mcp__x__y", input, fmt.Sprint(100+i))
		s.about("PostToolUse", "mcp__x__y", input, "")
	}
	s.asks("Bash", `{"command":"ls -la","description":"List"}`, "")
	r := asksOfCommand("List", "ls -la")
	s.show(r)
	s.pass(2 * time.Second)
	s.refuses("ls -la", r)
	if p := s.find("ls -la"); p == nil || !p.Contested {
		t.Errorf("not contested: %+v", p)
	}
	rule := strings.Repeat("─", 80)
	s.show(draw(80, 40, rule+"\n❯\u00a0\n"+rule+"\n  ? for shortcuts")) // no dialog can be open any more
	s.pass(10 * time.Second)
	s.f.Proven(s.step())
	s.pass(time.Second)
	s.asks("Bash", `{"command":"ls -la","description":"List"}`, "8")
	s.show(r)
	s.gone("8")
	s.pass(2 * time.Second)
	if p := s.find("ls -la"); p == nil || p.Contested || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("after the composer: %+v", p)
	}
}

// TestForgedSchema: a form draws the titles of its choices, and not the values that are sent. If two
// forms differ only in the values, Berth can't know which of them is open.
func TestForgedSchema(t *testing.T) {
	says := func(s *forgery, one, two string) {
		s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Continue?","requested_schema":{"type":"object","properties":{"env":{"type":"string","title":"Where","oneOf":[{"const":%q,"title":"One"},{"const":%q,"title":"Two"}]}}}}`, one, two), "")
	}
	r := formWith("  ❯   Where: not set")
	for _, order := range []string{"ftd", "fdt", "tfd", "dft", "tdf", "dtf"} {
		s := newForgery(t)
		for _, next := range order {
			switch next {
			case 'f':
				says(s, "staging", "production")
			case 't':
				says(s, "production", "staging")
			case 'd':
				s.show(r)
			}
		}
		s.pass(2 * time.Second)
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) || p.OnScreen && !p.Contested {
				t.Errorf("%s: prompt %s is answered at the form: %+v", order, p.ID, p)
			}
		}
	}
	s := newForgery(t) // the agent's hook comes twice
	says(s, "staging", "production")
	says(s, "staging", "production")
	s.show(r)
	if p := s.f.Status().Request; p == nil || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("reported twice: %+v", p)
	}
}
