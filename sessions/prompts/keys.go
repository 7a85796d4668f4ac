package prompts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/hold"
	"berth/sessions/loop"
	"berth/terminal"
)

// firstWithin and stepWithin are how long to wait until the screen shows what a key is for. After firstWithin the
// keys are computed again from the new screen. A later key waits longer, because half an answer is worse than a
// late one. Claude took up to 3 s to read a key at eight times the load that the machine can carry.
const (
	firstWithin = time.Second
	stepWithin  = 10 * time.Second
	// lostAfter is how long an agent may take to draw what a key does before the key counts as lost.
	lostAfter = 5 * time.Second
	// lastWithin is how long other clients' keys wait after the last one.
	lastWithin = 3 * time.Second
	lookAgain  = 50 * time.Millisecond // poll, because a synchronized update without an end publishes no change
	// soonAgain is the poll while the program is to read a report. A program that has read it within proofLasts isn't busy. Claude
	// Code 2.1.197 had read it when the key came 9 ms later, on a machine with four times the work it can do. At a form it is formProofLasts.
	soonAgain      = 2 * time.Millisecond
	proofLasts     = 250 * time.Millisecond
	formProofLasts = 50 * time.Millisecond
	// aloneLasts is how long the processes of the session aren't read again while a report is to be read.
	aloneLasts = 10 * time.Millisecond
	// pictureLasts is how old the picture may be when its key is typed. The checks after it take 1 ms. A form can be withdrawn at any
	// moment. Other dialogs end by a key or by a hook's answer, and may be answered on a machine with 10 times the work it can do.
	pictureLasts     = 250 * time.Millisecond
	formPictureLasts = 30 * time.Millisecond
)

var (
	errNotShown = errors.New("the screen doesn't show what the key is for")
	errDeaf     = errors.New("its program is stopped or has not read what was typed before, or another one holds its terminal, so its screen may be of the past")
	errBusy     = errors.New("its program is busy and doesn't read keys at once, so its screen may be of the past")
	errEarlier  = errors.New("the server before this one has pressed a key at a dialog, which may not have had its effect yet")
	errNext     = errors.New("another prompt waits, and a form can be withdrawn at any moment: the key would then reach that one")
	errShared   = errors.New("another program may read its terminal too, and could get the key")
)

// giveByKeys presses the keys of an answer under the lease, each only if the screen shows what it is for. After it
// has the lease it presses all of them, even if the caller leaves, because half an answer helps no one.
func (ps *Prompts) giveByKeys(ctx context.Context, claim loop.Claim, p detect.Pending, k agent.KeyAnswer) (*answering, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	attached := context.AfterFunc(ctx, cancel)
	defer attached()
	var a *answering
	pressed, whole := false, false
	err := ps.env.Deliver(own, claim, func(write loop.Write) error {
		begun, err := loop.Ask(own, ps.env.Do, func() (*answering, error) { return ps.beginAnswer(claim, p, agent.ChannelKeys, k.Outcome) })
		if err != nil {
			return err
		}
		if a = begun; !attached() {
			return ctx.Err() // the caller left before the first key
		}
		for i, step := range k.Steps {
			within := stepWithin
			if i == 0 {
				within = firstWithin
			}
			last := i == len(k.Steps)-1
			step.Focus = step.Focus || k.Steps[0].Focus
			var before *agent.Step // which may be pressed again
			if i > 0 && k.Steps[i-1].Again {
				before = &k.Steps[i-1]
			}
			if step.Focus && i == 0 {
				if err := ps.press(own, write, a, focusOf(step), nil, within, false); err != nil {
					return err
				}
			}
			if err := ps.press(own, write, a, step, before, within, last); err != nil {
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
			whole = !a.Given.IsZero()
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
			if ps.program == a.program { // else there is no dialog any more that a key has reached
				ps.typed(ps.env.Now(), false)
			}
		})
	}
	if pressed && (!whole || maySoon(err)) { // what was begun is not begun again
		err = ps.half(ctx, p.Request, err)
	}
	return nil, err
}

// half is the error for an answer that stopped after its first key.
func (ps *Prompts) half(ctx context.Context, p *agent.Request, err error) error {
	code, why := api.CodeNotReady, fmt.Sprintf("%v", err)
	var told *api.Error
	switch {
	case ctx.Err() != nil:
		return err // the caller is gone
	case errors.Is(err, errHookGone):
		code, why = api.CodeStalePrompt, "the dialog was answered or left meanwhile"
	case errors.Is(err, errOthersType):
		code, why = api.CodeStalePrompt, "another client typed at the dialog meanwhile"
	case errors.As(err, &told):
		if code, why = told.Code, told.Message; code == api.CodeExited {
			return err
		}
	}
	name := ps.env.Standing().Name
	return api.Errorf(code, "only a part of the answer was typed: %s. Look at screen %s. If its dialog is still open, finish the answer there: attach %s", why, name, name).
		With("prompt", p.ID).With("lines", ps.drawn(ctx))
}

// focusWorks is the wait between a report of the focus and the key. No program draws anything that
// would show that it took the report. Claude Code 2.1.330 took a key 0, 1, 100 and 300 ms after the
// report in 23 of 23 tries, at a load of 3 to 15; 0 is one write with the report. The dialog had been
// drawn for 0.7 s. It took the key also without a report, in 7 of 7 tries: these tries did not meet
// the state that the report ends, so they don't show that a shorter wait is enough. A key 0.1 to
// 0.4 s after the dialog was drawn had no effect in 19 of 20 tries, whatever the wait was.
const focusWorks = 300 * time.Millisecond

// focusOf is a step that only reports a change of the focus, in preparation of the next one.
func focusOf(step agent.Step) agent.Step {
	return agent.Step{Focus: true, Ready: step.Ready, Wants: step.Wants, ShownFor: step.ShownFor, LevelSuffices: step.LevelSuffices, Pause: focusWorks}
}

// press presses one key once the screen shows what it wants. If it doesn't come to show that, the key before may have been
// lost.
func (ps *Prompts) press(ctx context.Context, write loop.Write, a *answering, step agent.Step, before *agent.Step, within time.Duration, last bool) error {
	changed, stop := ps.env.Changed()
	defer stop()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	var lost <-chan time.Time
	if before != nil {
		timer := time.NewTimer(lostAfter)
		defer timer.Stop()
		lost = timer.C
	}
	var m moment
	for {
		err := write(func() (<-chan error, error) { return ps.pressIf(a, step, last, &m) })
		if errors.Is(err, hold.ErrLate) {
			if err := ps.env.Do(ctx, func() { ps.late(a, &m) }); err != nil {
				return err
			}
			err = errBusy
		}
		clear := !errors.Is(err, errNotShown)
		passes := slices.ContainsFunc([]error{errDeaf, errBusy, errNext, errShared, errContested}, func(target error) bool { return errors.Is(err, target) })
		if clear && !passes && (err != nil || !m.proving) {
			if err != nil {
				return err
			}
			break
		}
		if err == nil { // the program reads a report now
			err = errBusy
		}
		if again.Reset(lookAgain); ps.env.Now().Sub(m.reported) <= formProofLasts {
			again.Reset(soonAgain)
		}
		select {
		case <-changed:
		case <-again.C:
		case <-lost:
			anew, now := *before, moment{shown: ps.env.Now()}
			anew.ShownFor, anew.Focus = 0, false
			if err := write(func() (<-chan error, error) { return ps.pressIf(a, anew, false, &now) }); errors.Is(err, errBusy) || errors.Is(err, hold.ErrLate) {
				lost = time.After(lookAgain)
			} else if err != nil && !errors.Is(err, errNotShown) {
				return err
			}
		case <-deadline.C:
			if !a.pressed { // written on the loop, before the steps that asked for it returned
				if clear {
					return err
				}
				return fmt.Errorf("%w: the dialog does not show %s", agent.ErrNotReady, step.Wants)
			}
			if !clear {
				err = fmt.Errorf("the dialog does not show %s", step.Wants)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// The last key has had its effect when the prompt is closed. If the agent reads another client's key
	// together with it, it ignores both.
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

// drawn are the lines of the dialog on the screen.
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

// moment is when a key may be pressed. Only the loop uses it.
type moment struct {
	shown    time.Time // since when the screen shows what a later key is for
	alone    time.Time // when the session's processes were read, and none may take the key
	reported time.Time // when a report was typed that the program is to read before the key
	proving  bool      // that report was typed now, and not the key
	first    bool      // the key was typed now, and is the answer's first
}

// unproved reports whether the program is to read a report first: it has read none yet, or so late that it was busy.
func (m *moment) unproved(now time.Time, within time.Duration) bool {
	if now.Sub(m.reported) <= within {
		return false
	}
	m.reported = now
	return true
}

// pressIf checks the current screen and presses the key in the same step of the loop.
//
// A process of the session can make the agent busy, such as by a server's huge answer, while a dialog is on the screen, and have
// that dialog closed at its end: the agent would read the key after that, at the next dialog. So an agent that knows reports of the
// focus first reads one, and must then not be busy. The report is typed whether or not the terminal's mode asks for it: any process
// of the session can turn the mode off.
//
// Such a process can also make the checks slow, by many processes and open files, and have the dialog closed meanwhile. So what
// reads all processes comes first, and then the newest picture. The other checks take less than a millisecond.
func (ps *Prompts) pressIf(a *answering, step agent.Step, last bool, m *moment) (<-chan error, error) {
	m.proving, m.first = false, false
	if _, _, err := ps.stillAsks(a, step, m); err != nil {
		return nil, err
	}
	if ps.env.Now().Sub(m.alone) > aloneLasts {
		if ps.env.Halted() {
			return nil, errDeaf
		}
		if ps.env.Shared() {
			return nil, errShared
		}
		m.alone = ps.env.Now()
	}
	began, lasts, within := ps.env.Now(), pictureLasts, proofLasts
	if a.Type == agent.PromptForm {
		lasts, within = formPictureLasts, formProofLasts
	}
	p, modes, err := ps.stillAsks(a, step, m)
	switch {
	case err != nil:
		return nil, err
	case ps.env.Deaf():
		return nil, errDeaf
	case ps.env.Busy():
		return nil, errBusy
	}
	if !a.pressed && !p.Shown.IsZero() {
		m.shown = p.Shown
	} else if m.shown.IsZero() {
		m.shown = ps.env.Now()
	}
	switch now := ps.env.Now(); {
	case now.Sub(m.shown) < shownFor(step, p):
		return nil, errNotShown
	case now.Sub(began) > lasts:
		return nil, errBusy
	}
	typed := func(data []byte, last, focus bool) (<-chan error, error) {
		one := *a
		one.Focus = focus
		return ps.env.Link().InputWithin(lasts-ps.env.Now().Sub(began), data, one.mark(last))
	}
	if step.Key == "" && step.Paste == "" {
		return typed([]byte("\x1b[O\x1b[I"), false, true)
	}
	if m.proving = step.Focus && m.unproved(ps.env.Now(), within); m.proving {
		return typed([]byte("\x1b[I"), false, true)
	}
	_, ruled := ps.env.Driver().(agent.RulesNamer)
	data, err := stepBytes(step, modes.ForAnswers(ruled))
	if err != nil {
		return nil, err
	}
	m.first, a.pressed = !a.pressed, true
	if last {
		a.Given, a.settleBy = ps.env.Now(), ps.env.Now().Add(answerSettles)
	}
	return typed(data, last, false)
}

// late takes back that a key or a report was typed: the holder couldn't do it in time.
func (ps *Prompts) late(a *answering, m *moment) {
	if m.first {
		a.pressed = false
	}
	if m.reported = (time.Time{}); !m.proving {
		a.Given, a.settleBy = time.Time{}, time.Time{}
	}
}

// stillAsks returns the answer's prompt, if the newest picture shows its dialog and what the key is for.
func (ps *Prompts) stillAsks(a *answering, step agent.Step, m *moment) (detect.Pending, terminal.Modes, error) {
	reading, modes, ok := ps.env.Look() // other clients' input may be unread
	if !ok || !ps.followed {
		return detect.Pending{}, modes, errNotShown
	}
	p, ok := ps.env.Fold().Pending(a.Prompt)
	if !ok || a.judged {
		return p, modes, errHookGone // answered meanwhile
	}
	if !a.pressed && p.Request.Digest != a.Digest {
		return p, modes, errHookGone // it shows something else since the answer was begun
	}
	if p.Disputed && reading.Dialog != nil {
		m.shown = time.Time{}
		return p, modes, errContested
	}
	unread := func() bool { return !a.pressed && !reflect.DeepEqual(reading.Dialog, p.Dialog) } // the digest is of an earlier picture
	if reading.Dialog == nil || !ps.env.Fold().Asks(reading.Dialog, a.Prompt) || unread() || step.Ready != nil && !step.Ready(reading) {
		m.shown = time.Time{}
		return p, modes, errNotShown
	}
	switch {
	case ps.othersJustTyped(a.Opened):
		return p, modes, errOthersType
	case p.Next != "" && a.Outcome != agent.OutcomeCancelled: // Esc allows nothing
		return p, modes, errNext
	}
	return p, modes, nil
}

// earlierKeys reports whether an answer by keys of an earlier server isn't judged yet. The dialog on the screen may be its, also
// under another id, if no checkpoint has the prompt. Another key could then reach the next dialog.
func (ps *Prompts) earlierKeys() bool {
	for _, a := range ps.answers {
		if a.done == nil && a.Hook == "" && !a.judged {
			return true
		}
	}
	return false
}

// levelWithin is how long a key waits for a level source to report the open dialog, while the
// source still reports work.
const levelWithin = 2 * time.Second

// shownFor is how long the screen must have shown the key's dialog or page.
func shownFor(step agent.Step, p detect.Pending) time.Duration {
	switch {
	case p.GivesWay:
		return max(step.ShownFor, detect.EarlierWithin)
	case step.LevelSuffices && p.Waits:
		return 0
	case step.LevelSuffices && p.Busy:
		return max(step.ShownFor, levelWithin)
	}
	return step.ShownFor
}

// stepBytes is the bytes of a key, or of a text as a paste. Without bracketed paste a line's end would be a key.
func stepBytes(step agent.Step, modes terminal.Modes) ([]byte, error) {
	if step.Key != "" {
		return terminal.EncodeKey(step.Key, modes)
	}
	text := agent.CleanMessage(step.Paste)
	switch {
	case modes.BracketedPaste:
		text = "\x1b[200~" + text + "\x1b[201~"
	case strings.ContainsAny(text, "\n\t"):
		return nil, api.Errorf(api.CodeNotReady, "its terminal takes no paste now, and the text has several lines or a tab. The text was not typed")
	}
	return []byte(text), nil
}
