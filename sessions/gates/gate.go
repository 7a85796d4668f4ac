package gates

import (
	"context"
	"encoding/json"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// gateEvent is the data of an event about the gate: it was set or opened, it held the agent back, or it let the
// agent go.
type gateEvent struct {
	Kind   string   `json:"kind"` // set, opened, blocked, let_go
	Mode   string   `json:"mode"`
	Why    string   `json:"why"`    // of let_go: report, opened, cap, allow, or why the hook got no answer
	Blocks int      `json:"blocks"` // in this turn
	Cap    int      `json:"cap"`
	By     *loop.By `json:"by"`
}

func (g *Gates) event(record uint64, kind, why string, by *loop.By) events.Event {
	set := g.env.Gate()
	return events.Event{Type: VerbGate, Cause: record, Data: gateEvent{
		Kind: kind, Mode: string(set.Shown()), Why: why, Blocks: g.turn.Blocks, Cap: set.Most(), By: by,
	}}
}

// keeping is the answer of the gate that is on its way.
type keeping struct {
	hook uint64     // the hook that was answered or released
	link *hold.Link // the link that it was answered over
}

// Fact handles the start or the end of a turn of the session's conversation. hook is the record of the hook that
// reported it, and waits reports whether the hook waits for an answer. If the gate holds the agent back, the turn
// hasn't ended: Fact then returns the fact as a mere note, and held is true.
func (g *Gates) Fact(f agent.Fact, hook uint64, waits bool) (out agent.Fact, held bool, told []events.Event) {
	switch {
	case f.Kind == agent.TurnStarted:
		if !g.goesOn(f) {
			g.turn.Began(f.Turn)
		}
	case f.Kind == agent.TurnEnded && f.How == agent.Completed && waits:
		set, why := g.env.Gate(), ""
		if held, why = g.turn.Ends(f.Turn, hook, set); held {
			f.Kind = agent.Noted
		} else if set.Closed() {
			told = append(told, g.event(0, "let_go", why, nil))
		}
	}
	return f, held, told
}

// goesOn reports whether a turn that starts is the gate's own answer. An agent without turn ids reports the answer
// like any message.
func (g *Gates) goesOn(f agent.Fact) bool {
	typer, ok := g.env.Driver().(agent.MessageTyper)
	return ok && f.Turn == "" && g.turn.Blocks > 0 && typer.Same(g.answer(), f.Text)
}

func (g *Gates) answer() string { return g.env.Gate().Answer(g.env.Berth()) }

// keepBack answers the hook that the gate holds back: at once, and again over a new link.
func (g *Gates) keepBack() {
	n, link := g.turn.Hook, g.env.Link()
	if n == 0 || g.kept == (keeping{n, link}) {
		return
	}
	g.kept = keeping{n, link}
	give := func() error { return link.Release(n) }
	held, _ := g.turn.Holds(g.env.Gate())
	if hooks, ok := g.env.Driver().(agent.GateHooks); held && ok {
		stdout, err := hooks.GoOn(g.answer())
		if err != nil {
			g.env.Trouble("word the gate's answer", err)
		} else {
			mark := loop.Mark{By: loop.Berth, Verb: VerbGate}.JSON()
			give = func() error { return link.VerdictMarked(n, stdout, 0, mark) }
		}
	}
	g.env.Background(func(context.Context) { // the records show the answer's outcome
		if err := give(); unanswered(err) {
			g.env.Log.Warn("the hook at the turn's end could not be answered", "hook", n, "error", err)
		}
	})
}

// answered applies the record that a hook was answered: by the gate, with a context, or by a prompt.
func (g *Gates) answered(r hold.Record) (told loop.Outcome, err error) {
	v, err := loop.Decode[hold.VerdictData](r)
	if err != nil || !g.followed {
		return told, err
	}
	g.contextAnswered(v.Hook, v.Mark)
	if loop.ReadMark(v.Mark).Verb == VerbGate {
		g.turn.Blocked(v.Hook)
		told.Events = []events.Event{g.event(r.N, "blocked", "", nil)}
	}
	return told, nil
}

// over applies the record that a hook no longer waits. An agent that the gate held back goes on with the answer.
// Without an answer its turn is over, unless another turn has started.
func (g *Gates) over(r hold.Record) (told loop.Outcome, err error) {
	gone, err := loop.Decode[hold.GoneData](r) // the kind delivered has the same data
	if err != nil || !g.followed {
		return told, err
	}
	told.Events = g.contextOver(r, gone)
	late := g.turn.Late
	if !g.turn.Over(gone.Hook) {
		return told, nil
	}
	told.Results = []detect.Result{g.env.Held(false, r.Time.Time)}
	if r.Kind == hold.KindGone && !late {
		_, why := g.turn.Holds(g.env.Gate())
		if gone.Why != hold.GoneReleased {
			why = gone.Why
		}
		told.Events = append(told.Events, g.event(r.N, "let_go", why, nil))
		told.Results = append(told.Results, g.env.EndTurn(gone.Hook, r.Time.Time)...)
	}
	return told, nil
}

// opened applies the record that the gate was opened for this turn.
func (g *Gates) opened(r hold.Record) (told loop.Outcome, err error) {
	by, err := loop.Decode[loop.By](r)
	if err != nil {
		return told, err
	}
	if g.followed {
		g.turn.Opened()
	}
	told.Events = []events.Event{g.event(r.N, "opened", "", &by)}
	return told, nil
}

// Set emits the event of a gate that was set.
func (g *Gates) Set(by loop.By) { e := g.event(0, "set", "", &by); g.env.Note(e.Type, e.Data) }

// Standing is the gate's setting and its state: the output of the verb gate without the session's name.
type Standing struct {
	Gate   string          `json:"gate"`   // allow, gate, auto
	Text   *string         `json:"text"`   // of the mode gate
	Cap    int             `json:"cap"`    // blocks in a turn
	Blocks int             `json:"blocks"` // in the current turn, or the last one
	Open   bool            `json:"open"`   // whether it lets the agent go in this turn
	Why    string          `json:"why"`    // why: report, or opened
	Schema json.RawMessage `json:"schema"` // of the message of a report that says complete
}

// Standing returns the gate's current setting and state.
func (g *Gates) Standing() Standing {
	set := g.env.Gate()
	now := Standing{Gate: string(set.Shown()), Cap: set.Most(), Schema: set.Schema, Blocks: g.turn.Blocks, Open: g.turn.Why != "", Why: g.turn.Why}
	if set.Text != "" {
		now.Text = &set.Text
	}
	return now
}
