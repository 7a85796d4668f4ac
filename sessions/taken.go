package sessions

import (
	"time"

	"berth/agent"
	"berth/sessions/deliver"
)

// heedTaken looks for the agent's own word that it has the message of which
// Enter may have been pressed.
func (c *core) heedTaken(f agent.Fact) {
	if len(c.mail.queue) == 0 || c.mail.taken != nil || f.Agent != "" || f.Kind != agent.TurnStarted && f.Kind != agent.Queued {
		return
	}
	q := c.mail.queue[0]
	typist, ok := c.s.reg.options.Drivers[c.spec.Agent].(agent.Typist)
	when := f.At // in milliseconds, as a log gives it
	if when.IsZero() {
		when = f.Time
	}
	if !ok || q.Stage != stageEntered || when.Before(q.StageAt.Truncate(time.Millisecond)) || !typist.Same(q.cutOff(typist), f.Text) {
		return
	}
	c.mail.taken, c.mail.takenBy = q, f.Cause
}

// takenEvent tells that a queued message was delivered. It is written in one
// step with what told of it, so that a kill leaves both or none.
func (c *core) takenEvent() (told []any) {
	q := c.mail.taken
	if q == nil {
		return nil
	}
	e := nudgeEvent{By: q.By, Queue: q.ID, Bytes: len(q.Nudge.Text), Verdict: string(deliver.Confirmed), Evidence: c.mail.takenBy}
	if d := c.delivering(q); d != nil {
		e.Nudge, e.Bytes = d.id, len(d.typed)
	}
	return []any{e}
}

// settleTaken takes it out of the queue, once that is told.
func (c *core) settleTaken(seq uint64) {
	q := c.mail.taken
	if q == nil {
		return
	}
	c.mail.taken = nil
	if d := c.delivering(q); d != nil {
		d.told = seq
	}
	c.forgetQueued(q)
}

// delivering is the delivery of a queued message that is under way.
func (c *core) delivering(q *queued) *nudging {
	if c.detection == nil {
		return nil
	}
	for _, d := range c.detection.nudging {
		if d.queued == q {
			return d
		}
	}
	return nil
}
