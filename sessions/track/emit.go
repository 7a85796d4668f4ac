package track

import (
	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
)

// Emit emits what facts have changed, after the given first events, all in one step.
func (t *Track) Emit(results []detect.Result, first ...events.Event) {
	t.emitFrom(nil, results, first...)
}

// emitFrom is Emit for facts from a place in the log or the output.
func (t *Track) emitFrom(at *place, results []detect.Result, first ...events.Event) {
	batch := first
	taken := len(batch)
	batch = append(batch, t.env.Taken()...)
	add := func(kind string, data any) { batch = append(batch, events.Event{Type: kind, Data: data}) }
	moved, asked := -1, false
	for _, r := range results {
		for _, done := range r.Closed {
			by, answered := t.env.Closes(&done)
			add(eventResolved, resolvedEvent{Prompt: done.Request.ID, Kind: done.Request.Type, How: done.How, Tier: done.Tier, Cause: done.Cause, By: by, At: at})
			batch = append(batch, answered...)
			asked = true
		}
		for _, n := range r.Transitions {
			if n.Next == t.state {
				t.tier, t.cause = n.Tier, n.Cause
				continue
			}
			add(eventState, StateEvent{Prev: string(t.state), Next: string(n.Next), Tier: n.Tier, Cause: n.Cause, Evidence: n.Evidence, Prompt: n.Request, Activity: n.Activity, Failure: n.Failure, Sources: sourceWords(n.Words, n.Time), Queue: t.waitsIn(n.Next), At: at})
			moved = len(batch) - 1
			if startsTurn(t.state, n.Next) {
				t.env.TurnStarted()
			}
			t.unparks(n.Next)
			t.state, t.since, t.tier, t.cause = n.Next, n.Time, n.Tier, n.Cause
			if t.d != nil {
				t.d.does.Emitted(n.Activity, t.env.Now())
			}
		}
		for _, m := range r.Mismatches {
			add(eventMismatch, mismatchEvent{DriverMismatch: mismatch(m.Doubt), Over: m.Over})
			t.env.SaveSoon() // so that the next server applies the same rule
		}
		for _, request := range r.Opened {
			add(eventPrompt, promptEvent{Prompt: request, At: at})
			asked = true
		}
	}
	t.env.Dirty()
	if len(batch) == 0 {
		return
	}
	if at != nil {
		*t.emitted.of(at.Source) = at
	}
	if asked {
		defer t.env.ReleaseHooks()
	}
	done := t.env.Append(batch)
	if taken < len(done) {
		t.env.SettleTaken(done[taken].Seq)
	}
	if moved >= 0 && moved < len(done) {
		t.stateSeq = done[moved].Seq
		t.parks()
	}
	if asked { // so that a prompt keeps its id when the server ends
		t.env.SaveSoon()
	}
}

// startsTurn says that a change of the state is the start of a turn. After an answer to a prompt the turn goes on.
func startsTurn(from, to agent.State) bool { return to == agent.Working && from != agent.Prompt }

// emitOnce is emitFrom, unless an earlier server has emitted the events.
func (t *Track) emitOnce(emitted bool, at *place, results []detect.Result) {
	if emitted {
		t.Reapply(results)
		return
	}
	t.emitFrom(at, results)
}

// Reapply emits nothing: an earlier server has written the events. It applies what else follows: closed prompts, which end their answers,
// and a message that the agent has.
func (t *Track) Reapply(results []detect.Result) {
	t.closed(results)
	t.env.SettleTaken(0)
}

// closed ends the answers of closed prompts. Their events are in the log.
func (t *Track) closed(results []detect.Result) {
	for _, r := range results {
		for _, done := range r.Closed {
			_, _ = t.env.Closes(&done)
		}
	}
}

// Apply emits what has changed. While records are read again it only ends the answers of closed prompts.
func (t *Track) Apply(r detect.Result) {
	if results := []detect.Result{r}; t.d.waking.live {
		t.Emit(results)
	} else {
		t.closed(results)
	}
}
