package outbox

import (
	"time"

	"berth/agent"
	"berth/sessions/deliver"
	"berth/sessions/events"
)

// observeTaken looks for the agent's own report that it has the message whose Enter may have been pressed,
// even long ago: a composer that isn't drawn again may show a message that was sent.
func (out *Outbox) observeTaken(f agent.Fact) {
	if len(out.queue) == 0 || out.taken != nil || f.Agent != "" || f.Kind != agent.TurnStarted && f.Kind != agent.Queued {
		return
	}
	q := out.queue[0]
	typer, ok := out.env.Driver().(agent.MessageTyper)
	early := f.At.Before(q.Entered.Truncate(time.Millisecond)) // as a log gives it
	if f.At.IsZero() {
		early = f.Time.Before(q.entered.Add(-time.Millisecond))
	}
	if !ok || q.entered.IsZero() || early {
		return
	}
	if typed, err := q.Nudge.Typed(typer); err != nil || !typer.Same(typed, f.Text) {
		return
	}
	out.taken, out.takenBy = q, f
}

// Taken is the event of the first message in the queue, if the agent's own report in the current
// record confirms it. The queue also has a direct message that a killed server left. The loop appends
// the event in one step with those of the report, and then calls SettleTaken.
func (out *Outbox) Taken() []events.Event {
	q := out.taken
	if q == nil {
		return nil
	}
	typed := q.Nudge.Text
	if typer, ok := out.env.Driver().(agent.MessageTyper); ok { // a reload of the rules may have changed the driver
		typed, _ = q.Nudge.Typed(typer) // the message was typed: no error
	}
	o := deliver.Outcome{Verdict: deliver.Confirmed}
	e := nudgeEvent{By: q.By, Queue: q.ID, Bytes: len(q.Nudge.Text), Verdict: string(o.Verdict), Evidence: out.takenBy.Cause, Arrived: arrivedAs(o, q.Nudge.changes(typed))}
	if d := out.delivering(q); d != nil {
		e.Nudge, e.Bytes = d.id, len(d.typed)
	}
	if q.Direct {
		e.Queue, e.Nudge = "", q.ID
	}
	told := []events.Event{{Type: eventNudge, Data: e}}
	if q.letter() != 0 {
		told = append(told, out.env.Letters.Events(q.letter(), letterTaken, out.takenBy.Cause)...)
	}
	return told
}

// SettleTaken takes the message out of the queue once its event has the number seq; 0: a server
// before this one wrote it.
func (out *Outbox) SettleTaken(seq uint64) {
	q := out.taken
	if q == nil {
		return
	}
	told := out.Taken()
	out.taken = nil
	if q.letter() != 0 && len(told) > 1 { // its events follow the nudge's
		out.env.Letters.Moved(q.letter(), letterTaken, out.takenBy.Cause, seq+1, true)
	}
	out.forgetQueued(q)
	if q.Direct && seq == 0 { // the server before wrote the event of what the agent said, and not this one
		out.env.Note(eventNudge, told[0].Data)
	}
	f := out.takenBy
	o := deliver.Outcome{Verdict: deliver.Confirmed, Evidence: f.Cause, Turn: f.Turn, Queued: f.Kind == agent.Queued}
	if d := out.delivering(q); d != nil {
		d.told, d.taken = seq, o
		return
	}
	if q.ticket == nil || !out.followed {
		return
	}
	w := &turnWatch{id: f.Turn, typed: q.Nudge.Text}
	if typer, ok := out.env.Driver().(agent.MessageTyper); ok { // as in Taken
		w.typer = typer
		w.typed, _ = q.Nudge.Typed(typer)
	}
	if w.fact(f); o.Queued {
		w.wait()
	}
	out.watches = append(out.watches, w)
	arrived := arrivedAs(o, q.Nudge.changes(w.typed))
	q.settle(Nudged{Bytes: len(w.typed), Verdict: o.Verdict, Evidence: o.Evidence, Seq: seq, Typed: true, Arrived: arrived, turn: w}, nil)
}

// delivering is the delivery of a queued message that is under way.
func (out *Outbox) delivering(q *queued) *nudging {
	for _, d := range out.nudging {
		if d.queued == q {
			return d
		}
	}
	return nil
}
