package codex

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

// between is the pause after a key. The next frame removes the dialog or moves its mark.
const between = 100 * time.Millisecond

// answerers: Codex delays a dialog for a second after the last key, and a key that is sent then goes into the composer:
// so each step checks for the dialog. Some lists take a digit at once; in others a digit only moves the mark, and Enter
// takes the chosen option. So Enter is pressed only when the screen shows that the right option is chosen.
var answerers = agent.Answerers{
	Permission: permissionKeys, Plan: planKeys, Question: questionKeys, Setup: setupKeys, Notice: noticeKeys, ShownFor: dialogShownFor,
}

// Keys answers at the drawn dialog.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return answerers.Keys(p, a, d)
}

// dialogShownFor is how long a dialog must be on the screen before its first key. A key right after
// the dialog's first frame was ignored twice in some hundred answers, on a machine with fifteen
// times the work it can do.
const dialogShownFor = 300 * time.Millisecond

func cannot(instead string) error { return fmt.Errorf("%w: %s", agent.ErrCannot, instead) }

func wrong(takes string) error { return fmt.Errorf("%w: it takes %s", agent.ErrAnswer, takes) }

// press presses a key while the dialog is unchanged.
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

// move chooses an option by arrow keys. Each key waits until the screen shows the move of the one
// before. last is pressed only on that option.
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

// on makes a step that is taken only on that option.
func on(n int, d *agent.Dialog, s agent.Step) agent.Step {
	s.Wants = fmt.Sprintf("option %d chosen", n)
	s.Ready = func(r *agent.Reading) bool {
		if !r.Dialog.SameAs(d) || r.Dialog.Focused() != n {
			return false
		}
		_, open := notes(r.Dialog) // a key would be text in an open field
		return !open
	}
	return s
}

// enter chooses an option and presses Enter on it, in a list where a digit only moves the mark.
func enter(n int, d *agent.Dialog, outcome string) (agent.KeyAnswer, error) {
	steps, err := move(n, d, agent.Step{Key: "Enter", Pause: between})
	return agent.KeyAnswer{Steps: steps, Outcome: outcome}, err
}

// beginning is the number of the only option that starts with the word; 0 for none or several.
func beginning(d *agent.Dialog, word string) int {
	return d.OnlyOption(func(o agent.Option) bool { return strings.HasPrefix(o.Label, word) })
}

// exactly is the number of the only option with that label; 0 for none or several.
func exactly(d *agent.Dialog, label string) int {
	return d.OnlyOption(func(o agent.Option) bool { return o.Label == label })
}

// reasonless is the error for a denial with a reason, and says what to do.
func reasonless() error {
	return cannot("this dialog takes no reason: deny without one, which ends the turn, then nudge")
}

// outcomeOf is the meaning of an option.
func outcomeOf(n, yes, no int) string {
	switch n {
	case yes:
		return agent.OutcomeAccepted
	case no:
		return agent.OutcomeDenied
	}
	return agent.OutcomeAnswered
}

// permissionKeys: the first option accepts, for this call only. A denial is Esc, whatever number its option is drawn with, and
// ends the turn.
func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d.Subtype == agent.SubtypeTrust {
		return trustKeys(a, d)
	}
	no := max(beginning(d, "No"), exactly(d, "Cancel"))
	switch {
	case a.Kind == agent.Accept:
		return digit(1, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, reasonless()
	case a.Kind == agent.Deny && (no > 0 || d.Short), a.Kind == agent.ChooseOption && a.Option > 0 && a.Option <= len(d.Options) && isNo.MatchString(d.Options[a.Option-1].Label):
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.ChooseOption && a.Option == 1:
		return digit(1, d, agent.OutcomeAccepted)
	case a.Kind == agent.ChooseOption:
		return digit(a.Option, d, agent.OutcomeAccepted) // the other options allow more
	}
	return agent.KeyAnswer{}, wrong("accept, deny or option N")
}

// trustKeys: yes is preselected. No opens a list of agents and doesn't end Codex.
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

// planKeys: the option that starts the work in the same conversation accepts. A denial is Esc, as for a permission.
func planKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := beginning(d, "Yes, implement this plan"), beginning(d, "No")
	switch {
	case a.Kind == agent.Accept && yes > 0:
		return digit(yes, d, agent.OutcomeAccepted)
	case no > 0 && (a.Kind == agent.Deny && a.Text == "" || a.Kind == agent.ChooseOption && a.Option == no):
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.Deny || a.Kind == agent.AnswerText:
		return agent.KeyAnswer{}, cannot("this dialog takes no text: deny, then nudge what to change")
	case a.Kind == agent.ChooseOption:
		return digit(a.Option, d, outcomeOf(a.Option, yes, no))
	}
	return agent.KeyAnswer{}, wrong("accept, deny or option N")
}

// setupKeys: Enter would update Codex by npm, take another model, or open the review of hooks; Esc
// also takes the other model. So each answer names its option, and Berth accepts nothing by
// default.
func setupKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
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

// declined answers a dialog where an option denies. Accepting needs the option's number.
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

// noticeKeys presses Esc if the dialog says that Esc leaves it. In some dialogs Esc confirms.
func noticeKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	last := ""
	if n := len(d.Lines); n > 0 {
		last = strings.ToLower(d.Lines[n-1])
	}
	if d.Title == titleForm && (a.Kind != agent.Deny || a.Text != "") {
		return agent.KeyAnswer{}, cannot("attach, and fill the form in at the terminal; deny cancels it")
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
