package gemini_test

import (
	"errors"
	"fmt"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

// boxes is a question that takes several options, drawn with the rows of its list that are
// in view.
func boxes(foot string, rows ...string) *agent.Reading {
	all := []string{"Answer Questions", "", "Which features?", "(Select all that apply)", "", "▲"}
	return draw(box(append(append(all, rows...), "▼", "", foot)...)...)
}

const (
	selecting  = "Enter to select · ↑/↓ to navigate · Esc to cancel"
	submitting = "Enter to submit · Esc to cancel"
)

// ticking is such a question with that many options, as its hook reports it.
func ticking(options int) *agent.Request {
	q := agent.Question{Header: "Features", Text: "Which features?", MultiSelect: true}
	for i := range options {
		q.Options, q.Descriptions = append(q.Options, fmt.Sprint("F", i+1)), append(q.Descriptions, "")
	}
	return &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{q}, Raw: []byte("{}")}
}

func ticks(options ...int) agent.Answer {
	return agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: options}}}
}

// TestTicks: each key waits for the boxes as the key before left them.
func TestTicks(t *testing.T) {
	fresh := boxes(selecting, "● 1. [ ] F1", "  2. [ ] F2", "  3. [ ] F3")
	second := boxes(selecting, "  1. [ ] F1", "● 2. [ ] F2", "  3. [ ] F3")
	third := boxes(selecting, "  1. [ ] F1", "  2. [ ] F2", "● 3. [ ] F3")
	all := boxes(selecting, "  2. [ ] F2", "  3. [ ] F3", "● 4. [ ] All of the above")
	line := boxes(submitting, "  3. [ ] F3", "  4. [ ] All of the above", "● 5. [x] Enter a custom value")
	last := boxes(selecting, "  4. [ ] All of the above", "  5. [x] Enter a custom value", "●  Done", "   Finish selection")
	first := boxes(selecting, "● 1. [x] F1", "  2. [ ] F2", "  3. [ ] F3")
	both := boxes(selecting, "  1. [x] F1", "  2. [ ] F2", "● 3. [x] F3")
	p := ticking(3)
	k, err := gemini.Driver{}.Keys(p, ticks(1, 3), fresh.Dialog)
	if err != nil || press(k) != "Down Down Down Down Down 1 3 6 answered" {
		t.Fatalf("%s, %v", press(k), err)
	}
	screens := []*agent.Reading{fresh, second, third, all, line, last, first, both}
	for i, step := range k.Steps {
		for j, screen := range screens {
			if ready, want := step.Ready(screen), i == j; ready != want {
				t.Errorf("key %d at screen %d: %v, want %v", i, j, ready, want)
			}
		}
	}
	if words := boxes(submitting, "  3. [ ] F3", "  4. [ ] All of the above", "● 5. [x] foo"); k.Steps[4].Ready(words) {
		t.Error("the answer sends a person's words too")
	}
	for _, c := range []struct {
		name   string
		p      *agent.Request
		answer agent.Answer
		screen *agent.Reading
		want   string
		err    error
	}{
		{"one", p, agent.Answer{Kind: agent.ChooseOption, Option: 2}, fresh, "Down Down Down Down Down 2 6 answered", nil},
		{"what is ticked stays", p, ticks(1, 3), first, "Down Down Down Down Down 3 6 answered", nil},
		{"all are ticked", p, ticks(1, 3), both, "Down Down Down 6 answered", nil},
		{"what is not wanted goes", p, ticks(3), both, "Down Down Down 1 6 answered", nil},
		{"four", ticking(4), ticks(4), fresh, "Down Down Down Down Down Down 4 7 answered", nil},
		{"two", ticking(2), ticks(1, 2), boxes(selecting, "● 1. [ ] F1", "  2. [ ] F2", "  3. [ ] All of the above"), "Down Down Down Down 1 2 5 answered", nil},
		{"words", p, agent.Answer{Kind: agent.AnswerText, Text: "bob"}, fresh, "Down Down Down Down Down 5 <bob> Enter answered", nil},
		{"words and an option", p, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{2}, Text: "bob"}}}, fresh, "Down Down Down Down Down 2 5 <bob> Enter answered", nil},
		{"all of the above", p, ticks(4), fresh, "", agent.ErrAnswer},
		{"a person writes", p, ticks(1), line, "", agent.ErrCannot},
		{"more than keys", ticking(8), ticks(1), fresh, "", agent.ErrCannot},
	} {
		k, err := gemini.Driver{}.Keys(c.p, c.answer, c.screen.Dialog)
		got := ""
		if err == nil {
			got = press(k)
		}
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q (%v), want %q (%v)", c.name, got, err, c.want, c.err)
		}
	}
	k, err = gemini.Driver{}.Keys(ticking(4), ticks(1), fresh.Dialog)
	if err != nil || k.Steps[5].Ready(boxes(submitting, "  4. [x] F4", "  5. [ ] All of the above", "● 6. [x] Enter a custom value")) {
		t.Errorf("a box that was out of view is ticked, and the answer goes on (%v)", err)
	}
}

// TestOwnWords: Enter is pressed when the line holds the whole text, and no other.
func TestOwnWords(t *testing.T) {
	at := func(rows ...string) *agent.Reading {
		all := append([]string{"Answer Questions", "", "Are you sure?", "", "  1.  Yes", "  2.  No"}, rows...)
		return draw(box(append(all, "", submitting)...)...)
	}
	yesno := draw(box("Answer Questions", "", "Are you sure?", "", "● 1.  Yes", "  2.  No", "  3.  Enter a custom value", "", selecting)...)
	p := gemini.Driver{}.FromDialog(yesno.Dialog)
	for text, screens := range map[string]map[*agent.Reading]bool{
		"maybe so": {
			at("● 3.  maybe so"): true, at("● 3.  Enter a custom value"): false, at("● 3.  maybe"): false, at("● 3.  but maybe so"): false,
			at("  3.  maybe so"): false, at("● 3.  maybe so", "      and more"): false,
		},
		"1. a\n2. b":         {at("● 3.  1. a", "      2. b"): true, at("● 3.  1. a"): false},
		"a\nb\nc\nd":         {at("● 3.  b", "      c", "      d"): true, at("● 3.  c", "      d"): false, at("● 3.  x", "      c", "      d"): false},
		"a\n\nb":             {at("● 3.  a", "", "      b"): true},
		longText(600):        {at("● 3.  [Pasted Text: 600 chars]"): true, at("● 3.  [Pasted Text: 700 chars]"): false},
		"a\nb\nc\nd\ne\nf\n": {at("● 3.  [Pasted Text: 6 lines]"): true},
	} {
		k, err := gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerText, Text: text}, yesno.Dialog)
		if err != nil || len(k.Steps) != 3 {
			t.Fatalf("%.20q: %v", text, err)
		}
		if empty := at("● 3.  Enter a custom value"); !k.Steps[1].Ready(empty) || k.Steps[1].Ready(yesno) || k.Steps[1].Ready(at("● 3.  foo")) {
			t.Errorf("%.20q is typed where it should not be", text)
		}
		for screen, want := range screens {
			if got := k.Steps[2].Ready(screen); got != want {
				t.Errorf("%.20q at %q: %v, want %v", text, screen.Dialog.Lines, got, want)
			}
		}
	}
}

func longText(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return string(text)
}
