package detect

import (
	"time"

	"berth/agent"
)

// typedHolds bounds how long a key may take to answer a dialog. Claude Code took 1.5 s to read a
// key on a machine with nine times the work that it can do, and drew nothing meanwhile.
const typedHolds = 2500 * time.Millisecond

// Typed records that a key was pressed at the terminal, which may answer a dialog. If the dialog
// stays, it may be the next one when that would look the same.
func (f *Fold) Typed(now time.Time) Result {
	f.begin(now)
	if d := f.dialog(); d == nil || !d.Alike { // most keys: nothing to conclude from
		return f.result
	}
	for _, r := range f.m.Requests {
		if r.Prompt.OnScreen {
			r.Typed = f.now
		}
	}
	f.settle()
	f.conclude()
	return f.result
}

// retyped gives a prompt a new id when its dialog may be another's since a key was pressed.
func (f *Fold) retyped() {
	for _, r := range f.m.Requests {
		switch {
		case r.Typed.IsZero():
		case !r.Prompt.OnScreen:
			r.Typed = time.Time{}
		case f.due(agent.MoveAsk, agent.SourceScreen, r.Typed, typedHolds):
			r.Typed = time.Time{}
			f.renew(r)
			r.keep()
			f.result.Opened = append(f.result.Opened, r.Prompt.Clone())
		}
	}
}
