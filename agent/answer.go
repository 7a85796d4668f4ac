package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AnswerKind is how somebody answers a prompt.
type AnswerKind string

// The ways to answer.
const (
	Accept       AnswerKind = "accept"
	Deny         AnswerKind = "deny"   // Text: why, or empty
	ChooseOption AnswerKind = "option" // Option
	AnswerText   AnswerKind = "text"   // Text, in one's own words
	AnswerEach   AnswerKind = "answer" // Each
	Cancel       AnswerKind = "cancel" // neither yes nor no, where the prompt knows that
)

// Answer is what somebody answers a prompt with.
type Answer struct {
	Kind   AnswerKind
	Text   string
	Option int            // from 1, as the prompt lists them
	Each   []QuestionPick // of the prompt's questions, in their order
	// Fields are what a form is filled in with before it is accepted, by the
	// names in its schema: strings, numbers, booleans and lists of strings.
	Fields map[string]any
}

// QuestionPick answers one of several questions: by options, from 1, or in
// one's own words.
type QuestionPick struct {
	Options []int
	Text    string
	Bare    bool // Text may name options
}

// Named is the answer with the options in it that were given by name, for the
// questions of that prompt. A list for a question that takes several names them
// all: ErrAnswer when it does not.
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
			return a, fmt.Errorf("%w: question %d (%s) has several options %q that differ in letter case. Name one by number: %s", ErrAnswer, i+1, q.Header, strings.TrimSpace(pick.Text), q.list())
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

// option is the number of the option with that label, from 1; 0 when there is none. It ignores
// letter case. If two options differ in case alone, and neither matches exactly, it is -1.
func (q *Question) option(label string) int {
	label = strings.TrimSpace(label)
	if n := slices.Index(q.Options, label); n >= 0 {
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

// list are the options with their numbers.
func (q *Question) list() string {
	var all []string
	for i, o := range q.Options {
		all = append(all, fmt.Sprintf("%d %s", i+1, o))
	}
	return strings.Join(all, ", ")
}

// Clean is the answer with its texts as they can be typed, so that drivers look
// for what will stand there. ErrAnswer for a text of which nothing is left: a
// refusal without its reason is another answer.
func (a Answer) Clean() (Answer, error) {
	clean := func(text *string) error {
		was := *text
		if *text = CleanMessage(was); was != "" && strings.TrimSpace(*text) == "" {
			return fmt.Errorf("%w: of its text nothing can be typed", ErrAnswer)
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
	OutcomeElsewhere = "answered_elsewhere" // somebody else was first
)

var (
	// ErrNotReady: the prompt's options are not read yet.
	ErrNotReady = errors.New("the prompt's options are not read yet")
	// ErrOnlyByKeys: a waiting hook cannot say it; the dialog can.
	ErrOnlyByKeys = errors.New("only keys at the dialog can say it")
	// ErrAnswer: the prompt has no such answer. What wraps it says what to do
	// instead.
	ErrAnswer = errors.New("the prompt takes no such answer")
	// ErrCannot: the agent has no way to take it. What wraps it says what to do
	// instead.
	ErrCannot = errors.New("the agent cannot take it")
)

// Verdict is what a waiting hook prints.
type Verdict struct {
	Stdout  []byte
	Outcome string
}

// Step is one key of an answer, written alone.
type Step struct {
	Key   string                // its name: Enter, Down, 1
	Paste string                // in place of a key: text, as a terminal pastes it
	Ready func(r *Reading) bool // what the screen must show right before it
	Wants string                // the same in words
	Pause time.Duration         // after it, before the screen counts again
	// Stood is for how long the screen must have shown what the key is for: a first
	// key's dialog, a later one's page. Some agents draw before they listen.
	Stood time.Duration
	// Told: it need not have, where a title or the like has come to say that a
	// dialog is open; the agent says so when it listens. While that says that it
	// works still, it is waited for longer.
	Told bool
	// Focus: before it the program is told that its terminal has lost the focus and
	// has it again, where it listens to that. Some agents draw a dialog while their
	// composer still takes the keys.
	Focus bool
}

// KeyAnswer is an answer by keys.
type KeyAnswer struct {
	Steps   []Step
	Outcome string
}
