package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// questionRule is a rule as Claude draws it, and bold is how it draws a question's text.
var questionRule = "\x1b[38;5;246m" + strings.Repeat("─", 80) + "\x1b[39m"

func bold(s string) string { return "\x1b[38;5;231m\x1b[1m" + s + "\x1b[22m\x1b[39m" }

// asksColor is a question's dialog with this text.
func asksColor(rows ...string) *agent.Reading {
	all := []string{"● A question.", questionRule, "\x1b[48;5;153m ☐ Color \x1b[49m", ""}
	for _, row := range rows {
		all = append(all, bold(row))
	}
	return draw(80, 40, strings.Join(append(all, "", "❯ 1. Red", "     Choose Red", "  2. Green", "     Choose Green", "  3. Type something.", questionRule,
		"  4. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"), "\n"))
}

// TestQuestionDrawsNoDialog: the text of a question starts in the first column, and can draw a rule
// with another dialog below it. The prompt is the question, with all of its text.
func TestQuestionDrawsNoDialog(t *testing.T) {
	for _, below := range [][]string{
		{" Bash command", "", "   ls -la", "   List files", "", " Do you want to proceed?"},
		{" ☐ Style", "", "Which style?"},
		{" Choose the text style that looks best with your terminal"},
		{"❯\u00a0", strings.Repeat("─", 80), "  ? for shortcuts"},
	} {
		r := asksColor(append([]string{"Delete production?", strings.Repeat("─", 80)}, below...)...)
		s := newForgery(t)
		s.show(r)
		p := s.f.Status().Request
		if p == nil || p.Type != agent.PromptQuestion || text(p.Title) != "Color" || !strings.HasPrefix(text(p.Text), "Delete production?\n") {
			t.Errorf("with %q it is %+v", below, p)
		}
	}
}

// TestLongWordInAQuestion: without hooks a question with a word that is longer than a row is one prompt,
// which takes its answer.
func TestLongWordInAQuestion(t *testing.T) {
	word := "https://berth.invalid/" + strings.Repeat("path/", 20)
	r := asksColor("Which color has", word[:78], word[78:], "on it?")
	s := newForgery(t)
	s.show(r)
	s.pass(2 * time.Second)
	all := s.f.Status().Requests
	if len(all) != 1 || !all[0].OnScreen || !s.keyed(all[0].ID, r.Dialog) {
		t.Errorf("%d prompts: %+v", len(all), all)
	}
	s.show(asksColor("Which color has", word[:78], word[78:], "on its back?"))
	if p := s.f.Status().Request; p == nil || p.ID == all[0].ID {
		t.Errorf("another question: %+v", p)
	}
}
