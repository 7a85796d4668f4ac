package track

import (
	"berth/detect"
	"berth/sessions/events"
)

// Tell makes events of what facts have changed, behind those that are given,
// all in one step.
func (t *Track) Tell(results []detect.Result, first ...events.Event) {
	t.tellFrom(nil, results, first...)
}

// tellFrom is Tell for facts that stand at a place in a file.
func (t *Track) tellFrom(at *place, results []detect.Result, first ...events.Event) {
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
			add(eventState, StateEvent{Prev: string(t.state), Next: string(n.Next), Tier: n.Tier, Cause: n.Cause, Evidence: n.Evidence, Prompt: n.Request, Activity: n.Activity, Failure: n.Failure, Sources: sourceWords(n.Words, n.Time), At: at})
			moved = len(batch) - 1
			t.state, t.since, t.tier, t.cause = n.Next, n.Time, n.Tier, n.Cause
			if t.d != nil {
				t.d.does.Tells(n.Activity, t.env.Now())
			}
		}
		for _, m := range r.Mismatches {
			add(eventMismatch, mismatchEvent{DriverMismatch: mismatch(m.Doubt), Over: m.Over})
			t.env.SaveSoon() // the next server believes as this one does
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
		*t.told.of(at.Source) = at
	}
	if asked {
		defer t.env.LetGo()
	}
	done := t.env.Append(batch)
	if taken < len(done) {
		t.env.SettleTaken(done[taken].Seq)
	}
	if moved >= 0 && moved < len(done) {
		t.stateSeq = done[moved].Seq
	}
	if asked { // a prompt keeps its id over a server's end
		t.env.SaveSoon()
	}
}

// tellOnce is tellFrom, unless a server before this one has told of it.
func (t *Track) tellOnce(told bool, at *place, results []detect.Result) {
	if told {
		t.Retell(results)
		return
	}
	t.tellFrom(at, results)
}

// Retell takes in what facts have changed that a server before this one has told of: what closed
// prompts, and with them their answers; and a message that the agent has.
func (t *Track) Retell(results []detect.Result) {
	t.closed(results)
	t.env.SettleTaken(0)
}

// closed takes in what closed prompts. The events of that stand in the log.
func (t *Track) closed(results []detect.Result) {
	for _, r := range results {
		for _, done := range r.Closed {
			_, _ = t.env.Closes(&done)
		}
	}
}

// Believe makes events of what changed, unless that is read again: then what closed is
// taken in alone.
func (t *Track) Believe(r detect.Result) {
	if results := []detect.Result{r}; t.d.waking.awake {
		t.Tell(results)
	} else {
		t.closed(results)
	}
}
