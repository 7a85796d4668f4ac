package track

import (
	"time"

	"berth/agent"
	"berth/detect"
)

// Tick looks at the sources that do not report by themselves, and lets time pass. When it has
// something to do next is for Due: other parts change that after it.
func (t *Track) Tick(now time.Time) (never time.Time) {
	t.look(now)
	t.detect(now)
	return never
}

func (t *Track) detect(now time.Time) {
	d := t.d
	if d == nil || t.env.Exit() != nil || !t.env.Live() {
		return
	}
	if !d.waking.awake {
		if t.recalled() {
			t.seekLog(now)
		}
		if t.readLog(); d.files.log.more {
			return // all that the last server took in comes first
		}
		t.wake(now)
	}
	if t.stirred || d.files.log.more {
		t.stirred = false
		t.readFiles()
	}
	if due := d.screen.due; !due.IsZero() && !now.Before(due) && !t.env.Terminal().InSync() {
		t.readScreen()
	}
	t.Pass(now)
	if believed := d.fold.Status(); believed.State != t.state && !t.waking(now) { // the holder did not answer for a while, or a server ended
		t.SetState(believed.State, believed.Tier, believed.Cause)
	}
	t.tellActivity(now)
}

// freshest bounds how much output is read before a look at the screen: an agent
// that prints more than that is not at rest.
const freshest = 16

// Freshen takes in all that the agent's sources say now.
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
	if d.waking.awake && !d.screen.due.IsZero() && !t.env.Terminal().InSync() {
		t.readScreen()
	}
}

// tellActivity makes an event of what the agent does, if that has changed since
// the last one. Its state's own event tells what it began with.
func (t *Track) tellActivity(now time.Time) {
	d := t.d
	if !d.waking.awake || t.state != agent.Working {
		d.does.Again = time.Time{}
		return
	}
	does := d.fold.Status().Activity
	if !d.does.Known() { // a server before this one told what it was
		d.does.Tells(does, now)
	}
	if d.does.Next(does, now) {
		t.env.Note(eventActivity, activityEvent{Activity: *does})
	}
}

// WakesWithin bounds how long the state that was told last outweighs what is
// believed by an older checkpoint, while the agent's sources have yet to be
// believed or read.
const WakesWithin = time.Second

// recalled says that the program was there before this server: what a server told
// of it is newer than what is believed by a checkpoint.
func (t *Track) recalled() bool { return t.env.Child().Started.Before(t.env.Opened) }

// waking says that what is believed may be older than the state that was told
// last: a source must hold for a while, or its screen is half drawn.
func (t *Track) waking(now time.Time) bool {
	w := t.d.waking
	return !w.at.IsZero() && now.Sub(w.at) < WakesWithin && (w.unseen || !t.d.fold.Deadline().IsZero())
}

// wake takes in what is to be seen, once all that the last server saw
// has been read again.
func (t *Track) wake(now time.Time) {
	d := t.d
	d.waking.awake, d.waking.rousing = true, t.recalled()
	if d.waking.rousing {
		d.waking.at, d.waking.unseen = now, true
	}
	defer func() { d.waking.rousing = false }()
	for _, hook := range t.env.Waiting() { // one that has gone since is let go in vain
		t.env.Asks(hook)
	}
	term := t.env.Terminal()
	if title := term.Title(); title != "" {
		t.facts(d.driver.Title(title))
	}
	t.watchFiles()
	t.readStateFile()
	t.supervise(t.inFront()) // a shell's command may have begun after the checkpoint
	if d.screen.due = now; !term.InSync() {
		t.readScreen()
	}
	d.ids.opening = t.env.Next()
	t.Tell([]detect.Result{d.fold.Wake(d.clock(now))})
	t.env.LetGo()
}

// Due is when Tick has something to do by time alone; zero: never.
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
	if t.waking(now) {
		sooner(d.waking.at.Add(WakesWithin))
	}
	return at
}
