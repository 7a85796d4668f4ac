package gemini

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

// between is the pause after a key. What it did is looked at before the next.
const between = 100 * time.Millisecond

// Verdict: no hook of Gemini's answers a dialog. One that lets a tool run does
// not keep its dialog away, and one that does not is asked before it is known
// whether there will be one.
func (Driver) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// Gemini draws a dialog, or a page of one, before it listens there, and a key that
// comes between is lost. Its title says "Action Required" behind the dialog's first
// frame, and once it listens: up to 6 ms later in all recordings, up to 150 ms on a
// machine with twenty times the work it can do. Of dialogs outside of turns, of the
// second of two calls, and of pages it says nothing new.
const (
	standsUntold = time.Second // where the title should tell, and is turned off or says so already
	stands       = 500 * time.Millisecond
	pageStands   = 300 * time.Millisecond
)

// Keys is the answer at the dialog. A digit chooses and confirms at once; where
// there are several questions, each key is checked before the next.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	k, err := keysOf(p, a, d)
	if err != nil || len(k.Steps) == 0 {
		return k, err
	}
	first := &k.Steps[0]
	if first.Stood, first.Told = standsUntold, true; d.Subtype != "" || p.Type == agent.PromptSetup || p.Type == agent.PromptNotice {
		first.Stood, first.Told = stands, false
	}
	return k, nil
}

func keysOf(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d == nil || d.Partial {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	switch p.Type {
	case agent.PromptPermission:
		return permissionKeys(a, d)
	case agent.PromptPlan:
		return planKeys(a, d)
	case agent.PromptQuestion:
		return questionKeys(p, a, d)
	case agent.PromptSetup:
		return setupKeys(a, d)
	}
	if len(d.Options) == 0 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: use keys or attach", agent.ErrCannot)
	}
	return choice(a, d, labelled(d, "Keep trying"), labelled(d, "Stop"))
}

// press presses a key while the dialog is as it was.
func press(key string, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return r.Dialog.SameAs(d) }}
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

func escape(d *agent.Dialog) agent.KeyAnswer {
	return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}
}

// labelled is the number of the option that begins so, 0 when there is none.
func labelled(d *agent.Dialog, label string) int {
	for i, o := range d.Options {
		if strings.HasPrefix(o.Label, label) {
			return i + 1
		}
	}
	return 0
}

// choice answers a dialog of numbered options, of which one accepts and one
// refuses, or none (0).
func choice(a agent.Answer, d *agent.Dialog, yes, no int) (agent.KeyAnswer, error) {
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
		return agent.KeyAnswer{}, errReason
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: choose with option N", agent.ErrAnswer)
}

var errReason = fmt.Errorf("%w: a refusal of Gemini's takes no words and ends its turn; deny without any, then nudge", agent.ErrCannot)

// permissionKeys: what accepts allows this once. The editor that a change can
// be opened in asks for more, at a place where nobody sees it.
func permissionKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := labelled(d, "Allow once"), labelled(d, "No, suggest changes")
	if d.Subtype == agent.SubtypeTrust {
		yes, no = labelled(d, "Trust folder"), labelled(d, "Don't trust")
	}
	if a.Kind == agent.ChooseOption && a.Option > 0 && a.Option == labelled(d, "Modify with external editor") {
		return agent.KeyAnswer{}, fmt.Errorf("%w: it opens an editor; attach", agent.ErrCannot)
	}
	return choice(a, d, yes, no)
}

// planKeys: only under the option that asks for every edit is one sure what was
// allowed. Feedback refuses the plan, and the turn goes on with it.
func planKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	words := labelled(d, hintFeedback)
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return escape(d), nil
	case (a.Kind == agent.Deny || a.Kind == agent.AnswerText) && words == 0, !selects(d, words):
		return agent.KeyAnswer{}, errBegun
	case a.Kind == agent.Deny, a.Kind == agent.AnswerText:
		return feedback(a.Text, words, d)
	case a.Kind == agent.ChooseOption && a.Option > 0 && a.Option == words:
		return agent.KeyAnswer{}, fmt.Errorf("%w: that option is typed into: deny TEXT types your feedback there", agent.ErrAnswer)
	}
	k, err := choice(a, d, labelled(d, "Yes, manually accept edits"), 0)
	if err != nil {
		return k, err
	}
	ready := k.Steps[0].Ready
	k.Steps[0].Ready = func(r *agent.Reading) bool { return ready(r) && selects(r.Dialog, words) }
	return k, nil
}

// feedback types what is said of a plan into its line.
func feedback(text string, line int, d *agent.Dialog) (agent.KeyAnswer, error) {
	w := way{page: func(now *agent.Dialog) bool { return now.Type == agent.PromptPlan && now.Body == d.Body }}
	w.key(strconv.Itoa(line), "its options", func(now *agent.Dialog) bool { return selects(now, line) })
	err := w.words(line, text, hintFeedback)
	return agent.KeyAnswer{Steps: w.steps, Outcome: agent.OutcomeDenied}, err
}

// setupKeys: how to log in is chosen by number. A key is typed by whoever has
// it: nobody else should see it.
func setupKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d.Subtype == agent.SubtypeAPIKey {
		if a.Kind == agent.Deny && a.Text == "" {
			return escape(d), nil
		}
		return agent.KeyAnswer{}, fmt.Errorf("%w: attach and paste the key, so that it is written down nowhere", agent.ErrCannot)
	}
	return choice(a, d, 0, 0)
}
