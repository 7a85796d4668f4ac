package opencode

import (
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
	r := reply{Reply: replies[n-1]}
	if a.Kind == agent.Deny {
		r.Message = a.Text
	}
	return verdict(r, outcomes[n-1])
}

func verdict(r reply, outcome string) (agent.Verdict, error) {
	out, err := hooks.Encode(r)
	return agent.Verdict{Stdout: out, Outcome: outcome}, err
}

// picks are the labels or the words for each question.
func picks(p *agent.Request, a agent.Answer) ([][]string, error) {
	each := a.Each
	switch {
	case a.Kind == agent.ChooseOption && len(p.Questions) == 1:
		each = []agent.QuestionPick{{Options: []int{a.Option}}}
	case a.Kind == agent.AnswerText && len(p.Questions) == 1:
		each = []agent.QuestionPick{{Text: a.Text}}
	case a.Kind != agent.AnswerEach || len(each) != len(p.Questions):
		return nil, wrong("an answer for each question, or deny")
	}
	var all [][]string
	for i, pick := range each {
		q := p.Questions[i]
		if len(pick.Options) > 1 && !q.MultiSelect {
			return nil, wrong("one option for question " + strconv.Itoa(i+1))
		}
		one := []string{}
		for _, n := range pick.Options {
			if n < 1 || n > len(q.Options) {
				return nil, wrong("the options 1 to " + strconv.Itoa(len(q.Options)) + " for question " + strconv.Itoa(i+1))
			}
			one = append(one, q.Options[n-1])
		}
		if pick.Text != "" {
			one = append(one, pick.Text)
		}
		all = append(all, one)
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

// press presses a key while the dialog is unchanged, and this option is chosen; 0 for any.
func press(key string, n int, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: forks.Between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool {
		return r.Dialog.SameAs(d) && (n == 0 || r.Dialog.Focused() == n)
	}}
}

func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	n, outcome := 0, agent.OutcomeAnswered
	if d.Title == titleAlways { // accept means this call alone, and to go back denies nothing
		if a.Kind != agent.ChooseOption || a.Option < 1 || a.Option > 2 {
			return agent.KeyAnswer{}, wrong("option 1, which allows all that these patterns cover, or option 2, which goes back to the permission")
		}
		k := agent.KeyAnswer{Steps: toButton(1, d), Outcome: outcome}
		if a.Option == 2 {
			k.Steps = forks.Escape(d).Steps
		}
		return k, nil
	}
	switch {
	case a.Kind == agent.Accept, a.Kind == agent.ChooseOption && a.Option == 1:
		n, outcome = 1, agent.OutcomeAccepted
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, forks.ErrReason
	case a.Kind == agent.Deny, a.Kind == agent.ChooseOption && a.Option == len(d.Options):
		return forks.Escape(d), nil
	case a.Kind == agent.ChooseOption && a.Option > 1 && a.Option < len(d.Options):
		n = a.Option // its second page shows the patterns
	default:
		return agent.KeyAnswer{}, wrong("accept, deny or option N, of " + strconv.Itoa(len(d.Options)))
	}
	return agent.KeyAnswer{Steps: toButton(n, d), Outcome: outcome}, nil
}

// toButton goes to the button and takes it.
func toButton(n int, d *agent.Dialog) (steps []agent.Step) {
	at := d.Focused()
	for ; at < n; at++ {
		steps = append(steps, press("Right", at, d))
	}
	for ; at > n; at-- {
		steps = append(steps, press("Left", at, d))
	}
	return append(steps, press("Enter", n, d))
}

// questionKeys: a digit chooses an option and goes to the next page; of a question that takes several
// options it ticks one, and Tab goes on. Words are typed at the terminal.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if a.Kind == agent.Deny && a.Text == "" {
		return forks.Escape(d), nil
	}
	if d.Input != "" && d.Input != optionOwn {
		return agent.KeyAnswer{}, cannot("words are typed into it; attach, or remove them")
	}
	if d.Confirm {
		if a.Kind == agent.Accept {
			return agent.KeyAnswer{Steps: []agent.Step{press("Enter", 0, d)}, Outcome: agent.OutcomeAnswered}, nil
		}
		return agent.KeyAnswer{}, wrong("accept or deny")
	}
	if a.Kind != agent.ChooseOption || len(p.Questions) != 1 || d.Options[0].Multiple {
		return agent.KeyAnswer{}, cannot("without Berth's plugin, answer each page at the terminal; deny dismisses it")
	}
	if a.Option < 1 || a.Option >= len(d.Options) || a.Option > 9 {
		return agent.KeyAnswer{}, wrong("the options 1 to " + strconv.Itoa(len(d.Options)-1))
	}
	return agent.KeyAnswer{Steps: []agent.Step{press(strconv.Itoa(a.Option), 0, d)}, Outcome: agent.OutcomeAnswered}, nil
}
