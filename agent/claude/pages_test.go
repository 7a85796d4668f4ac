package claude_test

import (
	"fmt"
	"slices"
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

// TestOptionsLikeClaudesOwn: a model may name its options like those that Claude Code adds. The prompt shows each, and a number
// chooses the option that it shows.
func TestOptionsLikeClaudesOwn(t *testing.T) {
	for _, labels := range [][]string{
		{"Type something dangerous", "Drop", "Keep"}, {"Drop", "Type something.", "Keep"}, {"Drop", "Keep", "Type something."},
		{"Chat about this", "Drop"}, {"Drop", "Chat about this", "Keep"}, {"Drop", "Keep", "Chat about this"},
	} {
		s := newForgery(t)
		r, opened := oneOf(labels), 0
		for range 50 {
			opened += len(s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: s.step()}).Opened)
		}
		p := s.f.Status().Request
		if opened != 1 || !slices.Equal(p.Questions[0].Options, labels) || !slices.Equal(p.Options[:len(labels)], labels) || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%q: %d prompts, of %+v", labels, opened, p)
		}
		for i := range labels {
			k, err := (claude.Driver{}).Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: i + 1}, r.Dialog)
			if err != nil || len(k.Steps) != 1 || k.Steps[0].Key != fmt.Sprint(i+1) {
				t.Errorf("%q: option %d is answered by %+v, %v", labels, i+1, k.Steps, err)
			}
		}
		k, err := (claude.Driver{}).Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: len(labels) + 2}, r.Dialog)
		if err != nil || k.Steps[0].Key != fmt.Sprint(len(labels)+2) {
			t.Errorf("%q: to talk about it is %+v, %v", labels, k.Steps, err)
		}
	}
}

// oneOf is the page of one question.
func oneOf(labels []string) *agent.Reading {
	rows := []string{strings.Repeat("─", 80), " ☐ Data", "", "What now?", ""}
	for i, o := range append(slices.Clone(labels), "Type something.") {
		rows = append(rows, fmt.Sprintf("%s %d. %s", map[bool]string{true: "❯", false: " "}[i == 0], i+1, o))
	}
	return draw(80, 40, strings.Join(append(rows, strings.Repeat("─", 80), fmt.Sprintf("  %d. Chat about this", len(labels)+2), "", "Enter to select · ↑/↓ to navigate · Esc to cancel"), "\n"))
}

// TestTextWithoutItsRow: a text goes to the row for it while that is empty. Its number can be that of the option to talk about it,
// where the row's typed text was read as an option.
func TestTextWithoutItsRow(t *testing.T) {
	for own, pressed := range map[string]bool{"Type something.": true, "bob": false, "Type something else": false} {
		r := oneOf([]string{"Drop", "Keep"})
		d := *r.Dialog
		d.Options = slices.Clone(d.Options)
		d.Options[2].Label = own
		p := claude.Driver{}.FromDialog(&d)
		for _, p := range []*agent.Request{p, {Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "What now?", Options: []string{"Drop", "Keep"}}}}} {
			k, err := (claude.Driver{}).Keys(p, agent.Answer{Kind: agent.AnswerText, Text: "go on"}, &d)
			if ready := err == nil && k.Steps[0].Ready(&agent.Reading{Dialog: &d}); ready != pressed {
				t.Errorf("%q, of %q: a key is pressed: %v, %v", own, p.Questions[0].Options, ready, err)
			}
		}
	}
}

// TestForgedPreviews: a report that says that options have previews is compared with the descriptions that are drawn.
func TestForgedPreviews(t *testing.T) {
	rows := []string{strings.Repeat("─", 80), " ☐ Data", "", "What now?", "", "❯ 1. [ ] Tidy", "     Delete all", "  2. [ ] Wait", "     Keep all", "  3. [ ] Type something", "     Submit", strings.Repeat("─", 80), "  4. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"}
	d := draw(80, 16, strings.Join(rows, "\n")).Dialog
	if d == nil || d.Options[0].More != "Delete all" {
		t.Fatalf("%+v", d)
	}
	for reported, want := range map[string]agent.Match{"Delete all": agent.WholeMatch, "Delete nothing": agent.PartMatch} {
		for _, claimed := range []bool{false, true} {
			p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{
				Text: "What now?", MultiSelect: true, Options: []string{"Tidy", "Wait"}, Descriptions: []string{reported, "Keep all"}, Previews: claimed,
			}}}
			if got := (claude.Driver{}).Match(d, p); got != want {
				t.Errorf("%q, previews %v: %v, want %v", reported, claimed, got, want)
			}
		}
	}
}
