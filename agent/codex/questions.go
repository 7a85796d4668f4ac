package codex

import (
	"fmt"

	"berth/agent"
	"berth/agent/drawn"
)

// questionKeys: a single question takes a digit at once. Of several, Enter on an option answers a
// page and opens the next one; the last page sends all answers.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if _, open := notes(d); open {
		return agent.KeyAnswer{}, cannot("a person is typing notes into it; use keys or attach")
	}
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.AnswerEach:
		return eachKeys(p, a.Each, d)
	case a.Kind != agent.ChooseOption && a.Kind != agent.AnswerText:
		return agent.KeyAnswer{}, wrong("option N, text TEXT, answer Q=N or deny")
	case len(d.Tabs) > 1:
		return agent.KeyAnswer{}, fmt.Errorf("%w: it asks %d questions; answer each: answer 1=N 2=N", agent.ErrAnswer, len(d.Tabs))
	case a.Kind == agent.AnswerText:
		return words(a.Text, d)
	}
	return digit(a.Option, d, agent.OutcomeAnswered)
}

// words goes to the option for other answers, opens its notes, types the text, and sends it when
// the screen shows it.
func words(text string, d *agent.Dialog) (agent.KeyAnswer, error) {
	other := beginning(d, optionOther)
	if other == 0 {
		return agent.KeyAnswer{}, cannot("it takes no words of your own; use option N")
	}
	steps, err := move(other, d, agent.Step{Key: "Tab", Pause: between})
	if err != nil {
		return agent.KeyAnswer{}, err
	}
	return agent.KeyAnswer{Outcome: agent.OutcomeAnswered, Steps: append(steps,
		agent.Step{Paste: text, Pause: between, Wants: "its notes open and empty", Ready: func(r *agent.Reading) bool {
			return noted(r, d, other, "") || noted(r, d, other, noNotes)
		}},
		agent.Step{Key: "Enter", Pause: between, Wants: "the text in its notes", Ready: func(r *agent.Reading) bool {
			return noted(r, d, other, text)
		}})}, nil
}

// noNotes is what Codex draws in empty notes.
const noNotes = "Add notes"

// noted reports whether the notes of that option are open and have the text and nothing else: Enter would also send
// what a person has typed there.
func noted(r *agent.Reading, d *agent.Dialog, n int, text string) bool {
	if r.Dialog == nil || !r.Dialog.SameAs(d) || r.Dialog.Focused() != n {
		return false
	}
	shown, open := notes(r.Dialog)
	return open && drawn.Squeeze(shown) == drawn.Squeeze(text)
}

// eachKeys answers all questions, starting at the first page.
func eachKeys(p *agent.Request, each []agent.QuestionPick, d *agent.Dialog) (agent.KeyAnswer, error) {
	if len(each) != len(d.Tabs) {
		return agent.KeyAnswer{}, fmt.Errorf("%w: it asks %d questions and %d are answered", agent.ErrAnswer, len(d.Tabs), len(each))
	}
	for i, pick := range each {
		if pick.Text != "" || len(pick.Options) != 1 {
			return agent.KeyAnswer{}, cannot("each takes one option; for words of your own use keys or attach")
		}
		if most := offered(p, d, i); most > 0 && (pick.Options[0] < 1 || pick.Options[0] > most) {
			return agent.KeyAnswer{}, fmt.Errorf("%w: question %d has the options 1 to %d", agent.ErrAnswer, i+1, most)
		}
	}
	for i := range each {
		if i != d.Current && (i >= len(p.Questions) || p.Questions[i].Text == "") {
			return agent.KeyAnswer{}, cannot(fmt.Sprintf("question %d was not shown yet; use keys or attach", i+1))
		}
	}
	if len(each) == 1 {
		return digit(each[0].Options[0], d, agent.OutcomeAnswered)
	}
	if d.Current != 0 {
		return agent.KeyAnswer{}, cannot("some of its questions are answered already; use keys or attach")
	}
	var steps []agent.Step
	for i, pick := range each {
		at := 1
		if i == 0 {
			at = d.Focused()
		}
		steps = append(steps, page(i, at, pick.Options[0])...)
	}
	return agent.KeyAnswer{Steps: steps, Outcome: agent.OutcomeAnswered}, nil
}

// offered is the number of a question's options; 0 while it isn't known.
func offered(p *agent.Request, d *agent.Dialog, i int) int {
	if i == d.Current {
		return len(d.Options)
	}
	if i < len(p.Questions) && len(p.Questions[i].Options) > 0 {
		return len(p.Questions[i].Options) + 1
	}
	return 0
}

// page moves from one option to another on a question's page, and presses Enter there.
func page(question, from, to int) []agent.Step {
	step, key := 1, "Down"
	if to < from {
		step, key = -1, "Up"
	}
	var steps []agent.Step
	for i := from; ; i += step {
		s := agent.Step{Key: key, Pause: between, Wants: fmt.Sprintf("question %d with option %d chosen", question+1, i)}
		s.Ready = func(r *agent.Reading) bool {
			if r.Dialog == nil || r.Dialog.Type != agent.PromptQuestion || r.Dialog.Partial || r.Dialog.Current != question {
				return false
			}
			_, open := notes(r.Dialog)
			return !open && r.Dialog.Focused() == i
		}
		if i == to {
			s.Key = "Enter"
		}
		if steps = append(steps, s); i == to {
			return steps
		}
	}
}
