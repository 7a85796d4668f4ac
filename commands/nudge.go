package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// Nudged is the answer of nudge. What --wait waited for is null without it.
type Nudged struct {
	Session     string  `json:"session"`
	ID          string  `json:"id"`
	Delivered   bool    `json:"delivered"`
	Confirmed   bool    `json:"confirmed"`
	Nudge       string  `json:"nudge"`
	StateBefore string  `json:"state_before"`
	Evidence    string  `json:"evidence"`
	Seq         uint64  `json:"seq"`
	State       *string `json:"state"`        // at the end of the turn that took the message
	LastMessage *string `json:"last_message"` // of that turn
}

func nudgeFlags(f *pflag.FlagSet) {
	f.Bool("clear", false, "clear a draft in the composer first")
	f.Bool("stash", false, "put a draft in the composer aside, and bring it back after")
	f.Bool("command", false, "TEXT is a command of the agent's own, such as /compact")
	f.Duration("timeout", 0, "give up waiting for the turn's end after this long, with status 10")
	claimFlags(f)
}

func nudgeVerb() *Verb {
	return &Verb{
		Name: "nudge", Group: "drive", Synopsis: "S [--wait] [--timeout D] [--stash|--clear] [--command] [--wait-lock D] [--takeover] [--lease G] TEXT|-",
		Short: "give the agent a message; with --wait until the end of its turn",
		Need:  keys.Responder, Tail: true, Answer: Nudged{}, Run: nudge,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("wait", false, "until the end of the turn that took the message: status 0 idle, 20 prompt, 21 error, 22 exited")
			nudgeFlags(f)
		},
	}
}

func askVerb() *Verb {
	return &Verb{
		Name: "ask", Group: "drive", Synopsis: "S [--timeout D] [--stash|--clear] [--command] [--wait-lock D] [--takeover] [--lease G] TEXT|-",
		Short: "nudge --wait that prints only the agent's last message",
		Need:  keys.Responder, Tail: true, Answer: Nudged{}, Run: askFor, Flags: nudgeFlags, Prose: true,
	}
}

func nudge(ctx context.Context, c *Call) error {
	wait, _ := c.flags.GetBool("wait")
	if c.flags.Changed("timeout") && !wait {
		return api.Errorf(api.CodeUsage, "nudge: --timeout is for --wait")
	}
	return c.nudge(ctx, wait, func(w io.Writer, n Nudged) {
		fmt.Fprintf(w, "%s has the message (%s)\n", n.Session, n.Evidence)
		if n.State != nil {
			fmt.Fprintf(w, "%s is %s\n", n.Session, *n.State)
		}
		if n.LastMessage != nil {
			fmt.Fprintln(w, *n.LastMessage)
		}
	})
}

func askFor(ctx context.Context, c *Call) error {
	return c.nudge(ctx, true, func(w io.Writer, n Nudged) {
		if n.LastMessage != nil {
			fmt.Fprintln(w, *n.LastMessage)
		}
	})
}

// nudge delivers the message, waits if asked to, and answers.
func (c *Call) nudge(ctx context.Context, wait bool, text func(io.Writer, Nudged)) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	message, err := c.message()
	if err != nil {
		return err
	}
	patience, cancel, err := c.timeout(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	slash, _ := c.flags.GetBool("command")
	clear, _ := c.flags.GetBool("clear")
	stash, _ := c.flags.GetBool("stash")
	if clear && stash {
		return api.Errorf(api.CodeUsage, "%s: --stash and --clear exclude each other", c.verbName())
	}
	done, err := s.Nudge(ctx, c.claim(c.verbName(), keys.Responder, s), sessions.Nudge{Text: message, Slash: slash, Clear: clear, Stash: stash})
	if err != nil {
		return err
	}
	defer s.Forget(ctx, done)
	st := s.Status()
	answer := Nudged{
		Session: st.Name, ID: st.ID, Delivered: true, Confirmed: true, Nudge: done.ID, StateBefore: string(done.Before),
		Evidence: done.Evidence, Seq: done.Seq,
	}
	show := func(w io.Writer) { text(w, answer) }
	if !wait {
		return c.answer(answer, show)
	}
	turn, err := s.Await(patience, done)
	state := string(turn.State)
	answer.State, answer.LastMessage = &state, turn.Message
	if err != nil && !errors.Is(context.Cause(patience), errWaited) {
		return err
	}
	if printed := c.answer(answer, show); printed != nil {
		return printed
	}
	if err != nil {
		return api.Errorf(api.CodeTimeout, "%s has the message and was still %s at the end of --timeout", answer.Session, state)
	}
	return c.turnStatus(s, turn.State)
}

// message is the text of a verb that has one for an agent.
func (c *Call) message() (string, error) {
	if !c.HasTail && !c.Stdin {
		return "", api.Errorf(api.CodeUsage, "%s: the message is missing", c.verbName())
	}
	text, err := c.tailBytes()
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", api.Errorf(api.CodeBadRequest, "the message is not UTF-8: nothing was typed")
	}
	return string(text), nil
}

// turnStatus is the status of a wait for a turn's end. In text the reason is
// told beside the answer.
func (c *Call) turnStatus(s *sessions.Session, state agent.State) error {
	status := map[agent.State]int{agent.Prompt: api.StatusPrompt, agent.InError: api.StatusError, agent.Exited: api.StatusExited}[state]
	if status == api.StatusDone {
		return nil
	}
	if !c.JSON {
		why := ""
		if f := s.Status().Failure; f != nil {
			why = ": " + f.Text
		}
		c.warn(fmt.Sprintf("%s is %s%s", s.Status().Name, state, why))
	}
	return statusError(status)
}

// Interrupted is the answer of interrupt.
type Interrupted struct {
	Session     string `json:"session"`
	ID          string `json:"id"`
	Delivered   bool   `json:"delivered"` // false: it was at rest, and nothing was pressed
	Confirmed   bool   `json:"confirmed"`
	StateBefore string `json:"state_before"`
	State       string `json:"state"`
	Seq         uint64 `json:"seq"`
}

func interruptVerb() *Verb {
	return &Verb{
		Name: "interrupt", Group: "drive", Synopsis: "S [--wait-lock D] [--takeover] [--lease G]", Short: "end the turn that is under way",
		Need: keys.Responder, MinArgs: 1, MaxArgs: 1, Answer: Interrupted{}, Run: interrupt, Flags: claimFlags,
	}
}

func interrupt(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	done, err := s.Interrupt(ctx, c.claim("interrupt", keys.Responder, s))
	if err != nil {
		return err
	}
	st := s.Status()
	answer := Interrupted{
		Session: st.Name, ID: st.ID, Delivered: done.Pressed, Confirmed: true, StateBefore: string(done.Before), State: string(done.State), Seq: st.Seq,
	}
	return c.answer(answer, func(w io.Writer) {
		if !answer.Delivered {
			fmt.Fprintf(w, "%s is %s: there is nothing to interrupt\n", answer.Session, answer.State)
			return
		}
		fmt.Fprintf(w, "interrupted; %s is %s\n", answer.Session, answer.State)
	})
}

// Last is the answer of last.
type Last struct {
	Session string   `json:"session"`
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Time    api.Time `json:"time"`
}

func lastVerb() *Verb {
	return &Verb{
		Name: "last", Group: "see", Synopsis: "S", Short: "the agent's last message",
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: Last{}, Run: last, Prose: true,
	}
}

func last(_ context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	st := s.Status()
	switch {
	case !st.Driven:
		return api.Errorf(api.CodeNoDriver, "%s runs %s, of which berth cannot tell what is a message; screen %s shows it", st.Name, st.Agent, st.Name).With("session", st.Name)
	case st.Said == nil:
		return api.Errorf(api.CodeNotFound, "%s has not ended a turn with a message yet", st.Name).With("session", st.Name)
	}
	return c.answer(Last{st.Name, st.ID, st.Said.Text, st.Said.Time}, func(w io.Writer) { fmt.Fprintln(w, st.Said.Text) })
}
