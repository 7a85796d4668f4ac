package outbox

import (
	"berth/sessions/loop"
	"context"
	"slices"
	"time"

	"berth/agent"
)

// turnWatch follows the turn that a message began. The loop owns it.
type turnWatch struct {
	since  time.Time
	id     string // of the turn; empty when the agent gives none
	queued bool   // the turn that takes the message has not begun
	typed  string // the message
	typer  agent.MessageTyper
	ended  []agent.Fact
	begun  []agent.Fact // turns that began since
	cut    bool         // the program has ended
}

// turnsWatched bounds what is kept of turns that end or begin while it is not
// known yet which is the one.
const turnsWatched = 16

func (w *turnWatch) fact(f agent.Fact) {
	if f.Agent != "" || !f.At.IsZero() && f.At.Before(w.since) {
		return // a log entry about the turn before
	}
	switch {
	case f.Kind == agent.TurnEnded && len(w.ended) < turnsWatched:
		w.ended = append(w.ended, f)
	case f.Kind == agent.TurnStarted && len(w.begun) < turnsWatched:
		w.begun = append(w.begun, f)
	}
	if w.queued && f.Kind == agent.TurnStarted && w.takes(f) {
		w.id, w.queued = f.Turn, false
		w.ended = nil // of turns before it
	}
}

// takes says whether the turn that begins is the one with the message.
func (w *turnWatch) takes(f agent.Fact) bool {
	return w.typer != nil && w.typer.Same(w.typed, f.Text)
}

// wait has the watch look for the turn that takes a message which the agent
// keeps for later; it may have begun by now.
func (w *turnWatch) wait() {
	w.queued = true
	for _, f := range slices.Clone(w.begun) {
		if w.takes(f) {
			w.id, w.queued = f.Turn, false
		}
	}
}

// over is the turn's end by the agent's own word. Messages that are delivered
// together each begin a turn, and the end may be that of any of them.
func (w *turnWatch) over() (agent.Fact, bool) {
	ours := false
	ids := []string{w.id, ""}
	for _, f := range w.begun {
		if ours = ours || f.Turn == w.id; ours {
			ids = append(ids, f.Turn)
		}
	}
	for _, f := range w.ended {
		if w.id == "" || slices.Contains(ids, f.Turn) {
			return f, true
		}
	}
	return agent.Fact{}, false
}

// message is the last one of the turn, from the source that reported its end with words. A source
// without words and names may be the first to report the end: then the first end with words is the
// turn's. Of a turn with a name, the newest words are all of them.
func (w *turnWatch) message(end agent.Fact) *string {
	turn, text := end.Turn, end.Text
	for _, f := range w.ended {
		if f.Text == "" || turn != "" && f.Turn != turn {
			continue
		}
		if turn, text = f.Turn, f.Text; turn == "" {
			break // a later end without a name is another turn's
		}
	}
	return &text
}

// next says whether another turn has started after it.
func (w *turnWatch) next() bool {
	at := slices.IndexFunc(w.begun, func(f agent.Fact) bool { return f.Turn == w.id })
	return at >= 0 && slices.ContainsFunc(w.begun[at:], func(f agent.Fact) bool { return f.Turn != w.id })
}

func (out *Outbox) unwatch(w *turnWatch) {
	out.watches = slices.DeleteFunc(out.watches, func(o *turnWatch) bool { return o == w })
}

// Turn is the state of a message's turn.
type Turn struct {
	ID      string // the agent's id of it; empty when it gives none
	State   agent.State
	Message *string // the agent's last one in it, nil before its end and after an interrupt
}

// inferredHolds is how long a turn's end that the agent itself did not tell must
// be believed: the state of the turn before may be reported late, and then the
// new one's follows.
const inferredHolds = 500 * time.Millisecond

// Await returns when the turn that took the message is over, or has come to a
// prompt; with the context's error before that. Forget is called in any case.
func (out *Outbox) Await(ctx context.Context, n Nudged) (Turn, error) {
	changed, stop := out.env.Changed()
	defer stop()
	var rested time.Time
	for {
		t, err := loop.Ask(ctx, out.env.Do, func() (standing, error) { return n.turn.standingNow(out.env.Program().State, out.env.Keeps()), nil })
		if err != nil {
			return Turn{State: out.env.Standing().State}, err
		}
		if !t.inferred {
			rested = time.Time{}
		} else if rested.IsZero() {
			rested = out.env.Now()
		}
		if t.over || t.inferred && out.env.Now().Sub(rested) >= inferredHolds {
			return t.Turn, nil
		}
		wait := time.Hour
		if t.inferred {
			wait = inferredHolds
		}
		if err := loop.Pause(ctx, changed, wait); err != nil {
			return Turn{State: out.env.Standing().State}, err
		}
	}
}

// standing is the state of a turn at a moment.
type standing struct {
	Turn
	over     bool // or at a prompt
	inferred bool // no source reported its end, and the agent is at rest
}

// standingNow returns that state: keeps says that the agent shows messages that it keeps for later.
func (w *turnWatch) standingNow(state agent.State, keeps bool) standing {
	if w.cut { // and may have been started again
		state = agent.Exited
	}
	t := standing{Turn: Turn{ID: w.id, State: state}}
	end, told := w.over()
	if told = told && !w.queued; told {
		t.ID = end.Turn
	}
	if told && end.How == agent.Completed {
		t.Message = w.message(end)
	}
	switch state {
	case agent.Exited, agent.Prompt:
		t.over = true
	case agent.Idle, agent.InError, agent.Parked:
		t.over, t.inferred = told, !told && !(w.queued && keeps)
		if wordless := t.Message != nil && *t.Message == "" && end.Turn == "" && end.Source == agent.SourceLog; wordless {
			t.over, t.inferred = false, true // a log may have the end before the turn and its words
		}
	default: // an agent that can't be reached now may be working
		t.over = told && w.next()
	}
	return t
}

// Forget ends what follows the turn of a message.
func (out *Outbox) Forget(ctx context.Context, n Nudged) {
	if n.turn == nil {
		return
	}
	_ = out.env.Do(context.WithoutCancel(ctx), func() { // a loop that has ended follows nothing
		out.unwatch(n.turn)
	})
}
