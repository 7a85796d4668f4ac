package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions/clients"
	"berth/sessions/gates"
	"berth/sessions/gates/begin"
	"berth/sessions/gates/gate"
	"berth/sessions/hold"
)

// A hook waits for an answer only if its file exists. So a session without these files loses no time,
// and doesn't wait while no server runs.
const (
	endAsksFile   = "gate.closed" // the hook at a turn's end
	beginAsksFile = "begin.asked" // the hook at a conversation's begin
)

// Gate is the answer of the verb gate.
type Gate struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	gates.Standing
	Seq uint64 `json:"seq"`
}

// Gate is the current state of the session's gate.
func (s *Session) Gate(ctx context.Context) (Gate, error) {
	return ask(ctx, s, func(c *core) (Gate, error) { return c.gateNow(), nil })
}

func (c *core) gateNow() Gate {
	return Gate{Session: c.spec.Name, ID: c.s.id, Standing: c.gates.Standing(), Seq: c.s.reg.events.LastSeq(c.s.id)}
}

// SetGate sets the gate, also of an agent in the midst of a turn.
func (s *Session) SetGate(ctx context.Context, by Actor, set gate.Config) (Gate, error) {
	if err := set.Check(); err != nil {
		return Gate{}, api.Errorf(api.CodeBadRequest, "gate: %w", err)
	}
	if err := s.reg.mayCause(by, eventsOfGate); err != nil {
		return Gate{}, err
	}
	var now Gate
	err := s.change(ctx, func(c *core) error {
		if set.Closed() && !c.s.reg.mayHold(c.spec) {
			return cannotHold(c.spec)
		}
		// The file first where it is to be there: no turn's end then passes unasked.
		if err := c.s.asks(endAsksFile, set.Closed() || c.spec.Gate.Closed()); err != nil {
			return err
		}
		err := c.changeSpec(func(spec *Spec) { spec.Gate = set }, func() { c.gates.Set(by.By()) })
		if err == nil && !set.Closed() {
			err = c.s.asks(endAsksFile, false)
		}
		now = c.gateNow()
		return err
	})
	return now, err
}

// mayHold says whether the agent asks before it rests, and when it begins.
func (r *Registry) mayHold(spec Spec) bool {
	_, asks := r.driver(spec).(agent.GateHooks)
	return asks && spec.Isolate != agent.IsolateNone
}

func cannotHold(spec Spec) error {
	why := spec.Agent + " runs no hook before it ends a turn"
	if spec.Isolate == agent.IsolateNone {
		why = "isolate: none leaves it without hooks"
	}
	return api.Errorf(api.CodeNoDriver, "a gate cannot hold %s back: %s", api.Quote(spec.Command[0]), why)
}

// OpenGate lets the agent go at the end of the turn under way.
func (s *Session) OpenGate(ctx context.Context, by Actor) (Gate, error) {
	if err := s.reg.mayCause(by, eventsOfGate); err != nil {
		return Gate{}, err
	}
	who, err := json.Marshal(by.By())
	if err != nil {
		return Gate{}, fmt.Errorf("encode who opens the gate: %w", err)
	}
	if err := s.record(ctx, gates.KindOpened, who, func(*core) error { return nil }); err != nil {
		return Gate{}, err
	}
	return s.Gate(ctx)
}

// record writes a record of the server's own into the session's control log,
// between the hooks that came before and after it, and returns when it is
// applied: a kill after that loses nothing of it.
func (s *Session) record(ctx context.Context, kind string, data json.RawMessage, allowed func(*core) error) error {
	link, err := ask(ctx, s, func(c *core) (*hold.Link, error) {
		if c.link() == nil || c.life.Exit() != nil {
			return nil, c.exitedError()
		}
		return c.link(), allowed(c)
	})
	if err != nil {
		return err
	}
	if err := link.Note(kind, data); err != nil {
		return clients.WriteError(err)
	}
	return s.do(context.WithoutCancel(ctx), func(c *core) { c.track.Freshen() })
}

// Reported is the answer of the verb report.
type Reported struct {
	Session string    `json:"session"`
	ID      string    `json:"id"`
	Kind    gate.Kind `json:"kind"`
	LetsGo  bool      `json:"lets_go"` // the gate, at the end of this turn
	Seq     uint64    `json:"seq"`
}

// Report takes in what the agent in the session says of its work. Who calls
// must have made sure that it is that agent.
func (s *Session) Report(ctx context.Context, by Actor, kind gate.Kind, message string) (Reported, error) {
	report := gates.Report{Kind: kind, Message: message, By: by.By()}
	data, err := json.Marshal(report)
	if err != nil {
		return Reported{}, fmt.Errorf("encode the report: %w", err)
	}
	if err = s.record(ctx, gates.KindReport, data, func(c *core) error { return c.gates.MayReport(report) }); err != nil {
		return Reported{}, err
	}
	return ask(ctx, s, func(c *core) (Reported, error) {
		g := c.gateNow()
		return Reported{Session: g.Session, ID: g.ID, Kind: kind, LetsGo: g.Open || !c.spec.Gate.Closed(), Seq: g.Seq}, nil
	})
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
		err := c.changeSpec(func(spec *Spec) { spec.Start = set }, func() { c.gates.StartSet(by.By(), source, one) })
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

// askAgain makes the files that are to be there. One that is not to be there
// and is costs no more than an answer.
func (s *Session) askAgain(spec Spec) error {
	var failed error
	if spec.Gate.Closed() {
		failed = s.asks(endAsksFile, true)
	}
	if len(spec.Start) > 0 {
		failed = errors.Join(failed, s.asks(beginAsksFile, true))
	}
	return failed
}

// asks makes or removes the file that makes a hook wait.
func (s *Session) asks(name string, so bool) error {
	path := filepath.Join(s.dir, name)
	if !so {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("let hooks pass: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("have hooks ask: %w", err)
	}
	return nil
}
