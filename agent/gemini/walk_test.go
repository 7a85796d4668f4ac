package gemini_test

import (
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

// TestDigitAfterArrows: Gemini may lose a digit that comes right after an arrow, so the row that was
// gone to is shown for a while first.
func TestDigitAfterArrows(t *testing.T) {
	d := draw(box("Answer Questions", "", "Which one?", "", "▲", "● 1.  One", "  2.  Two", "  3.  Three", "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
	p := &agent.Request{Type: agent.PromptQuestion, Raw: []byte(`{}`), Questions: []agent.Question{{Text: "Which one?", Options: []string{"One", "Two", "Three", "Four"}}}}
	k, err := gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: 4}, d)
	if err != nil || len(k.Steps) < 2 || k.Steps[len(k.Steps)-1].Key != "4" || k.Steps[len(k.Steps)-1].ShownFor == 0 {
		t.Errorf("%+v, %v", k.Steps, err)
	}
	k, err = gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerText, Text: "another"}, d)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range k.Steps {
		if i > 0 && step.Key == "5" { // the line's number
			if k.Steps[i-1].Key != "Up" || step.ShownFor == 0 {
				t.Errorf("the digit comes right after %q: %+v", k.Steps[i-1].Key, step)
			}
			return
		}
	}
	t.Errorf("no digit goes to the line: %+v", k.Steps)
}
