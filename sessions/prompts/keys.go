package prompts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/loop"
	"berth/terminal"
)

// How long the screen may take to show what a key is for: the first, before
// the keys are made anew for what it shows then; and one that follows others,
// since half an answer is worse than a late one. Claude took up to 3 s to read a
// key on a machine with eight times the work it can do.
const (
	firstWithin = time.Second
	stepWithin  = 10 * time.Second
	// lastWithin is how long nobody else's key is let in behind the last one.
	lastWithin = 3 * time.Second
	lookAgain  = 50 * time.Millisecond // a synchronized update that is never ended changes nothing that is published
)

var (
	errNotShown = errors.New("the screen does not show it")
	errDeaf     = errors.New("its program is stopped, or has not read what was typed before, so its screen may be of the past")
)

// giveByKeys presses the keys of an answer under the lease, each only if the
// screen shows what it was meant for. Once it has the lease it is given to its
// end, also without a caller: half an answer helps nobody.
func (ps *Prompts) giveByKeys(ctx context.Context, claim loop.Claim, p detect.Pending, k agent.KeyAnswer) (*answering, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	attached := context.AfterFunc(ctx, cancel)
	defer attached()
	var a *answering
	pressed := false
	err := ps.env.Deliver(own, claim, func(write loop.Write) error {
		begun, err := loop.Ask(own, ps.env.Do, func() (*answering, error) { return ps.beginAnswer(claim, p, agent.ChannelKeys, k.Outcome) })
		if err != nil {
			return err
		}
		if a = begun; !attached() {
			return ctx.Err() // gone before the first key
		}
		for i, step := range k.Steps {
			within := stepWithin
			if i == 0 {
				within = firstWithin
			}
			last := i == len(k.Steps)-1
			if step.Focus {
				if err := ps.press(own, write, a, focusOf(step), within, false); err != nil {
					return err
				}
			}
			if err := ps.press(own, write, a, step, within, last); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return a, nil
	}
	if a != nil {
		_ = ps.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended follows no answers
			if pressed = a.pressed; !pressed {
				ps.forgetAnswer(a)
				return
			}
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
			if ps.program == a.program { // else there is no dialog any more that a key has reached
				ps.typed(ps.env.Now())
			}
		})
	}
	if pressed && (errors.Is(err, errHookGone) || errors.Is(err, errOthersType)) { // what was begun is not begun again
		err = api.Errorf(api.CodeStalePrompt, "the dialog was answered or left while the answer was given: look at screen %s", ps.env.Standing().Name).With("prompt", p.Request.ID)
	}
	return nil, err
}

// focusWorks is how long what follows from a change of the focus is given: keys that
// Claude Code reads at once with it were not measured, and 1.8 s after it the first was
// the dialog's.
const focusWorks = 300 * time.Millisecond

// focusOf is a step that presses no key, and is there for the one that follows.
func focusOf(step agent.Step) agent.Step {
	return agent.Step{Focus: true, Ready: step.Ready, Wants: step.Wants, Stood: step.Stood, Told: step.Told, Pause: focusWorks}
}

// press presses one key once the screen shows what it wants.
func (ps *Prompts) press(ctx context.Context, write loop.Write, a *answering, step agent.Step, within time.Duration, last bool) error {
	changed, stop := ps.env.Changed()
	defer stop()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	var shown time.Time // since when the screen shows what a key behind others is for; the loop's
	for {
		err := write(func() (<-chan error, error) { return ps.pressIf(a, step, last, &shown) })
		if !errors.Is(err, errNotShown) && !errors.Is(err, errDeaf) {
			if err != nil {
				return err
			}
			break
		}
		select {
		case <-changed:
		case <-again.C:
		case <-deadline.C:
			if !a.pressed { // written on the loop, before the steps that asked for it returned
				if errors.Is(err, errDeaf) {
					return err
				}
				return fmt.Errorf("%w: the dialog does not show %s", agent.ErrNotReady, step.Wants)
			}
			return api.Errorf(api.CodeNotReady, "the dialog does not show %s: no more keys were pressed", step.Wants).With("prompt", a.Prompt).With("lines", ps.drawn(ctx))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// The last has had its effect when the prompt is closed: with a key that
	// somebody else presses before it is read, both count for nothing.
	wait := step.Pause
	if last {
		wait = max(wait, lastWithin)
	}
	pause := time.NewTimer(wait)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-a.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drawn are the lines of the dialog that is on the screen.
func (ps *Prompts) drawn(ctx context.Context) []string {
	lines, err := loop.Ask(context.WithoutCancel(ctx), ps.env.Do, func() ([]string, error) {
		if ps.followed {
			p, _ := ps.env.Fold().Pending("")
			return append([]string{}, p.Drawn...), nil
		}
		return []string{}, nil
	})
	if err != nil {
		return []string{} // the session has ended
	}
	return lines
}

// pressIf looks at the screen as it is now and presses the key in the same
// step of the loop.
func (ps *Prompts) pressIf(a *answering, step agent.Step, last bool, shown *time.Time) (<-chan error, error) {
	reading, modes, ok := ps.env.Look() // what others typed may be unread
	if !ok || !ps.followed {
		return nil, errNotShown
	}
	p, ok := ps.env.Fold().Pending(a.Prompt)
	if !ok || a.judged {
		return nil, errHookGone // answered meanwhile
	}
	if reading.Dialog == nil || !ps.env.Fold().Asks(reading.Dialog, a.Prompt) || step.Ready != nil && !step.Ready(reading) {
		*shown = time.Time{}
		return nil, errNotShown
	}
	if ps.othersJustTyped(a.Opened) {
		return nil, errOthersType
	}
	if ps.env.Deaf() {
		return nil, errDeaf
	}
	if !a.pressed && !p.Shown.IsZero() {
		*shown = p.Shown
	} else if shown.IsZero() {
		*shown = ps.env.Now()
	}
	if ps.env.Now().Sub(*shown) < stood(step, p) {
		return nil, errNotShown
	}
	if step.Key == "" && step.Paste == "" {
		if !modes.FocusEvents {
			done := make(chan error, 1)
			done <- nil
			return done, nil
		}
		return ps.env.Link().InputLater([]byte("\x1b[O\x1b[I"), a.mark(false))
	}
	data, err := stepBytes(step, modes)
	if err != nil {
		return nil, err
	}
	if a.pressed = true; last {
		a.Given, a.settleBy = ps.env.Now(), ps.env.Now().Add(answerSettles)
	}
	return ps.env.Link().InputLater(data, a.mark(last))
}

// toldWithin is how long what tells that a dialog is open is waited for while it
// says something else.
const toldWithin = 2 * time.Second

// stood is for how long the screen must have shown what the key is for.
func stood(step agent.Step, p detect.Pending) time.Duration {
	switch {
	case step.Told && p.Waits:
		return 0
	case step.Told && p.Busy:
		return max(step.Stood, toldWithin)
	}
	return step.Stood
}

// stepBytes is a key, or a text as a paste. Without that mode the end of a line
// would be a key too.
func stepBytes(step agent.Step, modes terminal.Modes) ([]byte, error) {
	if step.Key != "" {
		return terminal.EncodeKey(step.Key, modes)
	}
	text := agent.CleanMessage(step.Paste)
	switch {
	case modes.BracketedPaste:
		text = "\x1b[200~" + text + "\x1b[201~"
	case strings.ContainsAny(text, "\n\t"):
		return nil, api.Errorf(api.CodeNotReady, "its terminal takes no paste now, and the answer has several lines or a tab: nothing of it was typed")
	}
	return []byte(text), nil
}
