package copilot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// dialogShownFor is how long a dialog must be on the screen before its first key.
const dialogShownFor = 300 * time.Millisecond

// Verdict: Berth sets no hook that decides. Copilot runs its permission hook also for what a rule or
// an earlier answer allows, so a hook that waits would ask about that too.
func (Driver) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// Groom trusts the folder if the session says so.
func (Driver) Groom(d *agent.Dialog, p agent.Policy) (agent.Answer, bool) {
	return agent.Answer{Kind: agent.Accept}, d.Subtype == agent.SubtypeTrust && p.Trust
}

// answerers answer each of Copilot's dialogs.
var answerers = agent.Answerers{Permission: permissionKeys, Question: questionKeys, Notice: formKeysFor, ShownFor: dialogShownFor}

// Keys answers at the dialog.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return answerers.Keys(p, a, d)
}

// press presses a key while the dialog is unchanged, with nothing typed into it.
func press(key, outcome string, d *agent.Dialog) agent.KeyAnswer {
	return agent.KeyAnswer{Outcome: outcome, Steps: []agent.Step{{
		Key: key, Pause: forks.Between, Wants: "the dialog as it was",
		Ready: func(r *agent.Reading) bool {
			return r.Dialog.SameAs(d) && r.Dialog.Input == "" && r.Dialog.Key == d.Key
		},
	}}}
}

// permissionKeys: a digit acts at once, but for the refusal's, which moves there: the option takes
// words then. Esc refuses without any and ends the turn.
func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	no := len(d.Options)
	switch {
	case a.Kind == agent.Accept && !yes(d):
		return agent.KeyAnswer{}, fmt.Errorf("%w: its first option isn't a plain yes; choose an option by its number", agent.ErrCannot)
	case a.Kind == agent.Accept:
		return press("1", agent.OutcomeAccepted, d), nil
	case a.Kind == agent.Deny && a.Text == "", a.Kind == agent.ChooseOption && a.Option == no:
		return press("Escape", agent.OutcomeDenied, d), nil
	case a.Kind == agent.Deny && d.Subtype != "":
		return agent.KeyAnswer{}, fmt.Errorf("%w: this dialog takes no reason; use deny without one", agent.ErrCannot)
	case a.Kind == agent.Deny:
		return refuse(a.Text, d), nil
	case a.Kind != agent.ChooseOption:
		return agent.KeyAnswer{}, fmt.Errorf("%w: a permission takes accept, deny [TEXT] or option N", agent.ErrAnswer)
	case a.Option < 1 || a.Option > no:
		return agent.KeyAnswer{}, fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, no)
	case a.Option == 1 && yes(d):
		return press("1", agent.OutcomeAccepted, d), nil
	}
	return press(strconv.Itoa(a.Option), agent.OutcomeAnswered, d), nil
}

// yes reports whether the first option allows what the dialog asks, once. In all dialogs that were measured
// it does.
func yes(d *agent.Dialog) bool { return len(d.Options) > 0 && d.Options[0].Label == "Yes" }

// refuse moves to the refusal, types the reason there and sends it. The model gets the reason, and
// the turn goes on.
func refuse(reason string, d *agent.Dialog) agent.KeyAnswer {
	no := len(d.Options)
	reason = strings.Join(strings.Fields(reason), " ") // the option has one line
	k := press(strconv.Itoa(no), agent.OutcomeDenied, d)
	at := func(typed string) func(*agent.Reading) bool {
		return func(r *agent.Reading) bool {
			return r.Dialog.SameAs(d) && r.Dialog.Focused() == no && drawn.Squeeze(r.Dialog.Input) == drawn.Squeeze(typed)
		}
	}
	k.Steps = append(k.Steps,
		agent.Step{Paste: reason, Pause: forks.Between, Wants: "the refusal chosen, without words", Ready: at("")},
		agent.Step{Key: "Enter", Pause: forks.Between, Wants: "the reason in the refusal", Ready: at(reason)})
	return k
}

// questionKeys goes to the option and accepts it. Ctrl-D declines: the model hears that no answer
// comes. Esc would end the turn.
func questionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if a.Kind == agent.AnswerEach && len(a.Each) == 1 && len(a.Each[0].Options) == 1 && a.Each[0].Text == "" {
		a = agent.Answer{Kind: agent.ChooseOption, Option: a.Each[0].Options[0]}
	}
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return press("C-d", agent.OutcomeDenied, d), nil
	case a.Kind == agent.Cancel:
		return press("Escape", agent.OutcomeCancelled, d), nil
	case a.Kind == agent.AnswerText, a.Kind == agent.Deny, a.Kind == agent.AnswerEach && len(a.Each) == 1:
		return agent.KeyAnswer{}, fmt.Errorf("%w: Berth types no words into this form; use option N or attach", agent.ErrCannot)
	case a.Kind != agent.ChooseOption:
		return agent.KeyAnswer{}, fmt.Errorf("%w: a question takes option N, deny or cancel", agent.ErrAnswer)
	case a.Option < 1 || a.Option > len(d.Options):
		return agent.KeyAnswer{}, fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(d.Options))
	}
	from := d.Focused()
	if from == 0 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: a person is typing into it; use keys or attach", agent.ErrCannot)
	}
	w := forks.Way{Page: func(now *agent.Dialog) bool { return now.SameAs(d) && now.Key == d.Key }}
	w.Walk(from, a.Option, func(now *agent.Dialog, row int) bool { return now.Focused() == row })
	w.Key("Enter", "the option chosen", func(now *agent.Dialog) bool { return now.Focused() == a.Option })
	return agent.KeyAnswer{Steps: w.Steps, Outcome: agent.OutcomeAnswered}, nil
}

// formKeysFor: a form with other fields is declined or cancelled.
func formKeysFor(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return press("C-d", agent.OutcomeDenied, d), nil
	case a.Kind == agent.Cancel:
		return press("Escape", agent.OutcomeCancelled, d), nil
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: Berth fills in no form of Copilot; use deny or cancel, or attach", agent.ErrCannot)
}
