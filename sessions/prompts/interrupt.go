package prompts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
)

const (
	// escapeApart is the time without input before and after a lone Esc. An agent reads bytes that arrive with
	// it as one key.
	escapeApart = 100 * time.Millisecond
	// drawnSoon is when the screen is read again, because an agent draws in several writes.
	drawnSoon = 25 * time.Millisecond
	// interruptFor is how long to wait for the turn's end. It came within 600 ms.
	interruptFor = 4 * time.Second
)

// Interrupted is the outcome of an interrupt.
type Interrupted struct {
	Pressed       bool // false: the agent had no turn to interrupt
	Before, State agent.State
}

// interruption is one try on the loop.
type interruption struct {
	before  agent.State
	turn    string        // the current turn
	pressed bool          // the key was sent
	wait    time.Duration // until the next try; 0: the agent has no turn to interrupt
}

// Interrupt ends the current turn. Without a turn it presses no key: an idle agent would do something else,
// and a dialog would be refused. It fails with AGENT_BUSY at a prompt, and with UNCONFIRMED if the agent
// still works after interruptFor.
func (ps *Prompts) Interrupt(ctx context.Context, claim loop.Claim) (Interrupted, error) {
	st := ps.env.Standing()
	typer, ok := st.Driver.(agent.MessageTyper)
	if !ok {
		return Interrupted{}, api.Errorf(api.CodeNoDriver, "%s runs %s, and berth does not know which key interrupts it: use keys %s Ctrl-c, or signal %s INT", st.Name, st.Agent, st.Name, st.Name).
			With("session", st.Name)
	}
	var done Interrupted
	claim.AfterDelivery = true // the interrupt may be for the message that is being delivered
	err := ps.env.Deliver(ctx, claim, func(write loop.Write) error {
		within, cancel := context.WithTimeoutCause(ctx, interruptFor, errNotInterrupted)
		defer cancel()
		try, err := ps.tryInterrupt(within, claim, typer.Interrupt(), write)
		done = Interrupted{Pressed: try.pressed, Before: try.before, State: try.before}
		if err == nil && try.pressed {
			err = ps.env.Until(within, func() bool {
				return ps.env.Program().State != agent.Working || !ps.followed || ps.env.Fold().Status().Turn != try.turn
			})
		}
		done.State = ps.env.Standing().State
		if errors.Is(context.Cause(within), errNotInterrupted) && err != nil {
			return api.Errorf(api.CodeUnconfirmed, "%s works on: the interrupt had no effect in %s", st.Name, interruptFor).
				With("session", st.Name).With("delivered", try.pressed).With("confirmed", false)
		}
		return err
	})
	return done, err
}

var errNotInterrupted = errors.New("the agent still works")

// tryInterrupt presses the key as soon as it is allowed.
func (ps *Prompts) tryInterrupt(ctx context.Context, claim loop.Claim, key []byte, write loop.Write) (interruption, error) {
	for {
		tries := make(chan interruption, 1)
		err := write(func() (<-chan error, error) {
			try, err := ps.interrupt()
			if err != nil {
				return nil, err
			}
			tries <- try
			if !try.pressed {
				return loop.Nothing, nil
			}
			return ps.env.Link().InputLater(key, loop.Mark{By: claim.By(), Verb: claim.Verb}.JSON())
		})
		if err != nil {
			return interruption{}, err
		}
		try := <-tries
		pause := try.wait
		if try.pressed {
			pause = escapeApart // before the delivery ends and other clients may type
		}
		if pause == 0 {
			return try, nil
		}
		if err := loop.Pause(ctx, nil, pause); err != nil {
			return try, err
		}
		if try.pressed {
			return try, nil
		}
	}
}

// interrupt decides whether the key may be pressed now.
func (ps *Prompts) interrupt() (interruption, error) {
	ps.env.Freshen()
	now := ps.env.Program()
	if !now.Reaches || !ps.followed {
		return interruption{}, ps.env.Exited()
	}
	seen := ps.env.Seen()
	try := interruption{before: now.State, turn: ps.env.Fold().Status().Turn}
	switch {
	case seen.Asks || seen.Reading != nil && seen.Reading.Dialog != nil:
		return try, asksSomething(ps.env.Standing())
	case now.State.Rests():
		return try, nil
	case now.State != agent.Working:
		return try, api.Errorf(api.CodeNotReady, "%s is %s", ps.env.Name(), now.State).With("session", ps.env.Name())
	}
	try.wait = max(escapeApart-ps.env.Now().Sub(now.LastIn), 0)
	if seen.Reading == nil || seen.Reading.Composer == nil {
		try.wait = max(try.wait, drawnSoon)
	}
	try.pressed = try.wait == 0
	return try, nil
}

// asksSomething refuses an interrupt at a prompt, and says how to answer it.
func asksSomething(st loop.Standing) error {
	remedy := "see it with: prompt " + st.Name
	if st.Prompt != nil {
		remedy = fmt.Sprintf("answer it with: respond %s --prompt %s ANSWER", st.Name, st.Prompt.ID)
	}
	return api.Errorf(api.CodeAgentBusy, "%s asks something, and an interrupt would refuse it; %s", st.Name, remedy).With("session", st.Name)
}
