package detect

import (
	"time"

	"berth/agent"
)

// parkGrace is how long after its end a limit still counts as parked. A message that goes on is sent in
// that time, and its turn begins.
const parkGrace = time.Minute

// failed keeps the error that ended a turn, and when it ends by itself.
func (f *Fold) failed(failure agent.Failure, since time.Time) {
	failure.Since, failure.ResumeAt = since, nil
	if failure.Class.Ends() {
		if at, ok := agent.ResumeAt(failure.Text, since, f.o.Zone); ok {
			failure.ResumeAt = &at
		}
	}
	f.m.Failure = &failure
}

// parked reports whether the current error ends by itself. A minute after its end it is an error like
// any other, because the agent hasn't gone on.
func (f *Fold) parked() bool {
	e := f.m.Failure
	return e != nil && e.ResumeAt != nil && f.now.Before(e.ResumeAt.Add(parkGrace))
}

// unpark asks for a Tick when the current error no longer counts as parked.
func (f *Fold) unpark() {
	if !f.parked() {
		return
	}
	if at := f.m.Failure.ResumeAt.Add(parkGrace); f.next.IsZero() || at.Before(f.next) {
		f.next = at
	}
}
