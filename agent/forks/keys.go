package forks

import (
	"fmt"
	"strconv"
	"time"

	"berth/agent"
)

// Between is the pause after a key. The next key waits until the screen shows this one's effect.
const Between = 100 * time.Millisecond

// ErrReason is the error for a refusal with words.
var ErrReason = fmt.Errorf("%w: a refusal at this dialog takes no words and ends the turn; deny without any, then nudge", agent.ErrCannot)

// press presses a key while the dialog is unchanged.
func press(key string, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: Between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return r.Dialog.SameAs(d) }}
}

// digit presses the number of an option.
func digit(n int, d *agent.Dialog, outcome string) (agent.KeyAnswer, error) {
	if n < 1 || n > len(d.Options) {
		return agent.KeyAnswer{}, fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(d.Options))
	}
	number := d.Options[n-1].Number
	if number < 1 || number > 9 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: that option has no key; use keys or attach", agent.ErrCannot)
	}
	return agent.KeyAnswer{Steps: []agent.Step{press(strconv.Itoa(number), d)}, Outcome: outcome}, nil
}

// Escape denies at the dialog.
func Escape(d *agent.Dialog) agent.KeyAnswer {
	return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}
}

// Choice answers a dialog of numbered options. yes is the option that accepts, no the one that
// denies; 0 without one.
func Choice(a agent.Answer, d *agent.Dialog, yes, no int) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.ChooseOption:
		outcome := agent.OutcomeAnswered
		switch a.Option {
		case yes:
			outcome = agent.OutcomeAccepted
		case no:
			outcome = agent.OutcomeDenied
		}
		return digit(a.Option, d, outcome)
	case a.Kind == agent.Accept && yes > 0:
		return digit(yes, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text == "" && no > 0:
		return digit(no, d, agent.OutcomeDenied)
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, ErrReason
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: choose with option N", agent.ErrAnswer)
}
