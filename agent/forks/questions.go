package forks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
)

// ErrBegun is the error when a person has started to answer a dialog.
var ErrBegun = fmt.Errorf("%w: a person has started to answer it; use keys or attach", agent.ErrCannot)

// Way collects the keys through a dialog's pages.
type Way struct {
	Steps []agent.Step
	Page  func(*agent.Dialog) bool // reports whether a dialog is the page for the next keys
	// Back and Forth are the arrows of Walk, if they aren't Up and Down.
	Back, Forth string
}

// Key presses a key on the page.
func (w *Way) Key(name, wants string, ready func(*agent.Dialog) bool) {
	w.Add(agent.Step{Key: name, Wants: wants}, ready)
}

// Add adds a step. It waits until the page is shown and ready.
func (w *Way) Add(s agent.Step, ready func(*agent.Dialog) bool) {
	page := w.Page
	s.Pause = Between
	s.Ready = func(r *agent.Reading) bool {
		return r.Dialog != nil && !r.Dialog.Partial && page(r.Dialog) && ready(r.Dialog)
	}
	w.Steps = append(w.Steps, s)
}

// Last is the last step.
func (w *Way) Last() *agent.Step { return &w.Steps[len(w.Steps)-1] }

// Walk goes from one row to another by arrows. Each arrow waits until at says that the row before it is focused.
func (w *Way) Walk(from, to int, at func(d *agent.Dialog, row int) bool) {
	step, key := 1, cmp.Or(w.Forth, "Down")
	if to < from {
		step, key = -1, cmp.Or(w.Back, "Up")
	}
	for row := from; row != to; row += step {
		w.Key(key, fmt.Sprintf("row %d chosen", row), func(d *agent.Dialog) bool { return at(d, row) })
		w.Last().Again = true
	}
}

// Questions answers a dialog of one question, and one of several page by page.
type Questions struct {
	Begun    func() bool   // a person has started to answer
	ShownFor time.Duration // how long a page must be shown before its first key
	// Page answers the question with that index, which leaves its page.
	Page func(w *Way, index int, q *agent.Question, pick agent.QuestionPick) error
	// Reviews reports whether the page after several questions shows these answers, and Enter confirms them.
	Reviews func(d *agent.Dialog, each []agent.QuestionPick) bool
}

// Keys are the keys of an answer.
func (q Questions) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (k agent.KeyAnswer, err error) {
	each, asks := a.Each, max(len(p.Questions), len(d.Tabs))
	switch {
	case a.Kind == agent.Deny && a.Text != "":
		return k, ErrReason
	case a.Kind == agent.Deny:
		return Escape(d), nil
	case a.Kind == agent.AnswerEach:
	case asks > 1:
		return k, fmt.Errorf("%w: it asks %d questions; answer each: answer 1=N 2=N", agent.ErrAnswer, asks)
	case a.Kind == agent.AnswerText, a.Kind == agent.ChooseOption:
		each = a.Picks(1)
	default:
		return k, fmt.Errorf("%w: a question takes option N, text TEXT, answer Q=N or deny", agent.ErrAnswer)
	}
	switch {
	case len(each) != len(p.Questions):
		return k, fmt.Errorf("%w: it asks %d questions and %d are answered", agent.ErrAnswer, len(p.Questions), len(each))
	case q.Begun():
		return k, ErrBegun
	}
	w := &Way{}
	for i, pick := range each {
		one, first := &p.Questions[i], len(w.Steps)
		w.Page = func(d *agent.Dialog) bool { return d.Type == agent.PromptQuestion && !d.Confirm }
		err := agent.ErrNotReady
		switch {
		case one.Text == "":
			return k, err
		case len(pick.Options) == 0 && strings.TrimSpace(agent.CleanMessage(pick.Text)) == "":
			err = fmt.Errorf("%w: it is not answered", agent.ErrAnswer)
		default:
			err = q.Page(w, i, one, pick)
		}
		if err != nil {
			return k, fmt.Errorf("question %d (%s): %w", i+1, one.Header, err)
		}
		w.Steps[first].ShownFor = q.ShownFor
	}
	if len(each) > 1 {
		w.Page = func(d *agent.Dialog) bool { return d.Type == agent.PromptQuestion && d.Confirm }
		w.Key("Enter", "the page that shows these answers", func(d *agent.Dialog) bool { return q.Reviews(d, each) })
		w.Last().ShownFor = q.ShownFor
	}
	return agent.KeyAnswer{Steps: w.Steps, Outcome: agent.OutcomeAnswered}, nil
}

// Fits reports an error if the question has no such options, or takes fewer of them.
func Fits(q *agent.Question, pick agent.QuestionPick) error {
	switch no := func(n int) bool { return n < 1 || n > len(q.Options) }; {
	case slices.ContainsFunc(pick.Options, no):
		return fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(q.Options))
	case !q.MultiSelect && (len(pick.Options) > 1 || len(pick.Options) > 0 && pick.Text != ""):
		return fmt.Errorf("%w: it takes one of its options, or a text", agent.ErrAnswer)
	}
	return nil
}

// Page compares the page of a question with the question.
type Page struct {
	Current int                                                       // the index of the shown question
	Tab     func(tab, header string) bool                             // the tab is that of the question with this header
	Asks    func(q *agent.Question) agent.Match                       // the dialog asks with the question's words
	Offers  func(o agent.Option, label, explained string) agent.Match // the option is this one of the question
	Own     func(o agent.Option) bool                                 // the agent itself adds the option
}

// Match says how much of the prompt the dialog shows. A page without room shows a part, whatever its options are.
func (page Page) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	asked := len(p.Questions)
	switch {
	case asked == 0:
		return agent.PartMatch
	case len(d.Tabs) != asked && max(len(d.Tabs), asked) > 1:
		return agent.NoMatch
	}
	for i, tab := range d.Tabs {
		if !page.Tab(tab, p.Questions[i].Header) {
			return agent.NoMatch
		}
	}
	switch {
	case d.Confirm:
		return agent.WholeMatch
	case page.Current >= asked:
		return agent.NoMatch
	case p.Questions[page.Current].Text == "":
		return agent.WholeMatch // not read yet
	}
	q := &p.Questions[page.Current]
	m := page.Asks(q)
	if d.Cut {
		m = min(m, agent.PartMatch)
	}
	for i, o := range d.Options {
		if i >= len(q.Options) {
			m = min(m, agent.MatchIf(page.Own(o), agent.WholeMatch))
			continue
		}
		explained := o.More
		if i < len(q.Descriptions) {
			explained = q.Descriptions[i]
		}
		if !d.Cut {
			m = min(m, page.Offers(o, q.Options[i], explained))
		}
	}
	return agent.MatchIf(d.Cut || len(d.Options) >= len(q.Options), m)
}

// Current is the index of the question that the dialog shows, found by its text: tabs may only show which ones are
// answered. An unknown one is the first that wasn't read. plain is a text as far as it is compared.
func Current(r *agent.Request, d *agent.Dialog, shown string, plain func(string) string) int {
	if d.Confirm {
		return len(r.Questions)
	}
	for _, want := range []string{plain(shown), ""} {
		for i, q := range r.Questions {
			if plain(q.Text) == want {
				return i
			}
		}
	}
	return r.QuestionCurrent
}

// Words are the labels that an answer chooses, and its text.
func Words(q *agent.Question, pick agent.QuestionPick) []string {
	words := []string{}
	for _, n := range pick.Options {
		words = append(words, q.Options[n-1])
	}
	if pick.Text != "" {
		words = append(words, pick.Text)
	}
	return words
}

// Tabs reads Qwen Code's row of the questions' headers: the shown one has a mark, and so do those with an
// answer. The last one is the page of the answers.
func Tabs(row string) (list []string, current int) {
	for part := range strings.SplitSeq(strings.ReplaceAll(" "+strings.TrimRight(row, " "), "▸ ", "  \x00 "), "  ") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if name, shown := strings.CutPrefix(part, "\x00"); shown {
			current = len(list)
			part = strings.TrimSpace(name)
		}
		list = append(list, strings.TrimSuffix(part, " ✓"))
	}
	if n := len(list); n > 0 && list[n-1] == "Submit" {
		list = list[:n-1]
	}
	return list, current
}
