package sessions

import (
	"context"
	"errors"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
)

const (
	// Bytes that reach the agent together with a lone Esc are read as one key
	// with it. So long they are kept apart.
	escapeApart = 100 * time.Millisecond
	// Work ended within 600 ms of an interrupt.
	interruptFor = 4 * time.Second
)

// Interrupted is what became of an interrupt.
type Interrupted struct {
	Pressed       bool // false: there was nothing to interrupt
	Before, State agent.State
}

// interruption is one try of it on the loop.
type interruption struct {
	before  agent.State
	turn    string        // under way
	pressed bool          // the key was sent
	wait    time.Duration // it may be later; 0: there is nothing to interrupt
}

// Interrupt ends the turn that is under way. Nothing is pressed when none is:
// at rest the key would mean something else, and a dialog it would refuse. Its
// errors are AGENT_BUSY at a prompt, and UNCONFIRMED when the agent works on.
func (s *Session) Interrupt(ctx context.Context, claim Claim) (Interrupted, error) {
	typist, ok := s.reg.driver(s.Status().Spec).(agent.MessageTyper)
	if !ok {
		st := s.Status()
		return Interrupted{}, api.Errorf(api.CodeNoDriver, "%s runs %s, and berth does not know which key interrupts it: use keys %s Ctrl-c, or signal %s INT", st.Name, st.Agent, st.Name, st.Name).
			With("session", st.Name)
	}
	var done Interrupted
	claim.AfterDelivery = true // the interrupt may be for the message that is being delivered
	err := s.delivery(ctx, claim, func(write writing) error {
		within, cancel := context.WithTimeoutCause(ctx, interruptFor, errNotInterrupted)
		defer cancel()
		try, err := s.tryInterrupt(within, claim, typist.Interrupt(), write)
		done = Interrupted{Pressed: try.pressed, Before: try.before, State: try.before}
		if err == nil && try.pressed {
			err = s.until(within, func(c *core) bool {
				return c.state != agent.Working || c.detection == nil || c.detection.fold.Status().Turn != try.turn
			})
		}
		done.State = s.Status().Now
		if errors.Is(context.Cause(within), errNotInterrupted) && err != nil {
			return api.Errorf(api.CodeUnconfirmed, "%s works on: the interrupt had no effect in %s", s.Status().Name, interruptFor).
				With("session", s.Status().Name).With("delivered", try.pressed).With("confirmed", false)
		}
		return err
	})
	return done, err
}

var errNotInterrupted = errors.New("it works on")

// tryInterrupt presses the key once it may be.
func (s *Session) tryInterrupt(ctx context.Context, claim Claim, key []byte, write writing) (interruption, error) {
	for {
		tries := make(chan interruption, 1)
		err := write(func(c *core) (<-chan error, error) {
			try, err := c.interrupt()
			if err != nil {
				return nil, err
			}
			tries <- try
			if !try.pressed {
				return written, nil
			}
			return c.link.InputLater(key, mark{By: claim.by(), Verb: claim.Verb}.json())
		})
		if err != nil {
			return interruption{}, err
		}
		try := <-tries
		pause := try.wait
		if try.pressed {
			pause = escapeApart // before the delivery ends and others may type
		}
		if pause == 0 {
			return try, nil
		}
		if err := sleep(ctx, pause); err != nil {
			return try, err
		}
		if try.pressed {
			return try, nil
		}
	}
}

// interrupt says whether the key may be pressed now.
func (c *core) interrupt() (interruption, error) {
	c.freshen()
	if c.link == nil || c.exit != nil || c.detection == nil {
		return interruption{}, c.exitedError()
	}
	seen := c.seen()
	try := interruption{before: c.state, turn: c.detection.fold.Status().Turn}
	switch {
	case seen.Asks || seen.Reading != nil && seen.Reading.Dialog != nil:
		return try, api.Errorf(api.CodeAgentBusy, "%s asks something, and an interrupt would refuse it%s", c.spec.Name, strings.TrimSuffix(busyRemedy(c.s.Status()), ", or add --queue")).With("session", c.spec.Name)
	case c.state == agent.Idle, c.state == agent.InError:
		return try, nil
	case c.state != agent.Working:
		return try, api.Errorf(api.CodeNotReady, "%s is %s", c.spec.Name, c.state).With("session", c.spec.Name)
	}
	try.wait = max(escapeApart-c.now().Sub(c.lastIn), 0)
	if seen.Reading == nil || seen.Reading.Composer == nil {
		try.wait = max(try.wait, screenPace)
	}
	try.pressed = try.wait == 0
	return try, nil
}

func sleep(ctx context.Context, d time.Duration) error { return pauseFor(ctx, nil, d) }
