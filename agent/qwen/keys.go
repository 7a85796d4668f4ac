package qwen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/hooks"
)

// HidesDialog: while a PermissionRequest hook waits, Qwen Code draws no dialog. The hook of a question
// or a plan only reports.
func (Driver) HidesDialog(p *agent.Request) bool {
	return p.Type == agent.PromptPermission && p.Subtype == nil
}

// Verdict is the answer for a waiting PermissionRequest hook.
func (d Driver) Verdict(p *agent.Request, a agent.Answer, _ []byte) (agent.Verdict, error) {
	if !d.HidesDialog(p) {
		return agent.Verdict{}, agent.ErrOnlyByKeys
	}
	return hooks.Permit(a)
}

const (
	// dialogShownFor is how long a dialog must have been on the screen before its first key.
	dialogShownFor = 500 * time.Millisecond
	// pageShownFor is the same for a page of several questions: Qwen Code turns it 150 ms after the key.
	pageShownFor = 400 * time.Millisecond
	// lineAfter is how long a question's line must have shown the text before Enter.
	lineAfter = 300 * time.Millisecond
)

// answerers: a digit chooses and confirms at once. For several questions, each key waits until the screen shows the
// effect of the one before.
var answerers = agent.Answerers{Permission: permissionKeys, Plan: planKeys, Question: questionKeys, ShownFor: dialogShownFor}

// Keys answers at the dialog.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return answerers.Keys(p, a, d)
}

func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return forks.AnswerCall(a, d, labelled(d, optionOnce), labelled(d, optionNo))
}

func planKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return forks.AnswerCall(a, d, labelled(d, optionManual), labelled(d, optionKeep))
}

// labelled is the number of the only option with the label; 0 for none or several. A label without room
// is cut.
func labelled(d *agent.Dialog, label string) int {
	return d.OnlyOption(func(o agent.Option) bool {
		cut, short := strings.CutSuffix(o.Label, "…")
		return o.Label == label || short && len(cut) > len("Yes, ") && strings.HasPrefix(label, cut)
	})
}

// questionKeys answers one question, and several page by page.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return forks.Questions{
		Begun:    func() bool { return d.Confirm || d.Current != 0 || begun(d) },
		ShownFor: pageShownFor,
		Page: func(w *forks.Way, i int, q *agent.Question, pick agent.QuestionPick) error {
			return page(w, i, len(d.Tabs), q, pick)
		},
		Reviews: func(d *agent.Dialog, each []agent.QuestionPick) bool {
			return len(d.Options) > 0 && d.Options[0].Focused && reviews(d, p.Questions, each)
		},
	}.Keys(p, a, d)
}

// begun reports whether the first page has an answer, or another option than the first is chosen.
func begun(d *agent.Dialog) bool {
	ticked := d.OnlyOption(func(o agent.Option) bool { return o.Ticked })
	return len(d.Options) == 0 || !d.Options[0].Focused || ticked > 0
}

// page answers the question on its page, which turns it. Before each key the page shows that question,
// its options, and what the keys before have chosen.
func page(w *forks.Way, index, tabs int, q *agent.Question, pick agent.QuestionPick) error {
	words := strings.TrimSpace(agent.CleanMessage(pick.Text))
	own := len(q.Options) + 1
	switch err := forks.Fits(q, pick); {
	case err != nil:
		return err
	case strings.Contains(words, "\n"):
		return fmt.Errorf("%w: its line takes one line of text", agent.ErrAnswer)
	case own > 9 && (words != "" || slices.Max(pick.Options) > 9):
		return fmt.Errorf("%w: that option has no key; attach", agent.ErrCannot)
	}
	ticked := map[int]bool{}
	// at: the page with this option focused, and with the boxes ticked that are so far.
	at := func(focus int, line string) func(*agent.Dialog) bool {
		boxes := maps.Clone(ticked)
		return func(d *agent.Dialog) bool {
			if d.Current != index || len(d.Tabs) != tabs || drawn.Squeeze(d.Body) != drawn.Squeeze(q.Text) || len(d.Options) != own {
				return false
			}
			for i, o := range d.Options {
				if focus > 0 && o.Focused != (i+1 == focus) || o.Multiple && i+1 < own && o.Ticked != boxes[i+1] {
					return false
				}
				if i+1 < own && drawn.Squeeze(o.Label) != drawn.Squeeze(q.Options[i]) {
					return false
				}
			}
			return drawn.Squeeze(d.Input) == drawn.Squeeze(line)
		}
	}
	for _, n := range pick.Options {
		w.Add(agent.Step{Key: strconv.Itoa(n), Wants: "its options"}, at(0, ""))
		if q.MultiSelect {
			w.Add(agent.Step{Key: "Space", Wants: "option " + strconv.Itoa(n)}, at(n, ""))
			ticked[n] = true
		}
	}
	if words != "" {
		w.Add(agent.Step{Key: strconv.Itoa(own), Wants: "its options"}, at(0, ""))
		w.Add(agent.Step{Paste: words, ShownFor: lineAfter, Wants: "its line, empty"}, at(own, ""))
		w.Add(agent.Step{Key: "Enter", ShownFor: lineAfter, Wants: "the text in its line"}, at(own, words))
	} else if q.MultiSelect {
		w.Add(agent.Step{Key: "Enter", Wants: "its ticks"}, at(pick.Options[len(pick.Options)-1], ""))
	}
	return nil
}

// reviews reports whether the page shows these answers.
func reviews(d *agent.Dialog, questions []agent.Question, each []agent.QuestionPick) bool {
	for i := range questions {
		q := &questions[i]
		if !strings.Contains(drawn.Squeeze(d.Body), drawn.Squeeze(q.Header+": "+strings.Join(forks.Words(q, each[i]), ", "))) {
			return false
		}
	}
	return true
}
