package gemini

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/forks"
)

// Verdict: no hook of Gemini answers a dialog. A hook that allows a tool doesn't prevent its
// dialog, and one that denies it runs before Gemini knows whether there will be a dialog.
func (Driver) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// Gemini draws a dialog, or a page of one, before it reads keys there, and an early key is lost.
// Its title says "Action Required" after the dialog's first frame, once it reads keys: up to 6 ms
// later in all recordings, up to 150 ms on a machine with twenty times the work it can do. For
// dialogs outside of turns, the second of two calls, and pages, the title doesn't change.
const (
	unreportedShownFor = time.Second // if the title should say it, but is turned off or says so already
	dialogShownFor     = 500 * time.Millisecond
	pageShownFor       = 300 * time.Millisecond
)

// answerers: a digit chooses and confirms at once. For several questions, each key waits until the screen shows the
// effect of the one before.
var answerers = agent.Answerers{
	Permission: permissionKeys, Plan: planKeys, Question: questionKeys, Setup: setupKeys, Notice: noticeKeys, ShownFor: dialogShownFor,
}

// Keys answers at the dialog.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	k, err := answerers.Keys(p, a, d)
	if err == nil && len(k.Steps) > 0 && d.Subtype == "" && p.Type != agent.PromptSetup && p.Type != agent.PromptNotice {
		k.Steps[0].ShownFor, k.Steps[0].LevelSuffices = unreportedShownFor, true
	}
	return k, err
}

func noticeKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if len(d.Options) == 0 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: use keys or attach", agent.ErrCannot)
	}
	return forks.Choice(a, d, labelled(d, "Keep trying"), labelled(d, "Stop"))
}

// labelled is the number of the only option that starts with the label; 0 for none or several.
func labelled(d *agent.Dialog, label string) int {
	return d.OnlyOption(func(o agent.Option) bool { return strings.HasPrefix(o.Label, label) })
}

// permissionKeys: accepting allows this call only.
func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d.Subtype == agent.SubtypeTrust {
		return forks.Choice(a, d, labelled(d, "Trust folder"), labelled(d, "Don't trust"))
	}
	return forks.AnswerCall(a, d, labelled(d, "Allow once"), labelled(d, "No, suggest changes"))
}

// planKeys: the option that asks for every edit is the only one with a clear meaning. Feedback
// denies the plan, and the turn continues with it.
func planKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	words := labelled(d, hintFeedback)
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return forks.Escape(d), nil
	case (a.Kind == agent.Deny || a.Kind == agent.AnswerText) && words == 0, !selects(d, words):
		return agent.KeyAnswer{}, forks.ErrBegun
	case a.Kind == agent.Deny, a.Kind == agent.AnswerText:
		return feedback(a.Text, words, d)
	case a.Kind == agent.ChooseOption && a.Option > 0 && a.Option == words:
		return agent.KeyAnswer{}, fmt.Errorf("%w: that option is typed into: deny TEXT types your feedback there", agent.ErrAnswer)
	}
	k, err := forks.Choice(a, d, labelled(d, "Yes, manually accept edits"), 0)
	if err != nil {
		return k, err
	}
	ready := k.Steps[0].Ready
	k.Steps[0].Ready = func(r *agent.Reading) bool { return ready(r) && selects(r.Dialog, words) }
	return k, nil
}

// feedback types the reason into the plan's line for it.
func feedback(text string, line int, d *agent.Dialog) (agent.KeyAnswer, error) {
	w := way{Way: &forks.Way{Page: func(now *agent.Dialog) bool { return now.Type == agent.PromptPlan && now.Body == d.Body }}}
	w.Key(strconv.Itoa(line), "its options", func(now *agent.Dialog) bool { return selects(now, line) })
	err := w.words(line, text, hintFeedback)
	return agent.KeyAnswer{Steps: w.Steps, Outcome: agent.OutcomeDenied}, err
}

// setupKeys: the login method is chosen by number. A person types the API key at the terminal,
// where no other client sees it.
func setupKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d.Subtype == agent.SubtypeAPIKey {
		if a.Kind == agent.Deny && a.Text == "" {
			return forks.Escape(d), nil
		}
		return agent.KeyAnswer{}, fmt.Errorf("%w: attach and paste the key, so that it is written down nowhere", agent.ErrCannot)
	}
	return forks.Choice(a, d, 0, 0)
}
