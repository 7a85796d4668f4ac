package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/deliver"
	"berth/sessions/lease"
)

// Nudge is a message for an agent.
type Nudge struct {
	Text  string `json:"text"`
	Slash bool   `json:"slash"` // it is a command of the agent's own, such as /compact
	Clear bool   `json:"clear"` // a draft in the composer is cleared
	Stash bool   `json:"stash"` // a draft in the composer is put aside, and brought back
}

// Nudged is what became of a Nudge.
type Nudged struct {
	ID       string // n and a number that grows
	Before   agent.State
	Bytes    int // as typed
	Verdict  deliver.Verdict
	Evidence string
	Seq      uint64 // of its event
	Typed    bool   // something of it was typed, if only to be taken back
	Arrived  string // how the message arrived: see arrivedAs
	turn     *turnWatch
}

// nudging is a delivery in progress. The loop owns it.
type nudging struct {
	machine *deliver.Machine
	typed   string
	changed bool // the typed text differs from the message: see changes
	slash   bool // it is a command of the agent's own
	before  agent.State
	id      string
	by      By
	kept    bool            // it may stand in the composer
	queued  *queued         // nil for one that was not queued, which has
	direct  *queued         // a record of its own, on disk once something is typed
	aside   bool            // it has put a draft aside
	told    uint64          // the number of the event that tells its end, once that is written, and
	taken   deliver.Outcome // what that tells
	turn    turnWatch
}

// nudgeMost bounds a delivery whose caller may be gone: the machine's own times
// are below it.
const nudgeMost = 15 * time.Second

// ownMost is the longest message of ours, in bytes, that is looked for in the
// composer after an interrupt. A longer one is drawn as a mark.
const ownMost = 4096

// Nudge delivers a message to the agent at its composer: nobody's input comes
// between, and Enter is pressed only while the screen shows that the composer
// holds it. The error of a message that was not delivered is AGENT_BUSY,
// DRAFT_PRESENT or NOT_READY, that of one whose arrival nothing shows
// UNCONFIRMED. A caller that gives up ends the wait for the lease, not a
// delivery in progress.
func (s *Session) Nudge(ctx context.Context, claim Claim, n Nudge) (Nudged, error) {
	if err := s.reg.mayCause(claim.Actor, eventsOfMessage); err != nil {
		return Nudged{}, err
	}
	return s.nudge(ctx, claim, n, nil)
}

// nudge is Nudge also for a message of the queue.
func (s *Session) nudge(ctx context.Context, claim Claim, n Nudge, q *queued) (Nudged, error) {
	typist, err := s.typist()
	if err != nil {
		return Nudged{}, err
	}
	if _, err := n.typed(typist); err != nil {
		return Nudged{}, err
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), claim.Wait+nudgeMost)
	defer cancel()
	attached := context.AfterFunc(ctx, cancel)
	defer attached()
	var d *nudging
	var outcome deliver.Outcome
	err = s.delivery(own, claim, func(write writing) (err error) {
		if !attached() {
			return ctx.Err()
		}
		if d, err = ask(own, s, func(c *core) (*nudging, error) { return c.beginNudge(claim, n, q, typist) }); err != nil {
			return err
		}
		outcome, err = s.work(own, claim, d, write)
		return err
	})
	if d == nil {
		return Nudged{}, err
	}
	broken := err != nil // by the server, the holder or the lease: nothing is known of the message
	if broken {
		outcome = deliver.Outcome{Verdict: deliver.Unconfirmed, Code: api.CodeUnconfirmed, Evidence: err.Error()}
		if !d.machine.Entered() { // but that it was not sent
			outcome = deliver.Outcome{Verdict: deliver.Refused, Code: api.AsError(err).Code, Evidence: err.Error(), Left: d.machine.Typed()}
		}
	}
	done, told := ask(context.WithoutCancel(ctx), s, func(c *core) (Nudged, error) { return c.endNudge(d, claim, outcome, broken), nil })
	if err == nil {
		err = told
	}
	if err == nil {
		err = nudgeError(s.Status(), done, outcome)
	}
	return done, err
}

// typist is what is known of typing to the session's agent.
func (s *Session) typist() (agent.MessageTyper, error) {
	st := s.Status()
	if typist, ok := s.reg.driver(st.Spec).(agent.MessageTyper); ok {
		return typist, nil
	}
	return nil, api.Errorf(api.CodeNoDriver, "%s runs %s, of which berth cannot tell when it takes a message; type with input %s --enter TEXT", st.Name, st.Agent, st.Name).
		With("session", st.Name)
}

// typed is the message as it is typed.
func (n Nudge) typed(typist agent.MessageTyper) (string, error) {
	typed, ok := typist.Message(n.Text), true
	if n.Slash {
		typed, ok = typist.Slash(n.Text)
	}
	switch {
	case !ok:
		return "", api.Errorf(api.CodeUsage, "--command wants a command of the agent's, such as /compact, on one line")
	case typed == "":
		return "", api.Errorf(api.CodeUsage, "the message is empty: nothing was typed")
	}
	return typed, nil
}

// lineEnds converts line ends to line feeds, as they are typed. The meaning stays.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// changes says whether the typed text differs from the message, such as by a character before
// it that keeps it from being a command, or by a removed control character. Blanks at the ends
// don't count: agents trim them.
func (n Nudge) changes(typed string) bool {
	return strings.TrimSpace(lineEnds.Replace(n.Text)) != strings.TrimSpace(typed)
}

// beginNudge prepares a delivery on the loop.
func (c *core) beginNudge(claim Claim, n Nudge, q *queued, typist agent.MessageTyper) (*nudging, error) {
	if c.detection == nil || c.exit != nil {
		return nil, c.exitedError()
	}
	if q != nil && !slices.Contains(c.mail.queue, q) {
		return nil, api.Errorf(api.CodeNotFound, "the message %s was taken out of the queue", q.ID)
	}
	options, err := c.options(n, q, typist)
	if err != nil {
		return nil, err
	}
	d := &nudging{
		typed: options.Typed, changed: n.changes(options.Typed), slash: n.Slash, before: c.state, by: claim.by(), queued: q, id: fmt.Sprintf("n%d", c.s.reg.events.LastSeq(c.s.id)+1),
		machine: deliver.New(options, c.now()),
	}
	if q == nil {
		d.direct = c.direct(claim, n)
	}
	d.turn.since, d.turn.typed, d.turn.typist = c.now().Truncate(time.Millisecond), options.Typed, typist
	c.detection.nudging = append(c.detection.nudging, d)
	c.detection.watches = append(c.detection.watches, &d.turn)
	return d, nil
}

// options say how a message is delivered now.
func (c *core) options(n Nudge, q *queued, typist agent.MessageTyper) (deliver.Options, error) {
	typed, err := n.typed(typist)
	o := deliver.Options{Typist: typist, Typed: typed, Slash: n.Slash, Clear: n.Clear, Stash: n.Stash, Own: c.detection.own}
	table := c.detection.driver.Table()
	o.Flutters = func(s agent.Source) bool {
		after, _ := table.May(agent.MoveWork, s)
		return after > 0
	}
	if cut := q.cutOff(typist); cut != "" {
		o.Own, o.Cut, o.Alone = cut, true, c.personAt.Before(q.staged)
	}
	o.Withdraw = q != nil && q.Direct
	if q == nil && len(c.mail.queue) > 0 && c.mail.queue[0].Direct { // it is not taken back yet
		left := c.mail.queue[0]
		o.Own, o.Cut, o.Alone = left.cutOff(typist), true, c.personAt.Before(left.staged)
	}
	return o, err
}

// work runs the machine: each step sees all that there is to see, and is
// written on the loop before anything else can happen there.
func (s *Session) work(ctx context.Context, claim Claim, d *nudging, write writing) (deliver.Outcome, error) {
	changed, stop := s.Subscribe()
	defer stop()
	for {
		steps := make(chan deliver.Step, 1)
		err := write(func(c *core) (<-chan error, error) {
			step, err := c.stepNudge(d)
			if err != nil {
				return nil, err
			}
			steps <- step
			if len(step.Write) == 0 {
				return written, nil
			}
			return c.link.InputLater(step.Write, mark{By: claim.by(), Verb: claim.Verb}.json())
		})
		var lost *lease.LostError
		if errors.As(err, &lost) { // after Enter there is no more to write but a second one
			err = s.stepUnwritten(ctx, d, steps)
		}
		if d.slash && d.machine.Entered() && err != nil && api.AsError(err).Code == api.CodeExited { // that is what it was for
			return deliver.Outcome{Verdict: deliver.Confirmed, Evidence: "process:exit"}, nil
		}
		if err != nil {
			return deliver.Outcome{}, err
		}
		step := <-steps
		if step.Done != nil {
			return *step.Done, nil
		}
		if err := pauseFor(ctx, changed, step.Wait); err != nil {
			return deliver.Outcome{}, err
		}
	}
}

// written is the answer to a write of nothing.
var written = func() <-chan error {
	done := make(chan error)
	close(done)
	return done
}()

// stepUnwritten steps without the right to write, once Enter was pressed.
func (s *Session) stepUnwritten(ctx context.Context, d *nudging, steps chan<- deliver.Step) error {
	step, err := ask(ctx, s, func(c *core) (deliver.Step, error) {
		if !d.machine.Entered() {
			return deliver.Step{}, api.Errorf(api.CodeWriterBusy, "another writer took over while the message was typed; it may stand in the composer")
		}
		return c.stepNudge(d)
	})
	if err == nil {
		steps <- step
	}
	return err
}

func (c *core) stepNudge(d *nudging) (deliver.Step, error) {
	c.freshen()
	if c.link == nil || c.exit != nil {
		return deliver.Step{}, c.exitedError()
	}
	entered := d.machine.Entered()
	step := d.machine.Step(c.seen(), c.now())
	if !entered && d.machine.Entered() {
		d.turn.ended = nil // what was told so far, by whichever source was late, is of turns before
	}
	if d.machine.Typed() && !d.kept { // from here on it may stand in the composer
		d.kept = true
		if len(d.typed) <= ownMost {
			c.detection.own, c.saveSoon = d.typed, true
		}
	}
	if err := c.keepStep(d, step); err != nil {
		return deliver.Step{}, err
	}
	if step.Draft != "" {
		c.note("draft_stashed", draftEvent{By: d.by, Nudge: d.id, Draft: string(step.Draft)})
	}
	return step, nil
}

// keepStep keeps on disk what the next server has to know if this one is killed
// before the step's bytes have had their effect.
func (c *core) keepStep(d *nudging, step deliver.Step) error {
	q, keep := d.direct, true
	if q == nil {
		q, keep = d.queued, d.told == 0 && slices.Contains(c.mail.queue, d.queued)
	}
	if q != nil && keep {
		to := stageWaiting
		switch {
		case d.machine.Entered():
			to = stageEntered
		case d.machine.Typed():
			to = stageTyped
		}
		if to != stageWaiting {
			if err := c.stage(q, to); err != nil {
				return err
			}
		}
	}
	switch {
	case step.Draft == deliver.DraftBack:
		c.dropAside()
	case d.machine.Stashing():
		d.aside = true
		return c.keepAside(d.by, d.id)
	}
	return nil
}

func pauseFor(ctx context.Context, changed <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// freshest bounds how much output is read before a look at the screen: an agent
// that prints more than that is not at rest.
const freshest = 16

// freshen takes in all that the agent's sources say now.
func (c *core) freshen() {
	c.unread = c.link != nil
	for range freshest {
		if !c.catchUp() {
			break
		}
	}
	c.detect(c.now())
	d := c.detection
	if d == nil || c.link == nil || c.exit != nil {
		return
	}
	c.readFiles()
	if d.awake && !d.screenAt.IsZero() && !c.term.InSync() {
		c.readScreen()
	}
}

// seen is what a delivery goes by.
func (c *core) seen() deliver.Seen {
	d := c.detection
	seen := deliver.Seen{
		State: c.state, Asks: len(d.fold.Status().Requests) > 0, Paste: c.term.Modes().BracketedPaste, Typed: c.personAt, Printed: c.lastOut, Composed: d.composed, Drew: d.drew,
		Unread: unread(c.child.pid), Computes: computing(c.child.pid),
	}
	written, _ := c.link.Written()
	if d.awake && d.screenAt.IsZero() && !c.unsettled() && c.term.Offset() >= written && !d.fold.Stirs() {
		seen.Reading = d.reading
	}
	return seen
}

// listen passes a fact of the conversation on to those who wait for one.
func (c *core) listen(f agent.Fact, r detect.Result) {
	if r.Foreign {
		return
	}
	d := c.detection
	for _, n := range d.nudging {
		n.machine.Fact(f)
	}
	c.heedTaken(f)
	if f.Kind == agent.TurnEnded && f.Agent == "" && f.How == agent.Completed && f.Text != "" {
		if d.said == nil || f.Turn == "" || d.said.Turn != f.Turn {
			d.said = &Said{Text: f.Text, Time: api.At(f.Time), Turn: f.Turn, Conversation: d.fold.Status().Conversation}
		}
	}
	for _, w := range d.watches {
		w.fact(f)
	}
}
