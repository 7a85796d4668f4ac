package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// pageOf is the page of that tab of several questions.
func pageOf(tab int, text string, options ...string) *agent.Reading {
	bar := "← "
	for i, name := range []string{"Data", "Disk"} {
		if i+1 == tab {
			bar += "\x1b[48;5;153m\x1b[38;5;16m ☐ " + name + " \x1b[39m\x1b[49m"
		} else {
			bar += " ☐ " + name + " "
		}
	}
	rows := []string{strings.Repeat("─", 80), bar + " ✔ Submit  →", "", text, ""}
	for i, o := range options {
		rows = append(rows, fmt.Sprintf("%s %d. %s", map[bool]string{true: "❯", false: " "}[i == 0], i+1, o))
	}
	n := len(options)
	return draw(80, 40, strings.Join(append(rows, fmt.Sprintf("  %d. Type something.", n+1), strings.Repeat("─", 80), fmt.Sprintf("  %d. Chat about this", n+2), "", "Enter to select · ↑/↓ to navigate · Esc to cancel"), "\n"))
}

// TestQuestionsOfTheSameHeaders: the questions of one call and of the next are two prompts, also
// if their headers are the same and no hook reports them. Each page belongs to its tab.
func TestQuestionsOfTheSameHeaders(t *testing.T) {
	s := newForgery(t)
	s.show(pageOf(2, "Wipe the disk?", "No", "Yes"))
	p := s.f.Status().Request
	if p.QuestionCurrent != 1 || p.Questions[0].Text != "" || p.Questions[1].Text != "Wipe the disk?" {
		t.Errorf("the second page is %+v", p)
	}
	id := p.ID
	s.show(pageOf(1, "Keep the data?", "Keep", "Drop"))
	if p = s.f.Status().Request; p.ID != id || p.QuestionCurrent != 0 || p.Questions[0].Text != "Keep the data?" || p.Questions[1].Text != "Wipe the disk?" {
		t.Errorf("both pages: %+v", p)
	}
	next := pageOf(1, "Drop the tables?", "Drop", "Keep")
	s.show(next)
	if p = s.f.Status().Request; p.ID == id || p.Questions[0].Text != "Drop the tables?" || p.Questions[1].Text != "" || s.keyed(id, next.Dialog) {
		t.Errorf("the next questions: %+v", p)
	}
	s = newForgery(t) // one page was read of the ones before
	s.show(pageOf(1, "Keep the data?", "Keep", "Drop"))
	id = s.f.Status().Request.ID
	s.show(next)
	if p = s.f.Status().Request; p.ID == id || s.keyed(id, next.Dialog) {
		t.Errorf("the next questions: %+v", p)
	}
}

// TestFewerOptions: a question reported with fewer options than the dialog has is another
// question. In the dialog the row for a free answer has another number, so the key for it would
// choose an option.
func TestFewerOptions(t *testing.T) {
	r := draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " ☐ Data", "", "What now?", "", "❯ 1. Keep", "  2. Drop", "  3. Wipe",
		"  4. Type something.", strings.Repeat("─", 80), "  5. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"}, "\n"))
	for told, same := range map[string]bool{
		`{"label":"Keep"},{"label":"Drop"},{"label":"Wipe"}`: true,
		`{"label":"Keep"},{"label":"Drop"}`:                  false,
		`{"label":"Keep"}`:                                   false,
	} {
		s := newForgery(t)
		s.asks("AskUserQuestion", fmt.Sprintf(`{"questions":[{"question":"What now?","header":"Data","options":[%s]}]}`, told), "")
		s.show(r)
		keyed := false
		for _, p := range s.f.Status().Requests {
			keyed = keyed || len(p.Raw) > 0 && s.keyed(p.ID, r.Dialog)
		}
		if keyed != same {
			t.Errorf("%s: answered by keys %v", told, keyed)
		}
		p := s.f.Status().Request
		if len(p.Questions) != 1 || len(p.Questions[0].Options) != 3 {
			t.Errorf("%s: the dialog asks %+v", told, p)
		}
		k, err := (claude.Driver{}).Keys(&agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "What now?", Options: []string{"Keep", "Drop"}}}}, agent.Answer{Kind: agent.AnswerText, Text: "x"}, r.Dialog)
		if err == nil && k.Steps[0].Ready(r) {
			t.Errorf("words press %s, which is an option", k.Steps[0].Key)
		}
	}
}

// No key is pressed at a page without room for all of its question, also where the rest looks like
// a question of its own.
func TestQuestionWithoutRoom(t *testing.T) {
	for _, tabs := range []string{" ☐ Data", "←  ☐ Data  ☐ More  ✔ Submit  →"} {
		rows := []string{tabs, "", "keep the data?", "", "❯ 1. Drop", "  2. Keep", "  3. Type something.", strings.Repeat("─", 80), "  4. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"}
		for more, keyed := range map[string]bool{" ↑ 3 more lines": false, "": true} {
			r := draw(80, 13, strings.Join(append([]string{strings.Repeat("─", 80)}, append(rows, more)...), "\n"))
			s := newForgery(t)
			s.show(r)
			if p := s.f.Status().Request; p == nil || p.Type != agent.PromptQuestion || s.keyed(p.ID, r.Dialog) != keyed {
				t.Errorf("%q, %q: %+v", tabs, more, p)
			}
		}
	}
}
