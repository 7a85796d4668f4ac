package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/events"
)

const (
	// quietEvents is how long no event comes before a wait has read all that there are.
	quietEvents = 200 * time.Millisecond
	// quietLook is how often a quiet session is looked at after that.
	quietLook = 2 * time.Second
	// turnless is how long an agent stays idle after it took a message until the message is one without a turn, such
	// as a command of the agent's own.
	turnless = 2 * time.Second
)

// queuedTurn follows one queued message by the session's events, so that it is known too after the server was
// killed.
type queuedTurn struct {
	c       *Call
	s       *sessions.Session
	id      string
	taken   bool
	takenAt time.Time // when the wait saw it
	moved   bool      // the state has changed since
	seq     uint64    // of the last such event
}

// waitQueued waits for the end of the turn of a queued message. The exit status is as of nudge --wait.
func (c *Call) waitQueued(ctx context.Context, s *sessions.Session, id string) error {
	from, err := queuedFrom(id)
	if err != nil {
		return err
	}
	t := &queuedTurn{c: c, s: s, id: id}
	reader := c.Sessions.Events().FollowSession(s.ID(), from)
	look := quietEvents
	for {
		quiet, cancel := context.WithTimeout(ctx, look)
		line, err := reader.Next(quiet)
		cancel()
		if err := c.may("wait", keys.Viewer, s); err != nil {
			return err
		}
		state, over := agent.State(""), false
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			look = quietEvents
			state, over, err = t.event(line)
		case errors.Is(err, context.DeadlineExceeded):
			look = quietLook
			state, over, err = t.quiet(ctx)
		default:
			err = fmt.Errorf("read the event log: %w", err)
		}
		if err != nil {
			return err
		}
		if over {
			return t.end(ctx, state)
		}
	}
}

// queuedFrom is the number of the event after which the message's events come.
func queuedFrom(id string) (uint64, error) {
	number, err := strconv.ParseUint(strings.TrimPrefix(id, "q"), 10, 64)
	if err != nil || !strings.HasPrefix(id, "q") {
		return 0, api.Errorf(api.CodeUsage, "--queued %s isn't the id of a queued message: new, fork and nudge --queue give it, such as %s", api.Quote(id), sessions.FirstID)
	}
	return max(number, 1) - 1, nil
}

// event takes in an event of the session. over says that the turn has ended, or has come to a prompt, with that state.
func (t *queuedTurn) event(line events.Line) (state agent.State, over bool, err error) {
	if !t.taken {
		if t.taken, err = sessions.QueuedTaken(line, t.id); t.taken {
			t.takenAt = t.c.Now()
		}
		return "", false, err
	}
	if line.Type != "state_change" {
		return "", false, nil
	}
	t.moved, t.seq = true, line.Seq
	next, _ := sessions.NextState(line.Raw)
	switch next {
	case agent.Idle, agent.InError, agent.Exited:
		return next, true, nil
	case agent.Prompt, agent.Parked: // unless it was answered since
		return next, t.s.Status().StateSeq <= line.Seq, nil
	}
	return "", false, nil
}

// quiet looks at the session when there are no more events.
func (t *queuedTurn) quiet(ctx context.Context) (state agent.State, over bool, err error) {
	st := t.s.Status()
	switch {
	case st.Over():
		return agent.Exited, true, nil
	case t.taken:
		rests := st.Now == agent.Idle && !t.moved
		return st.Now, rests && t.c.Now().Sub(t.takenAt) > turnless, nil
	}
	list, err := t.s.Queue(ctx)
	if err != nil {
		return "", false, err
	}
	if slices.ContainsFunc(list, func(q sessions.Queued) bool { return q.QueueID == t.id }) {
		return "", false, nil
	}
	if head := t.s.Status().Seq; head > st.Seq {
		return "", false, nil // its events came just now
	}
	return "", false, api.Errorf(api.CodeNotFound, "%s has no queued message %s, and no event of one is kept: queue %s lists the messages", st.Name, api.Quote(t.id), st.Name).
		With("session", st.Name).With("queue_id", t.id)
}

// end answers as wait does, once the session's status has the last event.
func (t *queuedTurn) end(ctx context.Context, state agent.State) error {
	changed, stop := t.s.Subscribe()
	defer stop()
	for t.s.Status().StateSeq < t.seq {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	st := t.s.Status().State(t.c.Now())
	if err := t.c.answer(st, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", st.Session, state) }); err != nil {
		return err
	}
	if status := t.c.turnStatus(t.s, state); status != api.StatusDone {
		return statusError(status)
	}
	return nil
}
