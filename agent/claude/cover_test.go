package claude_test

import (
	"strings"
	"testing"
	"time"
)

// TestCoveredBySetup: a process of the session draws a page of the setup over a permission. A key for that page would answer the
// permission, so the page takes none. It takes keys again once the agent's composer has taken a word.
func TestCoveredBySetup(t *testing.T) {
	rule := strings.Repeat("─", 80)
	permission := asksOfCommand("Makes", "touch hidden.txt")
	for name, page := range map[string]string{
		"login": " Login\n\n Login successful. Press Enter to continue…",
		"theme": " Theme\n\n Choose the text style that looks best with your terminal\n\n ❯ 1. Auto (match terminal)\n   2. Dark mode\n   3. Light mode\n\n Enter to select · Esc to cancel",
		"auto":  "  Make auto mode your default permission mode?\n\n  Auto mode lets Claude handle permission prompts automatically.\n\n  ❯ 1. Yes, set auto mode as my default permission mode\n    2. No, keep manual mode",
	} {
		drawn := draw(80, 40, rule+"\n"+page)
		for how, cover := range map[string]func(s *forgery){
			"with a hook": func(s *forgery) { s.asks("Bash", `{"command":"touch hidden.txt","description":"Makes"}`, "7") },
			"seen alone":  func(*forgery) {},
			"called": func(s *forgery) {
				s.about("PreToolUse", "Bash", `{"command":"touch hidden.txt","description":"Makes"}`, "")
			},
		} {
			s := newForgery(t)
			cover(s)
			if how == "called" { // it was covered before Berth saw it
				if s.takesKeys(drawn) {
					t.Errorf("%s, %s: the page takes keys", name, how)
				}
				continue
			}
			s.show(permission)
			if p := s.f.Status().Request; p == nil || !p.OnScreen || text(p.Input) != "touch hidden.txt" {
				t.Fatalf("%s: it asks %+v", how, p)
			}
			s.show(drawn)
			s.gone("7") // Berth releases it, because its dialog is gone
			if s.takesKeys(drawn) {
				t.Errorf("%s, %s: the page takes keys", name, how)
			}
			s.f.Proven(s.step())
			if !s.takesKeys(drawn) {
				t.Errorf("%s, %s: the page takes no keys after the composer took a word: %+v", name, how, s.f.Status().Requests)
			}
		}
		if s := newForgery(t); !s.takesKeys(drawn) {
			t.Errorf("%s: the page takes no keys: %+v", name, s.f.Status().Request)
		}
	}
}

// TestPageAfterADowntime: a dialog may have come, and been covered, while no server looked. A page that is seen after that takes no key
// until the composer has taken a word. Before the agent was ready there was no call.
func TestPageAfterADowntime(t *testing.T) {
	page := draw(80, 40, strings.Repeat("─", 80)+"\n Login\n\n Login successful. Press Enter to continue…")
	for _, ready := range []bool{true, false} {
		s := newForgery(t)
		if ready {
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		}
		s.f.Unseen(s.step())
		s.show(page)
		s.pass(2 * time.Second)
		if p := s.f.Status().Request; p == nil || s.keyed(p.ID, page.Dialog) == ready {
			t.Errorf("ready: %v: it asks %+v", ready, p)
		}
		s.f.Proven(s.step())
		s.show(page)
		if p := s.f.Status().Request; p == nil || !s.keyed(p.ID, page.Dialog) {
			t.Errorf("ready: %v, after the composer took a word: it asks %+v", ready, p)
		}
	}
}

// TestNoticeBesideAWaitingHook: a notice with options, seen while a hook waits for a permission that has no dialog yet, may be drawn
// over that. It takes no key. One without options does.
func TestNoticeBesideAWaitingHook(t *testing.T) {
	for options, keyed := range map[string]bool{" ❯ 1. Go on\n   2. Stop\n\n": false, "": true} {
		page := draw(80, 40, strings.Repeat("─", 80)+"\n Status\n\n All is well.\n\n"+options+" Esc to cancel")
		s := newForgery(t)
		s.asks("Bash", `{"command":"touch hidden.txt","description":"Makes"}`, "7")
		s.show(page)
		s.pass(2 * time.Second)
		found := false
		for _, p := range s.f.Status().Requests {
			if p.OnScreen {
				if found = true; s.keyed(p.ID, page.Dialog) != keyed {
					t.Errorf("%q: it asks %+v", options, p)
				}
			}
		}
		if !found {
			t.Errorf("%q: no prompt has the notice", options)
		}
	}
}
