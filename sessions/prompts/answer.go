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
	// answerSettles is how long an answer waits for its outcome. Until then another answer to the same prompt
	// is refused.
	answerSettles = 4 * time.Second
	// KeyShows is how long a key may take until its effect shows in a source. Another client's key that is more
	// recent may be the answer. Claude took up to 130 ms. At nine times the load that the machine can carry it
	// took 1.5 s and drew nothing meanwhile, which is what keyShowsUnseen is for.
	KeyShows       = time.Second
	keyShowsUnseen = 2500 * time.Millisecond
	// hookAhead is by how much a hook must be ahead of a key to be sure to win.
	hookAhead = 10 * time.Millisecond
)

// answering is an answer from before it is given until its outcome is known. Its JSON is the mark in the control
// record of the verdict or of each key, and in the checkpoint.
type answering struct {
	By      loop.By          `json:"by"`
	Prompt  string           `json:"prompt"`
	Digest  string           `json:"digest,omitempty"`
	Type    agent.PromptType `json:"type"`
	Subtype *string          `json:"subtype,omitempty"`
	Channel string           `json:"channel"`
	Outcome string           `json:"outcome"`
	Verb    string           `json:"verb"`            // respond or groom
	Last    bool             `json:"last,omitempty"`  // the key with this mark is the last
	Focus   bool             `json:"focus,omitempty"` // it is a report of the focus, which answers nothing
	Hook    string           `json:"hook,omitempty"`  // the hook that takes it; empty for keys
	Opened  time.Time        `json:"opened,omitzero"`
	At      time.Time        `json:"at,omitzero"`    // when it was started
	Given   time.Time        `json:"given,omitzero"` // when the agent had it: the hook's bytes, the last key
	Closed  *closing         `json:"closed,omitempty"`

	program  int       // whose prompt it is
	settleBy time.Time // when to judge it without further reports; zero while keys are being pressed
	swept    bool      // the journal was read to its end after settleBy
	pressed  bool      // a key of it was pressed
	done     chan struct{}
	result   respondEvent
	judged   bool
}

// closing is how the prompt of an answer was closed, while it isn't known yet what became of the
// answer.
type closing struct {
	How     string `json:"how"`
	Stopped bool   `json:"stopped,omitempty"`
}

// respondEvent is the data of an event about an answer's outcome.
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

// mark is the answer's mark in the control log.
func (a *answering) mark(last bool) json.RawMessage {
	told := *a
	told.Last, told.Closed = last, nil
	data, err := json.Marshal(told)
	if err != nil {
		return nil // strings and times always encode
	}
	return data
}

// Observe handles a record that concerns prompts. The loop has applied the record already.
func (ps *Prompts) Observe(r hold.Record) {
	if !ps.followed {
		return
	}
	var err error
	switch r.Kind {
	case hold.KindHook:
		ps.ReleaseHooks()
	case hold.KindInput:
		err = ps.observeInput(r)
	case hold.KindVerdict:
		err = ps.observeVerdict(r)
	case hold.KindDelivered, hold.KindGone:
		err = ps.observeHookOver(r)
	}
	if err != nil {
		ps.env.Trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
}

// observeInput records when another client typed. It follows the keys of an earlier server's answer like its own.
func (ps *Prompts) observeInput(r hold.Record) error {
	if mark := ps.env.Mark(); !isAnswer(mark.Verb) { // read as the record was applied
		ps.othersAt, ps.othersTo = ps.env.OnClock(r.Time.Time), r.Offset
		ps.typed(ps.othersAt, mark.ByPerson() && !mark.Focus)
		return nil
	}
	input, err := r.Input()
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
			ps.typed(ps.env.OnClock(r.Time.Time), true)
		}
	} else if own.done == nil { // an earlier server's answer
		own.settleBy = ps.env.OnClock(r.Time.Time).Add(answerSettles)
	}
	switch {
	case own == nil || own.Hook != "":
	case a.Last:
		own.Given = ps.env.OnClock(r.Time.Time)
		ps.foldAt(own.Given).Answered(a.Prompt, own.Outcome == agent.OutcomeAccepted)
	case !a.Focus:
		ps.foldAt(ps.env.OnClock(r.Time.Time)).Pressed(a.Prompt)
	}
	return nil
}

// foldAt is the fold at that time. Its last fact may be old: a dialog changes nothing while it waits. A key counts from when it is pressed.
func (ps *Prompts) foldAt(at time.Time) *detect.Fold {
	ps.env.Apply(ps.env.Fold().Tick(ps.env.Clock(at)))
	return ps.env.Fold()
}

// typed records a key. One of a message isn't meant for a dialog, and neither is a report of the focus.
func (ps *Prompts) typed(at time.Time, meant bool) {
	ps.env.Pass(at)
	record := ps.env.Fold().TypedMessage
	if meant {
		record = ps.env.Fold().Typed
	}
	ps.env.Apply(record(ps.env.Clock(at)))
}

// takeUp follows an answer of an earlier server, unless the answer has its event or is too old. Without a
// checkpoint this server may not know its prompt, which only the screen showed then.
func (ps *Prompts) takeUp(a *answering, r hold.Record) *answering {
	if !isAnswer(a.Verb) || ps.env.Now().Sub(r.Time.Time) > answerSettles || !r.Time.Time.After(ps.responded[a.Prompt]) {
		return nil
	}
	if p, ok := ps.env.Fold().Pending(a.Prompt); ok {
		a.Opened = p.Request.Since.Time
	}
	a.Given, a.settleBy = time.Time{}, ps.env.OnClock(r.Time.Time).Add(answerSettles)
	ps.follow(a)
	return a
}

// Asks records that a hook waits for a verdict.
func (ps *Prompts) Asks(n uint64) {
	if ps.asking == nil {
		ps.asking = map[uint64]bool{}
	}
	ps.asking[n] = true
}

// ShownOnScreen reports whether the prompt must be shown on the screen, because a client that may write is
// attached. Its hook would keep the dialog away.
func (ps *Prompts) ShownOnScreen(p *agent.Request) bool { return ps.hidesDialog(p) && ps.env.Watched() }

// hidesDialog reports whether the prompt's dialog isn't drawn while its hook waits.
func (ps *Prompts) hidesDialog(p *agent.Request) bool {
	w, ok := ps.env.Driver().(agent.HookHidesDialog)
	return ok && p != nil && w.HidesDialog(p)
}

// ShowDialogs releases the hooks that keep dialogs from a client that has just attached. The agent then draws
// the dialogs, and the prompts stay open.
func (ps *Prompts) ShowDialogs() {
	if !ps.env.Program().Ready() {
		return
	}
	for n := range ps.asking {
		if p, ok := ps.env.Fold().HeldBy(loop.HookID(n)); ok && ps.ShownOnScreen(p) {
			ps.release(n)
		}
	}
}

// release ends a hook's wait without an answer. The holder records that it is gone.
func (ps *Prompts) release(n uint64) {
	delete(ps.asking, n)
	link := ps.env.Link()
	ps.env.Background(func(context.Context) {
		if err := link.Release(n); err != nil && !errors.Is(err, hold.ErrNotWaiting) && !errors.Is(err, hold.ErrEnded) {
			ps.env.Log.Warn("could not release a hook", "hook", n, "error", err)
		}
	})
}

// ReleaseHooks releases the hooks that no prompt needs: the prompt was answered on the screen, or belongs to
// another conversation.
func (ps *Prompts) ReleaseHooks() {
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

// observeVerdict records that a hook was answered. It follows an earlier server's answer like its own.
func (ps *Prompts) observeVerdict(r hold.Record) error {
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

// observeHookOver records that a hook no longer waits.
func (ps *Prompts) observeHookOver(r hold.Record) error {
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
			ps.foldAt(a.Given).Answered(a.Prompt, a.Outcome == agent.OutcomeAccepted)
		}
		if a.Closed != nil {
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
		}
	}
	kind := agent.HookGone
	if p, held := ps.env.Fold().HeldBy(id); held && r.Kind == hold.KindDelivered && ps.hidesDialog(p) {
		kind = agent.HookAnswered // only the hook can have answered it
	}
	result := ps.env.Fold().Apply(agent.Fact{
		Kind: kind, Source: agent.SourceHook, Cause: "hook:" + r.Kind, Hook: id, Evidence: g.Why, Time: ps.env.Clock(ps.env.OnClock(r.Time.Time)),
	})
	ps.env.Apply(result)
	return nil
}

// follow keeps an answer until its prompt is closed.
func (ps *Prompts) follow(a *answering) {
	if ps.answers == nil {
		ps.answers = map[string]*answering{}
	}
	ps.answers[a.Prompt] = a
}

// underWay are the answers without a verdict yet, for the checkpoint.
func (ps *Prompts) underWay() []answering {
	var all []answering
	for _, a := range ps.answers {
		if !a.judged {
			all = append(all, *a)
		}
	}
	return all
}

// resume follows the answers that the checkpoint has.
//
// Of one whose prompt was closed, the end of a refused turn may still be unread.
func (ps *Prompts) resume(saved []answering) {
	for _, a := range saved {
		a.settleBy = ps.env.OnClock(a.At).Add(answerSettles)
		if a.Closed != nil {
			a.settleBy = latest(a.settleBy, ps.env.Now().Add(refusalShows))
		}
		ps.follow(&a)
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// supersededKept is how many superseded prompts are remembered for late answers. An answer comes within seconds.
const supersededKept = 16

// Closes judges the answer to a closed prompt, if it has one, and returns its events.
func (ps *Prompts) Closes(done *detect.Resolution) (by *loop.By, told []events.Event) {
	if !ps.followed {
		return nil, nil // the program has ended, and Ending has judged its answers
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
	a.Closed = &closing{How: done.How, Stopped: done.Stopped}
	switch now := ps.env.Now(); {
	case a.Hook != "" && a.Given.IsZero():
		return nil, nil // the record of the hook's end is still to come
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
	return by, []events.Event{ps.answerEvent(a, e)}
}

// settleAnswer ends the wait for an answer's outcome, and emits its event if emit is set.
func (ps *Prompts) settleAnswer(a *answering, e respondEvent, emit bool) {
	if a.judged {
		return
	}
	a.judged, a.result = true, e
	ps.answered(a.Prompt, ps.env.Now())
	if a.Closed != nil && ps.answers[a.Prompt] == a {
		delete(ps.answers, a.Prompt)
	}
	if a.done != nil {
		close(a.done)
	}
	if emit {
		told := ps.answerEvent(a, e)
		ps.env.Note(told.Type, told.Data)
	}
}

// answered records when the event of the prompt's newest answer was emitted. Its keys have older records.
func (ps *Prompts) answered(prompt string, at time.Time) {
	if ps.responded == nil {
		ps.responded = map[string]time.Time{}
	}
	for other, before := range ps.responded {
		if at.Sub(before) > answerSettles { // an older answer isn't followed
			delete(ps.responded, other)
		}
	}
	ps.responded[prompt] = at
}

// forgetAnswer ends an answer that never reached the agent.
func (ps *Prompts) forgetAnswer(a *answering) {
	ps.settleAnswer(a, respondEvent{}, false)
	if ps.answers[a.Prompt] == a {
		delete(ps.answers, a.Prompt)
	}
}

// settleAnswers judges the answers whose time is over, after it has read the journal to its end.
func (ps *Prompts) settleAnswers(now time.Time) {
	for _, a := range ps.answers {
		switch {
		case a.judged || a.settleBy.IsZero() || now.Before(a.settleBy):
		case !a.swept:
			a.swept = true
			ps.env.Sweep()
		default:
			ps.settleAnswer(a, ps.judgeAnswer(a), true)
			ps.typed(now, false) // the answer may have been taken after all, so the dialog on the screen becomes a new prompt
		}
	}
}

// answersDue is when settleAnswers next has something to do; zero: never.
func (ps *Prompts) answersDue() (at time.Time) {
	for _, a := range ps.answers {
		if !a.judged && !a.settleBy.IsZero() && (at.IsZero() || a.settleBy.Before(at)) {
			at = a.settleBy
		}
	}
	return at
}

// Ending judges the answers of a program that has ended, because some answers end it. emitted reports that an
// earlier server has written the events. The loop calls End after it.
func (ps *Prompts) Ending(emitted bool) {
	for _, a := range ps.answers {
		if !a.judged {
			a.Closed = &closing{}
			ps.settleAnswer(a, ps.judgeAnswer(a), !emitted)
		}
	}
}
