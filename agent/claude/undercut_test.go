package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// TestCutOverAnother: on a small screen a dialog is cut, and it may be that of another call whose end has no room. Another process draws the
// first one's whole dialog after a resize. Its prompt takes no key, whether it was seen whole before or not.
func TestCutOverAnother(t *testing.T) {
	long := "touch " + strings.Repeat("a", 40)
	whole := asksOfCommand("Makes", long)
	rows := strings.Split(strings.Join(whole.Dialog.Lines, "\n"), "\n")
	cut := draw(80, 8, strings.Join(rows[4:], "\n")) // the end of a dialog: what is above it isn't known
	if cut.Dialog == nil || !cut.Dialog.Cut && cut.Dialog.Title != "" {
		t.Fatalf("it isn't cut: %+v", cut.Dialog)
	}
	for _, before := range []bool{true, false} {
		s := newForgery(t)
		if before {
			s.show(whole)
			s.pass(time.Second)
		}
		s.show(cut)
		s.pass(time.Second)
		s.show(cut)
		if s.takesKeys(whole) {
			t.Errorf("seen whole before: %v: it asks %+v", before, s.f.Status().Requests)
		}
	}
}

// TestAllowedWhileCut: a hook, which another process may have sent, took the allowance of a prompt whose dialog was cut. The dialog may be that
// of another call, and still be open below the next one that is drawn.
func TestAllowedWhileCut(t *testing.T) {
	whole, list := asksHidden(), asksOfCommand("List", "ls")
	cut := draw(80, 40, strings.Join(whole.Dialog.Lines, "\n"))
	cut.Dialog.Cut = true
	for r, keyed := range map[*agent.Reading]bool{whole: true, cut: false} {
		s := newLogged(t)
		s.logsCall("c1", "Bash", hiddenCommand, "7")
		s.show(r)
		p, held := s.f.HeldBy("7")
		if !held || !p.OnScreen {
			t.Fatalf("it isn't the prompt's: %+v", s.f.Status().Requests)
		}
		s.f.Answered(p.ID, true)
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
		s.about("PostToolUse", "Bash", hiddenCommand, "")
		s.logsResult("c1", "")
		s.show(atComposer(""))
		s.logsCall("c2", "Bash", `{"command":"ls","description":"List"}`, "8")
		s.gone("8")
		if s.takesKeys(list) != keyed {
			t.Errorf("cut: %v: it asks %+v", r.Dialog.Cut, s.f.Status().Requests)
		}
	}
}
