package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

const trustPage = "\n Accessing workspace:\n\n /home/u/project\n\n Quick safety check: Is this a project you created or one you trust?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel"

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
		"trust":     {draw(80, 40, strings.Repeat("─", 80)+trustPage), "", ""},
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
				if s.takesKeys(c.drawn) {
					t.Errorf("%s over a command, %s%s: it takes keys", name, how, ended)
				}
			}
		}
		s := newForgery(t)
		forged(s)
		if !s.takesKeys(c.drawn) {
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

// flash shows a reading for one frame.
func (s *forgery) flash(r *agent.Reading) {
	s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: s.step()})
}

// TestFlash: one frame of the dialog below, between two of the one that is drawn over it, makes Berth forget neither.
func TestFlash(t *testing.T) {
	s, below, drawn := newForgery(t), asksOfCommand("Makes", "touch hidden.txt"), asksOfCommand("List", "ls")
	for _, r := range []*agent.Reading{below, drawn} {
		s.show(r)
	}
	s.flash(below)
	s.show(drawn)
	s.pass(2 * time.Second)
	if p := s.find("ls"); p == nil || s.keyed(p.ID, drawn.Dialog) {
		t.Errorf("it asks %+v", p)
	}
}

// TestManyDialogsBelow: a process that draws many dialogs that say the same, over one that says something else, makes Berth forget none.
// Half-drawn frames of one dialog are none.
func TestManyDialogsBelow(t *testing.T) {
	s, last := newForgery(t), offering(0, "Yes", "last", "No")
	s.show(asksOfCommand("Makes", "touch hidden.txt"))
	for i := range 6 {
		s.show(offering(0, "Yes", fmt.Sprint("now ", i), "No"))
	}
	s.show(last)
	if p := s.find("npm test"); p == nil || s.keyed(p.ID, last.Dialog) {
		t.Errorf("after many dialogs it asks %+v", p)
	}
	s = newForgery(t)
	for i := range 4 {
		s.show(asksOfCommand("X", fmt.Sprint("x ", i)))
	}
	s.show(asksOfCommand("Makes", "touch hidden.txt"))
	s.show(last)
	for i := range 4 {
		s.flash(asksOfCommand("X", fmt.Sprint("x ", i)))
	}
	s.show(last)
	if p := s.find("npm test"); p == nil || s.keyed(p.ID, last.Dialog) {
		t.Errorf("after one frame of each but one it asks %+v", p)
	}
	s = newForgery(t)
	for range 6 {
		s.show(last)
		s.flash(offering(0, "Yes", "half"))
	}
	s.show(last)
	if p := s.find("npm test"); p == nil || !s.keyed(p.ID, last.Dialog) {
		t.Errorf("after half-drawn frames it asks %+v", p)
	}
}

// TestBelowAnAnsweredDialog: a hook has taken an allowance of another dialog that was drawn over a command's. What is about no call may
// still be drawn over the command's.
func TestBelowAnAnsweredDialog(t *testing.T) {
	s := newForgery(t)
	s.show(asksOfCommand("Makes", "touch hidden.txt"))
	s.asks("Bash", `{"command":"ls","description":"List"}`, "8")
	s.show(asksOfCommand("List", "ls"))
	s.f.Answered(s.find("ls").ID, true)
	s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "8", Time: s.step()})
	s.about("PostToolUse", "Bash", `{"command":"ls","description":"List"}`, "")
	page := draw(80, 40, strings.Repeat("─", 80)+"\n Login\n\n Login successful. Press Enter to continue…")
	s.show(page)
	s.pass(2 * time.Second)
	s.show(page)
	for _, p := range s.f.Status().Requests {
		if p.OnScreen && s.keyed(p.ID, page.Dialog) {
			t.Errorf("a key answers %+v", p)
		}
	}
}

// TestCommandOverTrust: a page of trust, too, may be below a call's dialog.
func TestCommandOverTrust(t *testing.T) {
	s, drawn := newForgery(t), asksOfCommand("List", "ls")
	s.show(draw(80, 40, strings.Repeat("─", 80)+trustPage))
	s.show(drawn)
	s.pass(2 * time.Second)
	if p := s.find("ls"); p == nil || s.keyed(p.ID, drawn.Dialog) {
		t.Errorf("it asks %+v", p)
	}
}

// TestTrustBesideACall: trust is asked while no call is pending.
func TestTrustBesideACall(t *testing.T) {
	trust := draw(80, 40, strings.Repeat("─", 80)+trustPage)
	for _, pending := range []bool{true, false} {
		s := newForgery(t)
		if pending {
			s.about("PreToolUse", "Bash", `{"command":"touch hidden.txt","description":"Makes"}`, "")
		}
		s.show(trust)
		s.pass(2 * time.Second)
		if p := s.f.Status().Request; p == nil || s.keyed(p.ID, trust.Dialog) == pending {
			t.Errorf("a call pending: %v: it asks %+v", pending, p)
		}
	}
}
