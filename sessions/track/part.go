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

// Begin begins anew with a program.
func (t *Track) Begin(at time.Time) {
	driver := t.env.Fresh()
	if driver == nil {
		return
	}
	t.d.close()
	d := newDetection(driver, t.env.OnClock(at))
	d.fold = detect.New(d.driver, t.options(d, at))
	if term := t.env.Terminal(); term != nil {
		d.newStream(t.env.Spec(), tail.Place{Offset: term.Offset()})
	}
	t.d, t.lastWords, t.from = d, nil, nil
}

func (t *Track) options(d *detection, start time.Time) detect.Options {
	spec := t.env.Spec()
	return detect.Options{
		Conversation: spec.Conversation, Start: start, Headless: spec.Headless, IdleGrace: spec.IdleGrace, Forked: spec.Forked,
		Again: spec.Again, Dir: spec.Dir,
		PromptID: func(uint64) string { return d.ids.next(t.env.ID) },
	}
}

// Ending takes in what the agent said last, once its program has ended. End and Ended follow.
func (t *Track) Ending() { t.readLogToItsEnd() }

// End forgets the program. What was said, and what its sources said last, is kept.
func (t *Track) End() {
	t.from = nil
	d := t.d
	if d == nil {
		return
	}
	d.meter.End()
	d.close()
	t.said = t.lastSaid()
	t.d = nil // the next program has its own
	t.lastWords = d.fold.Explain().Words
	left := d.fold.Apply(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess, Cause: "process:exit", Time: d.clock(t.env.Now())})
	left.Transitions = nil // the end is told as every program's
	t.left = &left
}

// Ended makes events of what the program's end has settled, unless a server before this one has
// written them. All parts have ended by then.
func (t *Track) Ended(written bool) {
	left := t.left
	t.left = nil
	if left != nil && !written {
		t.Tell([]detect.Result{*left})
	}
}

// Record takes in what the agent's hooks say.
func (t *Track) Record(r hold.Record) (told loop.Told, err error) {
	switch r.Kind {
	case hold.KindHook:
		return t.hook(r)
	case hold.KindCoalesced:
		return t.coalesced(r)
	}
	return told, nil
}

// Save gives the state, the fold, and how far the agent's sources were taken in.
func (t *Track) Save() (json.RawMessage, error) {
	s := saved{State: t.state, Since: api.At(t.since), StateSeq: t.stateSeq, Tier: t.tier, Cause: t.cause, Said: t.lastSaid(), places: t.told}
	d := t.d
	if d == nil {
		return json.Marshal(s)
	}
	s.Meter, s.Log = d.meter, d.files.log.saved()
	if d.stream != nil {
		place := d.stream.Place()
		s.Stream = &place
	}
	fold, err := d.fold.Checkpoint()
	if err != nil {
		t.env.Trouble("save what is known of the agent", err)
	}
	s.Detection = fold
	return json.Marshal(s)
}

// Restore takes it in. Resume goes on with the program.
func (t *Track) Restore(data json.RawMessage, _ bool) error {
	var from saved
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	t.from, t.said, t.told = &from, from.Said, from.places
	t.state, t.since, t.stateSeq, t.tier, t.cause = from.State, from.Since.Time, from.StateSeq, from.Tier, from.Cause
	if t.state == "" {
		t.state, t.since = agent.Starting, t.env.Spec().Created
	}
	t.recalledAt = t.since
	return nil
}

// Recall brings the state up to date, and how far the agent's sources made events.
func (t *Track) Recall(line events.Line) {
	if line.Cause != 0 {
		if t.seqOf == nil {
			t.seqOf = map[uint64]uint64{}
		}
		t.seqOf[line.Cause] = line.Seq
	}
	t.recallPlace(line)
	var e StateEvent
	if line.Type == eventState && json.Unmarshal(line.Raw, &e) == nil {
		t.state, t.tier, t.cause = agent.State(e.Next), e.Tier, e.Cause
		t.since, t.stateSeq, t.recalledAt = line.Time, line.Seq, line.Time
	}
}

// recallPlace finds how far the session log and the structured output were told
// of.
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
	if last := t.told.of(e.At.Source); !(*last).covers(e.At) {
		*last = e.At
	}
}

// Resume goes on with a program that the server before this one followed. It sleeps until all
// that was taken in since the checkpoint, which was taken then, has been read again.
func (t *Track) Resume(started, taken time.Time) error {
	from := t.from
	t.from = nil
	if from == nil {
		return errors.New("the checkpoint cannot be read")
	}
	d := newDetection(t.env.Fresh(), t.env.OnClock(taken))
	fold, err := detect.Restore(d.driver, t.options(d, started), from.Detection, taken)
	if err != nil {
		return err
	}
	d.fold, d.said, d.meter, d.restored = fold, from.Said, from.Meter, true
	d.files.log = from.Log.restored(t.env.Logs(), d.oldEntry)
	if from.Stream != nil {
		d.newStream(t.env.Spec(), *from.Stream)
	}
	d.fold.Sleep()
	t.d = d
	return nil
}

// Refit goes on with the driver that the session has now. The screen and the foreground are read
// anew.
func (t *Track) Refit() {
	d, driver := t.d, t.env.Fresh()
	if d == nil || d.driver == driver {
		return
	}
	d.driver = driver
	d.screen.reads, d.screen.looks, d.screen.reading = ReadsScreen(driver), detect.Looks{}, nil
	now := t.env.Now()
	d.ids.opening = t.env.Next()
	if result := d.fold.Refit(driver, d.clock(now)); d.waking.awake {
		t.Tell([]detect.Result{result})
	}
	t.LookSoon()
	d.screen.due = now
}
