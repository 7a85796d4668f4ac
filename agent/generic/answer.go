package generic

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/generic/rules"
)

// between is the pause after a key. Berth doesn't know how fast the program reads keys, so it is
// long.
const between = 200 * time.Millisecond

// Unanswerable: the rules have keys only for a dialog that is on the screen.
func (ruled) Unanswerable(p *agent.Request) bool { return !p.OnScreen }

// Keys answers at the dialog, as the rules say. Each key is pressed only while the screen shows the
// same dialog, with all that was typed before that key.
func (d ruled) Keys(_ *agent.Request, a agent.Answer, dialog *agent.Dialog) (agent.KeyAnswer, error) {
	if dialog == nil || dialog.Partial {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	answers := d.set.Answers(ruleOf(dialog))
	if answers == nil {
		return agent.KeyAnswer{}, agent.ErrNotReady // the rules have changed since
	}
	labels := dialog.Labels()
	switch a.Kind {
	case agent.ChooseOption:
		if a.Option < 1 || a.Option > len(labels) {
			return agent.KeyAnswer{}, fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(labels))
		}
		return d.choose(answers, dialog, a.Option, answers.Outcome(labels[a.Option-1]))
	case agent.Accept, agent.Deny:
		if a.Text != "" {
			return agent.KeyAnswer{}, fmt.Errorf("%w: it takes no reason: deny without one, then nudge", agent.ErrCannot)
		}
		outcome := agent.OutcomeAccepted
		if a.Kind == agent.Deny {
			outcome = agent.OutcomeDenied
		}
		is := func(label string) bool { return answers.Outcome(label) == outcome }
		if n := slices.IndexFunc(labels, is); n >= 0 {
			if slices.ContainsFunc(labels[n+1:], is) {
				return agent.KeyAnswer{}, fmt.Errorf("%w: several of its options mean %s, and its text may have drawn one; answer with option N, or attach", agent.ErrCannot, a.Kind)
			}
			return d.choose(answers, dialog, n+1, outcome)
		}
	case agent.AnswerText:
		if answers.Words() != nil {
			return typed(a.Text, answers.Words(), dialog)
		}
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: it takes %s", agent.ErrAnswer, answers.Takes(labels))
}

// choose chooses an option.
func (d ruled) choose(answers *rules.Answers, dialog *agent.Dialog, n int, outcome string) (agent.KeyAnswer, error) {
	o := dialog.Options[n-1]
	next, previous := answers.Moves()
	if next == "" && o.Key != "" && dialog.OnlyOption(func(other agent.Option) bool { return other.Key == o.Key }) == 0 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: several of its options show the key %q, and its text may have drawn one; use keys or attach", agent.ErrCannot, o.Key)
	}
	keys, err := answers.Keys(n, o.Key)
	if err != nil {
		return agent.KeyAnswer{}, fmt.Errorf("%w: %w; use keys or attach", agent.ErrCannot, err)
	}
	if dialog.Input != "" && slices.ContainsFunc(keys, sends) {
		return agent.KeyAnswer{}, errTyped
	}
	if next == "" {
		return agent.KeyAnswer{Steps: pressed(keys, dialog), Outcome: outcome}, nil
	}
	at := chosen(dialog)
	if at == 0 {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	var steps []agent.Step
	for ; at != n; at += sign(n - at) {
		key := next
		if n < at {
			key = previous
		}
		steps = append(steps, on(at, dialog, key))
	}
	for _, key := range keys {
		steps = append(steps, on(n, dialog, key))
	}
	return agent.KeyAnswer{Steps: steps, Outcome: outcome}, nil
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// errTyped: no prompt shows what is in its text field, and an answer would send that too.
var errTyped = fmt.Errorf("%w: its text field isn't empty; use keys or attach", agent.ErrCannot)

// sends reports whether the key may send what is in the text field, or adds to it.
func sends(key string) bool { return key == "Enter" || utf8.RuneCountInString(key) == 1 }

// pressed presses keys in order. Each one waits until the dialog shows what the keys before it
// typed.
func pressed(keys []string, dialog *agent.Dialog) []agent.Step {
	var steps []agent.Step
	before := dialog.Input
	for _, key := range keys {
		steps = append(steps, agent.Step{
			Key: key, Pause: between, Wants: fmt.Sprintf("the dialog as it was, with %q typed", before), Ready: with(dialog, before),
		})
		if utf8.RuneCountInString(key) == 1 {
			before += key
		}
	}
	return steps
}

// typed types an answer as text, and then presses the keys that send it.
func typed(text string, keys []string, dialog *agent.Dialog) (agent.KeyAnswer, error) {
	if dialog.Input != "" {
		return agent.KeyAnswer{}, errTyped
	}
	steps := []agent.Step{{Paste: text, Pause: between, Wants: "the dialog as it was", Ready: with(dialog, "")}}
	for _, key := range keys {
		steps = append(steps, agent.Step{Key: key, Pause: between, Wants: "the words in it", Ready: with(dialog, text)})
	}
	return agent.KeyAnswer{Steps: steps, Outcome: agent.OutcomeAnswered}, nil
}

// with reports whether the screen shows the same dialog, and its field has that text.
func with(dialog *agent.Dialog, text string) func(*agent.Reading) bool {
	return func(r *agent.Reading) bool { return same(r.Dialog, dialog) && visible(r.Dialog.Input) == visible(text) }
}

func same(now, seen *agent.Dialog) bool {
	if now == nil || now.Partial || now.Key != seen.Key || len(now.Options) != len(seen.Options) {
		return false
	}
	for i, o := range now.Options {
		if o.Label != seen.Options[i].Label || o.Key != seen.Options[i].Key {
			return false
		}
	}
	return true
}

// on is a key that is pressed only while option n is the chosen one.
func on(n int, dialog *agent.Dialog, key string) agent.Step {
	return agent.Step{
		Key: key, Pause: between, Wants: fmt.Sprintf("option %d chosen", n),
		Ready: func(r *agent.Reading) bool { return same(r.Dialog, dialog) && chosen(r.Dialog) == n },
	}
}

// chosen is the number of the dialog's chosen option; 0 when it shows none or several.
func chosen(d *agent.Dialog) int {
	return d.OnlyOption(func(o agent.Option) bool { return o.Focused })
}

// Verdict: the rules have no hooks.
func (ruled) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, errors.Join(agent.ErrOnlyByKeys)
}
