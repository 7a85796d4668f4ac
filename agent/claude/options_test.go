package claude_test

import (
	"slices"
	"strings"
	"testing"

	"berth/agent"
)

// TestNoGuessedOptions: a prompt shows no options before its dialog is drawn. A number is an
// answer to the options that were shown, and a dialog with others would keep the id.
func TestNoGuessedOptions(t *testing.T) {
	for name, c := range map[string]struct {
		tool, input string
		dialog      *agent.Reading
		first       string
	}{
		"a command": {"Bash", `{"command":"npm test","description":"Test"}`, asksOfCommand("Test", "npm test"), "Yes"},
		"a plan":    {"ExitPlanMode", `{"plan":"Test it."}`, asksOfPlan("Test it."), "Yes, and use auto mode"},
	} {
		s := newForgery(t)
		s.asks(c.tool, c.input, "7")
		told := s.f.Status().Request
		if len(told.Options) > 0 || !told.OptionsFallback {
			t.Errorf("%s: the options %q are shown and not read", name, told.Options)
		}
		s.show(c.dialog)
		p := s.f.Status().Request
		if p.ID != told.ID || !slices.Equal(p.Options, c.dialog.Dialog.Labels()) || p.Options[0] != c.first || p.OptionsFallback || p.Digest == told.Digest {
			t.Errorf("%s: reported as prompt %s, drawn as %+v", name, told.ID, p)
		}
	}
}

// asksOfPlan is the dialog of a plan with those rows.
func asksOfPlan(rows ...string) *agent.Reading {
	out := []string{strings.Repeat("─", 120), " Ready to code?", " Here is Claude's plan:", strings.Repeat("╌", 120)}
	for _, row := range rows {
		out = append(out, " "+row)
	}
	return draw(120, 40, strings.Join(append(out, strings.Repeat("╌", 120), strings.Repeat("─", 120),
		" Claude has written up a plan and is ready to execute. Would you like to proceed?", "",
		" ❯ 1. Yes, and use auto mode", "   2. Yes, manually approve edits", "   3. Tell Claude what to change", "", " Esc to cancel"), "\n"))
}
