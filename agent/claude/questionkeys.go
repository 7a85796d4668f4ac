package claude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
)

// questionKeys answers questions at their dialog. A question for one option is over with its digit.
// Several questions, and one that takes several options, have a page each and then a review page.
// Berth goes through the pages from the first one, and confirms when the review page shows the
// answers.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if a.Kind == agent.Deny && a.Text == "" {
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	}
	if a.Kind == agent.Deny {
		return agent.KeyAnswer{}, fmt.Errorf("%w: without its hook a question takes no reason; deny without one, then nudge", agent.ErrCannot)
	}
	if chats(p, a) {
		return chat(d)
	}
	if a.Kind == agent.ChooseOption && d.Confirm {
		outcome := agent.OutcomeDenied
		if a.Option == 1 { // it submits the answers
			outcome = agent.OutcomeAnswered
		}
		return digit(a.Option, d, outcome)
	}
	each, err := picks(p, a)
	if err != nil {
		return agent.KeyAnswer{}, err
	}
	return answerPages(p.Questions, each, d)
}

// chats reports whether the answer is the option to talk about it first. A question may have an option of that name.
func chats(p *agent.Request, a agent.Answer) bool {
	asked := 0
	if n := p.QuestionCurrent; n >= 0 && n < len(p.Questions) {
		asked = len(p.Questions[n].Options)
	}
	return a.Kind == agent.ChooseOption && a.Option <= len(p.Options) && a.Option > asked && p.Options[a.Option-1] == optionChat
}

// chat chooses to talk about it: by its number, or next to a preview, which leaves no number, by
// going down to it.
func chat(d *agent.Dialog) (agent.KeyAnswer, error) {
	n := len(d.Options)
	if n == 0 || d.Confirm || d.Options[n-1].Label != optionChat {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	if !previews(d) {
		if inInput(d) {
			return agent.KeyAnswer{}, agent.ErrNotReady
		}
		return digit(n, d, agent.OutcomeAnswered)
	}
	w := pages{}
	chatFocused := func(d *agent.Dialog) bool { return d.Options[n-1].Focused }
	if !chatFocused(d) {
		for at := d.Focused(); at < n; at++ {
			w.key("Down", "option "+strconv.Itoa(at)+" chosen", d, func(now *agent.Dialog) bool { return !chatFocused(now) && now.Options[at-1].Focused })
		}
	}
	w.key("Enter", optionChat+" chosen", d, chatFocused)
	return agent.KeyAnswer{Steps: w.steps, Outcome: agent.OutcomeAnswered}, nil
}

// inInput reports whether the focus is in a text field, where digits are text.
func inInput(d *agent.Dialog) bool {
	return strings.Contains(foot(d), "ctrl+g to edit") || submitFocused(d)
}

// submitFocused reports whether the focus is below the options, on the row that goes to the next
// page.
func submitFocused(d *agent.Dialog) bool {
	return slices.ContainsFunc(d.Lines, func(line string) bool {
		word, ok := strings.CutPrefix(line, "❯ ")
		return ok && (strings.TrimSpace(word) == "Submit" || strings.TrimSpace(word) == "Next")
	})
}

// pages collects the keys through a dialog's pages.
type pages struct{ steps []agent.Step }

// key presses a key on a page with the options of that dialog.
func (w *pages) key(name, wants string, d *agent.Dialog, ready func(*agent.Dialog) bool) {
	w.add(agent.Step{Key: name, Wants: wants}, func(now *agent.Dialog) bool {
		return now.Body == d.Body && slices.Equal(now.Labels(), d.Labels()) && ready(now)
	})
}

func (w *pages) add(s agent.Step, ready func(*agent.Dialog) bool) {
	s.Pause = between
	s.Ready = func(r *agent.Reading) bool {
		d := r.Dialog
		return d != nil && !d.Partial && d.Type == agent.PromptQuestion && ready(d)
	}
	w.steps = append(w.steps, s)
}

// answerPages goes back to the first page, answers each page, and confirms.
func answerPages(questions []agent.Question, each []agent.QuestionPick, d *agent.Dialog) (agent.KeyAnswer, error) {
	var w pages
	if inInput(d) {
		return agent.KeyAnswer{}, fmt.Errorf("%w: a person has started to type an answer there; attach, or deny", agent.ErrCannot)
	}
	at := len(questions) // the review page
	if !d.Confirm {
		at = slices.IndexFunc(questions, func(q agent.Question) bool { return asksFor(q, d) })
	}
	if at < 0 {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	for ; at > 0; at-- {
		w.page(questions, at, "Left", func(*agent.Dialog) bool { return true })
	}
	for i := range questions {
		if err := w.answer(questions, i, each[i]); err != nil {
			return agent.KeyAnswer{}, err
		}
	}
	if len(questions) > 1 || questions[0].MultiSelect {
		w.page(questions, len(questions), "1", func(d *agent.Dialog) bool { return reviews(d, questions, each) })
	}
	return agent.KeyAnswer{Steps: w.steps, Outcome: agent.OutcomeAnswered}, nil
}

// asksFor reports whether the dialog is the question's page.
func asksFor(q agent.Question, d *agent.Dialog) bool {
	if d.Confirm || len(d.Options) < len(q.Options) || offersMore(d, len(q.Options)) || unmarked(d.Body) != unmarked(q.Text) {
		return false
	}
	for i, label := range q.Options {
		o := d.Options[i]
		if unmarked(o.Label) == unmarked(label) {
			continue
		}
		description := ""
		if i < len(q.Descriptions) {
			description = q.Descriptions[i]
		}
		if shows(d, o, label) == agent.NoMatch || unmarked(o.Label+o.More) != unmarked(label+description) { // the end of a label without room is on the next row
			return false
		}
	}
	return true
}

// unmarked is s without blanks, without Markdown's marks, and without characters that may not be
// drawn.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`"+undrawn, r) {
			return -1
		}
		return r
	}, drawn.Squeeze(s))
}

// page presses a key on one of the pages.
func (w *pages) page(questions []agent.Question, at int, key string, ready func(*agent.Dialog) bool) {
	w.pageStep(questions, at, agent.Step{Key: key}, ready)
}

func (w *pages) pageStep(questions []agent.Question, at int, s agent.Step, ready func(*agent.Dialog) bool) {
	if at == len(questions) {
		s.Wants = "the answers for review"
		w.add(s, func(d *agent.Dialog) bool { return d.Confirm && ready(d) })
		return
	}
	if s.Wants == "" {
		s.Wants = fmt.Sprintf("question %d (%s) as it should be", at+1, questions[at].Header)
	}
	w.add(s, func(d *agent.Dialog) bool { return asksFor(questions[at], d) && ready(d) })
}

// answer answers one page, which leaves it.
func (w *pages) answer(questions []agent.Question, at int, pick agent.QuestionPick) error {
	q := questions[at]
	other := len(q.Options) + 1
	key := func(name string, ready func(*agent.Dialog) bool) { w.page(questions, at, name, ready) }
	plain := func(d *agent.Dialog) bool { return !inInput(d) }
	switch {
	case other > 9:
		return fmt.Errorf("%w: question %d (%s) has more options than there are digits; use keys or attach", agent.ErrCannot, at+1, q.Header)
	case q.MultiSelect:
		w.tick(questions, at, pick)
	case q.Previews && pick.Text != "":
		return fmt.Errorf("%w: question %d (%s) takes no words of your own at its dialog; use option N", agent.ErrCannot, at+1, q.Header)
	case q.Previews: // a digit only moves there
		n := pick.Options[0]
		key(strconv.Itoa(n), func(d *agent.Dialog) bool { return previews(d) && !d.Options[len(d.Options)-1].Focused })
		key("Enter", func(d *agent.Dialog) bool {
			return previews(d) && !d.Options[len(d.Options)-1].Focused && d.Options[n-1].Focused
		})
	case pick.Text != "":
		key(strconv.Itoa(other), func(d *agent.Dialog) bool { return plain(d) && emptyRow(d, other) })
		w.input(questions, at, pick.Text)
		key("Enter", func(d *agent.Dialog) bool { return holds(d, other, pick.Text) })
	default:
		key(strconv.Itoa(pick.Options[0]), func(d *agent.Dialog) bool { return plain(d) && !previews(d) })
	}
	return nil
}

// input types into the focused row for text.
func (w *pages) input(questions []agent.Question, at int, text string) {
	other := len(questions[at].Options) + 1
	w.pageStep(questions, at, agent.Step{Paste: text, Wants: "an empty input"}, func(d *agent.Dialog) bool {
		return inInput(d) && emptyRow(d, other) && d.Options[other-1].Focused
	})
}

// emptyRow reports whether that row is the one for text, with nothing typed into it. Without it the number is another option's, such
// as that of the option to talk about it.
func emptyRow(d *agent.Dialog, row int) bool {
	return len(d.Options) >= row && isOther(d.Options[row-1].Label)
}

// isOther reports whether the label is the placeholder of the row for text. It has no dot where several options may be chosen.
func isOther(label string) bool { return label == optionOther || label+"." == optionOther }

// holds reports whether the row for text shows the text.
func holds(d *agent.Dialog, row int, text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	echo := drawn.Squeeze(first)
	if r := []rune(echo); len(r) > 20 {
		echo = string(r[:20])
	}
	return len(d.Options) >= row && d.Options[row-1].Focused && strings.Contains(drawn.Squeeze(d.Options[row-1].Label), echo)
}

// tick ticks the chosen options, in that order, and goes to the next page. Enter would toggle the
// row that it is pressed on.
func (w *pages) tick(questions []agent.Question, at int, pick agent.QuestionPick) {
	other := len(questions[at].Options) + 1
	ticked := func(d *agent.Dialog, want []int) bool {
		for i, o := range d.Options[:other-1] {
			if !o.Multiple || o.Ticked != slices.Contains(want, i+1) {
				return false
			}
		}
		return true
	}
	for i, n := range pick.Options {
		w.page(questions, at, strconv.Itoa(n), func(d *agent.Dialog) bool { return !inInput(d) && ticked(d, pick.Options[:i]) })
	}
	if pick.Text == "" {
		w.page(questions, at, "Tab", func(d *agent.Dialog) bool {
			return !inInput(d) && ticked(d, pick.Options) && (len(d.Options) < other || !d.Options[other-1].Ticked)
		})
		return
	}
	for row := 1; row < other; row++ {
		w.page(questions, at, "Down", func(d *agent.Dialog) bool { return ticked(d, pick.Options) && d.Options[row-1].Focused })
	}
	w.input(questions, at, pick.Text)
	w.page(questions, at, "Tab", func(d *agent.Dialog) bool { return ticked(d, pick.Options) && holds(d, other, pick.Text) })
	w.page(questions, at, "Enter", func(d *agent.Dialog) bool {
		return submitFocused(d) && ticked(d, pick.Options) && len(d.Options) >= other && d.Options[other-1].Ticked
	})
}

// reviews reports whether the last page shows these answers to these questions.
func reviews(d *agent.Dialog, questions []agent.Question, each []agent.QuestionPick) bool {
	shown := unmarked(d.Body)
	for i, q := range questions {
		want := unmarked(q.Text) + "→" + unmarked(spoken(q, each[i]))
		at := strings.Index(shown, want)
		if at < 0 {
			return false
		}
		shown = shown[at+len(want):]
	}
	return true
}

// spoken is an answer as the text of its question's options.
func spoken(q agent.Question, pick agent.QuestionPick) string {
	var words []string
	for _, o := range pick.Options {
		words = append(words, q.Options[o-1])
	}
	if pick.Text != "" {
		words = append(words, pick.Text)
	}
	return strings.Join(words, ", ")
}
