package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/orchestrate/begin"
	"berth/orchestrate/command"
	"berth/sessions/events"
	"berth/sessions/hold"
)

const (
	verbStartContext = "start-context"
	// beginAsksFile is there while the hook at a conversation's begin is to wait
	// for its context.
	beginAsksFile     = "begin.asked"
	eventStartContext = "start_context"
)

// beginning is a conversation that begins with a context on its way.
type beginning struct {
	Source begin.Source `json:"source"`
	From   string       `json:"from"`  // text, run
	Bytes  int          `json:"bytes"` // of the context
	Cut    bool         `json:"cut"`
	Error  string       `json:"error"`
	Verb   string       `json:"verb"` // as a mark has it

	link *hold.Link // by which it was begun
}

// startEvent tells of a context: that it was set, or what became of it.
type startEvent struct {
	Kind   string       `json:"kind"` // set, removed, given, failed
	Source begin.Source `json:"source"`
	From   string       `json:"from"`
	Bytes  int          `json:"bytes"`
	Cut    bool         `json:"cut"`
	Error  string       `json:"error"`
	By     *By          `json:"by"`
}

// conversationBegins takes in that a hook waits at a conversation's begin.
func (c *core) conversationBegins(f agent.Fact, hook uint64) {
	d := c.detection
	one, ok := c.spec.Start.For(begin.Source(f.Text))
	if _, able := d.driver.(agent.GateHooks); !ok || !able {
		return
	}
	b := &beginning{Source: begin.Source(f.Text), From: "text", Verb: verbStartContext}
	if one.Run != nil {
		b.From = "run"
	}
	if d.beginnings == nil {
		d.beginnings = map[uint64]*beginning{}
	}
	d.beginnings[hook] = b
}

// giveContexts begins what is to be given, once by each link.
func (c *core) giveContexts() {
	d := c.detection
	if d == nil || !d.awake || c.link == nil {
		return
	}
	for hook, b := range d.beginnings {
		if b.link == c.link {
			continue
		}
		b.link = c.link
		work := contextWork{s: c.s, spec: c.spec, link: c.link, hook: hook, as: *b, driver: d.driver.(agent.GateHooks)}
		c.background(func() {
			if err := work.give(); err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed) {
				work.s.reg.log.Warn("a conversation's context could not be given", "session", work.spec.Name, "hook", hook, "error", err)
			}
		})
	}
}

// contextWork finds a context and gives it, off the loop.
type contextWork struct {
	s      *Session
	spec   Spec
	link   *hold.Link
	hook   uint64
	as     beginning
	driver agent.GateHooks
}

func (w contextWork) give() error {
	text, failed := w.text()
	if failed != nil || text == "" {
		if failed == nil {
			failed = errors.New("the command printed nothing")
		}
		_ = w.s.do(context.Background(), func(c *core) { // a loop that has ended tells nobody
			if d := c.detection; d != nil && d.beginnings[w.hook] != nil {
				d.beginnings[w.hook].Error = failed.Error()
			}
		})
		return w.link.Release(w.hook)
	}
	stdout, err := w.driver.Context(text)
	if err != nil {
		return errors.Join(err, w.link.Release(w.hook))
	}
	w.as.Bytes = len(text)
	told, err := json.Marshal(w.as)
	if err != nil {
		return fmt.Errorf("encode what is given: %w", err)
	}
	return w.link.VerdictMarked(w.hook, stdout, 0, told)
}

// text is the context. A command of it runs as the session's user, in its
// folder and environment.
func (w *contextWork) text() (string, error) {
	one, ok := w.spec.Start.For(w.as.Source)
	if !ok {
		return "", errors.New("it was taken away")
	}
	if one.Run == nil {
		return one.Text, nil
	}
	spec := w.spec
	spec.Command = one.Run
	prog, err := w.s.reg.options.Environment.resolve(spec)
	if err != nil {
		return "", err
	}
	r, err := w.s.Run(w.s.reg.ctx, command.Command{
		Path: prog.path, Argv: prog.argv, Dir: prog.cwd, Most: begin.Most, Within: begin.Within, As: prog.user.Credential(),
		Env: append(prog.env, "BERTH_START_SOURCE="+string(w.as.Source)),
	})
	w.as.Cut = r.Cut
	return begin.Printed(r.Output), err
}

// contextAnswered takes in the record of a context that is on its way.
func (d *detection) contextAnswered(hook uint64, mark json.RawMessage) {
	b := d.beginnings[hook]
	told := beginning{}
	if b != nil && json.Unmarshal(mark, &told) == nil && told.Verb == verbStartContext {
		b.Bytes, b.Cut, b.Error = told.Bytes, told.Cut, ""
	}
}

// contextOver takes in that the hook waits no more, and gives what is told of
// it.
func (c *core) contextOver(r hold.Record, gone hold.GoneData) []events.Event {
	d := c.detection
	b := d.beginnings[gone.Hook]
	if b == nil {
		return nil
	}
	delete(d.beginnings, gone.Hook)
	e := startEvent{Kind: "given", Source: b.Source, From: b.From, Bytes: b.Bytes, Cut: b.Cut}
	if r.Kind == hold.KindGone {
		e.Kind, e.Error = "failed", b.Error
		if e.Error == "" {
			e.Error = "the agent began without it: " + gone.Why
		}
	}
	return []events.Event{{Type: eventStartContext, Cause: r.N, Data: e}}
}

// StartContexts is the answer of the verb start-context.
type StartContexts struct {
	Session string                         `json:"session"`
	ID      string                         `json:"id"`
	Start   map[begin.Source]begin.Context `json:"start"` // by source
	Seq     uint64                         `json:"seq"`
}

// StartContexts are the contexts that conversations of the session begin with.
func (s *Session) StartContexts() StartContexts {
	st := s.Status()
	all := map[begin.Source]begin.Context{}
	maps.Copy(all, st.Start)
	return StartContexts{Session: st.Name, ID: st.ID, Start: all, Seq: st.Seq}
}

// SetStartContext sets the context of a source; nil takes it away.
func (s *Session) SetStartContext(ctx context.Context, by Actor, source begin.Source, one *begin.Context) error {
	return s.change(ctx, func(c *core) error {
		set := c.spec.Start.With(source, one)
		if err := set.Check(); err != nil {
			return api.Errorf(api.CodeBadRequest, "start-context: %w", err)
		}
		if len(set) > 0 && !c.s.reg.mayHold(c.spec) {
			return cannotBegin(c.spec)
		}
		if len(set) > 0 {
			if err := c.s.asks(beginAsksFile, true); err != nil {
				return err
			}
		}
		who := by.by()
		told := startEvent{Kind: "removed", Source: source, By: &who}
		if one != nil {
			told.Kind, told.From, told.Bytes = "set", "text", len(one.Text)
			if one.Run != nil {
				told.From = "run"
			}
		}
		err := c.changeSpec(func(spec *Spec) { spec.Start = set }, func() { c.note(eventStartContext, told) })
		if err == nil && len(set) == 0 {
			err = c.s.asks(beginAsksFile, false)
		}
		return err
	})
}

func cannotBegin(spec Spec) error {
	why := spec.Agent + " asks for nothing when a conversation begins"
	if spec.Isolate == agent.IsolateNone {
		why = "isolate: none leaves it without hooks"
	}
	return api.Errorf(api.CodeNoDriver, "%s cannot be given a start context: %s", api.Quote(strings.Join(spec.Command[:1], "")), why)
}
