package track

import (
	"berth/agent"
	"berth/detect"
)

// SetState moves the session to a state that follows from no fact, and makes an event of it if it
// is another.
func (t *Track) SetState(state agent.State, tier int, cause string) {
	if t.state == state {
		t.tier, t.cause = tier, cause
		return
	}
	prev := t.state
	t.state, t.since, t.tier, t.cause = state, t.env.Now(), tier, cause
	t.stateSeq = t.env.Note(eventState, StateEvent{
		Prev: string(prev), Next: string(state), Tier: tier, Cause: cause, Sources: sourceWords(t.words(), t.since),
	})
}

// words are the last of the sources: the driver's, or of a program that has
// ended those from before its end.
func (t *Track) words() []detect.Word {
	if t.d != nil {
		return t.d.fold.Explain().Words
	}
	return t.lastWords
}
