package gates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"berth/agent"
	"berth/sessions/events"
	"berth/sessions/gates/begin"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

const eventStart = "start_context"

// beginning is a conversation that starts and whose context is on its way.
type beginning struct {
	Source begin.Source `json:"source"`
	From   string       `json:"from"`  // text, run
	Bytes  int          `json:"bytes"` // size of the context
	Cut    bool         `json:"cut"`
	Error  string       `json:"error"`
	Verb   string       `json:"verb"` // the verb of its mark

	link *hold.Link // the link that it was started over
}

// startEvent is the data of an event about a context: it was set or removed, or its outcome.
type startEvent struct {
	Kind   string       `json:"kind"` // set, removed, given, failed
	Source begin.Source `json:"source"`
	From   string       `json:"from"`
	Bytes  int          `json:"bytes"`
	Cut    bool         `json:"cut"`
	Error  string       `json:"error"`
	By     *loop.By     `json:"by"`
}

// from is the origin of a context: a text, or a command.
func from(one begin.Context) string {
	if one.Run != nil {
		return "run"
	}
	return "text"
}

// Begins records that a hook waits at the start of a conversation.
func (g *Gates) Begins(source begin.Source, hook uint64) {
	one, ok := g.env.Start().For(source)
	if _, able := g.env.Driver().(agent.GateHooks); !ok || !able {
		return
	}
	if g.begun == nil {
		g.begun = map[uint64]*beginning{}
	}
	g.begun[hook] = &beginning{Source: source, From: from(one), Verb: VerbStartContext}
}

// giveContexts starts to give the waiting contexts, once over each link.
func (g *Gates) giveContexts() {
	link := g.env.Link()
	for hook, b := range g.begun {
		hooks, ok := g.env.Driver().(agent.GateHooks)
		if !ok || b.link == link {
			continue
		}
		b.link = link
		work := contextWork{gates: g, link: link, hook: hook, as: *b, text: g.text(b.Source), hooks: hooks}
		g.env.Background(func(context.Context) {
			if err := work.give(); unanswered(err) {
				g.env.Log.Warn("a conversation's context could not be given", "hook", hook, "error", err)
			}
		})
	}
}

// text returns a function that computes the context of a source. It may run off the loop.
func (g *Gates) text(source begin.Source) func() (text string, cut bool, err error) {
	one, ok := g.env.Start().For(source)
	switch {
	case !ok:
		return func() (string, bool, error) { return "", false, errors.New("it was taken away") }
	case one.Run == nil:
		return func() (string, bool, error) { return one.Text, false, nil }
	}
	return g.env.Printer(one.Run, source)
}

// contextWork computes a context and gives it, off the loop.
type contextWork struct {
	gates *Gates
	link  *hold.Link
	hook  uint64
	as    beginning
	text  func() (text string, cut bool, err error)
	hooks agent.GateHooks
}

func (w contextWork) give() error {
	text, cut, failed := w.text()
	if failed != nil || text == "" {
		if failed == nil {
			failed = errors.New("the command printed nothing")
		}
		_ = w.gates.env.Do(context.Background(), func() { // fails only if the loop has ended
			if b := w.gates.begun[w.hook]; b != nil {
				b.Error = failed.Error()
			}
		})
		return w.link.Release(w.hook)
	}
	stdout, err := w.hooks.Context(text)
	if err != nil {
		return errors.Join(err, w.link.Release(w.hook))
	}
	w.as.Bytes, w.as.Cut = len(text), cut
	told, err := json.Marshal(w.as)
	if err != nil {
		return fmt.Errorf("encode what is given: %w", err)
	}
	return w.link.VerdictMarked(w.hook, stdout, 0, told)
}

// contextAnswered applies the record of a context that was given.
func (g *Gates) contextAnswered(hook uint64, mark json.RawMessage) {
	b := g.begun[hook]
	told := beginning{}
	if b != nil && json.Unmarshal(mark, &told) == nil && told.Verb == VerbStartContext {
		b.Bytes, b.Cut, b.Error = told.Bytes, told.Cut, ""
	}
}

// contextOver applies the record that the hook no longer waits, and returns its event.
func (g *Gates) contextOver(r hold.Record, gone hold.GoneData) []events.Event {
	b := g.begun[gone.Hook]
	if b == nil {
		return nil
	}
	delete(g.begun, gone.Hook)
	e := startEvent{Kind: "given", Source: b.Source, From: b.From, Bytes: b.Bytes, Cut: b.Cut}
	if r.Kind == hold.KindGone {
		e.Kind, e.Error = "failed", b.Error
		if e.Error == "" {
			e.Error = "the agent began without it: " + gone.Why
		}
	}
	return []events.Event{{Type: eventStart, Cause: r.N, Data: e}}
}

// StartSet emits the event of a context that was set; nil: it was removed.
func (g *Gates) StartSet(by loop.By, source begin.Source, one *begin.Context) {
	e := startEvent{Kind: "removed", Source: source, By: &by}
	if one != nil {
		e.Kind, e.From, e.Bytes = "set", from(*one), len(one.Text)
	}
	g.env.Note(eventStart, e)
}
