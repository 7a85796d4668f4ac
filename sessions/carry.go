package sessions

import (
	"context"
	"errors"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/deliver"
	"berth/sessions/lease"
)

const (
	// A session that prints all the time is looked at no more often.
	carryPace = 50 * time.Millisecond
	// What is looked at changes with a signal; this is for what does not.
	carryEvery = 2 * time.Second
	// A message that could be typed by all that is seen, and was refused, is tried
	// again after so long.
	carryAgain = time.Second
	// The agent's own word for a message follows Enter by 60 ms, and by more when a
	// hook of somebody's holds it back; what was typed is drawn within a second.
	evidenceWithin = 2500 * time.Millisecond
	// A message that Enter did not send is typed again so often.
	carryTries = 3
)

// errand is what is to be done for a session's messages.
type errand struct {
	over bool                        // nothing, and nothing will be
	run  func(context.Context) error // now
	wait time.Duration               // else look again after so long, or at a change
}

// carry starts what looks after the queue, unless it runs or there is nothing.
func (c *core) carry() {
	if c.mail.carrying || len(c.mail.queue) == 0 && c.mail.aside == nil {
		return
	}
	c.mail.carrying = true
	c.background(func() { c.s.carry(c.s.reg.ctx) })
}

// carry does the session's errands until there are none, or the server ends.
func (s *Session) carry(ctx context.Context) {
	changed, stop := s.Subscribe()
	defer stop()
	for {
		e, err := ask(ctx, s, func(c *core) (errand, error) { return c.errand(), nil })
		if err != nil || e.over {
			return
		}
		if e.run != nil {
			e.wait = carryPace
			if err := e.run(ctx); err != nil {
				e.wait = carryAgain
			}
		}
		if pauseFor(ctx, changed, e.wait) != nil || sleep(ctx, carryPace) != nil {
			return
		}
	}
}

// errand decides what is to be done now.
func (c *core) errand() errand {
	now := c.now()
	next := c.expireQueued(now)
	if len(c.mail.queue) == 0 && c.mail.aside == nil || c.removed {
		c.mail.carrying = false
		return errand{over: true}
	}
	if c.detection == nil || c.exit != nil || c.link == nil || !c.detection.awake {
		c.parkAll("it is " + string(c.state))
		return errand{wait: next}
	}
	typist, ok := c.s.reg.driver(c.spec).(agent.MessageTyper)
	if !ok || len(c.detection.nudging) > 0 { // whose end is a change
		return errand{wait: next}
	}
	if _, can := typist.(agent.DraftStasher); !can {
		c.dropAside()
	}
	if c.mail.aside != nil {
		if run, over := c.asideErrand(typist, now); run != nil {
			return errand{run: run}
		} else if !over {
			next = min(next, carryAgain)
		}
	}
	if len(c.mail.queue) == 0 {
		return errand{wait: next}
	}
	e := c.queueErrand(typist, now)
	e.wait = min(e.wait, next)
	return e
}

// expireQueued drops what is too old, and says when the next is.
func (c *core) expireQueued(now time.Time) time.Duration {
	next := carryEvery
	for _, q := range append([]*queued(nil), c.mail.queue...) {
		switch left := q.Expires.Sub(now); {
		case q.Expires.IsZero() || q.busy || q.Stage == stageEntered:
		case left <= 0:
			c.dropQueued(q, "expired", q.By, "")
		default:
			next = min(next, left)
		}
	}
	return next
}

func (c *core) parkAll(why string) {
	for _, q := range c.mail.queue {
		q.park(why)
	}
}

// queueErrand decides about the first message of the queue.
func (c *core) queueErrand(typist agent.MessageTyper, now time.Time) errand {
	q := c.mail.queue[0]
	for _, behind := range c.mail.queue[1:] {
		behind.park("other messages are before it")
	}
	if c.state != agent.Idle && c.state != agent.InError && q.Stage != stageEntered {
		q.park("it is " + string(c.state))
		return errand{wait: carryEvery}
	}
	c.freshen()
	if c.detection == nil || c.link == nil || len(c.mail.queue) == 0 || c.mail.queue[0] != q {
		return errand{wait: carryPace} // what was read just now has changed it
	}
	seen := c.seen()
	if q.Stage == stageEntered {
		if wait, over := c.judgeEntered(q, typist, seen, now); wait > 0 || over {
			return errand{wait: wait}
		}
	}
	if left := evidenceWithin - now.Sub(q.staged); q.Stage == stageTyped && left > 0 && seen.Reading.Bare() && seen.Reading.Composer.Empty {
		return errand{wait: min(left, carryAgain)} // a server before this one typed it, and it is not drawn yet
	}
	id, err := c.sender(q)
	if err != nil {
		c.dropQueued(q, "denied", q.By, err.Error())
		return errand{wait: carryPace}
	}
	options, err := c.options(q.Nudge, q, typist)
	if err != nil {
		c.dropQueued(q, "denied", q.By, err.Error())
		return errand{wait: carryPace}
	}
	step := deliver.New(options, now).Step(seen, now) // what a delivery would do first
	switch {
	case step.Done != nil && step.Done.Verdict == deliver.Lost: // to be told
	case step.Done != nil:
		q.park(step.Done.Evidence)
		return errand{wait: carryEvery}
	case len(step.Write) == 0:
		if now.Sub(q.Since.Time) > carryAgain {
			q.park("its screen is at no rest")
		}
		return errand{wait: carryPace}
	}
	q.busy = true
	claim := Claim{Actor: Actor{Identity: id, Client: q.ID}, Verb: "nudge", Allowed: func() error { // asked on the loop
		_, err := c.sender(q)
		return err
	}}
	return errand{run: func(ctx context.Context) error { return c.s.carryOne(ctx, claim, q) }}
}

// judgeEntered decides about a message of which it is not known whether Enter
// was pressed: nothing to wait for and not over means that it was not, for the
// composer holds it still.
func (c *core) judgeEntered(q *queued, typist agent.MessageTyper, seen deliver.Seen, now time.Time) (wait time.Duration, over bool) {
	if left := evidenceWithin - now.Sub(later(q.staged, c.mail.since)); left > 0 {
		return left, false
	}
	if seen.Reading == nil || seen.Reading.Composer == nil {
		return carryAgain, false
	}
	if typist.Holds(q.cutOff(typist), seen.Reading.Composer) && q.Tries < carryTries {
		return 0, false
	}
	c.unconfirmed(q, nudgeEvent{By: q.By, Bytes: len(q.Nudge.Text), Evidence: "the server ended while it was delivered, and nothing says that the message was taken"})
	return 0, true
}

// unconfirmed gives a message up: typed again it might arrive twice.
func (c *core) unconfirmed(q *queued, e nudgeEvent) uint64 {
	e.Queue, e.Verdict, e.Code = q.ID, string(deliver.Unconfirmed), string(api.CodeUnconfirmed)
	if q.Direct {
		e.Queue, e.Nudge = "", q.ID
	}
	c.forgetQueued(q)
	return c.note("nudge", e)
}

// sender is who queued the message, with the rights as they are now.
func (c *core) sender(q *queued) (keys.Identity, error) {
	if q.First || q.Direct { // it ends what that was allowed to begin
		return keys.Identity{Kind: q.Kind, Name: q.By.Identity, Fingerprint: q.By.Fingerprint}, nil
	}
	id, err := c.s.reg.options.Rights(keys.Identity{Kind: q.Kind, Name: q.By.Identity, Fingerprint: q.By.Fingerprint, Source: q.Source, Certificate: q.Proof})
	if err == nil {
		err = id.May("nudge", keys.Responder)
	}
	if err == nil && !id.SeesSession(c.s.id, c.spec.Name, c.spec.Tags) {
		err = id.Denied("nudge", c.spec.Name)
	}
	return id, err
}

// carryOne delivers a queued message.
func (s *Session) carryOne(ctx context.Context, claim Claim, q *queued) error {
	_, err := s.nudge(ctx, claim, q.Nudge, q)
	return errors.Join(err, s.do(ctx, func(c *core) {
		q.busy = false
		var busy *lease.BusyError
		if errors.As(err, &busy) {
			q.park(busy.Error())
		}
	}))
}

// asideErrand brings a draft back as soon as the composer is free for it. over
// says that there is none any more.
func (c *core) asideErrand(typist agent.MessageTyper, now time.Time) (run func(context.Context) error, over bool) {
	c.freshen()
	if c.detection == nil || c.link == nil {
		return nil, false
	}
	seen := c.seen()
	if c.mail.aside.over(seen.Reading, c.personAt, now) {
		c.dropAside()
		return nil, true
	}
	if now.Sub(c.personAt) < carryAgain || len(deliver.Return(typist, now).Step(seen, now).Write) == 0 {
		return nil, false
	}
	a := *c.mail.aside
	return func(ctx context.Context) error { return c.s.returnDraft(ctx, typist, a) }, false
}

// returnDraft brings a draft back that a delivery has put aside.
func (s *Session) returnDraft(ctx context.Context, typist agent.MessageTyper, a aside) error {
	id := keys.Identity{Name: a.By.Identity, Fingerprint: a.By.Fingerprint}
	claim := Claim{Actor: Actor{Identity: id, Client: a.Nudge}, Verb: "nudge"} // it ends what that was allowed to begin
	ctx, cancel := context.WithTimeout(ctx, nudgeMost)
	defer cancel()
	return s.delivery(ctx, claim, func(write writing) error {
		d, err := ask(ctx, s, func(c *core) (*nudging, error) {
			if c.mail.aside == nil {
				return nil, errNoDraft
			}
			return &nudging{machine: deliver.Return(typist, c.now()), by: a.By, id: a.Nudge, kept: true}, nil
		})
		if err != nil {
			return err
		}
		outcome, err := s.work(ctx, claim, d, write)
		if err == nil && outcome.Aside {
			err = errNoDraft
		}
		return err
	})
}

var errNoDraft = errors.New("the draft did not come back")
