package codex

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

// between is the pause after a key; a dialog goes or moves with the next frame.
const between = 100 * time.Millisecond

// Keys is the answer at the dialog that is drawn. Codex withholds a dialog for a
// second after the last key, and a key sent then stands in the composer: that
// is why each step looks for the dialog. Some lists take a digit at once, in
// others it only moves, and Enter takes whatever is chosen: so Enter is never
// pressed but on an option that was seen to be chosen.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	k, err := keysOf(p, a, d)
	if err == nil && len(k.Steps) > 0 {
		k.Steps[0].Stood = stands
	}
	return k, err
}

// stands is how long a dialog must have been there before its first key. One that
// was pressed as soon as it was drawn counted for nothing, twice in some hundred
// answers, on a machine with fifteen times the work it can do.
const stands = 300 * time.Millisecond

func keysOf(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d == nil || d.Partial {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	switch p.Type {
	case agent.PromptPermission:
		if d.Subtype == agent.SubtypeTrust {
			return trustKeys(a, d)
		}
		return permissionKeys(a, d)
	case agent.PromptQuestion:
		return questionKeys(p, a, d)
	case agent.PromptPlan:
		return planKeys(a, d)
	case agent.PromptSetup:
		return setupKeys(a, d)
	case agent.PromptNotice:
		return noticeKeys(a, d)
	}
	return agent.KeyAnswer{}, cannot("use keys or attach")
}

func cannot(instead string) error { return fmt.Errorf("%w: %s", agent.ErrCannot, instead) }

func wrong(takes string) error { return fmt.Errorf("%w: it takes %s", agent.ErrAnswer, takes) }

// press presses a key while the dialog is as it was.
func press(key string, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return r.Dialog.SameAs(d) }}
}

// digit presses the number of an option, in a list that takes it at once.
func digit(n int, d *agent.Dialog, outcome string) (agent.KeyAnswer, error) {
	if err := listed(n, d); err != nil {
		return agent.KeyAnswer{}, err
	}
	number := d.Options[n-1].Number
	if number < 1 || number > 9 {
		return agent.KeyAnswer{}, cannot("that option has no key; use keys or attach")
	}
	return agent.KeyAnswer{Steps: []agent.Step{press(strconv.Itoa(number), d)}, Outcome: outcome}, nil
}

func listed(n int, d *agent.Dialog) error {
	if n < 1 || n > len(d.Options) {
		return fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(d.Options))
	}
	return nil
}

// move chooses an option by arrows, each once the one before it was seen to
// have moved, and ends with a step that may be taken on that option alone.
func move(n int, d *agent.Dialog, last agent.Step) ([]agent.Step, error) {
	if err := listed(n, d); err != nil {
		return nil, err
	}
	at := d.Focused()
	if at == 0 {
		return nil, agent.ErrNotReady
	}
	step, key := 1, "Down"
	if n < at {
		step, key = -1, "Up"
	}
	var steps []agent.Step
	for i := at; i != n; i += step {
		steps = append(steps, on(i, d, agent.Step{Key: key, Pause: between}))
	}
	return append(steps, on(n, d, last)), nil
}

// on makes a step that is taken on that option alone.
func on(n int, d *agent.Dialog, s agent.Step) agent.Step {
	s.Wants = fmt.Sprintf("option %d chosen", n)
	s.Ready = func(r *agent.Reading) bool {
		if !r.Dialog.SameAs(d) || r.Dialog.Focused() != n {
			return false
		}
		_, open := notes(r.Dialog) // in which a key would be text
		return !open
	}
	return s
}

// enter chooses an option and presses Enter on it, in a list in which a digit
// only moves.
func enter(n int, d *agent.Dialog, outcome string) (agent.KeyAnswer, error) {
	steps, err := move(n, d, agent.Step{Key: "Enter", Pause: between})
	return agent.KeyAnswer{Steps: steps, Outcome: outcome}, err
}

// beginning is the number of the one option that begins so, 0 when there is
// none or several.
func beginning(d *agent.Dialog, word string) int {
	return d.OnlyOption(func(o agent.Option) bool { return strings.HasPrefix(o.Label, word) })
}

// exactly is the number of the option of that label, 0 when there is none.
func exactly(d *agent.Dialog, label string) int {
	for i, o := range d.Options {
		if o.Label == label {
			return i + 1
		}
	}
	return 0
}

// reasonless says what to do in place of a refusal with a reason.
func reasonless() error {
	return cannot("this dialog takes no reason: deny without one, which ends the turn, then nudge")
}

// outcomeOf is what choosing an option means.
func outcomeOf(n, yes, no int) string {
	switch n {
	case yes:
		return agent.OutcomeAccepted
	case no:
		return agent.OutcomeDenied
	}
	return agent.OutcomeAnswered
}

// permissionKeys: accept is the first option, which says yes to this once; to
// say no is to end the turn.
func permissionKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	no := max(beginning(d, "No"), exactly(d, "Cancel"))
	switch {
	case a.Kind == agent.Accept:
		return digit(1, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, reasonless()
	case a.Kind == agent.Deny && no > 0:
		return digit(no, d, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption && a.Option == 1:
		return digit(1, d, agent.OutcomeAccepted)
	case a.Kind == agent.ChooseOption:
		outcome := agent.OutcomeAccepted // the others allow more
		if a.Option > 0 && a.Option <= len(d.Options) && isNo.MatchString(d.Options[a.Option-1].Label) {
			outcome = agent.OutcomeDenied
		}
		return digit(a.Option, d, outcome)
	}
	return agent.KeyAnswer{}, wrong("accept, deny or option N")
}

// trustKeys: it stands on yes. No leads to a list of agents, not to an end.
func trustKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := beginning(d, "Trust"), beginning(d, "Back")
	switch {
	case a.Kind == agent.Accept && yes > 0:
		return enter(yes, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text == "" && no > 0:
		return enter(no, d, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption:
		return enter(a.Option, d, outcomeOf(a.Option, yes, no))
	}
	return agent.KeyAnswer{}, wrong("accept, deny or option N")
}

// planKeys: what begins the work in the same conversation accepts.
func planKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := beginning(d, "Yes, implement this plan"), beginning(d, "No")
	switch {
	case a.Kind == agent.Accept && yes > 0:
		return digit(yes, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text == "" && no > 0:
		return digit(no, d, agent.OutcomeDenied)
	case a.Kind == agent.Deny || a.Kind == agent.AnswerText:
		return agent.KeyAnswer{}, cannot("this dialog takes no text: deny, then nudge what to change")
	case a.Kind == agent.ChooseOption:
		return digit(a.Option, d, outcomeOf(a.Option, yes, no))
	}
	return agent.KeyAnswer{}, wrong("accept, deny or option N")
}

// setupKeys: Enter would update Codex by npm, take another model, or open the
// review of hooks; Esc takes the other model too. Nothing is accepted by
// default but what is named.
func setupKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	switch d.Subtype {
	case agent.SubtypeUpdate:
		return declined(a, d, beginning(d, "Skip until"), exactly(d, "Skip"), digit)
	case agent.SubtypeLoginMethod:
		if a.Kind == agent.ChooseOption {
			return digit(a.Option, d, agent.OutcomeAnswered)
		}
		return agent.KeyAnswer{}, wrong("option N")
	case agent.SubtypeHookReview:
		return declined(a, d, 0, beginning(d, "Continue without"), enter)
	case agent.SubtypeModelOffer:
		return declined(a, d, 0, beginning(d, "Use existing"), enter)
	case agent.SubtypeAPIKey:
		return agent.KeyAnswer{}, cannot("type the key with keys, or attach; or give the session OPENAI_API_KEY or an auth.json")
	case agent.SubtypeOAuthLogin:
		return agent.KeyAnswer{}, cannot("sign in with the URL it shows, or attach")
	}
	return agent.KeyAnswer{}, cannot("use keys or attach")
}

// declined answers a dialog that is refused by one of its options and accepted
// only by number.
func declined(
	a agent.Answer, d *agent.Dialog, later, no int, choose func(int, *agent.Dialog, string) (agent.KeyAnswer, error),
) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.Deny && a.Text == "" && no > 0:
		return choose(no, d, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption && (a.Option == no || a.Option == later):
		return choose(a.Option, d, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption:
		return choose(a.Option, d, agent.OutcomeAnswered)
	}
	return agent.KeyAnswer{}, wrong("deny or option N")
}

// noticeKeys: Esc, where the dialog says that Esc leaves it: at some it
// confirms.
func noticeKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	last := ""
	if n := len(d.Lines); n > 0 {
		last = strings.ToLower(d.Lines[n-1])
	}
	if a.Kind != agent.Deny || a.Text != "" || !escLeaves(last) {
		return agent.KeyAnswer{}, cannot("use keys or attach")
	}
	return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
}

func escLeaves(foot string) bool {
	for _, word := range []string{"cancel", "exit", "close", "go back", "back", "dismiss", "skip"} {
		if strings.Contains(foot, "esc to "+word) || strings.Contains(foot, "esc "+word) {
			return true
		}
	}
	return false
}
