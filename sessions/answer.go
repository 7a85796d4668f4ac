package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
)

// Times of answers.
const (
	// Until settled, another answer to the same prompt is refused; the design's
	// figure.
	answerSettles = 4 * time.Second
	// A key takes Claude up to 130 ms, a second on a loaded machine, before it
	// shows in any source: somebody's key that recent may be the answer.
	keyShows = time.Second
	// A hook that was 10 ms ahead of a key won each time.
	hookAhead = 10 * time.Millisecond
)

// answering is an answer on its way, from before it is given until it is known
// what became of it.
type answering struct {
	By      By               `json:"by"`
	Prompt  string           `json:"prompt"`
	Type    agent.PromptType `json:"type"`
	Channel string           `json:"channel"`
	Outcome string           `json:"outcome"`
	Verb    string           `json:"verb"`

	hook   string // that takes it, empty for keys
	opened time.Time
	at     time.Time // when it was begun
	given  time.Time // when the agent had it: the hook's bytes, the last key
	closed *detect.Resolution
	done   chan struct{} // closed once it is judged
	result respondEvent
	judged bool
}

// respondEvent tells of an answer and what became of it.
type respondEvent struct {
	By        By               `json:"by"`
	Prompt    string           `json:"prompt"`
	Type      agent.PromptType `json:"prompt_type"`
	Channel   string           `json:"channel"`
	Outcome   string           `json:"outcome"`
	Delivered bool             `json:"delivered"`
	Confirmed bool             `json:"confirmed"`
}

// mark is what the control log says of the answer.
func (a *answering) mark() json.RawMessage {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // strings always encode
	}
	return data
}

// hookID is a hook's id as facts carry it.
func hookID(n uint64) string { return strconv.FormatUint(n, 10) }

// records reads the control log for what becomes of hooks and answers.
type records struct {
	log    *hold.Control // nil while nothing waits
	after  uint64        // the last record seen
	behind []hold.Record // read, and not yet applied to the session
}

// close frees the open file.
func (l *records) close() {
	if l.log != nil {
		_ = l.log.Close() // a read-only file
	}
	*l = records{after: l.after}
}

// heedRecords reads what became of hooks and who typed, as far as the records
// are applied. Only while a hook waits or an answer is on its way: else it
// costs nothing.
func (c *core) heedRecords() {
	d := c.detection
	if d == nil {
		return
	}
	if l := &d.records; d.awake && len(d.asking) == 0 && len(d.answers) == 0 {
		l.close()
		l.after = c.applied
		return
	} else if l.after >= c.applied {
		return
	} else if l.log == nil {
		l.log = hold.OpenControl(c.s.dir, l.after)
	}
	err := d.records.log.Read(func(r hold.Record) error {
		d.records.behind = append(d.records.behind, r)
		return nil
	})
	if err != nil {
		c.trouble("read the control log", err)
	}
	for c.detection == d && len(d.records.behind) > 0 && d.records.behind[0].N <= c.applied {
		r := d.records.behind[0]
		d.records.behind, d.records.after = d.records.behind[1:], r.N
		c.heed(r)
	}
}

// heed takes in what a record means for what the agent asks.
func (c *core) heed(r hold.Record) {
	var err error
	switch r.Kind {
	case hold.KindInput:
		err = c.heedInput(r)
	case hold.KindVerdict:
		err = c.heedVerdict(r)
	case hold.KindDelivered, hold.KindGone:
		err = c.heedHookOver(r)
	}
	if err != nil {
		c.trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
}

// heedInput keeps when somebody typed.
func (c *core) heedInput(r hold.Record) error {
	input, err := decode[hold.InputData](r)
	if err == nil && readMark(input.Mark).Verb != verbRespond {
		c.detection.othersAt = r.Time.Time
	}
	return err
}

// asks takes in that a hook waits for a verdict.
func (d *detection) asks(n uint64) {
	if d.asking == nil {
		d.asking = map[uint64]bool{}
	}
	d.asking[n] = true
}

// letGo releases the hooks that no prompt waits for: it was answered on the
// screen, or is of a conversation that is none of ours.
func (c *core) letGo() {
	d := c.detection
	if d == nil || !d.awake || c.link == nil {
		return
	}
	for n := range d.asking {
		if d.fold.Holds(hookID(n)) {
			continue
		}
		delete(d.asking, n)
		link := c.link
		c.background(func() {
			if err := link.Release(n); err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) {
				c.log.Warn("could not release a hook", "hook", n, "error", err)
			}
		})
	}
}

// heedVerdict takes in that a hook was answered. An answer that a server
// before this one gave is followed like one of its own.
func (c *core) heedVerdict(r hold.Record) error {
	v, err := decode[hold.VerdictData](r)
	if err != nil {
		return err
	}
	d := c.detection
	delete(d.asking, v.Hook)
	if c.now().Sub(r.Time.Time) > answerSettles {
		return nil // nobody waits for what becomes of it
	}
	a := &answering{hook: hookID(v.Hook), at: r.Time.Time}
	if json.Unmarshal(v.Mark, a) != nil || a.Verb != verbRespond || d.answers[a.Prompt] != nil {
		return nil
	}
	if p, ok := d.fold.Pending(a.Prompt); ok {
		a.opened = p.Request.Since.Time
		d.follow(a)
	}
	return nil
}

// heedHookOver takes in that a hook waits no more.
func (c *core) heedHookOver(r hold.Record) error {
	g, err := decode[hold.GoneData](r) // both kinds name the hook
	if err != nil {
		return err
	}
	d := c.detection
	delete(d.asking, g.Hook)
	id := hookID(g.Hook)
	for _, a := range d.answers {
		if a.hook != id {
			continue
		}
		if r.Kind == hold.KindDelivered {
			a.given = r.Time.Time
		}
		if a.closed != nil {
			c.tellAnswer(a, c.judgeAnswer(a, a.closed))
		}
	}
	result := d.fold.Apply(agent.Fact{
		Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:" + r.Kind, Hook: id, Evidence: g.Why, Time: d.clock(r.Time.Time),
	})
	if d.awake {
		c.tell([]detect.Result{result})
	}
	return nil
}

// follow keeps an answer until it is judged.
func (d *detection) follow(a *answering) {
	if d.answers == nil {
		d.answers = map[string]*answering{}
	}
	d.answers[a.Prompt] = a
}

// closes judges the answer to a prompt that was closed, if there is one on its
// way, and gives what is told of it.
func (c *core) closes(done *detect.Resolution) (by *By, told []events.Event) {
	if c.detection == nil {
		return nil, nil // the program has ended, and with it what was answered
	}
	a := c.detection.answers[done.Request.ID]
	if a == nil {
		return nil, nil
	}
	if a.closed = done; a.hook != "" && a.given.IsZero() {
		return nil, nil // the record that says what became of it is still to come
	}
	e := c.judgeAnswer(a, done)
	if e.Confirmed {
		by = &a.By
	}
	c.settleAnswer(a, e)
	return by, []events.Event{{Type: verbRespond, Data: e}}
}

// judgeAnswer says what became of an answer: it was taken if the prompt was
// closed after the agent had it, and nobody else had typed.
func (c *core) judgeAnswer(a *answering, done *detect.Resolution) respondEvent {
	e := respondEvent{By: a.By, Prompt: a.Prompt, Type: a.Type, Channel: a.Channel, Outcome: a.Outcome, Delivered: !a.given.IsZero()}
	switch {
	case done == nil: // still open
	case !e.Delivered || c.othersTyped(a):
		e.Outcome = agent.OutcomeElsewhere
	default:
		e.Confirmed = c.exit == nil || a.Outcome == agent.OutcomeDenied
	}
	return e
}

// othersTyped says whether somebody else's key may have been the answer.
func (c *core) othersTyped(a *answering) bool {
	typed := c.detection.othersAt
	if !typed.After(a.opened) || typed.Before(a.at.Add(-keyShows)) {
		return false
	}
	return a.hook == "" || typed.Before(a.given.Add(hookAhead))
}

// settleAnswer ends the following of an answer.
func (c *core) settleAnswer(a *answering, e respondEvent) {
	if a.judged {
		return
	}
	a.judged, a.result = true, e
	if c.detection != nil && c.detection.answers[a.Prompt] == a {
		delete(c.detection.answers, a.Prompt)
	}
	if a.done != nil {
		close(a.done)
	}
}

// tellAnswer settles an answer and writes its event.
func (c *core) tellAnswer(a *answering, e respondEvent) {
	if a.judged {
		return
	}
	c.settleAnswer(a, e)
	if c.detection.awake {
		c.note(verbRespond, e)
	}
}

// endAnswers: the program has ended. That is what some answers lead to.
func (c *core) endAnswers(told bool) {
	for _, a := range c.detection.answers {
		e := c.judgeAnswer(a, &detect.Resolution{})
		if c.settleAnswer(a, e); !told {
			c.note(verbRespond, e)
		}
	}
}
