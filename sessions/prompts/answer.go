package prompts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Times of answers.
const (
	// Until settled, another answer to the same prompt is refused; the design's
	// figure.
	answerSettles = 4 * time.Second
	// A key takes Claude up to 130 ms before it shows in any source: somebody's
	// key that recent may be the answer. On a machine with nine times the work
	// it can do it took 1.5 s, in which nothing was drawn.
	KeyShows       = time.Second
	keyShowsUnseen = 2500 * time.Millisecond
	// A hook that was 10 ms ahead of a key won each time.
	hookAhead = 10 * time.Millisecond
)

// answering is an answer on its way, from before it is given until it is known
// what became of it. Its JSON stands beside the answer in the control log, and
// in the checkpoint.
type answering struct {
	By      loop.By          `json:"by"`
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

	program  int // whose prompt it is
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
	By        loop.By          `json:"by"`
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

// Heed takes in what a record means for what the agent asks. The record is
// applied already.
func (ps *Prompts) Heed(r hold.Record) {
	if !ps.followed {
		return
	}
	var err error
	switch r.Kind {
	case hold.KindHook:
		ps.LetGo()
	case hold.KindInput:
		err = ps.heedInput(r)
	case hold.KindVerdict:
		err = ps.heedVerdict(r)
	case hold.KindDelivered, hold.KindGone:
		err = ps.heedHookOver(r)
	}
	if err != nil {
		ps.env.Trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
}

// heedInput keeps when somebody typed. Keys of an answer that a server before
// this one pressed are followed like its own.
func (ps *Prompts) heedInput(r hold.Record) error {
	if !isAnswer(ps.env.Mark().Verb) { // read as the record was applied
		ps.othersAt, ps.othersTo = ps.env.OnClock(r.Time.Time), r.Offset
		ps.typed(ps.othersAt)
		return nil
	}
	input, err := loop.Decode[hold.InputData](r)
	if err != nil {
		return err
	}
	a := &answering{}
	if json.Unmarshal(input.Mark, a) != nil {
		return nil
	}
	if a.Verb == verbGroom && a.Last {
		ps.groom.Given(a.Prompt, ps.env.OnClock(r.Time.Time))
	}
	own := ps.answers[a.Prompt]
	if own == nil {
		if own = ps.takeUp(a, r); own == nil { // too old to be followed up
			ps.typed(ps.env.OnClock(r.Time.Time))
		}
	} else if own.done == nil { // of a server before this one
		own.settleBy = ps.env.OnClock(r.Time.Time).Add(answerSettles)
	}
	if own != nil && own.Hook == "" && a.Last {
		own.Given = ps.env.OnClock(r.Time.Time)
	}
	return nil
}

// typed records that a key was pressed that may answer a dialog.
func (ps *Prompts) typed(at time.Time) {
	ps.env.Pass(at)
	ps.env.Believe(ps.env.Fold().Typed(ps.env.Clock(at)))
}

// takeUp follows an answer of a server before this one, unless that one told
// what became of it, or it is too old for anybody to wait for.
func (ps *Prompts) takeUp(a *answering, r hold.Record) *answering {
	if !isAnswer(a.Verb) || ps.env.Now().Sub(r.Time.Time) > answerSettles || !r.Time.Time.After(ps.responded[a.Prompt]) {
		return nil
	}
	p, ok := ps.env.Fold().Pending(a.Prompt)
	if !ok {
		return nil
	}
	a.Opened, a.Given, a.settleBy = p.Request.Since.Time, time.Time{}, ps.env.OnClock(r.Time.Time).Add(answerSettles)
	ps.follow(a)
	return a
}

// Asks takes in that a hook waits for a verdict.
func (ps *Prompts) Asks(n uint64) {
	if ps.asking == nil {
		ps.asking = map[uint64]bool{}
	}
	ps.asking[n] = true
}

// Faced says that the prompt is to be asked on the screen, where a client that
// may write is looking, and not of a hook that would keep it from there.
func (ps *Prompts) Faced(p *agent.Request) bool { return ps.withholds(p) && ps.env.Watched() }

// withholds says that the prompt is on no screen while its hook waits.
func (ps *Prompts) withholds(p *agent.Request) bool {
	w, ok := ps.env.Driver().(agent.HookHidesDialog)
	return ok && p != nil && w.HidesDialog(p)
}

// Unveil lets the hooks go that keep dialogs from a client which has just
// joined. What they asked goes on being asked, there.
func (ps *Prompts) Unveil() {
	if !ps.env.Program().Ready() {
		return
	}
	for n := range ps.asking {
		if p, ok := ps.env.Fold().HeldBy(loop.HookID(n)); ok && ps.Faced(p) {
			ps.release(n)
		}
	}
}

// release lets a hook go, which says nothing then. That it is gone is a record
// of its own.
func (ps *Prompts) release(n uint64) {
	delete(ps.asking, n)
	link := ps.env.Link()
	ps.env.Background(func(context.Context) {
		if err := link.Release(n); err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) {
			ps.env.Log.Warn("could not release a hook", "hook", n, "error", err)
		}
	})
}

// LetGo releases the hooks that no prompt waits for: it was answered on the
// screen, or is of a conversation that is none of ours.
func (ps *Prompts) LetGo() {
	if !ps.env.Program().Ready() {
		return
	}
	for n := range ps.asking {
		if ps.env.Fold().Holds(loop.HookID(n)) || ps.env.Waits(n) {
			continue
		}
		ps.release(n)
	}
}

// heedVerdict takes in that a hook was answered. An answer that a server
// before this one gave is followed like one of its own.
func (ps *Prompts) heedVerdict(r hold.Record) error {
	v, err := loop.Decode[hold.VerdictData](r)
	if err != nil {
		return err
	}
	delete(ps.asking, v.Hook)
	a := &answering{}
	if json.Unmarshal(v.Mark, a) == nil && ps.answers[a.Prompt] == nil {
		a.Hook = loop.HookID(v.Hook)
		ps.takeUp(a, r)
	}
	return nil
}

// heedHookOver takes in that a hook waits no more.
func (ps *Prompts) heedHookOver(r hold.Record) error {
	g, err := loop.Decode[hold.GoneData](r) // both kinds name the hook
	if err != nil {
		return err
	}
	delete(ps.asking, g.Hook)
	id := loop.HookID(g.Hook)
	for _, a := range ps.answers {
		if a.Hook != id {
			continue
		}
		if r.Kind == hold.KindDelivered {
			a.Given = ps.env.OnClock(r.Time.Time)
		}
		if a.closed != nil {
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
		}
	}
	kind := agent.HookGone
	if p, held := ps.env.Fold().HeldBy(id); held && r.Kind == hold.KindDelivered && ps.withholds(p) {
		kind = agent.HookAnswered // there was no other way to answer it
	}
	result := ps.env.Fold().Apply(agent.Fact{
		Kind: kind, Source: agent.SourceHook, Cause: "hook:" + r.Kind, Hook: id, Evidence: g.Why, Time: ps.env.Clock(ps.env.OnClock(r.Time.Time)),
	})
	ps.env.Believe(result)
	return nil
}

// follow keeps an answer until its prompt is closed.
func (ps *Prompts) follow(a *answering) {
	if ps.answers == nil {
		ps.answers = map[string]*answering{}
	}
	ps.answers[a.Prompt] = a
}

// underWay are the answers that nobody knows the end of yet, for the
// checkpoint.
func (ps *Prompts) underWay() []answering {
	var all []answering
	for _, a := range ps.answers {
		if !a.judged {
			all = append(all, *a)
		}
	}
	return all
}

// resume follows the answers that were under way when the checkpoint was
// written.
func (ps *Prompts) resume(saved []answering) {
	for _, a := range saved {
		a.settleBy = a.At.Add(answerSettles)
		ps.follow(&a)
	}
}

// supersededKept is how many prompts that became others are known as such, for answers
// that come late: one comes within seconds.
const supersededKept = 16

// Closes judges the answer to a prompt that was closed, if there is one on its
// way, and gives what is told of it.
func (ps *Prompts) Closes(done *detect.Resolution) (by *loop.By, told []events.Event) {
	if !ps.followed {
		return nil, nil // the program has ended, and with it what was answered
	}
	if done.How == "superseded" {
		if ps.superseded = append(ps.superseded, done.Request.ID); len(ps.superseded) > supersededKept {
			ps.superseded = slices.Delete(ps.superseded, 0, 1)
		}
	}
	a := ps.answers[done.Request.ID]
	if a == nil {
		return nil, nil
	}
	if a.judged {
		delete(ps.answers, a.Prompt)
		return nil, nil
	}
	a.closed = done
	switch now := ps.env.Now(); {
	case a.Hook != "" && a.Given.IsZero():
		return nil, nil // the record that says what became of it is still to come
	case ps.mayBeRefused(a):
		if by := now.Add(refusalShows); by.Before(a.settleBy) {
			a.settleBy = by
		}
		return nil, nil
	}
	e := ps.judgeAnswer(a)
	if e.Confirmed {
		by = &a.By
	}
	ps.settleAnswer(a, e, false)
	return by, []events.Event{ps.answerTold(a, e)}
}

// judgeAnswer says what became of an answer: it was taken if the prompt was
// closed after the agent had it, and nobody else had typed.
func (ps *Prompts) judgeAnswer(a *answering) respondEvent {
	e := respondEvent{By: a.By, Prompt: a.Prompt, Digest: a.Digest, Type: a.Type, Channel: a.Channel, Outcome: a.Outcome, Delivered: !a.Given.IsZero()}
	switch {
	case a.closed == nil, a.closed.How == "superseded": // still open, or asked as another
	case !e.Delivered || ps.othersTyped(a):
		e.Outcome = agent.OutcomeElsewhere
	case ps.nobodyKnows(a), ps.stoppedLater(a):
	default:
		e.Confirmed = ps.env.GoesOn() || a.Outcome == agent.OutcomeDenied
	}
	return e
}

// othersTyped says whether somebody else's key may have been the answer: one
// that came before ours, and not so long before that it would have shown; or
// any, if what we allowed was refused.
func (ps *Prompts) othersTyped(a *answering) bool {
	typed, before := ps.othersAt, a.Given
	if a.Hook != "" {
		before = before.Add(hookAhead)
	}
	if !typed.After(a.Opened) || !typed.Before(before) {
		return false
	}
	if a.allows() {
		if ps.stopped(a) {
			return true
		}
		if a.Hook != "" && typed.After(a.At) {
			return false // of a hook and a key at once either may be first; theirs, if it refused, would have stopped the work
		}
	}
	return typed.After(a.At.Add(-KeyShows))
}

// allows: what follows shows whether it was this answer that was taken.
func (a *answering) allows() bool {
	return a.Outcome == agent.OutcomeAccepted || a.Outcome == agent.OutcomeAnswered
}

// nobodyKnows: a hook was answered, of its dialog is known that it is gone and no
// more, and a key of somebody else may have lain unread before.
func (ps *Prompts) nobodyKnows(a *answering) bool {
	typed := ps.othersAt
	return a.Hook != "" && a.closed.How == "gone" && a.allows() && typed.After(a.Opened) && typed.After(a.At.Add(-keyShowsUnseen)) && typed.Before(a.Given.Add(hookAhead))
}

// stopped says that the work which the answer was for has stopped since it was begun.
func (ps *Prompts) stopped(a *answering) bool {
	return a.closed.Stopped || a.Hook != "" && ps.env.Fold().StoppedSince(a.At)
}

// stoppedLater: a key of another client came well after our hook's answer, and the work has
// stopped. On a busy machine the agent may have read that key first, and refused; else it
// interrupted what we allowed.
func (ps *Prompts) stoppedLater(a *answering) bool {
	return a.Hook != "" && a.allows() && ps.stopped(a) && ps.othersAt.After(a.At)
}

// refusalShows is how much later than its dialog goes the end of a refused turn shows: up to
// 700 ms on a machine with 16 times the work that it can do.
const refusalShows = time.Second

// mayBeRefused: the screen says that the dialog is gone. A key of another client may have refused
// what our hook allowed, and then the turn's end is still to come.
func (ps *Prompts) mayBeRefused(a *answering) bool {
	return a.Hook != "" && a.closed.How == "gone" && a.allows() && ps.othersAt.After(a.At) && !ps.stopped(a)
}

// othersJustTyped says that somebody else has typed so shortly before that
// nobody knows yet whether it answered the prompt.
func (ps *Prompts) othersJustTyped(opened time.Time) bool {
	now := ps.env.Now()
	if !ps.othersAt.After(opened) {
		return false
	}
	return ps.othersAt.After(now.Add(-KeyShows)) || ps.env.Printed() <= ps.othersTo && ps.othersAt.After(now.Add(-keyShowsUnseen))
}

// settleAnswer ends the waiting for an answer, and tells of it.
func (ps *Prompts) settleAnswer(a *answering, e respondEvent, tell bool) {
	if a.judged {
		return
	}
	a.judged, a.result = true, e
	if a.closed != nil && ps.answers[a.Prompt] == a {
		delete(ps.answers, a.Prompt)
	}
	if a.done != nil {
		close(a.done)
	}
	if tell {
		told := ps.answerTold(a, e)
		ps.env.Note(told.Type, told.Data)
	}
}

// forgetAnswer ends an answer of which the agent got nothing.
func (ps *Prompts) forgetAnswer(a *answering) {
	ps.settleAnswer(a, respondEvent{}, false)
	if ps.answers[a.Prompt] == a {
		delete(ps.answers, a.Prompt)
	}
}

// settleAnswers gives up on the answers of which nothing was heard in time,
// after a last look at what there is to read.
func (ps *Prompts) settleAnswers(now time.Time) {
	for _, a := range ps.answers {
		switch {
		case a.judged || a.settleBy.IsZero() || now.Before(a.settleBy):
		case !a.swept:
			a.swept = true
			ps.env.Sweep()
		default:
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
			ps.typed(now) // the answer may have been taken after all, so the dialog on the screen becomes a new prompt
		}
	}
}

// answersDue is when settleAnswers has something to do; zero: never.
func (ps *Prompts) answersDue() (at time.Time) {
	for _, a := range ps.answers {
		if !a.judged && !a.settleBy.IsZero() && (at.IsZero() || a.settleBy.Before(at)) {
			at = a.settleBy
		}
	}
	return at
}

// Ending judges the answers of a program that has ended: that is what some lead to. told says
// that a server before this one has written its events. End follows.
func (ps *Prompts) Ending(told bool) {
	for _, a := range ps.answers {
		if !a.judged {
			a.closed = &detect.Resolution{}
			ps.settleAnswer(a, ps.judgeAnswer(a), !told)
		}
	}
}
