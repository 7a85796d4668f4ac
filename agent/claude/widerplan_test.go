package claude_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestPlanWiderThanItsRow: a plan's text that is wider than Claude took it for goes on in the first
// column of the next row. There it can draw the dashes above a plan, with another plan below.
func TestPlanWiderThanItsRow(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []string
		keyed bool
	}{
		"dashes":      {[]string{"Delete all. " + strings.Repeat("x", 107) + strings.Repeat("╌", 120), "Read the code."}, false},
		"other words": {[]string{strings.Repeat("x", 130), "Read the code."}, false},
		"with room":   {[]string{"Delete all.", "Read the code."}, true},
	} {
		s, r := newForgery(t), asksOfPlan(c.rows...)
		s.show(r)
		p := s.f.Status().Request
		if p == nil || p.Type != agent.PromptPlan || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("%s: answered by keys %v: %+v", name, !c.keyed, p)
		}
	}
}
