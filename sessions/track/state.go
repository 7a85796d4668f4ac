package track

import (
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
