package detect

import (
	"time"

	"berth/agent"
)

// typedHolds is how long a key may take to answer a dialog: Claude Code took 1.5 s to read
// one on a machine with nine times the work that it can do, and drew nothing meanwhile.
const typedHolds = 2500 * time.Millisecond

// Typed takes in that a key was pressed at the terminal, which answers a dialog or does not.
// One that stays may be the next one, where that would look the same.
func (f *Fold) Typed(now time.Time) Result {
	f.begin(now)
	if d := f.dialog(); d != nil && d.Alike {
		for _, r := range f.m.Requests {
			if r.Prompt.OnScreen {
				r.Typed = f.now
			}
		}
	}
	f.settle()
	f.conclude()
	return f.result
}

// retyped gives prompts a new id whose dialogs may be others' since a key was pressed.
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
