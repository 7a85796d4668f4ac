package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	// A key takes Claude up to 130 ms before it shows in any source: somebody's
	// key that recent may be the answer. On a machine with nine times the work
	// it can do it took 1.5 s, in which nothing was drawn.
	keyShows       = time.Second
	keyShowsUnseen = 2500 * time.Millisecond
	// A hook that was 10 ms ahead of a key won each time.
	hookAhead = 10 * time.Millisecond
)

// answering is an answer on its way, from before it is given until it is known
// what became of it. Its JSON stands beside the answer in the control log, and
// in the checkpoint.
type answering struct {
	By      By               `json:"by"`
	Prompt  string           `json:"prompt"`
	Digest  string           `json:"digest,omitempty"`
	Type    agent.PromptType `json:"type"`
	Subtype *string          `json:"subtype,omitempty"`
	Channel string           `json:"channel"`
	Outcome string           `json:"outcome"`
	Verb    string           `json:"verb"`           // respond or groom
	Last    bool             `json:"last,omitempty"` // the key beside which it stands is the last
	Hook    string           `json:"hook,omitempty"` // that takes it, empty for keys
	Opened  time.Time        `json:"opened,omitzero"`
	At      time.Time        `json:"at,omitzero"`    // when it was begun
	Given   time.Time        `json:"given,omitzero"` // when the agent had it: the hook's bytes, the last key

	closed   *detect.Resolution
	settleBy time.Time // when nothing more is expected of it; zero while keys are being pressed
	swept    bool      // and all that was there was read then
	pressed  bool      // a key of it was
	done     chan struct{}
	result   respondEvent
	judged   bool
}

// respondEvent tells of an answer and what became of it.
type respondEvent struct {
	By        By               `json:"by"`
	Prompt    string           `json:"prompt"`
	Digest    string           `json:"digest"` // of what the prompt showed
	Type      agent.PromptType `json:"prompt_type"`
	Channel   string           `json:"channel"`
	Outcome   string           `json:"outcome"`
	Delivered bool             `json:"delivered"`
	Confirmed bool             `json:"confirmed"`
}

// mark is what the control log says of the answer.
func (a *answering) mark(last bool) json.RawMessage {
	told := *a
	told.Last = last
	data, err := json.Marshal(told)
	if err != nil {
		return nil // strings and times always encode
	}
	return data
}

// hookID is a hook's id as facts carry it.
func hookID(n uint64) string { return strconv.FormatUint(n, 10) }

// heed takes in what a record means for what the agent asks. The record is
// applied already.
func (c *core) heed(r hold.Record) {
	if c.detection == nil {
		return
	}
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

// heedInput keeps when somebody typed. Keys of an answer that a server before
// this one pressed are followed like its own.
func (c *core) heedInput(r hold.Record) error {
	d := c.detection
	if !isAnswer(c.mark.Verb) { // read as the record was applied
		d.othersAt, d.othersTo = c.onClock(r.Time.Time), r.Offset
		c.typed(d.othersAt)
		return nil
	}
	input, err := decode[hold.InputData](r)
	if err != nil {
		return err
	}
	a := &answering{}
	if json.Unmarshal(input.Mark, a) != nil {
		return nil
	}
	if a.Verb == verbGroom && a.Last {
		d.groom.Given(a.Prompt, c.onClock(r.Time.Time))
	}
	own := d.answers[a.Prompt]
	if own == nil {
		if own = c.takeUp(a, r); own == nil { // too old to be followed up
			c.typed(c.onClock(r.Time.Time))
		}
	} else if own.done == nil { // of a server before this one
		own.settleBy = c.onClock(r.Time.Time).Add(answerSettles)
	}
	if own != nil && own.Hook == "" && a.Last {
		own.Given = c.onClock(r.Time.Time)
	}
	return nil
}

// typed records that a key was pressed that may answer a dialog.
func (c *core) typed(at time.Time) {
	d := c.detection
	c.pass(at)
	if results := []detect.Result{d.fold.Typed(d.clock(at))}; d.awake {
		c.tell(results)
	} else {
		c.closedBefore(results)
	}
}

// takeUp follows an answer of a server before this one, unless that one told
// what became of it, or it is too old for anybody to wait for.
func (c *core) takeUp(a *answering, r hold.Record) *answering {
	d := c.detection
	if !isAnswer(a.Verb) || c.now().Sub(r.Time.Time) > answerSettles || !r.Time.Time.After(c.responded[a.Prompt]) {
		return nil
	}
	p, ok := d.fold.Pending(a.Prompt)
	if !ok {
		return nil
	}
	a.Opened, a.Given, a.settleBy = p.Request.Since.Time, time.Time{}, c.onClock(r.Time.Time).Add(answerSettles)
	d.follow(a)
	return a
}

// asks takes in that a hook waits for a verdict.
func (d *detection) asks(n uint64) {
	if d.asking == nil {
		d.asking = map[uint64]bool{}
	}
	d.asking[n] = true
}

// faced says that the prompt is to be asked on the screen, where a client that
// may write is looking, and not of a hook that would keep it from there.
func (c *core) faced(p *agent.Request) bool {
	if !c.detection.withholds(p) {
		return false
	}
	for _, m := range c.members {
		if m.mayWrite() == nil {
			return true
		}
	}
	return false
}

// withholds says that the prompt is on no screen while its hook waits.
func (d *detection) withholds(p *agent.Request) bool {
	w, ok := d.driver.(agent.HookHidesDialog)
	return ok && p != nil && w.HidesDialog(p)
}

// unveil lets the hooks go that keep dialogs from a client which has just
// joined. What they asked goes on being asked, there.
func (c *core) unveil() {
	d := c.detection
	if d == nil || !d.awake || c.link == nil {
		return
	}
	for n := range d.asking {
		if p, ok := d.fold.HeldBy(hookID(n)); ok && c.faced(p) {
			c.release(n)
		}
	}
}

// release lets a hook go, which says nothing then. That it is gone is a record
// of its own.
func (c *core) release(n uint64) {
	delete(c.detection.asking, n)
	link := c.link
	c.background(func() {
		if err := link.Release(n); err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) {
			c.log.Warn("could not release a hook", "hook", n, "error", err)
		}
	})
}

// letGo releases the hooks that no prompt waits for: it was answered on the
// screen, or is of a conversation that is none of ours.
func (c *core) letGo() {
	d := c.detection
	if d == nil || !d.awake || c.link == nil {
		return
	}
	for n := range d.asking {
		if d.fold.Holds(hookID(n)) || d.gate.Hook == n || d.beginnings[n] != nil || c.transcripts.waiting[n] {
			continue
		}
		c.release(n)
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
	a := &answering{}
	if json.Unmarshal(v.Mark, a) == nil && d.answers[a.Prompt] == nil {
		a.Hook = hookID(v.Hook)
		c.takeUp(a, r)
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
		if a.Hook != id {
			continue
		}
		if r.Kind == hold.KindDelivered {
			a.Given = c.onClock(r.Time.Time)
		}
		if a.closed != nil {
			c.settleAnswer(a, c.judgeAnswer(a), true)
		}
	}
	kind := agent.HookGone
	if p, held := d.fold.HeldBy(id); held && r.Kind == hold.KindDelivered && d.withholds(p) {
		kind = agent.HookAnswered // there was no other way to answer it
	}
	result := d.fold.Apply(agent.Fact{
		Kind: kind, Source: agent.SourceHook, Cause: "hook:" + r.Kind, Hook: id, Evidence: g.Why, Time: d.clock(c.onClock(r.Time.Time)),
	})
	if results := []detect.Result{result}; d.awake {
		c.tell(results)
	} else {
		c.closedBefore(results)
	}
	return nil
}

// follow keeps an answer until its prompt is closed.
func (d *detection) follow(a *answering) {
	if d.answers == nil {
		d.answers = map[string]*answering{}
	}
	d.answers[a.Prompt] = a
}

// underWay are the answers that nobody knows the end of yet, for the
// checkpoint.
func (d *detection) underWay() []answering {
	var all []answering
	for _, a := range d.answers {
		if !a.judged {
			all = append(all, *a)
		}
	}
	return all
}

// resume follows the answers that were under way when the checkpoint was
// written.
func (d *detection) resume(saved []answering, told map[string]time.Time) {
	for _, a := range saved {
		if a.At.After(told[a.Prompt]) {
			a.settleBy = a.At.Add(answerSettles)
			d.follow(&a)
		}
	}
}

// supersededKept is how many prompts that became others are known as such, for answers
// that come late: one comes within seconds.
const supersededKept = 16

// closes judges the answer to a prompt that was closed, if there is one on its
// way, and gives what is told of it.
func (c *core) closes(done *detect.Resolution) (by *By, told []events.Event) {
	if c.detection == nil {
		return nil, nil // the program has ended, and with it what was answered
	}
	if d := c.detection; done.How == "superseded" {
		if d.superseded = append(d.superseded, done.Request.ID); len(d.superseded) > supersededKept {
			d.superseded = slices.Delete(d.superseded, 0, 1)
		}
	}
	a := c.detection.answers[done.Request.ID]
	if a == nil {
		return nil, nil
	}
	if a.judged {
		delete(c.detection.answers, a.Prompt)
		return nil, nil
	}
	if a.closed = done; a.Hook != "" && a.Given.IsZero() {
		return nil, nil // the record that says what became of it is still to come
	}
	e := c.judgeAnswer(a)
	if e.Confirmed {
		by = &a.By
	}
	c.settleAnswer(a, e, false)
	return by, []events.Event{c.answerTold(a, e)}
}

// closedBefore takes in what closed prompts when a server before this one had
// told of it, and of their answers with it.
func (c *core) closedBefore(results []detect.Result) {
	for _, r := range results {
		for _, done := range r.Closed {
			_, _ = c.closes(&done) // these events stand in the log
		}
	}
}

// judgeAnswer says what became of an answer: it was taken if the prompt was
// closed after the agent had it, and nobody else had typed.
func (c *core) judgeAnswer(a *answering) respondEvent {
	e := respondEvent{By: a.By, Prompt: a.Prompt, Digest: a.Digest, Type: a.Type, Channel: a.Channel, Outcome: a.Outcome, Delivered: !a.Given.IsZero()}
	switch {
	case a.closed == nil, a.closed.How == "superseded": // still open, or asked as another
	case !e.Delivered || c.othersTyped(a):
		e.Outcome = agent.OutcomeElsewhere
	case c.nobodyKnows(a):
	default:
		e.Confirmed = c.exit == nil || c.onceMore() || a.Outcome == agent.OutcomeDenied
	}
	return e
}

// othersTyped says whether somebody else's key may have been the answer: one
// that came before ours, and not so long before that it would have shown; or
// any, if what we allowed was refused.
func (c *core) othersTyped(a *answering) bool {
	typed, before := c.detection.othersAt, a.Given
	if a.Hook != "" {
		before = before.Add(hookAhead)
	}
	if !typed.After(a.Opened) || !typed.Before(before) {
		return false
	}
	if a.allows() {
		if a.closed.Stopped {
			return true
		}
		if a.Hook != "" && typed.After(a.At) {
			return false // of a hook and a key at once either may be first; theirs, if it refused, would have stopped the work
		}
	}
	return typed.After(a.At.Add(-keyShows))
}

// allows: what follows shows whether it was this answer that was taken.
func (a *answering) allows() bool {
	return a.Outcome == agent.OutcomeAccepted || a.Outcome == agent.OutcomeAnswered
}

// nobodyKnows: a hook was answered, of its dialog is known that it is gone and no
// more, and a key of somebody else may have lain unread before.
func (c *core) nobodyKnows(a *answering) bool {
	typed := c.detection.othersAt
	return a.Hook != "" && a.closed.How == "gone" && a.allows() && typed.After(a.Opened) && typed.After(a.At.Add(-keyShowsUnseen)) && typed.Before(a.Given.Add(hookAhead))
}

// othersJustTyped says that somebody else has typed so shortly before that
// nobody knows yet whether it answered the prompt.
func (c *core) othersJustTyped(opened time.Time) bool {
	d, now := c.detection, c.now()
	if !d.othersAt.After(opened) {
		return false
	}
	return d.othersAt.After(now.Add(-keyShows)) || c.term.Offset() <= d.othersTo && d.othersAt.After(now.Add(-keyShowsUnseen))
}

// settleAnswer ends the waiting for an answer, and tells of it.
func (c *core) settleAnswer(a *answering, e respondEvent, tell bool) {
	if a.judged {
		return
	}
	a.judged, a.result = true, e
	if d := c.detection; d != nil && a.closed != nil && d.answers[a.Prompt] == a {
		delete(d.answers, a.Prompt)
	}
	if a.done != nil {
		close(a.done)
	}
	if tell {
		c.append(c.answerTold(a, e))
	}
}

// forgetAnswer ends an answer of which the agent got nothing.
func (c *core) forgetAnswer(a *answering) {
	c.settleAnswer(a, respondEvent{}, false)
	if d := c.detection; d != nil && d.answers[a.Prompt] == a {
		delete(d.answers, a.Prompt)
	}
}

// settleAnswers gives up on the answers of which nothing was heard in time,
// after a last look at what there is to read.
func (c *core) settleAnswers(now time.Time) {
	for _, a := range c.detection.answers {
		switch {
		case a.judged || a.settleBy.IsZero() || now.Before(a.settleBy):
		case !a.swept:
			a.swept, c.unread = true, c.link != nil
		default:
			c.settleAnswer(a, c.judgeAnswer(a), true)
			c.typed(now) // the answer may have been taken after all, so the dialog on the screen becomes a new prompt
		}
	}
}

// answersDue is when settleAnswers has something to do; zero: never.
func (d *detection) answersDue() (at time.Time) {
	for _, a := range d.answers {
		if !a.judged && !a.settleBy.IsZero() && (at.IsZero() || a.settleBy.Before(at)) {
			at = a.settleBy
		}
	}
	return at
}

// endAnswers: the program has ended. That is what some answers lead to.
func (c *core) endAnswers(told bool) {
	for _, a := range c.detection.answers {
		if !a.judged {
			a.closed = &detect.Resolution{}
			c.settleAnswer(a, c.judgeAnswer(a), !told)
		}
	}
}
