package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/deliver"
	"berth/sessions/lease"
	"berth/sessions/loop"
)

const (
	// taskPace is the shortest time between two looks at a session that prints all the time.
	taskPace = 50 * time.Millisecond
	// taskEvery bounds the wait for what changes without a signal.
	taskEvery = 2 * time.Second
	// taskAgain is the pause before a refused message, which looked ready to be typed, is tried again.
	taskAgain = time.Second
	// The agent's own report of a message follows Enter by 60 ms, and by more if a hook of the user's
	// delays it; the typed text is drawn within a second.
	evidenceWithin = 2500 * time.Millisecond
	// maxRetries is how often a message is typed again when Enter didn't send it.
	maxRetries = 3
)

// task is the next thing to do for a session's messages.
type task struct {
	over bool                        // nothing, and nothing will be
	run  func(context.Context) error // now
	wait time.Duration               // otherwise look again after this time, or at a change
}

// DeliverQueued starts the goroutine for the queue and the stashed draft, unless it runs or has nothing to do.
func (out *Outbox) DeliverQueued() {
	if out.working || len(out.queue) == 0 && out.stash == nil {
		return
	}
	out.working = true
	out.env.Background(out.work)
}

// work does the session's tasks until there are none, or ctx, the server's, ends.
func (out *Outbox) work(ctx context.Context) {
	changed, stop := out.env.Changed()
	defer stop()
	for {
		e, err := loop.Ask(ctx, out.env.Do, func() (task, error) { return out.task(), nil })
		if err != nil || e.over {
			return
		}
		if e.run != nil {
			e.wait = taskPace
			if err := e.run(ctx); err != nil {
				e.wait = taskAgain
			}
		}
		if loop.Pause(ctx, changed, e.wait) != nil || loop.Pause(ctx, nil, taskPace) != nil {
			return
		}
	}
}

// task decides what to do now.
func (out *Outbox) task() task {
	now := out.env.Now()
	next := out.expireQueued(now)
	out.dropLeft()
	if len(out.queue) == 0 && out.stash == nil || out.env.Removed() {
		out.working = false
		return task{over: true}
	}
	out.dropEnded(now)
	if !out.env.Program().Ready() {
		out.parkAll("it is " + string(out.env.Program().State))
		return task{wait: next}
	}
	typer, ok := out.env.Driver().(agent.MessageTyper)
	if !ok || len(out.nudging) > 0 { // whose end is a change
		return task{wait: next}
	}
	if _, can := typer.(agent.DraftStasher); !can {
		out.dropStash()
	}
	if out.stash != nil {
		if run, over := out.stashTask(typer, now); run != nil {
			return task{run: run}
		} else if !over {
			next = min(next, taskAgain)
		}
	}
	if out.next() == nil {
		return task{wait: next}
	}
	e := out.queueTask(typer, now)
	e.wait = min(e.wait, next)
	return e
}

// expireQueued drops what is too old, and says when the next is.
func (out *Outbox) expireQueued(now time.Time) time.Duration {
	next := taskEvery
	for _, q := range append([]*queued(nil), out.queue...) {
		switch left := q.Expires.Sub(now); {
		case q.Expires.IsZero() || q.busy || q.Stage == stageEntered:
		case left <= 0:
			out.dropQueued(q, "expired", q.By, "")
		default:
			next = min(next, left)
		}
	}
	return next
}

// dropEnded gives up the messages that a program may have had at its end. Its reports are read for a moment after it.
func (out *Outbox) dropEnded(now time.Time) {
	if !out.env.Program().Ended {
		return
	}
	for _, q := range slices.Clone(out.queue) {
		if q.Stage == stageEntered && !q.busy && now.Sub(loop.Later(q.staged, out.since)) >= evidenceWithin {
			out.unconfirmed(q, nudgeEvent{By: q.By, Bytes: len(q.Nudge.Text), Evidence: "the program ended before it confirmed the message"})
		}
	}
}

func (out *Outbox) parkAll(why string) {
	for _, q := range out.queue {
		if out.goesTo(q) {
			q.park(why)
		}
	}
}

// queueTask decides about the first message of the queue.
func (out *Outbox) queueTask(typer agent.MessageTyper, now time.Time) task {
	out.order()
	q := out.next()
	for _, later := range out.queue {
		if later != q && out.goesTo(later) {
			later.park("other messages are before it")
		}
	}
	if !out.env.Program().State.Rests() && q.Stage != stageEntered {
		q.park("it is " + string(out.env.Program().State))
		return task{wait: taskEvery}
	}
	if left := q.NotBefore.Sub(now); left > 0 {
		q.park("it is sent at " + q.NotBefore.Format(api.TimeLayout))
		return task{wait: left}
	}
	out.env.Freshen()
	if !out.env.Program().Ready() || out.next() != q {
		return task{wait: taskPace} // what was read just now has changed it
	}
	seen := out.env.Seen()
	if q.Stage == stageEntered {
		if wait, over := out.judgeEntered(q, typer, seen, now); wait > 0 || over {
			return task{wait: wait}
		}
	}
	if left := evidenceWithin - now.Sub(q.staged); q.Stage == stageTyped && left > 0 && seen.Reading.Bare() && seen.Reading.Composer.Empty {
		return task{wait: min(left, taskAgain)} // a server before this one typed it, and it is not drawn yet
	}
	id, err := out.sender(q)
	if errors.Is(err, keys.ErrNotYet) {
		if now.Sub(q.Since.Time) < taskAgain {
			return task{wait: taskPace}
		}
		q.park(err.Error())
		return task{wait: taskAgain}
	}
	if err != nil {
		out.dropQueued(q, "denied", q.By, err.Error())
		return task{wait: taskPace}
	}
	options, err := out.options(q.Nudge, q, typer)
	if err != nil {
		out.dropQueued(q, "denied", q.By, err.Error())
		return task{wait: taskPace}
	}
	step := deliver.New(options, now).Step(seen, now) // what a delivery would do first
	switch {
	case step.Done != nil && step.Done.Verdict == deliver.Lost: // to be reported
	case step.Done != nil:
		q.park(step.Done.Evidence)
		return task{wait: taskEvery}
	case len(step.Write) == 0:
		switch {
		case now.Sub(q.Since.Time) <= taskAgain:
		case seen.Halted:
			q.park(deliver.WhyHalted)
		default:
			q.park("its screen is at no rest")
		}
		return task{wait: taskPace}
	}
	q.busy = true
	claim := loop.Claim{Actor: loop.Actor{Identity: id, Client: q.ID}, Verb: q.verb(), Allowed: func() error { // asked on the loop
		_, err := out.sender(q)
		return err
	}}
	return task{run: func(ctx context.Context) error { return out.deliverQueued(ctx, claim, q) }}
}

// judgeEntered decides about a message when it is unknown whether Enter
// was pressed: nothing to wait for and not over means that it was not, for the
// composer holds it still.
func (out *Outbox) judgeEntered(q *queued, typer agent.MessageTyper, seen deliver.Seen, now time.Time) (wait time.Duration, over bool) {
	if left := evidenceWithin - now.Sub(loop.Later(q.staged, out.since)); left > 0 {
		return left, false
	}
	if seen.Reading == nil || seen.Reading.Composer == nil {
		return taskAgain, false
	}
	if typer.Holds(q.cutOff(typer), seen.Reading.Composer) && q.Tries < maxRetries {
		return 0, false
	}
	out.unconfirmed(q, nudgeEvent{By: q.By, Bytes: len(q.Nudge.Text), Evidence: "the server ended during the delivery, and no source confirms that the agent took the message"})
	return 0, true
}

// unconfirmed gives a message up: typed again it might arrive twice.
func (out *Outbox) unconfirmed(q *queued, e nudgeEvent) uint64 {
	e.Queue, e.Verdict, e.Code = q.ID, string(deliver.Unconfirmed), string(api.CodeUnconfirmed)
	if q.Direct {
		e.Queue, e.Nudge = "", q.ID
	}
	seq := out.noteEnd(q, e, letterUnconfirmed)
	out.forgetQueued(q)
	return seq
}

// sender is who queued the message, with the rights as they are now.
func (out *Outbox) sender(q *queued) (keys.Identity, error) {
	if q.First || q.Direct || q.Limit != 0 || q.fromSession() { // it ends what that was allowed to begin, or the session asks for it
		return keys.Identity{Kind: q.Kind, Name: q.By.Identity, Fingerprint: q.By.Fingerprint}, nil
	}
	return out.env.Rights(keys.Identity{Kind: q.Kind, Name: q.By.Identity, Fingerprint: q.By.Fingerprint, Source: q.Source, Certificate: q.Proof}, q.verb())
}

// deliverQueued delivers a queued message.
func (out *Outbox) deliverQueued(ctx context.Context, claim loop.Claim, q *queued) error {
	_, err := out.nudge(ctx, claim, q.Nudge, q)
	return errors.Join(err, out.env.Do(ctx, func() {
		q.busy = false
		var busy *lease.BusyError
		if errors.As(err, &busy) {
			q.park(busy.Error())
		}
	}))
}

// stashTask brings a draft back as soon as the composer is free for it. over
// says that there is none any more.
func (out *Outbox) stashTask(typer agent.MessageTyper, now time.Time) (run func(context.Context) error, over bool) {
	out.env.Freshen()
	if !out.env.Program().Ready() {
		return nil, false
	}
	seen := out.env.Seen()
	if out.stash.over(seen.Reading, out.env.Program().PersonAt, now) {
		out.dropStash()
		return nil, true
	}
	if now.Sub(out.env.Program().PersonAt) < taskAgain || len(deliver.Return(typer, now).Step(seen, now).Write) == 0 {
		return nil, false
	}
	a := *out.stash
	return func(ctx context.Context) error { return out.returnDraft(ctx, typer, a) }, false
}

// returnDraft brings a draft back that a delivery has put aside.
func (out *Outbox) returnDraft(ctx context.Context, typer agent.MessageTyper, a stash) error {
	id := keys.Identity{Name: a.By.Identity, Fingerprint: a.By.Fingerprint}
	claim := loop.Claim{Actor: loop.Actor{Identity: id, Client: a.Nudge}, Verb: "nudge"} // it ends what that was allowed to begin
	ctx, cancel := context.WithTimeout(ctx, nudgeMost)
	defer cancel()
	return out.env.Deliver(ctx, claim, func(write loop.Write) error {
		d, err := loop.Ask(ctx, out.env.Do, func() (*nudging, error) {
			if out.stash == nil {
				return nil, errNoDraft
			}
			return &nudging{machine: deliver.Return(typer, out.env.Now()), program: out.program, by: a.By, id: a.Nudge, kept: true}, nil
		})
		if err != nil {
			return err
		}
		outcome, err := out.run(ctx, claim, d, write)
		if err == nil && outcome.Stashed {
			err = errNoDraft
		}
		return err
	})
}

var errNoDraft = errors.New("the draft couldn't be restored")
