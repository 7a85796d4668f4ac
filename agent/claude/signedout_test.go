package claude_test

import (
	"errors"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// TestSignedOut: a footer that says that no one is signed in is a prompt, as long as nothing is typed.
func TestSignedOut(t *testing.T) {
	empty, draft := "❯\u00a0"+caret+"\n", "❯\u00a0/login"+caret+"\n"
	for name, c := range map[string]struct {
		drawn string
		asks  bool
	}{
		"2.1.197":       {rule + empty + rule + "  ? for shortcuts · ← for agents        Not logged in · Run /login\n", true},
		"2.1.330":       {rule + empty + rule + "  ⏵⏵ auto mode on (shift+tab to cycle)    Not logged in · run /login\n", true},
		"80 columns":    {rule + empty + rule + "  ⏸ manual mode on · ? for shortcuts · ← for agents Not logged in · run /login\n                                                            ◐ medium · /effort\n", true},
		"a row of its":  {rule + empty + rule + "  ? for shortcuts\n  Not logged in · Run /login\n", true},
		"typed text":    {rule + draft + rule + "  Not logged in · Run /login\n", false},
		"at work":       {"✻ Thinking… (3s)\n\n" + rule + empty + rule + "  Not logged in · Run /login\n", false},
		"its own words": {"● Not logged in · Run /login\n\n" + rule + empty + rule + "  ? for shortcuts\n", false},
		"other words":   {rule + empty + rule + "  Not logged in · Run /login first\n", false},
	} {
		r := draw(90, 16, "● Done.\n\n"+c.drawn)
		if asks := r.Dialog != nil && r.Dialog.Type == agent.PromptSetup && r.Dialog.Subtype == agent.SubtypeLogin; asks != c.asks || asks == (r.Composer != nil) {
			t.Errorf("%s: %+v, %+v", name, r.Dialog, r.Composer)
		}
	}
	p := claude.Driver{}.FromDialog(draw(90, 16, rule+empty+rule+"  Not logged in · Run /login\n").Dialog)
	for _, kind := range []agent.AnswerKind{agent.Accept, agent.Deny} {
		if _, err := (claude.Driver{}).Keys(p, agent.Answer{Kind: kind}, draw(90, 16, rule+empty+rule+"  Not logged in · Run /login\n").Dialog); !errors.Is(err, agent.ErrCannot) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, ok := (claude.Driver{}).Groom(draw(90, 16, rule+empty+rule+"  Not logged in · Run /login\n").Dialog, agent.Policy{Trust: true}); ok {
		t.Error("Berth answers it by itself")
	}
}
