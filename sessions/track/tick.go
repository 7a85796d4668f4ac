package track

import (
	"strings"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/terminal"
)

// Tick polls the sources that don't report by themselves, and applies what is due. Its result is never set:
// Due returns the next time, because other parts change it after Tick.
func (t *Track) Tick(now time.Time) (never time.Time) {
	t.look(now)
	t.detect(now)
	return never
}

// look polls the foreground process of the session's terminal, and derives the state from it.
func (t *Track) look(now time.Time) {
	if t.env.Exit() != nil || t.env.Child().PID == 0 || now.Before(t.nextLook()) {
		return
	}
	t.front.looked = now
	active := t.front.looks > 0
	if active {
		t.front.looks--
	}
	seen := t.inFront()
	switch {
	case t.env.Link() == nil:
		t.SetState(agent.Unknown, agent.TierProcess, "process:no-answer")
	case t.d == nil: // an agent that only another version of Berth has a driver for
		t.SetState(agent.Unknown, agent.TierProcess, "process:running")
	default:
		t.followVisitor(seen, now, active)
		t.supervise(seen)
		t.seekLog(now)
		t.watchFiles()
		t.readFiles()
	}
}

func (t *Track) detect(now time.Time) {
	d := t.d
	if d == nil || t.env.Exit() != nil || !t.env.Live() {
		return
	}
	if !d.waking.live {
		if t.recalled() {
			t.seekLog(now)
		}
		if t.readLog(); d.files.log.more {
			return // first apply all that an earlier server has read
		}
		if t.goLive(now); t.d != d {
			return // another program is followed: its next Tick reads its sources
		}
	}
	if d.waking.title && now.Sub(d.waking.at) >= WakesWithin {
		d.waking.title = false
		t.readTitle()
	}
	asks := d.screen.reading != nil && d.screen.reading.Dialog != nil // maybe about a call that the log has by now
	if t.filesChanged || d.files.log.more || asks && completes(d.driver) {
		t.filesChanged = false
		t.readFiles()
	}
	if t.mayLook(now) {
		t.readScreen()
	}
	t.Pass(now)
	if believed := d.fold.Status(); believed.State != t.state && !t.waking(now) { // after a time without the holder or a server
		if believed.Cause == "" { // a visitor that nothing is known of yet
			believed.Tier, believed.Cause = agent.TierProcess, causeForeground
		}
		t.SetState(believed.State, believed.Tier, believed.Cause)
	}
	t.emitActivity(now)
	t.emitMode(now)
}

// emitMode emits the agent's mode if it has changed since the last event. A restored fold may still have an
// older one.
func (t *Track) emitMode(now time.Time) {
	m := t.d.fold.Mode()
	if word := shownMode(m); word != "" && word != t.mode && !t.waking(now) {
		t.env.Note(eventMode, modeEvent{Prev: orNil(t.mode), Mode: word, Tier: m.Source.Tier(), Cause: short(m.Cause)})
		t.mode = word
		t.env.Dirty()
	}
}

// modeMost limits the bytes of a mode, which the agent's hooks may forge.
const modeMost = 64

// shownMode is a mode as users see it.
func shownMode(m detect.Mode) string {
	word := terminal.Printable(m.Word)
	if len(word) > modeMost {
		word = strings.ToValidUTF8(word[:modeMost], "")
	}
	return word
}

// freshest limits how much output is read before the screen. An agent that prints more isn't idle.
const freshest = 16

// Freshen reads all sources of the agent now.
func (t *Track) Freshen() {
	t.env.Sweep()
	for range freshest {
		if !t.env.CatchUp() {
			break
		}
	}
	t.detect(t.env.Now())
	d := t.d
	if d == nil || !t.env.Program().Reaches {
		return
	}
	t.readFiles()
	if d.waking.live && !d.screen.due.IsZero() && !t.env.Terminal().InSync() {
		t.readScreen()
	}
}

// emitActivity emits the agent's activity if it has changed since the last event. The event of the state has
// the first activity.
func (t *Track) emitActivity(now time.Time) {
	d := t.d
	if !d.waking.live || t.state != agent.Working {
		d.does.Again = time.Time{}
		return
	}
	does := d.fold.Status().Activity
	if !d.does.Known() { // an earlier server emitted it
		d.does.Emitted(does, now)
	}
	if d.does.Next(does, now) {
		t.env.Note(eventActivity, activityEvent{Activity: *does})
	}
}

// WakesWithin limits how long the state of the last event outweighs the fold of an older checkpoint, while the
// agent's sources still have to be read or must hold.
const WakesWithin = time.Second

// recalled reports whether the program is older than this server. Then the last event may be newer than the
// checkpoint.
func (t *Track) recalled() bool { return t.env.Child().Started.Before(t.env.Opened) }

// waking reports whether the fold may be older than the state of the last event, because a report must hold
// for a while, the screen is half drawn, or no source has said anything since: an agent may be writing its file just now.
func (t *Track) waking(now time.Time) bool {
	w, f := t.d.waking, t.d.fold
	if w.at.IsZero() || now.Sub(w.at) >= WakesWithin {
		return false
	}
	old := f.Status()
	return w.unseen || !f.Deadline().IsZero() || old.State != t.state && old.Since.Before(t.recalledAt)
}

// lagging reports whether the title may be older than a turn's end that came after the checkpoint: agents draw it some 0.1 s after
// their hooks. An earlier server would have read it before.
func (t *Track) lagging() bool {
	w, last := t.d.waking, t.d.fold.Status()
	return w.restoring && last.State.Rests() && last.Since.After(w.taken)
}

// readTitle applies what the title says.
func (t *Track) readTitle() {
	if title := t.env.Terminal().Title(); title != "" {
		t.facts(t.d.driver.Title(title))
	}
}

// goLive reads the current state of each source, after all that an earlier server read was read again.
func (t *Track) goLive(now time.Time) {
	if t.visitorLeft(now) {
		return
	}
	d := t.d
	d.waking.live, d.waking.restoring = true, t.recalled()
	if d.waking.restoring {
		d.waking.at, d.waking.unseen = now, true
	}
	defer func() { d.waking.restoring = false }()
	for _, hook := range t.env.Waiting() { // releasing one that has gone since does nothing
		t.env.Asks(hook)
	}
	term := t.env.Terminal()
	if d.waking.restoring && term.Offset() > d.waking.from {
		d.fold.Unseen(d.clock(now))
	}
	if d.waking.title = t.lagging(); !d.waking.title {
		t.readTitle()
	}
	t.watchFiles()
	t.readStateFile()
	t.supervise(t.inFront()) // a shell's command may have started after the checkpoint
	if d.screen.due = now; !term.InSync() {
		t.readScreen()
	}
	d.ids.at(t.env.Next(), false)
	t.Emit([]detect.Result{d.fold.Thaw(d.clock(now))})
	t.env.ReleaseHooks()
}

// Due is when Tick next has something to do by time alone; zero: never.
func (t *Track) Due(now time.Time) (at time.Time) {
	if t.env.Exit() != nil {
		return at
	}
	at = t.nextLook()
	sooner := func(due time.Time) {
		if !due.IsZero() && due.Before(at) {
			at = due
		}
	}
	d := t.d
	if d == nil || t.env.Link() == nil {
		return at
	}
	if d.files.log.more {
		return now
	}
	sooner(d.screen.due)
	sooner(d.fold.Deadline())
	sooner(d.does.Again)
	if t.waking(now) || d.waking.title {
		sooner(d.waking.at.Add(WakesWithin))
	}
	return at
}
