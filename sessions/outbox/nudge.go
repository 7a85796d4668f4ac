package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/deliver"
	"berth/sessions/lease"
	"berth/sessions/loop"
)

// Nudge is a message for an agent.
type Nudge struct {
	Text  string `json:"text"`
	Slash bool   `json:"slash"` // it is a command of the agent's own, such as /compact
	Clear bool   `json:"clear"` // a draft in the composer is cleared
	Stash bool   `json:"stash"` // a draft in the composer is put aside, and brought back
}

// Nudged is what became of a Nudge.
type Nudged struct {
	ID       string // n and the number (seq) of the session's next event when it began
	Before   agent.State
	Bytes    int // as typed
	Verdict  deliver.Verdict
	Evidence string
	Seq      uint64 // of its event
	Typed    bool   // something of it was typed, if only to be taken back
	Arrived  string // how the message arrived: see arrivedAs
	turn     *turnWatch
}

// nudging is a delivery in progress. The loop owns it.
type nudging struct {
	machine *deliver.Machine
	program int // that it is for
	typed   string
	changed bool // the typed text differs from the message: see changes
	slash   bool // it is a command of the agent's own
	before  agent.State
	id      string
	by      loop.By
	kept    bool            // it may stand in the composer
	tried   int64           // offset in the output at which the word that tries the composer was typed
	triedAt time.Time       // when that was
	queued  *queued         // nil for one that was not queued, which has
	direct  *queued         // a record of its own, on disk once something is typed
	stashed bool            // it has put a draft aside
	told    uint64          // the number of the event of its end, once that is written, and
	taken   deliver.Outcome // what that event says
	turn    turnWatch
}

// nudgeMost bounds a delivery whose caller may be gone: the machine's own times
// are below it.
const nudgeMost = 15 * time.Second

// secretWord is a word of letters that no other process can guess.
func secretWord() string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r < 'A' { // a digit, which would choose an option
			return -1
		}
		return r
	}, rand.Text()))
}

// ownMost is the longest message of ours, in bytes, that is looked for in the
// composer after an interrupt. A longer one is drawn as a mark.
const ownMost = 4096

// Nudge delivers a message to the agent at its composer: no other input comes
// between, and Enter is pressed only while the screen shows that the composer
// holds it. It waits for the lease as long as the claim says. The error of a message
// that was not delivered is WRITER_BUSY, AGENT_BUSY, DRAFT_PRESENT or NOT_READY, that
// of one whose arrival nothing shows UNCONFIRMED. A caller that gives up ends the wait for the lease, not a
// delivery in progress. It is not for the loop's goroutine.
func (out *Outbox) Nudge(ctx context.Context, claim loop.Claim, n Nudge) (Nudged, error) {
	return out.nudge(ctx, claim, n, nil)
}

// nudge is Nudge also for a message of the queue.
func (out *Outbox) nudge(ctx context.Context, claim loop.Claim, n Nudge, q *queued) (Nudged, error) {
	typer, err := out.typer()
	if err != nil {
		return Nudged{}, err
	}
	if _, err := n.Typed(typer); err != nil {
		return Nudged{}, err
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), claim.Wait+nudgeMost)
	defer cancel()
	attached := context.AfterFunc(ctx, cancel)
	defer attached()
	var d *nudging
	var outcome deliver.Outcome
	err = out.env.Deliver(own, claim, func(write loop.Write) (err error) {
		if !attached() {
			return ctx.Err()
		}
		if d, err = loop.Ask(own, out.env.Do, func() (*nudging, error) { return out.beginNudge(claim, n, q, typer) }); err != nil {
			return err
		}
		outcome, err = out.run(own, claim, d, write)
		return err
	})
	if d == nil {
		return Nudged{}, err
	}
	broken := err != nil // by the server, the holder or the lease: nothing is known of the message
	if broken {
		outcome = deliver.Outcome{Verdict: deliver.Unconfirmed, Code: api.CodeUnconfirmed, Evidence: err.Error()}
		if !d.machine.Entered() { // but that it was not sent
			outcome = deliver.Outcome{Verdict: deliver.Refused, Code: api.AsError(err).Code, Evidence: err.Error(), Left: d.machine.Typed()}
		}
	}
	done, told := loop.Ask(context.WithoutCancel(ctx), out.env.Do, func() (Nudged, error) { return out.endNudge(d, claim, outcome, broken), nil })
	if err == nil {
		err = told
	}
	if err == nil {
		err = nudgeError(out.env.Standing(), done, outcome)
	}
	return done, err
}

// typer is what is known of typing to the session's agent.
func (out *Outbox) typer() (agent.MessageTyper, error) {
	st := out.env.Standing()
	if typer, ok := st.Driver.(agent.MessageTyper); ok {
		return typer, nil
	}
	return nil, api.Errorf(api.CodeNoDriver, "%s runs %s: Berth can't tell when it is ready for input. Use input %s --enter TEXT", st.Name, st.Agent, st.Name).
		With("session", st.Name)
}

// Typed is the message as it is typed, or a USAGE error.
func (n Nudge) Typed(typer agent.MessageTyper) (string, error) {
	typed, ok := typer.Message(n.Text), true
	if n.Slash {
		typed, ok = typer.Slash(n.Text)
	}
	switch {
	case !ok:
		return "", api.Errorf(api.CodeUsage, "--command needs a command of the agent, such as /compact, on one line")
	case typed == "":
		return "", api.Errorf(api.CodeUsage, "the message is empty: nothing was typed")
	}
	return typed, nil
}

// lineEnds converts line ends to line feeds, as they are typed. The meaning stays.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// changes says whether the typed text differs from the message, such as by a character before
// it that keeps it from being a command, or by a removed control character. Blanks at the ends
// don't count: agents trim them.
func (n Nudge) changes(typed string) bool {
	return strings.TrimSpace(lineEnds.Replace(n.Text)) != strings.TrimSpace(typed)
}

// beginNudge prepares a delivery on the loop.
func (out *Outbox) beginNudge(claim loop.Claim, n Nudge, q *queued, typer agent.MessageTyper) (*nudging, error) {
	if !out.env.Program().Follows {
		return nil, out.env.Exited()
	}
	if q != nil && !slices.Contains(out.queue, q) {
		return nil, api.Errorf(api.CodeNotFound, "the message %s was removed from the queue", q.ID)
	}
	if q != nil && !out.goesTo(q) {
		return nil, api.Errorf(api.CodeNotReady, "%s, which the message %s is for, isn't in the foreground", q.For.Agent, q.ID)
	}
	options, err := out.options(n, q, typer)
	if err != nil {
		return nil, err
	}
	d := &nudging{
		typed: options.Typed, changed: n.changes(options.Typed), slash: n.Slash, before: out.env.Program().State, by: claim.By(), queued: q, id: fmt.Sprintf("n%d", out.env.Next()),
		machine: deliver.New(options, out.env.Now()), program: out.program,
	}
	if q == nil {
		d.direct = out.direct(claim, n)
	}
	d.turn.since, d.turn.typed, d.turn.typer = out.env.Now().Truncate(time.Millisecond), options.Typed, typer
	out.nudging = append(out.nudging, d)
	out.watches = append(out.watches, &d.turn)
	return d, nil
}

// options say how a message is delivered now.
func (out *Outbox) options(n Nudge, q *queued, typer agent.MessageTyper) (deliver.Options, error) {
	typed, err := n.Typed(typer)
	o := deliver.Options{Typer: typer, Typed: typed, Slash: n.Slash, Clear: n.Clear, Stash: n.Stash, Own: out.own, Proof: secretWord()}
	table := out.env.Driver().Table()
	o.Flutters = func(s agent.Source) bool {
		after, _ := table.May(agent.MoveWork, s)
		return after > 0
	}
	if cut := q.cutOff(typer); cut != "" {
		o.Own, o.Cut, o.Alone = cut, true, out.env.Program().PersonAt.Before(q.staged)
		o.Entered = q.Stage == stageEntered
	}
	o.Withdraw = q != nil && q.withdrawn()
	if q == nil && len(out.queue) > 0 && out.queue[0].withdrawn() { // it is not taken back yet
		left := out.queue[0]
		o.Own, o.Cut, o.Alone = left.cutOff(typer), true, out.env.Program().PersonAt.Before(left.staged)
	}
	return o, err
}

// run runs the machine: each step sees all that there is to see, and is
// written on the loop before anything else can happen there.
func (out *Outbox) run(ctx context.Context, claim loop.Claim, d *nudging, write loop.Write) (deliver.Outcome, error) {
	changed, stop := out.env.Changed()
	defer stop()
	for {
		steps := make(chan deliver.Step, 1)
		err := write(func() (<-chan error, error) {
			step, err := out.stepNudge(d)
			if err != nil {
				return nil, err
			}
			steps <- step
			if len(step.Write) == 0 {
				return loop.Nothing, nil
			}
			return out.env.Link().InputLater(step.Write, loop.Mark{By: claim.By(), Verb: claim.Verb}.JSON())
		})
		var lost *lease.LostError
		if errors.As(err, &lost) { // after Enter there is no more to write but a second one
			err = out.stepUnwritten(ctx, d, steps)
		}
		if d.slash && d.machine.Entered() && err != nil && api.AsError(err).Code == api.CodeExited { // that is what it was for
			return deliver.Outcome{Verdict: deliver.Confirmed, Evidence: "process:exit"}, nil
		}
		if err != nil {
			return deliver.Outcome{}, err
		}
		step := <-steps
		if step.Done != nil {
			return *step.Done, nil
		}
		if err := loop.Pause(ctx, changed, step.Wait); err != nil {
			return deliver.Outcome{}, err
		}
	}
}

// stepUnwritten steps without the right to write, once Enter was pressed.
func (out *Outbox) stepUnwritten(ctx context.Context, d *nudging, steps chan<- deliver.Step) error {
	step, err := loop.Ask(ctx, out.env.Do, func() (deliver.Step, error) {
		if !d.machine.Entered() {
			return deliver.Step{}, api.Errorf(api.CodeWriterBusy, "another client took control while the message was typed: it may be in the composer")
		}
		return out.stepNudge(d)
	})
	if err == nil {
		steps <- step
	}
	return err
}

func (out *Outbox) stepNudge(d *nudging) (deliver.Step, error) {
	out.env.Freshen()
	if !out.env.Program().Reaches {
		return deliver.Step{}, out.env.Exited()
	}
	if d.program != out.program {
		return deliver.Step{}, api.Errorf(api.CodeExited, "the program of %s ended during the delivery, and was started again", out.env.Name()).With("session", out.env.Name())
	}
	entered, proven := d.machine.Entered(), d.machine.Proven()
	seen := out.env.Seen()
	seen.Interrupt = out.env.Interrupt()
	if word := d.machine.Proving(); word != "" {
		seen.Echoed = echoed(out.env.ReadOutput, d.tried, out.env.Printed(), word)
	}
	step := d.machine.Step(seen, out.env.Now())
	if !entered && d.machine.Entered() {
		d.turn.ended = nil // what a source has reported so far, perhaps late, is of turns before
	}
	if !proven && d.machine.Proven() {
		out.env.Proven(d.triedAt)
	}
	if word := d.machine.Proving(); word != "" && word != out.own { // after a crash it isn't a person's draft
		out.own, d.tried, d.triedAt = word, out.env.Printed(), out.env.Now()
		out.env.SaveNow()
	}
	if d.machine.Typed() && !d.kept { // from here on it may stand in the composer
		d.kept = true
		if len(d.typed) <= ownMost {
			out.own = d.typed
			out.env.SaveNow()
		}
	}
	if err := out.keepStep(d, step); err != nil {
		return deliver.Step{}, err
	}
	if step.Draft != "" {
		out.env.Note(eventDraft, draftEvent{By: d.by, Nudge: d.id, Draft: string(step.Draft)})
	}
	return step, nil
}

// keepStep keeps on disk what the next server has to know if this one is killed
// before the step's bytes have had their effect.
func (out *Outbox) keepStep(d *nudging, step deliver.Step) error {
	q, keep := d.direct, true
	if q == nil {
		q, keep = d.queued, d.told == 0 && slices.Contains(out.queue, d.queued)
	}
	if q != nil && keep {
		to := stageWaiting
		switch {
		case d.machine.Entered():
			to = stageEntered
		case d.machine.Typed(), q.Stage == stageEntered && len(step.Write) > 0:
			// The second: it is being cleared, to be typed again. A composer that is empty then doesn't mean that it
			// was sent.
			to = stageTyped
		}
		if to != stageWaiting {
			if err := out.stage(q, to); err != nil {
				return err
			}
			if to == stageEntered && q.letter() != 0 { // the composer holds it now
				out.letterMoved(q, letterDelivered, "")
			}
		}
	}
	switch {
	case step.Draft == deliver.DraftBack:
		out.dropStash()
	case d.machine.Stashing():
		d.stashed = true
		return out.keepStash(d.by, d.id)
	}
	return nil
}
