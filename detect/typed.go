package detect

import (
	"time"

	"berth/agent"
)

// Typed records that a key was pressed at the terminal, which may answer a dialog. If the dialog
// stays, it may be the next one when that would look the same.
func (f *Fold) Typed(now time.Time) Result {
	f.begin(now)
	f.m.KeyAt = now
	kept := len(f.m.Under) + len(f.m.Lost)
	f.typedAt(now)
	return f.pressed(now, len(f.m.Under)+len(f.m.Lost) < kept)
}

// TypedMessage records keys of a message that Berth delivers. It answers no dialog: another process may have drawn a composer
// over one.
func (f *Fold) TypedMessage(now time.Time) Result {
	f.begin(now)
	return f.pressed(now, false)
}

// pressed concludes only if the key answers something, which few do.
func (f *Fold) pressed(now time.Time, answers bool) Result {
	f.m.TypedAt = now // the record of a key may be read later than the screen after it
	f.m.mayFollow()
	d := f.dialog()
	for _, r := range f.m.Requests {
		if d != nil && r.Prompt.OnScreen && f.alike(d, r) || d == nil && r.Prompt.Alike && f.up(r) {
			r.Typed, answers = f.now, true
		}
	}
	if !answers {
		return f.result
	}
	f.settle()
	f.conclude()
	return f.result
}

// retyped gives a prompt a new id when its dialog may be another's since a key was pressed. A dialog
// that has left the screen since then and is back is surely another one's, or was only drawn anew.
func (f *Fold) retyped() {
	for _, r := range f.m.Requests {
		if r.Typed.IsZero() || !r.Prompt.OnScreen || !f.due(agent.MoveAsk, agent.SourceScreen, r.Typed, typedHolds) {
			continue
		}
		r.Typed = time.Time{}
		f.renew(r)
		r.keep()
		f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
	}
}
