package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// TestDialogBelow: a process of the session draws another dialog over a command's, sends reports that make it a prompt, and one that the
// command has ended. A key for what is drawn would allow the command, so it takes none.
func TestDialogBelow(t *testing.T) {
	const command = `{"command":"touch hidden.txt","description":"Makes"}`
	for name, c := range map[string]struct {
		drawn       *agent.Reading
		tool, input string
	}{
		"a skill":   {asksOfSkill(), "Skill", `{"skill":"deploy"}`},
		"a command": {asksOfCommand("List", "ls"), "Bash", `{"command":"ls","description":"List"}`},
		"a form":    {formWith(), "", ""},
		"trust":     {draw(80, 40, strings.Repeat("─", 80)+"\n Accessing workspace:\n\n /home/u/project\n\n Quick safety check: Is this a project you created or one you trust?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel"), "", ""},
	} {
		forged := func(s *forgery) {
			switch {
			case c.tool != "":
				s.about("PreToolUse", c.tool, c.input, "")
				s.asks(c.tool, c.input, "")
			case c.drawn.Dialog.Type == agent.PromptForm:
				s.hook(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Continue?","requested_schema":{"type":"object","properties":{}}}`, "8")
				s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Evidence: agent.HookReleased, Hook: "8", Time: s.step()})
			}
		}
		keys := func(s *forgery) bool {
			s.show(c.drawn)
			s.pass(2 * time.Second)
			s.show(c.drawn)
			for _, p := range s.f.Status().Requests {
				if p.OnScreen && s.keyed(p.ID, c.drawn.Dialog) {
					return true
				}
			}
			return false
		}
		for how, asks := range map[string]func(s *forgery){
			"its hook waits": func(s *forgery) {
				s.asks("Bash", command, "7")
				s.show(asksOfCommand("Makes", "touch hidden.txt"))
			},
			"its hook is gone": func(s *forgery) {
				s.asks("Bash", command, "7")
				s.show(asksOfCommand("Makes", "touch hidden.txt"))
				s.gone("7")
			},
			"refused by its hook": func(s *forgery) { // which another process may have sent
				s.asks("Bash", command, "7")
				s.show(asksOfCommand("Makes", "touch hidden.txt"))
				id := s.f.Status().Request.ID
				s.show(c.drawn)
				s.f.Answered(id, false)
				s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
			},
			"seen alone": func(s *forgery) { s.show(asksOfCommand("Makes", "touch hidden.txt")) },
			"never seen": func(s *forgery) { s.asks("Bash", command, "7") },
		} {
			for ended, end := range map[string]func(s *forgery){
				"":         func(*forgery) {},
				", ended":  func(s *forgery) { s.about("PostToolUse", "Bash", command, "") },
				", passed": func(s *forgery) { s.gone("7"); s.about("PostToolUse", "Bash", command, "") },
			} {
				if how == "never seen" && ended == "" && c.drawn.Dialog.Type == agent.PromptForm {
					continue // Pending.Next: a form takes no key while another reported prompt waits
				}
				s := newForgery(t)
				asks(s)
				if how != "never seen" {
					s.show(c.drawn)
				}
				end(s)
				forged(s)
				if keys(s) {
					t.Errorf("%s over a command, %s%s: it takes keys", name, how, ended)
				}
			}
		}
		s := newForgery(t)
		forged(s)
		if !keys(s) {
			t.Errorf("%s alone takes no keys: %+v", name, s.f.Status().Requests)
		}
	}
}

// TestDialogOfNoCall: a dialog that names no tool, and can't be that of the only call in the log, may be drawn over that call's.
func TestDialogOfNoCall(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		keyed       bool
	}{
		{"Write", `{"file_path":"/ws/hidden.txt","content":"x"}`, false},
		{"Bash", `{"command":"touch hidden.txt","description":"Makes"}`, false},
		{"Skill", `{"skill":"deploy"}`, true},
	} {
		s, drawn := newLogged(t), asksOfSkill()
		s.logsCalls([]string{c.tool, c.input})
		s.show(drawn)
		s.pass(2 * time.Second)
		if p := s.f.Status().Request; p == nil || s.keyed(p.ID, drawn.Dialog) != c.keyed {
			t.Errorf("%s: it asks %+v", c.tool, p)
		}
	}
}

// TestNextByKeys: after a key of Berth's own the dialog that takes the place of another one is the next one.
func TestNextByKeys(t *testing.T) {
	for name, c := range map[string]struct {
		press func(s *forgery, id string)
		keyed bool
	}{
		"none":         {func(*forgery, string) {}, false},
		"one of some":  {func(s *forgery, id string) { s.f.Pressed(id) }, true},
		"the last one": {func(s *forgery, id string) { s.f.Answered(id, true) }, true},
		"a client's":   {func(s *forgery, _ string) { s.f.Typed(s.step()) }, true},
		"a message's":  {func(s *forgery, _ string) { s.f.TypedMessage(s.step()) }, false},
	} {
		s, next := newForgery(t), asksOfCommand("List", "ls")
		s.show(asksOfCommand("Makes", "touch hidden.txt"))
		c.press(s, s.f.Status().Request.ID)
		s.show(next)
		s.pass(3 * time.Second)
		s.show(next)
		if p := s.find("ls"); p == nil || s.keyed(p.ID, next.Dialog) != c.keyed {
			t.Errorf("%s: it asks %+v", name, p)
		}
	}
}
