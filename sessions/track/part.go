package track

import (
	"encoding/json"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

var _ loop.Part = (*Track)(nil)

// Begin starts to follow a new program.
func (t *Track) Begin(at time.Time) {
	t.visitors.now = nil
	driver := t.env.Fresh()
	if driver == nil {
		return
	}
	t.d.close()
	t.visitors = visitors{}
	d := newDetection(driver, t.env.OnClock(at))
	d.fold = detect.New(d.driver, t.options(d, at))
	if term := t.env.Terminal(); term != nil {
		d.waking.from = term.Offset()
		d.newStream(t.env.Spec(), tail.Place{Offset: term.Offset()})
	}
	t.d, t.lastWords, t.from = d, nil, nil
}

// End stops following the program. It keeps the last message and the last report of each source.
func (t *Track) End() {
	t.from = nil
	d := t.d
	if d == nil {
		return
	}
	d.meter.End()
	d.close()
	t.said = t.lastSaid()
	t.d = nil // the next program gets its own
	t.lastWords = d.fold.Explain().Words
	left := d.fold.Apply(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess, Cause: "process:exit", Time: d.clock(t.env.Now())})
	left.Transitions = nil // the loop emits the end, as for every program
	t.left, t.visitors = &left, visitors{}
}

// Ended emits what the program's end has changed, unless an earlier server has written these events. The
// loop calls it after End of all parts.
func (t *Track) Ended(written bool) {
	left := t.left
	t.left = nil
	if left != nil && !written {
		t.Emit([]detect.Result{*left})
	}
}

// Record applies the records of the agent's hooks.
func (t *Track) Record(r hold.Record) (told loop.Outcome, err error) {
	switch r.Kind {
	case hold.KindHook:
		if !t.env.Written(r.N) {
			t.lookForVisitor()
		}
		return t.hook(r)
	case hold.KindCoalesced:
		return t.coalesced(r)
	}
	return told, nil
}

// Save returns the state, the fold, and how far the agent's files and output were read.
func (t *Track) Save() (json.RawMessage, error) {
	s := saved{State: t.state, Since: api.At(t.since), StateSeq: t.stateSeq, Tier: t.tier, Cause: t.cause, Mode: t.mode, Park: t.park, Said: t.lastSaid(), Visitor: t.visitors.now, places: t.emitted}
	d := t.d
	if d == nil {
		return json.Marshal(s)
	}
	s.Meter, s.Log, s.Left, s.Unread, s.Pasted = d.meter, d.files.log.saved(), d.files.savedLeft(), d.files.savedUnread(), d.screen.pasted
	if d.stream != nil {
		place := d.stream.Place()
		s.Stream = &place
	}
	fold, err := d.fold.Checkpoint()
	if err != nil {
		t.env.Trouble("save the agent's state", err)
	}
	s.Detection = fold
	return json.Marshal(s)
}

// Restore reads what Save returned. Resume then continues to follow the program.
func (t *Track) Restore(data json.RawMessage, _ bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	t.from, t.said, t.emitted, t.mode, t.park = &from, from.Said, from.places, from.Mode, from.Park
	t.state, t.since, t.stateSeq, t.tier, t.cause = from.State, from.Since.Time, from.StateSeq, from.Tier, from.Cause
	if t.state == "" {
		t.state, t.since = agent.Starting, t.env.Spec().Created
	}
	t.recalledAt = t.since
	return nil
}

// Recall applies an event that was written after the checkpoint: it updates the state, and how far log
// and output have their events.
func (t *Track) Recall(line events.Line) {
	if line.Cause != 0 {
		if t.seqOf == nil {
			t.seqOf = map[uint64]uint64{}
		}
		t.seqOf[line.Cause] = line.Seq
	}
	t.recallPlace(line)
	var m modeEvent
	if line.Type == eventMode && json.Unmarshal(line.Raw, &m) == nil {
		t.mode = m.Mode
	}
	var e StateEvent
	if line.Type == eventState && json.Unmarshal(line.Raw, &e) == nil {
		if startsTurn(agent.State(e.Prev), agent.State(e.Next)) {
			t.env.TurnRecalled(line.Time)
		}
		t.state, t.tier, t.cause = agent.State(e.Next), e.Tier, e.Cause
		t.since, t.stateSeq, t.recalledAt = line.Time, line.Seq, line.Time
		t.parks()
	}
}

// recallPlace updates how far the session log and the structured output have their events.
func (t *Track) recallPlace(line events.Line) {
	switch line.Type {
	case eventState, eventPrompt, eventResolved:
	default:
		return
	}
	var e struct {
		At *place `json:"at"`
	}
	if json.Unmarshal(line.Raw, &e) != nil || e.At == nil {
		return
	}
	if last := t.emitted.of(e.At.Source); !(*last).covers(e.At) {
		*last = e.At
	}
}

// Resume continues to follow a program of an earlier server. taken is the checkpoint's time. The fold is
// frozen until everything since the checkpoint was read again.
func (t *Track) Resume(started, taken time.Time) error {
	from := t.from
	t.from = nil
	if from == nil {
		return errors.New("the checkpoint has no data of this part")
	}
	if t.visitors = (visitors{now: from.Visitor}); from.Visitor != nil && t.env.Fresh() == nil {
		t.visitors, from.Detection, from.Log, from.Left, from.Unread = visitors{}, nil, nil, nil, nil // another version of Berth has followed it
	}
	d := newDetection(t.env.Fresh(), t.env.OnClock(taken))
	fold, err := detect.Restore(d.driver, t.options(d, started), from.Detection, taken)
	if err != nil {
		return err
	}
	d.fold, d.said, d.meter, d.restored = fold, from.Said, from.Meter, true
	if term := t.env.Terminal(); term != nil {
		d.waking.from = term.Offset()
	}
	d.waking.taken = t.env.OnClock(taken)
	d.screen.pasted, d.screen.looked = from.Pasted, fold.Looked()
	d.files.log = from.Log.restored(t.reader(d))
	d.files.conversation = fold.Status().Conversation
	if u := from.Unread; u != nil {
		d.files.unread, d.files.unreadMore = u.Logs, u.More
		d.files.noRoom = d.files.lacks(d.files.conversation)
	}
	for i := range from.Left {
		d.files.left = append(d.files.left, from.Left[i].restored(t.reader(d)))
	}
	if from.Stream != nil {
		d.newStream(t.env.Spec(), *from.Stream)
	}
	d.fold.Freeze()
	t.d = d
	if t.recalledAt.After(taken) { // what was due by the last event has its events
		t.Reapply([]detect.Result{d.fold.Tick(d.clock(t.env.OnClock(t.recalledAt)))})
	}
	return nil
}

// Refit replaces the driver by the session's current one, and reads the screen and the foreground again.
func (t *Track) Refit() {
	d, driver := t.d, t.env.Fresh()
	if d == nil || d.driver == driver {
		return
	}
	d.driver = driver
	d.screen.reads, d.screen.looks, d.screen.view, d.screen.reading = ReadsScreen(driver), detect.Looks{}, nil, nil
	now := t.env.Now()
	d.ids.at(t.env.Next(), !d.waking.live)
	if result := d.fold.Refit(driver, d.clock(now)); d.waking.live {
		t.Emit([]detect.Result{result})
	}
	t.LookSoon()
	d.screen.due = now
}
