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
		takesKeys := func(s *forgery) bool {
			s.show(drawn)
			s.pass(2 * time.Second)
			s.show(drawn)
			for _, p := range s.f.Status().Requests {
				if p.OnScreen && s.keyed(p.ID, drawn.Dialog) {
					return true
				}
			}
			return false
		}
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
				if takesKeys(s) {
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
			if takesKeys(s) {
				t.Errorf("%s, %s: the page takes keys", name, how)
			}
			s.f.Proven(s.step())
			if !takesKeys(s) {
				t.Errorf("%s, %s: the page takes no keys after the composer took a word: %+v", name, how, s.f.Status().Requests)
			}
		}
		if s := newForgery(t); !takesKeys(s) {
			t.Errorf("%s: the page takes no keys: %+v", name, s.f.Status().Request)
		}
	}
}
