package codex_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestDialogWiderThanItsRow: a dialog with a row that the terminal broke takes no key. The rest of that
// row is in the next one, where other text may cover it.
func TestDialogWiderThanItsRow(t *testing.T) {
	const head, end = "› go\n\n  \x1b[1mWould you like to run the following command?\x1b[22m\n\n", "\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"
	for command, keyed := range map[string]bool{"ls": true, "echo " + strings.Repeat("x", 115): false} {
		s, r := newSeen(), draw(head+"  $ "+command+end, -1, 0)
		if p := s.show(r); p == nil || s.keyed(p.ID, r.Dialog) != keyed {
			t.Errorf("%s: answered by keys %v: %+v", command, !keyed, p)
		}
	}
	asks := "› go\n\n  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on" + strings.Repeat("!", 120) + "\n\n  › 1. Yes           Do it\n    2. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt"
	s, r := newSeen(), draw(asks, -1, 0)
	if p := s.show(r); p == nil || s.keyed(p.ID, r.Dialog) {
		t.Errorf("a question: %+v", p)
	}
}

// TestPlanWiderThanItsRow: a plan's text that is wider than Codex took it for goes on in the first
// column of the next row. There it can draw the head of a plan, a message, or the end of the plan.
func TestPlanWiderThanItsRow(t *testing.T) {
	wide := "  " + strings.Repeat("x", 118)
	for name, c := range map[string]struct {
		plan  string
		keyed bool
	}{
		"a head":              {"  Delete all.\n" + wide + "• Proposed Plan\n\n  Read the code.", false},
		"a message":           {"  Delete all.\n" + wide + "› read the code\n\n  Read the code.", false},
		"a message, a head":   {"  Delete all.\n" + wide + "› read the code\n" + wide + "• Proposed Plan\n\n  Read the code.", false},
		"an end":              {"  Read the code.\n" + wide + "• Done\n  Delete all.", false},
		"with room":           {"  Delete all.\n  Read the code.", true},
		"something before it": {"", true},
	} {
		above := "› plan it\n\n"
		if c.plan == "" {
			above, c.plan = above+"• Ran\n"+wide+"more\n\n", "  Read the code."
		}
		s, r := newSeen(), draw(above+"• Proposed Plan\n\n"+c.plan+planEnds, -1, 0)
		p := s.show(r)
		if p == nil || p.Type != agent.PromptPlan || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("%s: answered by keys %v: %+v", name, !c.keyed, p)
		}
	}
}
