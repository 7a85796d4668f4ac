package sessions

import (
	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
)

// tell makes events of what facts have changed, behind those that are given,
// all in one step.
func (c *core) tell(results []detect.Result, first ...events.Event) {
	c.tellFrom(nil, results, first...)
}

// tellFrom is tell for facts that stand at a place in a file.
func (c *core) tellFrom(at *sourcePlace, results []detect.Result, first ...events.Event) {
	batch := first
	taken := len(batch)
	batch = append(batch, c.outbox.Taken()...)
	add := func(kind string, data any) { batch = append(batch, events.Event{Type: kind, Data: data}) }
	moved, asked := -1, false
	for _, r := range results {
		for _, done := range r.Closed {
			by, answered := c.prompts.Closes(&done)
			add("prompt_resolved", resolvedEvent{Prompt: done.Request.ID, Kind: done.Request.Type, How: done.How, Tier: done.Tier, Cause: done.Cause, By: by, At: at})
			batch = append(batch, answered...)
			asked = true
		}
		for _, t := range r.Transitions {
			if t.Next == c.state {
				c.tier, c.cause = t.Tier, t.Cause
				continue
			}
			add("state_change", stateEvent{Prev: string(c.state), Next: string(t.Next), Tier: t.Tier, Cause: t.Cause, Evidence: t.Evidence, Prompt: t.Request, Activity: t.Activity, Failure: t.Failure, Sources: sourceWords(t.Words, t.Time), At: at})
			moved = len(batch) - 1
			c.state, c.since, c.tier, c.cause = t.Next, t.Time, t.Tier, t.Cause
			if c.detection != nil {
				c.detection.told.Tells(t.Activity, c.now())
			}
		}
		for _, m := range r.Mismatches {
			add("driver_mismatch", mismatchEvent{DriverMismatch: mismatch(m.Doubt), Over: m.Over})
			c.saveSoon = true // the next server believes as this one does
		}
		for _, request := range r.Opened {
			add("prompt", promptEvent{Prompt: request, At: at})
			asked = true
		}
	}
	c.dirty = true
	if len(batch) == 0 {
		return
	}
	c.toldOf(at)
	if asked {
		defer c.prompts.LetGo()
	}
	done := c.appendAll(batch)
	if taken < len(done) {
		c.outbox.SettleTaken(done[taken].Seq)
	}
	if moved >= 0 && moved < len(done) {
		c.stateSeq = done[moved].Seq
	}
	c.saveSoon = c.saveSoon || asked // a prompt keeps its id over a server's end
}

// tellOnce is tellFrom, unless a server before this one has told of it.
func (c *core) tellOnce(told bool, at *sourcePlace, results []detect.Result) {
	if !told {
		c.tellFrom(at, results)
		return
	}
	c.closedBefore(results)
	c.outbox.SettleTaken(0)
}

// appendAll writes events of this session in one step.
func (c *core) appendAll(batch []events.Event) []events.Event {
	for i := range batch {
		batch[i].Session, batch[i].ID = c.spec.Name, c.s.id
	}
	done, err := c.s.reg.events.AppendAll(batch...)
	if err != nil {
		c.trouble("write an event", err)
		return done
	}
	c.cured("write an event")
	return done
}

// toldOf keeps how far the log and the output were told of.
func (c *core) toldOf(at *sourcePlace) {
	switch {
	case at == nil:
	case at.Source == agent.SourceStream:
		c.streamTold = at
	default:
		c.logTold = at
	}
}
