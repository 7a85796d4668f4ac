package track

import (
	"time"

	"berth/agent"
	"berth/detect"
)

// SetState sets a state that follows from no fact. It emits an event if the state has changed.
func (t *Track) SetState(state agent.State, tier int, cause string) {
	if t.state == state {
		t.tier, t.cause = tier, cause
		return
	}
	prev := t.state
	t.state, t.since, t.tier, t.cause = state, t.env.Now(), tier, cause
	t.stateSeq = t.env.Note(eventState, StateEvent{
		Prev: string(prev), Next: string(state), Tier: tier, Cause: cause, Sources: sourceWords(t.words(), t.since), Queue: t.waitsIn(state),
	})
	t.parks(prev)
}

// parks keeps which event made the state parked, once the state's event has its number. An error that
// outlasts its end is still the same error.
func (t *Track) parks(prev agent.State) {
	switch {
	case t.state == agent.Parked:
		t.park = t.stateSeq
	case t.state != agent.InError || prev != agent.Parked:
		t.park = 0
	}
}

// Parked is the number of the event that made the state parked, when its error came and when that ends. The
// number is 0 without such an error.
func (t *Track) Parked() (seq uint64, since, end time.Time) {
	if t.d == nil || t.park == 0 {
		return 0, since, end
	}
	if e := t.d.fold.Status().Failure; e != nil && e.ResumeAt != nil {
		return t.park, e.Since, *e.ResumeAt
	}
	return 0, since, end
}

// waitsIn is the id of the first message if it waits although the agent's state allows messages.
func (t *Track) waitsIn(state agent.State) string {
	if state != agent.Idle {
		return ""
	}
	return t.env.FirstWaiting()
}

// words are the last reports of the sources. For a program that has ended they are from before its end.
func (t *Track) words() []detect.Word {
	if t.d != nil {
		return t.d.fold.Explain().Words
	}
	return t.lastWords
}
