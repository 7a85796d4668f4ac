package sessions

import (
	"time"

	"berth/agent"
	"berth/sessions/deliver"
)

// heedTaken looks for the agent's own word that it has the message of which
// Enter may have been pressed, be it long ago: a composer that is not drawn anew
// may show a message that is on its way.
func (c *core) heedTaken(f agent.Fact) {
	if len(c.mail.queue) == 0 || c.mail.taken != nil || f.Agent != "" || f.Kind != agent.TurnStarted && f.Kind != agent.Queued {
		return
	}
	q := c.mail.queue[0]
	typist, ok := c.s.reg.driver(c.spec).(agent.MessageTyper)
	early := f.At.Before(q.Entered.Truncate(time.Millisecond)) // as a log gives it
	if f.At.IsZero() {
		early = f.Time.Before(q.entered.Add(-time.Millisecond))
	}
	if !ok || q.entered.IsZero() || early {
		return
	}
	if typed, err := q.Nudge.typed(typist); err != nil || !typist.Same(typed, f.Text) {
		return
	}
	c.mail.taken, c.mail.takenBy = q, f
}

// takenEvent tells that a queued message was delivered. It is written in one
// step with what told of it, so that a kill leaves both or none.
func (c *core) takenEvent() (told []any) {
	q := c.mail.taken
	if q == nil {
		return nil
	}
	typed := q.Nudge.Text
	if typist, ok := c.s.reg.driver(c.spec).(agent.MessageTyper); ok { // a reload of the rules may have changed the driver
		typed, _ = q.Nudge.typed(typist) // the message was typed: no error
	}
	o := deliver.Outcome{Verdict: deliver.Confirmed}
	e := nudgeEvent{By: q.By, Queue: q.ID, Bytes: len(q.Nudge.Text), Verdict: string(o.Verdict), Evidence: c.mail.takenBy.Cause, Arrived: arrivedAs(o, q.Nudge.changes(typed))}
	if d := c.delivering(q); d != nil {
		e.Nudge, e.Bytes = d.id, len(d.typed)
	}
	if q.Direct {
		e.Queue, e.Nudge = "", q.ID
	}
	return []any{e}
}

// settleTaken takes it out of the queue, once that is told.
func (c *core) settleTaken(seq uint64) {
	q := c.mail.taken
	if q == nil {
		return
	}
	told := c.takenEvent()
	c.mail.taken = nil
	c.forgetQueued(q)
	if q.Direct && seq == 0 { // the server before had told what the agent said, and not that
		c.note("nudge", told[0])
	}
	f := c.mail.takenBy
	o := deliver.Outcome{Verdict: deliver.Confirmed, Evidence: f.Cause, Turn: f.Turn, Queued: f.Kind == agent.Queued}
	if d := c.delivering(q); d != nil {
		d.told, d.taken = seq, o
		return
	}
	if q.ticket == nil || c.detection == nil {
		return
	}
	typist := c.s.reg.driver(c.spec).(agent.MessageTyper) // it knew the message
	w := &turnWatch{id: f.Turn, typist: typist}
	w.typed, _ = q.Nudge.typed(typist)
	if w.fact(f); o.Queued {
		w.wait()
	}
	c.detection.watches = append(c.detection.watches, w)
	arrived := arrivedAs(o, q.Nudge.changes(w.typed))
	q.settle(Nudged{Bytes: len(w.typed), Verdict: o.Verdict, Evidence: o.Evidence, Seq: seq, Typed: true, Arrived: arrived, turn: w}, nil)
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
