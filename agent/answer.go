package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AnswerKind is the way to answer a prompt.
type AnswerKind string

// The ways to answer.
const (
	Accept       AnswerKind = "accept"
	Deny         AnswerKind = "deny"   // Text is the reason; it may be empty
	ChooseOption AnswerKind = "option" // Option is the choice
	AnswerText   AnswerKind = "text"   // Text is the answer in free words
	AnswerEach   AnswerKind = "answer" // Each has an answer for each question
	Cancel       AnswerKind = "cancel" // neither accept nor deny; only some prompts can be cancelled
)

// Answer is a person's answer to a prompt.
type Answer struct {
	Kind   AnswerKind
	Text   string
	Option int            // counted from 1, in the prompt's order
	Each   []QuestionPick // one for each of the prompt's questions, in their order
	// Fields are the values that Berth fills into a form before it accepts it. The keys are the
	// names in the form's schema; the values are strings, numbers, booleans and lists of strings.
	Fields map[string]any
}

// QuestionPick answers one of several questions: by options, counted from 1, or by free text.
type QuestionPick struct {
	Options []int
	Text    string
	Bare    bool // Text may be the label of an option, or several labels with commas
}

// Named returns the answer with option labels replaced by their numbers. p has the questions. If a
// question takes several options and the text has commas, each part must be a label; otherwise the
// error wraps ErrAnswer.
func (a Answer) Named(p *Request) (Answer, error) {
	a.Each = slices.Clone(a.Each)
	for i := range a.Each {
		pick := &a.Each[i]
		if !pick.Bare || i >= len(p.Questions) {
			continue
		}
		q := p.Questions[i]
		n := q.option(pick.Text)
		if n > 0 {
			pick.Options, pick.Text = []int{n}, ""
			continue
		}
		if n < 0 {
			return a, fmt.Errorf("%w: question %d (%s) has several options %q, or ones that differ in letter case alone. Name one by number: %s", ErrAnswer, i+1, q.Header, strings.TrimSpace(pick.Text), q.list())
		}
		if !q.MultiSelect || !strings.Contains(pick.Text, ",") {
			continue
		}
		var options []int
		for name := range strings.SplitSeq(pick.Text, ",") {
			n := q.option(name)
			if n <= 0 {
				return a, fmt.Errorf("%w: question %d (%s) has no option %q. Its options are %s. Name them by number or label, or put words of your own into quotes",
					ErrAnswer, i+1, q.Header, strings.TrimSpace(name), q.list())
			}
			options = append(options, n)
		}
		pick.Options, pick.Text = options, ""
	}
	return a, nil
}

// Picks are what the answer chooses for each of that number of questions; none if it isn't an answer to them.
func (a Answer) Picks(questions int) []QuestionPick {
	switch {
	case a.Kind == AnswerEach && len(a.Each) == questions:
		return a.Each
	case a.Kind == ChooseOption && questions == 1:
		return []QuestionPick{{Options: []int{a.Option}}}
	case a.Kind == AnswerText && questions == 1:
		return []QuestionPick{{Text: a.Text}}
	}
	return nil
}

// option is the number of the option with that label, from 1; 0 when there is none. It ignores
// letter case. If several options have the label, or they differ in case alone and none matches
// exactly, it is -1.
func (q *Question) option(label string) int {
	label = strings.TrimSpace(label)
	if n := slices.Index(q.Options, label); n >= 0 {
		if slices.Contains(q.Options[n+1:], label) {
			return -1 // their descriptions may differ
		}
		return n + 1
	}
	found := 0
	for i, o := range q.Options {
		if strings.EqualFold(o, label) {
			if found > 0 {
				return -1
			}
			found = i + 1
		}
	}
	return found
}

// list returns the options with their numbers, for an error.
func (q *Question) list() string {
	var all []string
	for i, o := range q.Options {
		all = append(all, fmt.Sprintf("%d %s", i+1, o))
	}
	return strings.Join(all, ", ")
}

// Clean returns the answer with texts that can be typed, so that drivers compare the composer with
// the text that will be in it. If cleaning leaves nothing of a text, the error wraps ErrAnswer: a
// denial without its reason would be another answer.
func (a Answer) Clean() (Answer, error) {
	clean := func(text *string) error {
		was := *text
		if *text = CleanMessage(was); was != "" && strings.TrimSpace(*text) == "" {
			return fmt.Errorf("%w: its text has no characters that can be typed", ErrAnswer)
		}
		return nil
	}
	err := clean(&a.Text)
	a.Each = slices.Clone(a.Each)
	for i := range a.Each {
		err = errors.Join(err, clean(&a.Each[i].Text))
	}
	return a, err
}

// Outcomes of answers.
const (
	OutcomeAccepted  = "accepted"
	OutcomeDenied    = "denied"
	OutcomeAnswered  = "answered"
	OutcomeCancelled = "cancelled"
	OutcomeElsewhere = "answered_elsewhere" // another client or a person at the terminal was first
)

var (
	// ErrNotReady: the driver hasn't read the prompt's options yet.
	ErrNotReady = errors.New("the prompt's options are not read yet")
	// ErrOnlyByKeys: a hook's answer has no form for this. Keys at the dialog can do it.
	ErrOnlyByKeys = errors.New("only keys at the dialog can give this answer")
	// ErrAnswer: the prompt doesn't take this answer. The error that wraps it says what to do
	// instead.
	ErrAnswer = errors.New("the prompt doesn't take this answer")
	// ErrCannot: the agent has no way to take this answer. The error that wraps it says what to do
	// instead.
	ErrCannot = errors.New("the agent can't take this answer")
)

// Verdict is the answer that a waiting hook prints.
type Verdict struct {
	Stdout  []byte
	Outcome string
}

// Step is one key of an answer. Berth writes each step to the terminal on its own.
type Step struct {
	Key   string                // the key's name: Enter, Down, 1
	Paste string                // text to paste; Key is empty then
	Ready func(r *Reading) bool // what the screen must show right before it
	Wants string                // Ready's condition in words, for an error
	Pause time.Duration         // how long Berth ignores the screen after the key
	// ShownFor is how long the screen must have shown the dialog (for a first key) or the page (for
	// a later one) before the key is written. Some agents draw a dialog before they read its keys.
	ShownFor time.Duration
	// LevelSuffices waives ShownFor when a level source, such as the title, reported that a dialog
	// is open: the agent reports that only once it reads keys. While the source still reports work,
	// Berth waits longer.
	LevelSuffices bool
	// Focus: before the key, Berth reports to the program that its terminal lost the focus and got
	// it back. Some agents draw a dialog while their composer still takes the keys. The program must know such reports: they are
	// typed also if the terminal's mode doesn't ask for them.
	Focus bool
	// Again: it only moves between rows. An agent on a busy machine may lose it. So if the screen doesn't show what the
	// next step is for after some seconds, and still shows what this one is for, the key is pressed again, once.
	Again bool
}

// KeyAnswer is an answer by keys.
type KeyAnswer struct {
	Steps   []Step
	Outcome string
}
