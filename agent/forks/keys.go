package forks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

// Between is the pause after a key. The next key waits until the screen shows this one's effect.
const Between = 100 * time.Millisecond

// ErrReason is the error for a refusal with words.
var ErrReason = fmt.Errorf("%w: a refusal at this dialog takes no words and ends the turn; deny without any, then nudge", agent.ErrCannot)

// Press presses a key while the dialog is unchanged.
func Press(key string, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: Between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return r.Dialog.SameAs(d) }}
}

// Escape denies at the dialog.
func Escape(d *agent.Dialog) agent.KeyAnswer {
	return agent.KeyAnswer{Steps: []agent.Step{Press("Escape", d)}, Outcome: agent.OutcomeDenied}
}

// Pick is the number of the option that an answer chooses, and what it means. yes is the option that accepts, no the one
// that denies; 0 without one.
func Pick(a agent.Answer, d *agent.Dialog, yes, no int) (n int, outcome string, err error) {
	n, outcome = map[agent.AnswerKind]int{agent.Accept: yes, agent.Deny: no, agent.ChooseOption: a.Option}[a.Kind], agent.OutcomeAnswered
	switch {
	case a.Kind == agent.Deny && a.Text != "":
		return 0, "", ErrReason
	case a.Kind == agent.ChooseOption && (n < 1 || n > len(d.Options)):
		return 0, "", fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(d.Options))
	case n == 0 && yes > 0 && no > 0:
		return 0, "", fmt.Errorf("%w: it takes accept, deny or option N", agent.ErrAnswer)
	case n == 0:
		return 0, "", fmt.Errorf("%w: choose with option N", agent.ErrAnswer)
	case n == yes:
		outcome = agent.OutcomeAccepted
	case n == no:
		outcome = agent.OutcomeDenied
	}
	return n, outcome, nil
}

// AnswerCall answers the dialog of a call; see Choice. A refusal is Esc, whatever number its option is drawn with, because
// another process can have drawn the options.
func AnswerCall(a agent.Answer, d *agent.Dialog, yes, no int) (agent.KeyAnswer, error) {
	if _, outcome, err := Pick(a, d, yes, no); err == nil && outcome == agent.OutcomeDenied {
		return Escape(d), nil
	}
	return Choice(a, d, yes, no)
}

// optionEditor opens a change in an editor. Berth doesn't choose it: the editor asks again, where no client sees it.
const optionEditor = "Modify with external editor"

// Choice answers a dialog of numbered options; see Pick. An option that was cut off, other than a plain yes or no, may
// allow more than was shown.
func Choice(a agent.Answer, d *agent.Dialog, yes, no int) (agent.KeyAnswer, error) {
	n, outcome, err := Pick(a, d, yes, no)
	if err != nil {
		return agent.KeyAnswer{}, err
	}
	number, label := d.Options[n-1].Number, d.Options[n-1].Label
	switch {
	case strings.HasPrefix(label, optionEditor):
		return agent.KeyAnswer{}, fmt.Errorf("%w: it opens an editor; attach", agent.ErrCannot)
	case number < 1 || number > 9:
		return agent.KeyAnswer{}, fmt.Errorf("%w: that option has no key; use keys or attach", agent.ErrCannot)
	case n != yes && n != no && strings.HasSuffix(label, "…"):
		return agent.KeyAnswer{}, fmt.Errorf("%w: the screen has no room for the whole option; resize it to more columns, look at the prompt and answer again", agent.ErrCannot)
	}
	return agent.KeyAnswer{Steps: []agent.Step{Press(strconv.Itoa(number), d)}, Outcome: outcome}, nil
}
