package sessions

import (
	"context"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
)

// Said is the last message of an agent's turn.
type Said struct {
	Text string   `json:"text"`
	Time api.Time `json:"time"`
	Turn string   `json:"turn,omitempty"` // the agent's id of it

	Conversation string `json:"conversation,omitempty"` // the agent's id of the one it was said in

	Usage *Usage `json:"usage,omitempty"` // of its turn, as far as known
}

// lastSaid is the last message with what its turn took, as far as known now. One
// of a conversation that the agent has left, by a clear or a start without taking
// it up, is not its last any more.
func (c *core) lastSaid() *Said {
	d := c.detection
	if d == nil {
		return c.said
	}
	here := func(said *Said) bool {
		now := d.fold.Status().Conversation
		return said != nil && (said.Conversation == "" || now == "" || said.Conversation == now)
	}
	switch {
	case d.said == nil && here(c.said):
		return c.said
	case !here(d.said):
		return nil
	}
	said := *d.said
	if u := d.meter.usage(said.Turn); u != nil {
		said.Usage = u
	}
	return &said
}

// turnWatch follows the turn that a message began. The loop owns it.
type turnWatch struct {
	since  time.Time
	id     string // of the turn; empty when the agent gives none
	queued bool   // the turn that takes the message has not begun
	typed  string // the message
	typist agent.MessageTyper
	ended  []agent.Fact
	begun  []agent.Fact // turns that began since
	cut    bool         // the program has ended
}

// turnsWatched bounds what is kept of turns that end or begin while it is not
// known yet which is the one.
const turnsWatched = 16

func (w *turnWatch) fact(f agent.Fact) {
	if f.Agent != "" || !f.At.IsZero() && f.At.Before(w.since) {
		return // a log tells of the turn before
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
	return w.typist != nil && w.typist.Same(w.typed, f.Text)
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

// message is the last one of the turn, by whoever told of its end with words.
func (w *turnWatch) message(end agent.Fact) *string {
	for _, f := range w.ended {
		if (f.Turn == end.Turn || end.Turn == "") && f.Text != "" { // a source without words and names may be first
			return &f.Text
		}
	}
	return &end.Text
}

// next says whether another turn has begun behind it.
func (w *turnWatch) next() bool {
	at := slices.IndexFunc(w.begun, func(f agent.Fact) bool { return f.Turn == w.id })
	return at >= 0 && slices.ContainsFunc(w.begun[at:], func(f agent.Fact) bool { return f.Turn != w.id })
}

func (d *detection) unwatch(w *turnWatch) {
	d.watches = slices.DeleteFunc(d.watches, func(o *turnWatch) bool { return o == w })
}

// Turn is how the turn of a message stands.
type Turn struct {
	State   agent.State
	Message *string // the agent's last one in it, nil before its end and after an interrupt
	Usage   *Usage  // nil when not known
}

// inferredHolds is how long a turn's end that the agent itself did not tell must
// be believed: the state of the turn before may be reported late, and then the
// new one's follows.
const inferredHolds = 500 * time.Millisecond

// Await returns when the turn that took the message is over, or has come to a
// prompt; with the context's error before that. Forget is called in any case.
func (s *Session) Await(ctx context.Context, n Nudged) (Turn, error) {
	changed, stop := s.Subscribe()
	defer stop()
	var rested time.Time
	for {
		t, err := ask(ctx, s, func(c *core) (standing, error) { return n.turn.stands(c.state, c.detection.keeps()), nil })
		if err != nil {
			return Turn{State: s.Status().Now}, err
		}
		if !t.inferred {
			rested = time.Time{}
		} else if rested.IsZero() {
			rested = s.reg.now()
		}
		if t.over || t.inferred && s.reg.now().Sub(rested) >= inferredHolds {
			t.Usage = s.used(ctx, t.turn, t.State != agent.Prompt)
			return t.Turn, nil
		}
		wait := time.Hour
		if t.inferred {
			wait = inferredHolds
		}
		if err := pauseFor(ctx, changed, wait); err != nil {
			return Turn{State: s.Status().Now}, err
		}
	}
}

// standing is how a turn stands at a moment.
type standing struct {
	Turn
	turn     string // the agent's id of it
	over     bool   // or at a prompt
	inferred bool   // nobody told of its end, and the agent is at rest
}

// stands: keeps says that the agent shows messages that it keeps for later.
func (w *turnWatch) stands(state agent.State, keeps bool) standing {
	if w.cut { // and may have been started again
		state = agent.Exited
	}
	t := standing{Turn: Turn{State: state}, turn: w.id}
	end, told := w.over()
	if told = told && !w.queued; told {
		t.turn = end.Turn
	}
	if told && end.How == agent.Completed {
		t.Message = w.message(end)
	}
	switch state {
	case agent.Exited, agent.Prompt:
		t.over = true
	case agent.Idle, agent.InError:
		t.over, t.inferred = told, !told && !(w.queued && keeps)
	default: // of one that cannot be asked now, nobody knows whether it works
		t.over = told && w.next()
	}
	return t
}

// keeps says that the screen shows messages that the agent keeps for later. The
// detection may be nil.
func (d *detection) keeps() bool { return d != nil && d.reading != nil && len(d.reading.Queued) > 0 }

// Forget ends what follows the turn of a message.
func (s *Session) Forget(ctx context.Context, n Nudged) {
	if n.turn == nil {
		return
	}
	_ = s.do(context.WithoutCancel(ctx), func(c *core) { // a loop that has ended follows nothing
		if c.detection != nil {
			c.detection.unwatch(n.turn)
		}
	})
}
