package codex_test

import (
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// A question that was not shown is not answered.
func TestUnseenQuestion(t *testing.T) {
	r := draw("  Question 1/2 (2 unanswered)\n  Go on?\n\n  › 1. Yes           Delete all\n    2. No            Keep all\n    3. None of the above\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)
	p := codex.Driver{}.FromDialog(r.Dialog)
	each := agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1}}, {Options: []int{1}}}}
	if k, err := (codex.Driver{}).Keys(p, each, r.Dialog); err == nil {
		t.Errorf("question 2 was never shown and is answered by %d keys", len(k.Steps))
	}
	p.Questions[1] = agent.Question{Text: "Really?", Options: []string{"Yes", "No"}}
	if _, err := (codex.Driver{}).Keys(p, each, r.Dialog); err != nil {
		t.Error(err)
	}
}
