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
	t.parks()
}

// limit is an error that ends by itself.
type limit struct {
	Seq   uint64    `json:"seq"`   // number of the event that made the state parked; 0: there is none
	Since time.Time `json:"since"` // the fold's time of the error; zero if an earlier server's event alone shows it
}

// parks keeps the number of the first event that made the state parked by the current error, once the event
// has its number. The same error may make the state parked again, after a dialog or a holder that didn't answer.
func (t *Track) parks() {
	if t.unparks(t.state); t.state != agent.Parked {
		return
	}
	e := t.failure()
	if t.park.Seq == 0 || e != nil && !t.park.Since.IsZero() && !e.Since.Equal(t.park.Since) {
		t.park = limit{Seq: t.stateSeq}
	}
	if e != nil {
		t.park.Since = e.Since
	}
}

// unparks forgets the error in a state that no error outlasts.
func (t *Track) unparks(state agent.State) {
	switch state {
	case agent.Parked, agent.InError, agent.Prompt, agent.Unknown:
	default:
		t.park = limit{}
	}
}

// failure is the fold's error; nil before all that an earlier server read was read again.
func (t *Track) failure() *agent.Failure {
	if !t.Live() {
		return nil
	}
	return t.d.fold.Failure()
}

// Parked is the number of the event that made the state parked first, when its error came and when that ends.
// The number stays while a dialog hides the error or the holder doesn't answer. It is 0 without such an error.
func (t *Track) Parked() (seq uint64, since, end time.Time) {
	e := t.failure()
	if t.park.Seq == 0 || e == nil || e.ResumeAt == nil {
		return 0, since, end
	}
	if t.park.Since.IsZero() {
		t.park.Since = e.Since
	}
	if !e.Since.Equal(t.park.Since) {
		return 0, since, end
	}
	return t.park.Seq, e.Since, *e.ResumeAt
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
