package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

// Nudged is the answer of nudge, for each target. The fields about the turn are null without
// --wait.
type Nudged struct {
	Session     string          `json:"session"`
	ID          string          `json:"id"`
	Delivered   bool            `json:"delivered"`
	Confirmed   bool            `json:"confirmed"`
	Queued      bool            `json:"queued"` // it is in the queue, and delivered is false
	QueueID     *string         `json:"queue_id"`
	Nudge       string          `json:"nudge"`
	StateBefore string          `json:"state_before"`
	Evidence    string          `json:"evidence"`
	ArrivedAs   *string         `json:"arrived_as"` // message; changed, if characters were added or removed; null while it waits
	Seq         uint64          `json:"seq"`
	State       *string         `json:"state"`           // at the end of the turn that took the message
	LastMessage *string         `json:"last_message"`    // of that turn
	Usage       *sessions.Usage `json:"usage"`           // of that turn; null if unknown
	Error       *api.Error      `json:"error,omitempty"` // of one target of several
}

func nudgeFlags(f *pflag.FlagSet) {
	f.Bool("clear", false, "clear a draft in the composer first")
	f.Bool("stash", false, "stash a draft in the composer, and restore it afterwards")
	f.Bool("command", false, "TEXT is a command of the agent, such as /compact")
	f.Duration("timeout", 0, "stop waiting for the turn's end after this long, with status 10")
	claimFlags(f)
}

func nudgeVerb() *Verb {
	return &Verb{
		Name: "nudge", Group: "drive",
		Synopsis: "TARGET[,TARGET...] [--wait] [--timeout D] [--queue [--expires D]] [--stash|--clear] [--command] [--wait-lock D] [--takeover] [--lease G] TEXT|-",
		Short:    "send the agent a message; with --wait, wait for the end of its turn",
		Examples: []Example{
			{`nudge alpha "fix the failing test"`, "send a message"},
			{`nudge alpha --wait --timeout 1s "run the tests"`, "and wait for the end of its turn"},
			{`nudge alpha --queue "then update the docs"`, "give it when alpha is idle"},
			{`nudge alpha,beta "commit what you have"`, "to two sessions"},
		},
		Need: keys.Responder, Tail: true, Answer: Nudged{}, Run: nudge,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("wait", false, "wait for the end of the turn that took the message: status 0 idle, 20 prompt, 21 error, 22 exited")
			f.Bool("queue", false, "keep the message until the agent takes it; queue S lists the messages")
			f.Duration("expires", 0, "with --queue: drop the message when it has waited this long")
			nudgeFlags(f)
		},
	}
}

func askVerb() *Verb {
	return &Verb{
		Name: "ask", Group: "drive", Synopsis: "S [--timeout D] [--stash|--clear] [--command] [--wait-lock D] [--takeover] [--lease G] TEXT|-",
		Short: "nudge --wait, but print only the agent's answer; if it asks, how to answer is on the error stream",
		Examples: []Example{
			{`ask alpha --timeout 1s "which test failed?"`, "print the agent's answer"},
		},
		Need: keys.Responder, Tail: true, Answer: Nudged{}, Run: askFor, Flags: nudgeFlags, Prose: true,
	}
}

// task is what one call of nudge or ask does with each target.
type task struct {
	nudge   sessions.Nudge
	wait    bool
	queue   bool
	expires time.Duration
}

func nudge(ctx context.Context, c *Call) error {
	var e task
	e.wait, _ = c.flags.GetBool("wait")
	e.queue, _ = c.flags.GetBool("queue")
	e.expires, _ = c.flags.GetDuration("expires")
	switch {
	case c.flags.Changed("timeout") && !e.wait:
		return api.Errorf(api.CodeUsage, "nudge: --timeout needs --wait")
	case c.flags.Changed("expires") && !e.queue:
		return api.Errorf(api.CodeUsage, "nudge: --expires needs --queue")
	case c.flags.Changed("expires") && e.expires <= 0:
		return api.Errorf(api.CodeUsage, "nudge: --expires must be above 0, such as 1h")
	case e.queue && c.Identity().Kind == keys.KindAgent:
		return api.Errorf(api.CodeDenied, "nudge --queue: a process inside a session can't queue messages. Send the message without --queue").With("verb", "nudge").With("identity", c.Identity().Name)
	case e.queue && (c.flags.Changed("lease") || c.flags.Changed("takeover") || c.flags.Changed("wait-lock")):
		return api.Errorf(api.CodeUsage, "nudge: --lease, --takeover and --wait-lock have no use with --queue: a queued message waits until the input is free")
	}
	list, err := c.targets(strings.Split(c.Args[0], ","), needsOne)
	if err != nil {
		return err
	}
	if len(list) > 1 && c.flags.Changed("lease") {
		return api.Errorf(api.CodeUsage, "nudge: --lease is for a single session")
	}
	return c.nudge(ctx, list, e, func(w io.Writer, n Nudged) {
		switch {
		case n.Queued:
			fmt.Fprintf(w, "%s has queued the message as %s\n", n.Session, *n.QueueID)
		default:
			fmt.Fprintf(w, "%s took the message (%s)\n", n.Session, n.Evidence)
		}
		if n.State != nil {
			fmt.Fprintf(w, "%s is %s\n", n.Session, *n.State)
		}
		if n.LastMessage != nil {
			fmt.Fprintln(w, *n.LastMessage)
		}
	})
}

func askFor(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	return c.nudge(ctx, []*sessions.Session{s}, task{wait: true}, func(w io.Writer, n Nudged) {
		if n.LastMessage != nil {
			fmt.Fprintln(w, *n.LastMessage)
		}
	})
}

// nudge sends the message to each session of the list, waits if asked to, and answers.
func (c *Call) nudge(ctx context.Context, list []*sessions.Session, e task, text func(io.Writer, Nudged)) error {
	message, err := c.message()
	if err != nil {
		return err
	}
	patience, cancel, err := c.timeout(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	e.nudge.Text = message
	e.nudge.Slash, _ = c.flags.GetBool("command")
	e.nudge.Clear, _ = c.flags.GetBool("clear")
	e.nudge.Stash, _ = c.flags.GetBool("stash")
	if e.nudge.Clear && e.nudge.Stash {
		return api.Errorf(api.CodeUsage, "%s: --stash and --clear exclude each other", c.verbName())
	}
	return c.each(ctx, list, func(s *sessions.Session) result {
		answer, status, err := c.nudgeOne(ctx, patience, s, e)
		return result{
			err: err, status: status, partly: answer.State != nil,
			answer: func(failed *api.Error) any {
				answer.Error = failed
				return answer
			},
			text: func(w io.Writer) { text(w, answer) },
		}
	})
}

// nudgeOne sends the message to one session.
func (c *Call) nudgeOne(ctx, patience context.Context, s *sessions.Session, e task) (Nudged, int, error) {
	st := s.Status()
	answer := Nudged{Session: st.Name, ID: st.ID, StateBefore: string(st.Now)}
	claim := c.claim(c.verbName(), keys.Responder, s)
	var done sessions.Nudged
	var err error
	if e.queue {
		done, err = c.enqueue(ctx, patience, s, claim, e, &answer)
	} else {
		done, err = s.Nudge(ctx, claim, e.nudge)
	}
	defer s.Forget(ctx, done)
	if done.Before != "" {
		answer.StateBefore = string(done.Before)
	}
	answer.Nudge, answer.Evidence, answer.Seq = done.ID, done.Evidence, done.Seq
	if err != nil || answer.Queued {
		return answer, c.overStatus(s, answer), err
	}
	answer.Delivered, answer.Confirmed, answer.ArrivedAs = true, true, &done.Arrived
	if !e.wait {
		return answer, 0, nil
	}
	turn, err := s.Await(patience, done)
	if err := c.may(c.verbName(), keys.Viewer, s); err != nil { // a turn may take hours
		return answer, 0, err
	}
	state := string(turn.State)
	answer.State, answer.LastMessage, answer.Usage = &state, turn.Message, turn.Usage
	if err != nil && errors.Is(context.Cause(patience), errWaited) {
		return answer, 0, api.Errorf(api.CodeTimeout, "%s took the message, and was still %s when --timeout ended", answer.Session, state)
	}
	if err != nil {
		answer.State = nil
		return answer, 0, err
	}
	return answer, c.turnStatus(s, turn.State), nil
}

// enqueue puts the message into the session's queue. It returns the delivery's outcome if that
// is known at once or was waited for.
func (c *Call) enqueue(ctx, patience context.Context, s *sessions.Session, claim sessions.Claim, e task, answer *Nudged) (sessions.Nudged, error) {
	ticket, err := s.Enqueue(ctx, claim, e.nudge, e.expires)
	if err != nil {
		return sessions.Nudged{}, err
	}
	defer ticket.Close()
	answer.QueueID = &ticket.ID
	parked := ticket.Parked
	if e.wait {
		parked = nil
	}
	changed, stop := s.Subscribe()
	defer stop()
	for {
		select {
		case done := <-ticket.Done:
			return done.Nudged, done.Err
		case <-parked:
			answer.Queued = true
			return sessions.Nudged{}, nil
		case <-changed:
			if e.wait && s.Status().Over() { // otherwise the call would wait for a restart
				state := string(agent.Exited)
				answer.Queued, answer.State = true, &state
				return sessions.Nudged{}, nil
			}
		case <-patience.Done():
			answer.Queued = true
			if errors.Is(context.Cause(patience), errWaited) {
				return sessions.Nudged{}, api.Errorf(api.CodeTimeout, "the message was still in the queue of %s, as %s, when --timeout ended", answer.Session, ticket.ID)
			}
			return sessions.Nudged{}, patience.Err()
		}
	}
}

// overStatus is the exit status of an answer that came before the message was delivered.
func (c *Call) overStatus(s *sessions.Session, n Nudged) int {
	if n.State == nil {
		return 0
	}
	return c.turnStatus(s, agent.State(*n.State))
}

// message is the text that a verb sends to an agent.
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

// turnStatus is the exit status of a wait for a turn's end. With text it also writes to the error
// stream how the turn ended, unless the agent is idle.
func (c *Call) turnStatus(s *sessions.Session, state agent.State) int {
	status := map[agent.State]int{agent.Prompt: api.StatusPrompt, agent.InError: api.StatusError, agent.Parked: api.StatusError, agent.Exited: api.StatusExited}[state]
	if status != api.StatusDone && !c.JSON {
		st := s.Status()
		switch {
		case state == agent.Prompt && st.Request != nil: // what it asks, and the line that answers it
			var asked strings.Builder
			writePrompt(&asked, st.Name, st.Request, false)
			for line := range strings.Lines(asked.String()) {
				_, _ = c.Err.Write(c.lines([]byte(terminal.Printable(strings.TrimSuffix(line, "\n")) + "\n")))
			}
		case state == agent.Prompt:
			c.warn(fmt.Sprintf("%s needs an answer: prompt %s shows the question", st.Name, st.Name))
		case state == agent.Parked && st.Failure != nil && st.Failure.ResumeAt != nil:
			c.warn(fmt.Sprintf("%s has to wait until %s: %s", st.Name, st.Failure.ResumeAt.Format(api.TimeLayout), st.Failure.Text))
		case state == agent.InError && st.Failure != nil:
			c.warn(fmt.Sprintf("%s failed: %s", st.Name, st.Failure.Text))
		case state == agent.InError, state == agent.Parked:
			c.warn(fmt.Sprintf("%s failed", st.Name))
		default:
			c.warn(fmt.Sprintf("%s has exited", st.Name))
		}
	}
	return status
}
