package anyorder

import (
	"fmt"
	"slices"
	"time"

	"berth/detect"
)

// server is the one that follows the session, and what the next one finds.
type server struct {
	number    int
	opened    int // prompts that no report has opened
	down      bool
	steps     int // until the next one is there
	saved     []byte
	at        time.Time
	since     []record // since that checkpoint
	records   int
	record    int // that is read now
	reporting int // prompts that it has opened
}

// record is an entry of the holder's control log.
type record struct {
	number int
	at     time.Time
	apply  func(*detect.Fold)
}

// options are those of a fold. A prompt that is reported has the same id when its report is read again.
func (w *world) options() detect.Options {
	s := &w.server
	return detect.Options{Start: w.now, Dir: w.a.Dir, PromptID: func(_ uint64, reported bool) string {
		if reported {
			s.reporting++
			return fmt.Sprintf("r%d.%d", s.record, s.reporting)
		}
		s.opened++
		return fmt.Sprintf("%d.%d", s.number, s.opened)
	}}
}

// record applies what the holder has recorded.
func (w *world) record(apply func(*detect.Fold)) {
	s := &w.server
	s.records++
	s.since = append(s.since, record{s.records, w.now, apply})
	if !s.down {
		w.read(s.since[len(s.since)-1])
		w.keep()
	}
}

func (w *world) read(r record) {
	w.server.record, w.server.reporting = r.number, 0
	r.apply(w.f)
}

func (w *world) typed() {
	now := w.now
	w.record(func(f *detect.Fold) { f.Typed(now) })
}

func (w *world) typedMessage() {
	now := w.now
	w.record(func(f *detect.Fold) { f.TypedMessage(now) })
}

// saves writes the checkpoint.
func (w *world) saves() {
	if w.server.down {
		return
	}
	saved, err := w.f.Checkpoint()
	if err != nil {
		w.t.Fatal(err)
	}
	w.server.saved, w.server.at, w.server.since = saved, w.now, nil
}

// killed: the server is gone, for some steps, with what it hasn't saved.
func (w *world) killed() {
	if w.honest.plays { // a dialog that was answered since the checkpoint contests the next ones until the agent rests
		w.saves()
	}
	if w.server.saved != nil && !w.server.down {
		w.say("the server is killed")
		w.server.down, w.server.steps = true, w.r.IntN(4)
	}
}

// restarts is the next server at once.
func (w *world) restarts() {
	if w.server.down {
		return
	}
	w.saves()
	w.next()
}

// next is the next server. It reads what was recorded since the checkpoint, and then the screen.
func (w *world) next() {
	s := &w.server
	w.honest.changed = w.now
	s.number, s.opened, s.down = s.number+1, 0, false
	o := w.options()
	o.Start = time.Time{}
	f, err := detect.Restore(w.a.Driver, o, s.saved, s.at)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.covered != nil && w.open != nil && w.open.begun.After(s.at) {
		for _, c := range append(slices.Clone(w.queue), w.open) {
			c.excused = true // this server hasn't seen the dialog
		}
	}
	w.f, w.looks = f, detect.Looks{}
	f.Freeze()
	for _, r := range s.since {
		f.Tick(r.at)
		w.read(r)
	}
	w.say("the next server")
	w.look()
	f.Thaw(w.now)
	w.keep()
}
