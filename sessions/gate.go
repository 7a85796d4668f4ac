package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/orchestrate/gate"
	"berth/sessions/events"
	"berth/sessions/hold"
)

const (
	verbGate = "gate"
	// endAsksFile is there while the hook at a turn's end is to wait for the
	// gate's answer: a session whose gate allows everything pays nothing for it,
	// nor waits when no server is there.
	endAsksFile = "gate.closed"
	// kindGateOpened is the record of somebody who lets the agent go.
	kindGateOpened = "gate_opened"
)

// gateEvent tells of the gate: that it was set or opened, held the agent back,
// or let it go.
type gateEvent struct {
	Kind   string `json:"kind"` // set, opened, blocked, let_go
	Mode   string `json:"mode"`
	Why    string `json:"why"`    // of let_go: report, opened, cap, allow, or why nobody answered the hook
	Blocks int    `json:"blocks"` // in this turn
	Cap    int    `json:"cap"`
	By     *By    `json:"by"`
}

func (c *core) gateEvent(kind, why string, by *By) gateEvent {
	e := gateEvent{Kind: kind, Mode: string(c.spec.Gate.Shown()), Why: why, Cap: c.spec.Gate.Most(), By: by}
	if c.detection != nil {
		e.Blocks = c.detection.gate.Blocks
	}
	return e
}

// keeping is what the gate and the hook that it holds back have on their way.
type keeping struct {
	hook uint64     // that was answered, or let go
	link *hold.Link // by this link
}

// believe takes in a fact that a hook told. The end of a turn at which the gate
// holds the agent back is none yet. also is what is told beside.
func (c *core) believe(f agent.Fact, hook uint64, asks bool) (results []detect.Result, also []events.Event) {
	d := c.detection
	ours := f.Agent == "" && d.fold.Ours(f.Conversation)
	held := false
	switch {
	case ours && f.Kind == agent.TurnStarted:
		if !c.goesOn(f) {
			d.gate.Began(f.Turn)
		}
	case ours && f.Kind == agent.TurnEnded && f.How == agent.Completed && asks:
		var why string
		if held, why = d.gate.Ends(f.Turn, hook, c.spec.Gate); held {
			f.Kind = agent.Noted
		} else if c.spec.Gate.Closed() {
			also = append(also, events.Event{Type: verbGate, Data: c.gateEvent("let_go", why, nil)})
		}
	}
	result := d.fold.Apply(f)
	c.noteConversation(f, result)
	c.followLog(d, f, result)
	if !result.Foreign {
		c.saysOfLog(f, hook, asks)
		f = d.worded(f)
	}
	c.listen(f, result)
	results = append(results, result)
	if asks && f.Kind == agent.ConversationStarted && f.Agent == "" && !result.Foreign {
		c.conversationBegins(f, hook)
	}
	if held {
		results = append(results, d.fold.SetGate(true, f.Time))
	}
	return results, also
}

// goesOn says that what begins is what the gate itself had the agent do: one that
// names no turns tells of it as of any message.
func (c *core) goesOn(f agent.Fact) bool {
	typist, ok := c.detection.driver.(agent.MessageTyper)
	return ok && f.Turn == "" && c.detection.gate.Blocks > 0 && typist.Same(c.spec.Gate.Answer(c.spec.berth()), f.Text)
}

// keepBack answers the hook at the turn's end that the gate holds back: at
// once, and again by a link that is new.
func (c *core) keepBack() {
	d := c.detection
	if d == nil || !d.awake || c.link == nil || d.gate.Hook == 0 || d.kept == (keeping{d.gate.Hook, c.link}) {
		return
	}
	d.kept = keeping{d.gate.Hook, c.link}
	n, link := d.gate.Hook, c.link
	held, _ := d.gate.Holds(c.spec.Gate)
	steward, ok := d.driver.(agent.GateHooks)
	if !held || !ok {
		c.background(func() { c.gateAnswered(n, link.Release(n)) })
		return
	}
	stdout, err := steward.GoOn(c.spec.Gate.Answer(c.spec.berth()))
	if err != nil {
		c.trouble("word the gate's answer", err)
		c.background(func() { c.gateAnswered(n, link.Release(n)) })
		return
	}
	c.background(func() { c.gateAnswered(n, link.VerdictMarked(n, stdout, 0, mark{By: byBerth, Verb: verbGate}.json())) })
}

// byBerth is the server itself, in events.
var byBerth = By{Identity: "berth"}

// gateAnswered is off the loop: what became of the answer is in the records.
func (c *core) gateAnswered(n uint64, err error) {
	if err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) && !errors.Is(err, hold.ErrClosed) {
		c.log.Warn("the hook at the turn's end could not be answered", "hook", n, "error", err)
	}
}

// applyVerdict takes in that a hook was answered: by the gate, or it is not
// its business.
func (c *core) applyVerdict(r hold.Record) error {
	v, err := decode[hold.VerdictData](r)
	if err != nil || c.detection == nil {
		return err
	}
	c.detection.contextAnswered(v.Hook, v.Mark)
	if readMark(v.Mark).Verb != verbGate {
		return nil
	}
	c.detection.gate.Blocked(v.Hook)
	c.flushTyping(c.now(), true)
	c.event(r, verbGate, c.gateEvent("blocked", "", nil))
	return nil
}

// applyHookOver takes in that a hook waits no more.
func (c *core) applyHookOver(r hold.Record) error {
	g, err := decode[hold.GoneData](r) // delivered names the hook too
	d := c.detection
	if err != nil || d == nil {
		return err
	}
	told := c.contextOver(r, g)
	var results []detect.Result
	late := d.gate.Late
	if d.gate.Over(g.Hook) {
		var let []events.Event
		results, let = c.heldBackOver(r, g, late)
		told = append(told, let...)
	}
	c.flushTyping(c.now(), true)
	if r.N <= c.told {
		c.closedBefore(results)
		return nil
	}
	if len(told) > 0 {
		c.told = r.N
	}
	c.tell(results, told...)
	return nil
}

// heldBackOver: the agent that the gate held back goes on with its answer, or
// was let go without one and its turn is over. late: another one has begun.
func (c *core) heldBackOver(r hold.Record, g hold.GoneData, late bool) (results []detect.Result, told []events.Event) {
	d := c.detection
	results = append(results, d.fold.SetGate(false, d.clock(c.onClock(r.Time.Time))))
	if r.Kind == hold.KindGone && !late {
		_, why := d.gate.Holds(c.spec.Gate)
		if g.Why != hold.GoneReleased {
			why = g.Why
		}
		told = append(told, events.Event{Type: verbGate, Cause: r.N, Data: c.gateEvent("let_go", why, nil)})
		results = append(results, c.endTurn(g.Hook, r.Time.Time)...)
	}
	return results, told
}

// endTurn believes the end of the turn that a hook has told.
func (c *core) endTurn(hook uint64, at time.Time) []detect.Result {
	d := c.detection
	payload, err := hold.ReadHook(c.s.dir, hook)
	if err != nil {
		c.trouble("read the event of a turn's end", err)
		return nil
	}
	facts, err := d.driver.Hook(payload)
	if err != nil {
		return nil // as at its arrival
	}
	var results []detect.Result
	for _, f := range facts {
		f.Time = d.clock(c.onClock(at))
		result := d.fold.Apply(f)
		c.listen(d.worded(f), result)
		results = append(results, result)
	}
	return results
}

// applyGateOpened lets the agent go for this turn.
func (c *core) applyGateOpened(r hold.Record) error {
	by, err := decode[By](r)
	if err != nil {
		return err
	}
	if c.detection != nil {
		c.detection.gate.Opened()
	}
	c.flushTyping(c.now(), true)
	c.event(r, verbGate, c.gateEvent("opened", "", &by))
	return nil
}

// Gate is the answer of the verb gate.
type Gate struct {
	Session string          `json:"session"`
	ID      string          `json:"id"`
	Gate    string          `json:"gate"`   // allow, gate, auto
	Text    *string         `json:"text"`   // of the mode gate
	Cap     int             `json:"cap"`    // blocks in a turn
	Blocks  int             `json:"blocks"` // in the turn under way, or the last
	Open    bool            `json:"open"`   // it lets go in this turn
	Why     string          `json:"why"`    // for a report, or opened
	Schema  json.RawMessage `json:"schema"` // of the message of a report that says complete
	Seq     uint64          `json:"seq"`
}

// Gate is how the session's gate stands.
func (s *Session) Gate(ctx context.Context) (Gate, error) {
	return ask(ctx, s, func(c *core) (Gate, error) { return c.gateNow(), nil })
}

func (c *core) gateNow() Gate {
	set := c.spec.Gate
	g := Gate{
		Session: c.spec.Name, ID: c.s.id, Gate: string(set.Shown()), Text: orNil(set.Text), Cap: set.Most(), Schema: set.Schema,
		Seq: c.s.reg.events.LastSeq(c.s.id),
	}
	if d := c.detection; d != nil {
		g.Blocks, g.Open, g.Why = d.gate.Blocks, d.gate.Why != "", d.gate.Why
	}
	return g
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
		who := by.by()
		// The file first where it is to be there: no turn's end then passes unasked.
		if err := c.s.asks(endAsksFile, set.Closed() || c.spec.Gate.Closed()); err != nil {
			return err
		}
		err := c.changeSpec(func(spec *Spec) { spec.Gate = set }, func() { c.note(verbGate, c.gateEvent("set", "", &who)) })
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
	why := spec.Agent + " asks nobody before it rests"
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
	who, err := json.Marshal(by.by())
	if err != nil {
		return Gate{}, fmt.Errorf("encode who opens the gate: %w", err)
	}
	if err := s.record(ctx, kindGateOpened, who, func(*core) error { return nil }); err != nil {
		return Gate{}, err
	}
	return s.Gate(ctx)
}

// record writes a record of the server's own into the session's control log,
// between the hooks that came before and after it, and returns when it is
// applied: a kill after that loses nothing of it.
func (s *Session) record(ctx context.Context, kind string, data json.RawMessage, allowed func(*core) error) error {
	link, err := ask(ctx, s, func(c *core) (*hold.Link, error) {
		if c.link == nil || c.exit != nil {
			return nil, c.exitedError()
		}
		return c.link, allowed(c)
	})
	if err != nil {
		return err
	}
	if err := link.Note(kind, data); err != nil {
		return inputError(err)
	}
	return s.do(context.WithoutCancel(ctx), func(c *core) { c.freshen() })
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

// asks makes or takes away a file by which a hook knows whether to wait.
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
