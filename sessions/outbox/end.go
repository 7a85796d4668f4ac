package outbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/deliver"
	"berth/sessions/events"
	"berth/sessions/loop"
)

// endNudge reports the outcome of a delivery.
func (out *Outbox) endNudge(d *nudging, claim loop.Claim, o deliver.Outcome, broken bool) Nudged {
	if d.told != 0 && o.Verdict != deliver.Confirmed { // an Enter of before has worked
		d.taken.Left, d.taken.Stashed = o.Left, o.Stashed
		o = d.taken
	}
	out.nudging = slices.DeleteFunc(out.nudging, func(o *nudging) bool { return o == d })
	if !o.Unseen.IsZero() && out.env.Program().State == d.before { // otherwise its error was seen, or its prompt
		out.env.Began(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceScreen, Cause: "screen:message", At: o.Unseen, Evidence: agent.FirstLine(d.typed)})
	}
	if o.Verdict != deliver.Confirmed {
		out.unwatch(&d.turn)
	}
	if d.turn.id = o.Turn; o.Queued {
		d.turn.wait()
	}
	switch a := out.stash; {
	case a == nil || !d.stashed || d.machine.Stashed():
	case d.machine.SeenStashed():
		out.dropStash()
	default:
		a.late = out.env.Now()
	}
	done := Nudged{ID: d.id, Before: d.before, Bytes: len(d.typed), Verdict: o.Verdict, Evidence: o.Evidence, Typed: d.machine.Typed(), Arrived: arrivedAs(o, d.changed), turn: &d.turn}
	out.env.Gather()
	e := nudgeEvent{By: claim.By(), Nudge: d.id, Bytes: done.Bytes, Verdict: string(o.Verdict), Code: string(o.Code), Evidence: o.Evidence, Aside: o.Stashed, Arrived: done.Arrived}
	if d.queued != nil {
		done.Seq = out.endQueued(d, o, e, broken)
		out.settle(d, done, o)
	} else {
		done.Seq = out.env.Note(eventNudge, e)
		out.dropDirect(d.direct)
	}
	out.DeliverQueued()
	return done
}

// endQueued takes a message of the queue out of it, or keeps it for another
// try.
func (out *Outbox) endQueued(d *nudging, o deliver.Outcome, e nudgeEvent, broken bool) uint64 {
	q := d.queued
	e.Queue = q.ID
	switch {
	case d.told != 0: // with the report of it
		return d.told
	case o.Verdict == deliver.Confirmed:
		out.taken = nil // its event could not be written
		seq := out.noteEnd(q, e, letterTaken)
		out.forgetQueued(q)
		return seq
	case q.Over != "" && (o.Verdict == deliver.Lost || !broken && q.Tries >= maxRetries):
		out.dropQueued(q, "removed", loop.Berth, q.Over)
		return 0
	case o.Verdict == deliver.Lost, q.Direct && !broken && q.Tries >= maxRetries: // not even taken back
		out.forgetQueued(q)
		e.Verdict, e.Queue, e.Nudge = string(deliver.Lost), "", q.ID
		return out.env.Note(eventNudge, e)
	case q.withdrawn():
		q.Tries++
		q.park(o.Evidence)
		return 0
	case broken && d.machine.Entered():
		return 0 // as after a kill: the agent's report decides
	case o.Verdict == deliver.Unconfirmed && d.machine.Entered() && (!o.Left || q.Tries >= maxRetries):
		return out.unconfirmed(q, e)
	}
	to := stageWaiting
	switch {
	case !d.machine.Typed(): // what a delivery before this one has left there is there still
		to = q.Stage
	case o.Left || broken:
		to = stageTyped
		q.Tries++
	}
	if err := out.stage(q, to); err != nil {
		out.env.Trouble("store a message", err)
	}
	q.park(o.Evidence)
	return 0
}

// settle reports to the caller that waits for a queued message that it is delivered, or won't
// be.
func (out *Outbox) settle(d *nudging, done Nudged, o deliver.Outcome) {
	if done.Seq == 0 {
		return // it is tried again
	}
	if !d.queued.settle(done, nudgeError(out.env.Standing(), done, o)) {
		out.unwatch(&d.turn)
	}
}

// busyRemedy says what a caller can do about an agent that can't take a message now. A prompt doesn't
// end by itself, so waiting wouldn't help.
func busyRemedy(st loop.Standing) string {
	switch {
	case st.Prompt != nil:
		return fmt.Sprintf(". Answer it with: respond %s --prompt %s ANSWER, or add --queue", st.Name, st.Prompt.ID)
	case st.State == agent.Prompt:
		return fmt.Sprintf(". See the question with: prompt %s, or add --queue", st.Name)
	}
	return ". Wait with: wait " + st.Name + ", or add --queue"
}

func nudgeError(st loop.Standing, done Nudged, o deliver.Outcome) error {
	if o.Verdict == deliver.Confirmed {
		return nil
	}
	name := st.Name
	message := "%s didn't get the message: %s"
	evidence := o.Evidence
	if o.Code == api.CodeAgentBusy && st.Prompt != nil {
		evidence = "it is waiting for an answer"
	}
	if o.Verdict == deliver.Unconfirmed {
		message = "%s may have the message: %s"
	}
	if o.Pasted {
		message = "%s has the message, but not as typed by a user: %s"
	}
	remedy := map[api.Code]string{
		api.CodeAgentBusy:    busyRemedy(st),
		api.CodeDraftPresent: ". Add --stash to keep the draft aside, or --clear to remove it",
	}[o.Code]
	if o.Stashed {
		remedy += ". The draft is still stashed, and is restored when the composer is free"
	}
	return api.Errorf(o.Code, message+"%s", name, evidence, remedy).With("session", name).With("nudge", done.ID).
		With("delivered", o.Verdict == deliver.Unconfirmed).With("confirmed", false).With("state_before", string(done.Before)).
		With("seq", done.Seq).With("typed", done.Typed).With("left_in_composer", o.Left).With("draft_aside", o.Stashed).
		With("arrived_as", done.Arrived)
}

// arrivedAs is "message", or "changed" when characters of the user's text were added or left
// out, or "pasted" for content that the user did not write. It is empty until the agent
// confirms the message.
func arrivedAs(o deliver.Outcome, changed bool) string {
	switch {
	case o.Pasted:
		return "pasted"
	case o.Verdict == deliver.Confirmed && changed:
		return "changed"
	case o.Verdict == deliver.Confirmed:
		return "message"
	}
	return ""
}

// Letters are the messages between sessions (sessions/mail). The outbox delivers one at a time, after the
// messages of persons, and reports how far it has come. Only the loop calls these.
type Letters struct {
	// Events are the events of a letter that has come that far; none if it has had them.
	Events func(letter uint64, status, why string) []events.Event
	// Moved takes in that the events are in the log; seq is the number of the first. over: the outbox
	// doesn't have the letter any more.
	Moved func(letter uint64, status, why string, seq uint64, over bool)
}

// The statuses that the outbox gives a letter.
const (
	letterDelivered   = "delivered"
	letterTaken       = "taken"
	letterRefused     = "refused"
	letterExpired     = "expired"
	letterUnconfirmed = "unconfirmed"
)

// Letter is a message of another session or of a person, as sessions/mail hands it over.
type Letter struct {
	Number  uint64
	Text    string // with the mark of who sent it
	By      loop.Actor
	Expires time.Time
}

// Post queues a letter. It is on disk then.
func (out *Outbox) Post(l Letter) error {
	typer, err := out.typer()
	if err != nil {
		return err
	}
	if _, err := (Nudge{Text: l.Text}).Typed(typer); err != nil {
		return err
	}
	id := l.By.Identity
	q := &queued{
		ID: fmt.Sprintf("m%d", l.Number), number: l.Number, By: l.By.By(), Kind: id.Kind, Source: id.Source, Proof: id.Certificate,
		Nudge: Nudge{Text: l.Text}, For: out.env.Recipient(), Since: api.At(out.env.Now()), Expires: api.At(l.Expires), Stage: stageWaiting,
	}
	if err := out.saveQueued(q); err != nil {
		return err
	}
	out.queue = append(out.queue, q)
	out.order()
	out.DeliverQueued()
	return nil
}

// Posted is the number of the letter in the queue; 0: there is none.
func (out *Outbox) Posted() uint64 {
	if at := slices.IndexFunc(out.queue, func(q *queued) bool { return q.letter() != 0 }); at >= 0 {
		return out.queue[at].letter()
	}
	return 0
}

// TakeLetter takes a letter out of the queue and reports whether it did: one that is being delivered stays.
func (out *Outbox) TakeLetter(number uint64) bool {
	at := slices.IndexFunc(out.queue, func(q *queued) bool { return q.letter() == number })
	if at < 0 {
		return true
	}
	q := out.queue[at]
	if q.busy || q.Stage != stageWaiting {
		return false
	}
	out.forgetQueued(q)
	return true
}

// DropLetter takes a letter out of the queue whose end has its event. A killed server had no time to.
func (out *Outbox) DropLetter(number uint64) {
	if at := slices.IndexFunc(out.queue, func(q *queued) bool { return q.letter() == number }); at >= 0 {
		out.forgetQueued(out.queue[at])
	}
}

// verb is the verb that the message was given with.
func (q *queued) verb() string {
	if q.letter() != 0 {
		return "tell"
	}
	return "nudge"
}

// fromSession says that the message is of another session, or of the server. Whether that session may send
// it was decided when it was accepted.
func (q *queued) fromSession() bool {
	return q.letter() != 0 && (q.Kind == keys.KindAgent || q.Kind == "")
}

// letter is the number of the message between sessions that this is; 0: it is a person's.
func (q *queued) letter() uint64 {
	if strings.HasPrefix(q.ID, "m") {
		return q.number
	}
	return 0
}

// letterMoved writes the event of a letter's status.
func (out *Outbox) letterMoved(q *queued, status, why string) {
	out.appendWith(q, nil, status, why, false)
}

// dropLetter writes the event of a letter that isn't delivered.
func (out *Outbox) dropLetter(q *queued, what string, by loop.By, why string) {
	status := letterRefused
	switch {
	case what == "expired":
		status = letterExpired
	case why == "":
		why = what + " by " + by.Identity
	}
	out.appendWith(q, nil, status, why, true)
}

// noteEnd writes the event of a delivery's end. That of a letter's status comes in the same step.
func (out *Outbox) noteEnd(q *queued, e nudgeEvent, status string) uint64 {
	if q.letter() == 0 {
		return out.env.Note(eventNudge, e)
	}
	return out.appendWith(q, []events.Event{{Type: eventNudge, Data: e}}, status, e.Evidence, true)
}

// appendWith appends the events and those of the letter's status in one step. It gives the number of the first.
func (out *Outbox) appendWith(q *queued, first []events.Event, status, why string, over bool) uint64 {
	more := out.env.Letters.Events(q.letter(), status, why)
	if len(first)+len(more) == 0 {
		return 0
	}
	done := out.env.Append(append(first, more...))
	if len(done) == 0 {
		return 0
	}
	if len(more) > 0 {
		out.env.Letters.Moved(q.letter(), status, why, done[len(first)].Seq, over)
	}
	return done[0].Seq
}
