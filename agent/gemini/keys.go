package gemini

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"berth/agent"
)

var _ agent.Answerer = Driver{}

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
	return agent.Step{Key: key, Pause: between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return same(r.Dialog, d) }}
}

// same says whether a dialog is the one that was seen, with the same choices.
func same(now, seen *agent.Dialog) bool {
	if now == nil || now.Partial || now.Type != seen.Type || now.Subtype != seen.Subtype || now.Title != seen.Title ||
		now.Body != seen.Body || now.Confirm != seen.Confirm || len(now.Options) != len(seen.Options) {
		return false
	}
	for i, o := range now.Options {
		if o.Number != seen.Options[i].Number || o.Label != seen.Options[i].Label {
			return false
		}
	}
	return true
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
// allowed.
func planKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	words := labelled(d, "Type your feedback")
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return escape(d), nil
	case a.Kind == agent.Deny, a.Kind == agent.AnswerText, a.Kind == agent.ChooseOption && a.Option > 0 && a.Option == words:
		return agent.KeyAnswer{}, fmt.Errorf("%w: deny without words, which ends its turn, then nudge; or attach", agent.ErrCannot)
	}
	return choice(a, d, labelled(d, "Yes, manually accept edits"), 0)
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

// questionKeys answers one question by its digit or in words, and several page
// by page.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if a.Kind == agent.Deny {
		if a.Text != "" {
			return agent.KeyAnswer{}, errReason
		}
		return escape(d), nil
	}
	if a.Kind == agent.AnswerEach && len(a.Each) == 1 {
		switch pick := a.Each[0]; {
		case pick.Text != "" && len(pick.Options) == 0:
			a = agent.Answer{Kind: agent.AnswerText, Text: pick.Text}
		case pick.Text == "" && len(pick.Options) == 1:
			a = agent.Answer{Kind: agent.ChooseOption, Option: pick.Options[0]}
		}
	}
	for _, q := range p.Questions {
		if q.MultiSelect {
			return agent.KeyAnswer{}, fmt.Errorf("%w: several options at once are not chosen by keys yet; attach", agent.ErrCannot)
		}
	}
	several := len(p.Questions) > 1 || len(d.Tabs) > 1
	switch {
	case several && a.Kind == agent.AnswerEach:
		return pages(p, a.Each, d)
	case several:
		return agent.KeyAnswer{}, fmt.Errorf("%w: it asks %d questions; answer each: answer 1=N 2=N", agent.ErrAnswer, max(len(p.Questions), len(d.Tabs)))
	case a.Kind == agent.AnswerText && len(d.Options) == 0 && len(p.Questions) == 1:
		return typed(nil, p.Questions[0].Text, a.Text)
	case a.Kind == agent.AnswerText:
		return agent.KeyAnswer{}, fmt.Errorf("%w: this question takes one of its options; choose with option N", agent.ErrCannot)
	case a.Kind == agent.ChooseOption && custom(a.Option, d):
		return agent.KeyAnswer{}, errCustom
	case a.Kind == agent.ChooseOption:
		return digit(a.Option, d, agent.OutcomeAnswered)
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: a question takes option N, text TEXT, answer Q=N or deny", agent.ErrAnswer)
}

var errCustom = fmt.Errorf("%w: that option is typed into; attach", agent.ErrCannot)

// custom says whether the option is the one that takes a value of one's own.
func custom(n int, d *agent.Dialog) bool {
	return n > 0 && n == labelled(d, "Enter a custom value")
}

// pages answers several questions, from the first page on: the option's digit, or
// the words and Enter, and Enter on the page that shows all answers.
func pages(p *agent.Request, each []agent.QuestionPick, d *agent.Dialog) (agent.KeyAnswer, error) {
	switch {
	case len(each) != len(p.Questions):
		return agent.KeyAnswer{}, fmt.Errorf("%w: it asks %d questions and %d are answered", agent.ErrAnswer, len(p.Questions), len(each))
	case d.Confirm || p.QuestionCurrent != 0:
		return agent.KeyAnswer{}, fmt.Errorf("%w: somebody has begun to answer it; use keys or attach", agent.ErrCannot)
	}
	var answer agent.KeyAnswer
	for i, pick := range each {
		q := p.Questions[i]
		switch {
		case q.Text == "":
			return agent.KeyAnswer{}, agent.ErrNotReady
		case pick.Text == "" && len(pick.Options) == 0:
			return agent.KeyAnswer{}, fmt.Errorf("%w: question %d (%s) is not answered", agent.ErrAnswer, i+1, q.Header)
		case pick.Text != "" && len(q.Options) == 0 && len(pick.Options) == 0:
			var err error
			if answer, err = typed(answer.Steps, q.Text, pick.Text); err != nil {
				return agent.KeyAnswer{}, err
			}
			continue
		case pick.Text != "" || len(pick.Options) != 1 || len(q.Options) == 0:
			return agent.KeyAnswer{}, fmt.Errorf("%w: question %d (%s) takes one of its options, or a text where it has none", agent.ErrAnswer, i+1, q.Header)
		case pick.Options[0] < 1 || pick.Options[0] > len(q.Options):
			return agent.KeyAnswer{}, fmt.Errorf("%w: question %d (%s) has the options 1 to %d", agent.ErrAnswer, i+1, q.Header, len(q.Options))
		}
		answer.Steps = append(answer.Steps, choose(q.Text, pick.Options[0]))
	}
	answer.Steps = append(answer.Steps, agent.Step{Key: "Enter", Pause: between, Stood: pageStands, Wants: "the page that shows all answers", Ready: func(r *agent.Reading) bool {
		return r.Dialog != nil && r.Dialog.Type == agent.PromptQuestion && r.Dialog.Confirm
	}})
	answer.Outcome = agent.OutcomeAnswered
	return answer, nil
}

// asking says whether the dialog shows that question.
func asking(r *agent.Reading, question string) bool {
	return r.Dialog != nil && r.Dialog.Type == agent.PromptQuestion && !r.Dialog.Confirm &&
		question != "" && strings.HasPrefix(squeeze(r.Dialog.Body), squeeze(question))
}

// choose chooses an option on a question's page by its digit, which confirms it and
// leads to the next page. Of Down and Enter, Enter was lost twice in ten times on a
// machine with twelve times the work it can do: Gemini forgets what is chosen
// while it takes in that another option is focused.
func choose(question string, n int) agent.Step {
	return agent.Step{Key: strconv.Itoa(n), Pause: between, Stood: pageStands, Wants: "option " + strconv.Itoa(n), Ready: func(r *agent.Reading) bool {
		return asking(r, question) && len(r.Dialog.Options) >= n && r.Dialog.Options[n-1].Number == n
	}}
}

// lineAfter is for how long a text must have stood in a question's line before
// Enter: the line is drawn before Enter knows of it. At a load of 43 an Enter 200 ms
// after the text was typed submitted an empty answer.
const lineAfter = 500 * time.Millisecond

// typed types into a question's line, and presses Enter when it stands there.
func typed(steps []agent.Step, question, text string) (agent.KeyAnswer, error) {
	text = strings.TrimSpace(agent.CleanMessage(text))
	if text == "" || strings.Contains(text, "\n") || question == "" {
		return agent.KeyAnswer{}, fmt.Errorf("%w: it takes one line of text", agent.ErrAnswer)
	}
	return agent.KeyAnswer{Outcome: agent.OutcomeAnswered, Steps: append(steps,
		agent.Step{Paste: text, Pause: between, Stood: pageStands, Wants: "its line", Ready: func(r *agent.Reading) bool {
			return asking(r, question) && len(r.Dialog.Options) == 0
		}},
		agent.Step{Key: "Enter", Pause: between, Stood: lineAfter, Wants: "the text in its line", Ready: func(r *agent.Reading) bool {
			return asking(r, question) && holdsLine(r.Dialog, text)
		}})}, nil
}

// holdsLine says whether the dialog's line holds the text, as far as it shows.
func holdsLine(d *agent.Dialog, text string) bool {
	want := squeeze(text)
	if utf8.RuneCountInString(want) > 20 {
		want = string([]rune(want)[:20])
	}
	for _, row := range d.Lines {
		if line, ok := strings.CutPrefix(strings.TrimSpace(row), "> "); ok && strings.HasPrefix(squeeze(line), want) {
			return true
		}
	}
	return false
}
