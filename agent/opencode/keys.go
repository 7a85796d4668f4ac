package opencode

import (
	"fmt"
	"strconv"
	"time"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
)

// replyReject refuses a permission.
const replyReject = "reject"

// replies and outcomes are those of a permission's options.
var (
	replies  = []string{"once", "always", replyReject}
	outcomes = []string{agent.OutcomeAccepted, agent.OutcomeAccepted, agent.OutcomeDenied}
)

// reply is the answer that the plugin gives to opencode.
type reply struct {
	Reply   string     `json:"reply,omitempty"`
	Message string     `json:"message,omitempty"`
	Answers [][]string `json:"answers,omitempty"`
}

// Verdict is the answer for the plugin. Without words a refusal ends the turn; with words the model
// goes on. A refusal refuses all that the conversation asks at that time.
func (Driver) Verdict(p *agent.Request, a agent.Answer, _ []byte) (agent.Verdict, error) {
	switch {
	case p.Type == agent.PromptQuestion && a.Kind == agent.Deny && a.Text == "":
		return verdict(reply{}, agent.OutcomeDenied)
	case p.Type == agent.PromptQuestion:
		answers, err := picks(p, a)
		if err != nil {
			return agent.Verdict{}, err
		}
		return verdict(reply{Answers: answers}, agent.OutcomeAnswered)
	case p.Type != agent.PromptPermission:
		return agent.Verdict{}, agent.ErrOnlyByKeys
	}
	n := map[agent.AnswerKind]int{agent.Accept: 1, agent.Deny: 3, agent.ChooseOption: a.Option}[a.Kind]
	if n < 1 || n > len(replies) {
		return agent.Verdict{}, wrong("accept, deny [TEXT] or option N, of 3")
	}
	return verdict(reply{Reply: replies[n-1], Message: a.Text}, outcomes[n-1]) // only a denial has a text
}

func verdict(r reply, outcome string) (agent.Verdict, error) {
	out, err := hooks.Encode(r)
	return agent.Verdict{Stdout: out, Outcome: outcome}, err
}

// picks are the labels or the words for each question.
func picks(p *agent.Request, a agent.Answer) ([][]string, error) {
	each := a.Picks(len(p.Questions))
	if len(each) == 0 {
		return nil, wrong("an answer for each question, or deny")
	}
	var all [][]string
	for i, pick := range each {
		if err := forks.Fits(&p.Questions[i], pick); err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		all = append(all, forks.Words(&p.Questions[i], pick))
	}
	return all, nil
}

// shownFor is how long a dialog must be on the screen before its first key: a key that comes with its first frame
// goes into the composer.
const shownFor = 500 * time.Millisecond

// answerers: Enter takes the chosen button, and a stray Enter at the next dialog would allow that one. It is pressed only
// while the screen shows this dialog with the right button chosen.
var answerers = agent.Answerers{Permission: permissionKeys, Question: questionKeys, ShownFor: shownFor}

// Keys answers at the dialog.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return answerers.Keys(p, a, d)
}

func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := 1, len(d.Options)
	if d.Title == titleAlways { // accept means this call alone, and to go back denies nothing
		if yes, no = 0, 0; a.Kind != agent.ChooseOption {
			return agent.KeyAnswer{}, wrong("option 1, which allows all that these patterns cover, or option 2, which goes back to the permission")
		}
	}
	n, outcome, err := forks.Pick(a, d, yes, no)
	switch {
	case err != nil:
		return agent.KeyAnswer{}, err
	case n == len(d.Options): // to refuse, or to go back
		return agent.KeyAnswer{Steps: forks.Escape(d).Steps, Outcome: outcome}, nil
	}
	return agent.KeyAnswer{Steps: toButton(n, d), Outcome: outcome}, nil
}

// toButton goes to the button and takes it.
func toButton(n int, d *agent.Dialog) []agent.Step {
	w := forks.Way{Page: func(now *agent.Dialog) bool { return now.SameAs(d) }, Back: "Left", Forth: "Right"}
	at := func(now *agent.Dialog, button int) bool { return now.Focused() == button }
	w.Walk(d.Focused(), n, at)
	w.Key("Enter", "the button chosen", func(now *agent.Dialog) bool { return at(now, n) })
	return w.Steps
}

// questionKeys: a digit chooses an option and goes to the next page; of a question that takes several
// options it ticks one, and Tab goes on. Words are typed at the terminal.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	key := strconv.Itoa(a.Option)
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return forks.Escape(d), nil
	case d.Input != "" && d.Input != optionOwn:
		return agent.KeyAnswer{}, cannot("words are typed into it; attach, or remove them")
	case d.Confirm && a.Kind == agent.Accept:
		key = "Enter"
	case d.Confirm:
		return agent.KeyAnswer{}, wrong("accept or deny")
	case a.Kind != agent.ChooseOption || len(p.Questions) != 1 || d.Options[0].Multiple:
		return agent.KeyAnswer{}, cannot("without Berth's plugin, answer each page at the terminal; deny dismisses it")
	case a.Option < 1 || a.Option >= len(d.Options) || a.Option > 9:
		return agent.KeyAnswer{}, wrong(fmt.Sprintf("the options 1 to %d", len(d.Options)-1))
	}
	return agent.KeyAnswer{Steps: []agent.Step{forks.Press(key, d)}, Outcome: agent.OutcomeAnswered}, nil
}
