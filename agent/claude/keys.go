package claude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/drawn"
)

// between is the pause after a key. 80 ms were always enough in the measurements.
const between = 100 * time.Millisecond

// dialogShownFor is how long a dialog must be on the screen before a key: 2.1.330 ignores a key in
// a dialog's first moment, and read one after 300 ms.
const dialogShownFor = 500 * time.Millisecond

// loggedWithin is how much later than its dialog a call is in the session log, at most: half a second
// was measured. Only the log shows what such a dialog leaves out.
const loggedWithin = time.Second

// heldBack are the dialogs that Claude delays while a draft is typed. When 2.1.330 finally draws
// one, its composer still takes the keys: the first key, however late, went into the draft, and so
// did all keys in the 1.3 s after it. A change of the terminal's focus ends that: the first key
// after one went to the dialog.
var heldBack = map[agent.PromptType]bool{
	agent.PromptPermission: true, agent.PromptPlan: true, agent.PromptQuestion: true, agent.PromptForm: true,
}

// Keys answers at the dialog. A digit chooses and confirms at once. Where it only moves, the next
// key waits until the screen shows the move.
func (Driver) Keys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if err := onlyForms(p, a); err != nil {
		return agent.KeyAnswer{}, err
	}
	k, err := answerers.Keys(p, a, d)
	if err == nil && len(k.Steps) > 0 {
		ofWork := heldBack[p.Type] && p.Subtype == nil
		k.Steps[0].Focus = ofWork // those of a start come before any draft
		if ofWork && len(p.Raw) == 0 && p.Type != agent.PromptForm {
			k.Steps[0].ShownFor = loggedWithin
		}
	}
	return k, err
}

var answerers = agent.Answerers{
	Permission: permissionKeys, Plan: planKeys, Question: questionKeys, Form: formKeys, Setup: setupKeys, Notice: noticeKeys, ShownFor: dialogShownFor,
}

func noticeKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if (a.Kind == agent.Deny || a.Kind == agent.Cancel) && a.Text == "" {
		return closing(d), nil
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: berth only closes this one, with deny; to choose in it use keys or attach", agent.ErrCannot)
}

// closing leaves a dialog that asks nothing. In a dialog with a search field Esc first clears the
// field, and in the settings of 2.1.330 it goes from the tabs to the list.
func closing(d *agent.Dialog) agent.KeyAnswer {
	shown := func(r *agent.Reading) bool { // its list may still be loading
		return r.Dialog != nil && r.Dialog.Type == d.Type && r.Dialog.Title == d.Title
	}
	k := agent.KeyAnswer{Outcome: agent.OutcomeDenied, Steps: []agent.Step{{Key: "Escape", Pause: between, Wants: "the dialog", Ready: shown}}}
	if goesBack(d) {
		k.Steps = append(k.Steps, agent.Step{Key: "Escape", Pause: between, Wants: "Esc to close", Ready: func(r *agent.Reading) bool {
			return shown(r) && strings.Contains(foot(r.Dialog), "Esc to close")
		}})
	}
	return k
}

// goesBack reports whether the first Esc doesn't leave the dialog.
func goesBack(d *agent.Dialog) bool {
	f := foot(d)
	return strings.Contains(f, "Esc to clear") || strings.Contains(f, "to switch tabs") && strings.Contains(f, "Esc to go back")
}

// foot is a dialog's last line, which says how to leave it.
func foot(d *agent.Dialog) string {
	if len(d.Lines) == 0 {
		return ""
	}
	return d.Lines[len(d.Lines)-1]
}

// onlyForms refuses fields for any prompt but a form.
func onlyForms(p *agent.Request, a agent.Answer) error {
	if len(a.Fields) > 0 && p.Type != agent.PromptForm {
		return fmt.Errorf("%w: a content is for forms, and this is a %s", agent.ErrAnswer, p.Type)
	}
	return nil
}

// press presses a key while the dialog is unchanged.
func press(key string, d *agent.Dialog) agent.Step {
	return agent.Step{Key: key, Pause: between, Wants: "the dialog as it was", Ready: func(r *agent.Reading) bool { return r.Dialog.SameAs(d) }}
}

// digit presses the number of an option.
func digit(n int, d *agent.Dialog, outcome string) (agent.KeyAnswer, error) {
	if n < 1 || n > len(d.Options) {
		return agent.KeyAnswer{}, fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(d.Options))
	}
	number := d.Options[n-1].Number
	if number == 0 && d.Focused() > 0 {
		return agent.KeyAnswer{Steps: append(walk(d, n), pressOn("Enter", d, n)), Outcome: outcome}, nil
	}
	if number == 0 || number > 9 {
		return agent.KeyAnswer{}, fmt.Errorf("%w: that option has no key; use keys or attach", agent.ErrCannot)
	}
	return agent.KeyAnswer{Steps: []agent.Step{press(strconv.Itoa(number), d)}, Outcome: outcome}, nil
}

// walk moves from the chosen option to another, one key for each option between them.
func walk(d *agent.Dialog, n int) (steps []agent.Step) {
	for at := d.Focused(); at < n; at++ {
		steps = append(steps, pressOn("Down", d, at))
	}
	for at := d.Focused(); at > n; at-- {
		steps = append(steps, pressOn("Up", d, at))
	}
	return steps
}

// pressOn presses a key while option n is chosen and the dialog is otherwise unchanged.
func pressOn(key string, d *agent.Dialog, n int) agent.Step {
	wants := fmt.Sprintf("option %d (%s) chosen", n, d.Options[n-1].Label)
	return agent.Step{Key: key, Pause: between, Wants: wants, Ready: func(r *agent.Reading) bool {
		return r.Dialog.SameAs(d) && focuses(r, d.Type, n)
	}}
}

// enter presses Enter in a dialog without a choice.
func enter(d *agent.Dialog) agent.KeyAnswer {
	return agent.KeyAnswer{Steps: []agent.Step{press("Enter", d)}, Outcome: agent.OutcomeAccepted}
}

// setupKeys answers the dialogs before the first prompt. The option that says yes accepts, never
// the preselected one: Enter would refuse a key, and would end Claude at the warning about
// permissions.
func setupKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	yes, no := 0, 0
	switch d.Subtype {
	case agent.SubtypeSecurityNotes, agent.SubtypeLoginSuccess, agent.SubtypeTerminalDone:
		if a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == 1 {
			return enter(d), nil
		}
		return agent.KeyAnswer{}, fmt.Errorf("%w: it only takes accept", agent.ErrAnswer)
	case agent.SubtypeAPIKey, agent.SubtypeBypass, agent.SubtypeTerminalSetup, agent.SubtypeAutoDefault:
		yes, no = beginning(d, "Yes"), beginning(d, "No")
	case agent.SubtypeLogin:
		return agent.KeyAnswer{}, fmt.Errorf("%w: attach and type /login, or start the session with credentials", agent.ErrCannot)
	case agent.SubtypeAutoMode:
		return autoModeKeys(a, d)
	case agent.SubtypeTheme:
		yes = d.Focused()
	case agent.SubtypeOAuthLogin:
		return signInKeys(a, d)
	case agent.SubtypeLoginMethod:
		if a.Kind == agent.Deny && a.Text == "" && cancels(d) {
			return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
		}
	}
	return choice(a, d, yes, no)
}

// cancels reports whether Esc leaves the dialog. At the first start it leads back to the dialog before, or nowhere.
func cancels(d *agent.Dialog) bool {
	return slices.ContainsFunc(d.Lines, func(line string) bool { return hasAny(line, "Esc to cancel", "Esc to go back") })
}

// signInKeys pastes the code from the browser into the page's field, and sends it once the field
// shows a code of that length. The field hides the code.
func signInKeys(a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.Deny && a.Text == "" && cancels(d):
		leave := agent.Step{Key: "Escape", Wants: "the page of the sign-in", Ready: func(r *agent.Reading) bool { return signsIn(r, d.Title) }}
		return agent.KeyAnswer{Steps: []agent.Step{leave}, Outcome: agent.OutcomeDenied}, nil
	case d.Title == titleSignInFailed:
		if a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == 1 {
			return enter(d), nil
		}
		return agent.KeyAnswer{}, fmt.Errorf("%w: the sign-in failed; accept tries again, deny leaves it", agent.ErrAnswer)
	case a.Kind != agent.AnswerText:
		return agent.KeyAnswer{}, fmt.Errorf("%w: open its URL, and give the code that the browser shows with text CODE", agent.ErrAnswer)
	case d.URL == "" && d.Input == "":
		return agent.KeyAnswer{}, agent.ErrNotReady
	case d.Input != "":
		return agent.KeyAnswer{}, fmt.Errorf("%w: something is typed at its page already; use keys or attach", agent.ErrCannot)
	}
	code := strings.TrimSpace(a.Text)
	if strings.ContainsFunc(code, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return agent.KeyAnswer{}, fmt.Errorf("%w: a code is one word", agent.ErrAnswer)
	}
	return agent.KeyAnswer{Outcome: agent.OutcomeAnswered, Steps: []agent.Step{
		{Paste: code, Pause: between, Wants: "its empty field", Ready: func(r *agent.Reading) bool { return signsIn(r, d.Title) && r.Dialog.Input == "" }},
		{Key: "Enter", Pause: between, Wants: "the code in its field", Ready: func(r *agent.Reading) bool {
			return signsIn(r, d.Title) && showsCode(r.Dialog.Input, code)
		}},
	}}, nil
}

// codeTail is how many characters at a code's end its field shows.
const codeTail = 6

// showsCode reports whether the field shows the code: a star for each character except the last
// ones, cut at the line's end.
func showsCode(field, code string) bool {
	shown, cut := strings.CutSuffix(field, "…")
	n, all := utf8.RuneCountInString(shown), utf8.RuneCountInString(code)
	end := []rune(code)[max(0, all-codeTail):]
	tail := strings.TrimLeft(shown, "*")
	if cut {
		return n < all && tail != "" && strings.HasPrefix(string(end), tail)
	}
	return n == all && strings.HasSuffix(shown, string(end))
}

// signsIn reports whether that page of the sign-in is on the screen.
func signsIn(r *agent.Reading, title string) bool {
	return r.Dialog != nil && r.Dialog.Subtype == agent.SubtypeOAuthLogin && r.Dialog.Title == title
}

// choice answers a dialog of numbered options. yes is the option that accepts, no the one that
// denies; 0 without one.
func choice(a agent.Answer, d *agent.Dialog, yes, no int) (agent.KeyAnswer, error) {
	switch {
	case a.Kind == agent.ChooseOption:
		outcome := agent.OutcomeAnswered
		switch {
		case a.Option == no:
			outcome = agent.OutcomeDenied
		case a.Option == yes, a.Option > 0 && a.Option <= len(d.Options) && allows(d.Options[a.Option-1]):
			outcome = agent.OutcomeAccepted
		}
		return digit(a.Option, d, outcome)
	case a.Kind == agent.Accept && yes > 0:
		return digit(yes, d, agent.OutcomeAccepted)
	case a.Kind == agent.Deny && a.Text == "" && no > 0:
		return digit(no, d, agent.OutcomeDenied)
	case a.Kind == agent.Deny && a.Text == "" && strings.Contains(foot(d), "Esc to cancel"):
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case a.Kind == agent.Deny && a.Text != "":
		return agent.KeyAnswer{}, fmt.Errorf("%w: this dialog takes no reason; deny without one, then nudge", agent.ErrCannot)
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: choose with option N", agent.ErrAnswer)
}

// beginning is the number of the only option that starts with the word; 0 for none or several.
func beginning(d *agent.Dialog, word string) int {
	return d.OnlyOption(func(o agent.Option) bool {
		return o.Label == word || strings.HasPrefix(o.Label, word+",") || strings.HasPrefix(o.Label, word+" ")
	})
}

// permissionKeys: a call is refused by Esc, whatever number No is drawn with, because another process can have drawn the options.
func permissionKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d.Subtype == "" && len(d.Options) > 0 && d.Options[0].Focused && strings.HasPrefix(d.Options[0].Label, "Yes, and tell") {
		return agent.KeyAnswer{}, fmt.Errorf("%w: a person has started to type there, and a digit would become text; attach", agent.ErrCannot)
	}
	no := max(beginning(d, optionNo), beginning(d, optionDeny))
	if a.Kind == agent.Deny && a.Text != "" && d.Subtype == "" && no > 0 && d.Options[no-1].Label == "No" {
		return feedback(a.Text, d, no) // an option with a longer label has no text field
	}
	yes := slices.IndexFunc(d.Options, func(o agent.Option) bool {
		return o.Label == optionYes || o.Label == optionAllow || o.Label == optionRun
	}) + 1
	if yes == 0 && len(d.Options) == 2 { // beside others it allows more than this call: a text typed at the dialog replaces the first label
		yes = beginning(d, "Yes")
	}
	if d.Subtype != "" {
		return choice(a, d, yes, no)
	}
	switch refuses := a.Kind == agent.Deny && a.Text == "" || a.Kind == agent.ChooseOption && a.Option == no; {
	case refuses && no > 0:
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case (a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == yes) && yes > 0 && d.Options[yes-1].Number > 1:
		return agent.KeyAnswer{}, fmt.Errorf("%w: its first option isn't a plain yes, as another process may have drawn it; attach", agent.ErrCannot)
	}
	return choice(a, d, yes, no)
}

// planKeys: which option accepts depends on the available modes. Only the one that asks for every
// edit has a clear meaning. It comes after one that allows more, and the one that takes words is the last: another process
// can have drawn them in another order.
func planKeys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	tell := 0
	for i, o := range d.Options {
		if strings.HasPrefix(o.Label, "Tell Claude") {
			tell = i + 1
		}
	}
	switch {
	case a.Kind == agent.Deny && a.Text == "":
		return agent.KeyAnswer{Steps: []agent.Step{press("Escape", d)}, Outcome: agent.OutcomeDenied}, nil
	case (a.Kind == agent.Deny || a.Kind == agent.AnswerText) && tell == len(d.Options) && tell > 2:
		return words(a.Text, d, tell, agent.OutcomeDenied)
	case a.Kind == agent.ChooseOption && a.Option == tell:
		return agent.KeyAnswer{}, fmt.Errorf("%w: say what to change with deny TEXT", agent.ErrAnswer)
	}
	manually := 0
	for i, o := range d.Options {
		if i > 0 && strings.HasPrefix(o.Label, "Yes, manually approve") {
			manually = i + 1
		}
	}
	return choice(a, d, manually, 0)
}

// focuses reports whether the option is the chosen one.
func focuses(r *agent.Reading, kind agent.PromptType, n int) bool {
	return r.Dialog != nil && r.Dialog.Type == kind && len(r.Dialog.Options) >= n && r.Dialog.Options[n-1].Focused
}

// feedback moves to the last option, opens its field, and types.
func feedback(text string, d *agent.Dialog, no int) (agent.KeyAnswer, error) {
	if d.Focused() == 0 {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	steps := append(walk(d, no), pressOn("Tab", d, no))
	return typed(steps, text, d, no, agent.OutcomeDenied, func(now *agent.Dialog) bool {
		return now.Options[no-1].Label != d.Options[no-1].Label // the changed label says what to type
	}), nil
}

// words opens an option's field by its digit and types into it.
func words(text string, d *agent.Dialog, n int, outcome string) (agent.KeyAnswer, error) {
	answer, err := digit(n, d, outcome)
	switch {
	case err != nil:
		return answer, err
	case d.Focused() == n: // the option's field is open: the digit would become text
		return agent.KeyAnswer{}, fmt.Errorf("%w: a person has started to type an answer there; attach, or deny", agent.ErrCannot)
	}
	return typed(answer.Steps, text, d, n, outcome, func(*agent.Dialog) bool { return true }), nil
}

// typed types into the field that an option has become, and presses Enter when the field shows the
// text.
func typed(steps []agent.Step, text string, d *agent.Dialog, n int, outcome string, open func(*agent.Dialog) bool) agent.KeyAnswer {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	echo := drawn.Squeeze(first)
	if r := []rune(echo); len(r) > 20 {
		echo = string(r[:20])
	}
	return agent.KeyAnswer{Outcome: outcome, Steps: append(steps,
		agent.Step{Paste: text, Pause: between, Wants: "its input", Ready: func(r *agent.Reading) bool {
			return focuses(r, d.Type, n) && open(r.Dialog)
		}},
		agent.Step{Key: "Enter", Pause: between, Wants: "the text in its input", Ready: func(r *agent.Reading) bool {
			return focuses(r, d.Type, n) && strings.Contains(drawn.Squeeze(r.Dialog.Options[n-1].Label), echo)
		}})}
}
