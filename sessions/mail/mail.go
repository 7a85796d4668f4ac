package mail

import (
	"encoding/json"
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Env is what the part uses of its session. Only the loop's goroutine calls these.
type Env struct {
	loop.Env
	Append func([]events.Event) []events.Event // in one step
	Head   func() uint64                       // the newest event's cursor
	Rested func() time.Time                    // since when the state is what it is
	// Types says that Berth can type messages to the session's agent. Without that they wait for inbox.
	Types func() bool
	// Post hands a message to the outbox, and Posted gives the one that it has; 0: none. Take takes it out
	// again, unless it is being delivered. Drop does so also then: an event says that it is over.
	Post   func(*Message) error
	Posted func() uint64
	Take   func(number uint64) bool
	Drop   func(number uint64)
	// Answer sends the notice that the agent is idle to the session that asked for it.
	Answer func(m Message, text string)
}

// Mail is the part: the messages for one session. New makes one.
type Mail struct {
	env     Env
	office  *Office
	waiting []*Message // accepted, in their order
	notices []*Message // whose sender is to be notified
}

var _ loop.Part = (*Mail)(nil)

// New makes the part of a session.
func New(env Env, office *Office) *Mail { return &Mail{env: env, office: office} }

// Begin has nothing to do: messages outlive a program.
func (p *Mail) Begin(time.Time) {}

// End has nothing to do either.
func (p *Mail) End() {}

// Record has nothing to do: the outbox calls Moved.
func (p *Mail) Record(hold.Record) (loop.Outcome, error) { return loop.Outcome{}, nil }

// Save saves nothing: the office has files.
func (p *Mail) Save() (json.RawMessage, error) { return json.RawMessage("{}"), nil }

// Restore has nothing to take in.
func (p *Mail) Restore(json.RawMessage, bool) error { return nil }

// Recall brings a message up to date whose event a killed server wrote, and whose file it didn't.
func (p *Mail) Recall(line events.Line) {
	var e Event
	if line.Type != EventTell || json.Unmarshal(line.Raw, &e) != nil || e.Message == nil {
		return
	}
	step := Step{Status: e.Status, At: api.At(line.Time), Seq: line.Seq, Why: e.Why}
	for _, m := range p.office.list(p.env.ID, func(m *Message) bool { return m.Number == *e.Message }) {
		if _, err := p.office.move(m, step, e.Channel, events.FormatCursor(line.Cursor)); err != nil {
			p.env.Trouble("store a message", err)
		}
	}
}

// Since is the position in the event log from which Recall has to be called; ok is false if there is no need.
// No message was accepted after an event that its session's files miss. A message that is in the outbox may
// have been taken.
func (p *Mail) Since() (cursor uint64, ok bool) {
	posted := p.env.Posted()
	for _, m := range p.office.list(p.env.ID, stored) {
		ok = ok || m.Status == "" || m.Status == Accepted || m.Number == posted
		at, _ := events.ParseCursor(m.Cursor) // without one: 0
		cursor = max(cursor, at)
	}
	return cursor, ok
}

// stored says that a message has a file. Without one another session has just sent it, and Accept follows.
func stored(m *Message) bool { return m.Cursor != "" }

// Start goes on with the messages that the server before has left. Recall was called before.
func (p *Mail) Start() {
	posted := p.env.Posted()
	for _, m := range p.office.list(p.env.ID, stored) {
		switch {
		case m.Status == "": // its sender has no answer, and no event says that it was accepted
			p.office.Withdraw(m)
		case m.Status == Accepted:
			p.waiting = append(p.waiting, m)
		case m.Number == posted && m.Status.Final():
			p.env.Drop(posted)
		case m.Number == posted && m.inbox():
			p.env.Take(posted)
		}
		if m.Notify && m.Status != "" && !p.office.replied(m.Number, FromBerth) {
			p.notices = append(p.notices, m)
		}
	}
	if posted != 0 {
		if _, ok := p.office.Find(posted); !ok {
			p.env.Take(posted)
		}
	}
	p.offer()
}

// Tick drops what is too old, and hands on what waits.
func (p *Mail) Tick(now time.Time) (next time.Time) {
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, m := range slices.Clone(p.waiting) {
		switch {
		case m.Number == p.env.Posted(): // the outbox drops it
		case now.Before(m.Expires.Time):
			sooner(m.Expires.Time)
		default:
			p.note(m, Expired, nil, "")
		}
	}
	p.offer()
	for _, m := range slices.Clone(p.notices) {
		if at := p.notify(m, now); !at.IsZero() {
			sooner(at)
		}
	}
	return next
}

// Accept keeps a message that the office has admitted.
func (p *Mail) Accept(m *Message) error {
	if p.env.Program().Ended && p.env.Program().State != agent.Restarting {
		return p.env.Exited()
	}
	if err := p.office.store(m, p.env.Head()); err != nil {
		return err
	}
	done := p.env.Append([]events.Event{{Type: EventTell, Data: p.event(m, Accepted, nil, "")}})
	if len(done) == 0 {
		return api.Errorf(api.CodeInternal, "the message for %s wasn't accepted: its event couldn't be written", m.Session)
	}
	p.took(m, Step{Status: Accepted, At: api.At(done[0].Time), Seq: done[0].Seq}, nil, events.FormatCursor(done[0].Cursor))
	p.waiting = append(p.waiting, m)
	if m.Notify {
		p.notices = append(p.notices, m)
	}
	p.offer()
	return nil
}

// offer gives the outbox the first message that waits to be typed, once it has none.
func (p *Mail) offer() {
	at := slices.IndexFunc(p.waiting, func(m *Message) bool { return !m.quiet })
	if at < 0 || p.env.Posted() != 0 || !p.env.Types() || p.env.Program().Ended {
		return
	}
	if err := p.env.Post(p.waiting[at]); err != nil {
		p.env.Trouble("queue a message from another session", err)
		return
	}
	p.env.Cured("queue a message from another session")
}

// Events are the events of a message that the outbox has brought so far. There are none if it has that
// status. One that is taken or unconfirmed was delivered before.
func (p *Mail) Events(number uint64, to Status, why string) (list []events.Event) {
	m := p.find(number)
	if m == nil {
		return nil
	}
	by := ByComposer
	if to.composed() && m.Status == Accepted {
		list = append(list, events.Event{Type: EventTell, Data: p.event(m, Delivered, &by, "")})
	} else if !m.Status.follows(to) {
		return nil
	}
	channel := m.Channel
	if to == Delivered || to.composed() {
		channel = &by
	}
	return append(list, events.Event{Type: EventTell, Data: p.event(m, to, channel, why)})
}

// Moved takes in that the events which Events gave are in the log; seq is the number of the first. The
// outbox is done with the message when over.
func (p *Mail) Moved(number uint64, to Status, why string, seq uint64, over bool) {
	m := p.find(number)
	if m == nil {
		return
	}
	by := ByComposer
	now := api.At(p.env.Now())
	if to.composed() && m.Status == Accepted {
		p.took(m, Step{Status: Delivered, At: now, Seq: seq}, &by, "")
		seq++
	}
	var channel *Channel
	if to == Delivered || to.composed() {
		channel = &by
	}
	p.took(m, Step{Status: to, At: now, Seq: seq, Why: why}, channel, "")
	p.waiting = slices.DeleteFunc(p.waiting, func(o *Message) bool { return o == m && (over || o.Status != Accepted) })
}

// note writes the event of a status and gives the message that status.
func (p *Mail) note(m *Message, to Status, channel *Channel, why string) {
	if !m.Status.follows(to) {
		return
	}
	done := p.env.Append([]events.Event{{Type: EventTell, Data: p.event(m, to, channel, why)}})
	if len(done) == 0 {
		return
	}
	p.took(m, Step{Status: to, At: api.At(done[0].Time), Seq: done[0].Seq, Why: why}, channel, "")
	p.waiting = slices.DeleteFunc(p.waiting, func(o *Message) bool { return o == m })
}

// took gives a message a status that has its event.
func (p *Mail) took(m *Message, step Step, channel *Channel, cursor string) {
	if _, err := p.office.move(m, step, channel, cursor); err != nil {
		p.env.Trouble("store a message", err)
		return
	}
	p.env.Cured("store a message")
}

func (p *Mail) find(number uint64) *Message {
	list := p.office.list(p.env.ID, func(m *Message) bool { return m.Number == number })
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Read gives the session's own process a page: those of its messages that wait are delivered. One that the outbox is
// typing now stays with it.
func (p *Mail) Read(page []Message) {
	for _, m := range slices.Clone(p.waiting) {
		if !slices.ContainsFunc(page, func(one Message) bool { return one.Number == m.Number }) {
			continue
		}
		if m.Number == p.env.Posted() && !p.env.Take(m.Number) {
			continue
		}
		by := ByInbox
		p.note(m, Delivered, &by, "")
	}
}

// Refuse refuses every message that waits: the session is being removed.
func (p *Mail) Refuse(why string) {
	for _, m := range slices.Clone(p.waiting) {
		p.note(m, Refused, nil, why)
	}
	now := p.env.Now()
	for _, m := range slices.Clone(p.notices) { // their senders wait, and there is no later turn
		p.notify(m, now)
	}
}

// noticeAfter is how long a delivered message may have no effect on the agent's state before the agent
// counts as idle.
const noticeAfter = 30 * time.Second

// notify sends the notice for a message if the agent is idle after it. It gives when to look again; zero: at
// the next change.
func (p *Mail) notify(m *Message, now time.Time) (again time.Time) {
	text, state := "", p.env.Program()
	switch {
	case m.Status == Refused || m.Status == Expired:
		text = "message was " + string(m.Status) + ": " + m.last().Why
		if m.last().Why == "" {
			text = "message was " + string(m.Status)
		}
	case m.Status == Unconfirmed:
		text = "message is unconfirmed: " + m.last().Why
	case m.Status == Accepted:
		return time.Time{}
	case state.Ended:
		text = p.env.Name() + " has exited"
	case !state.State.Rests():
		return time.Time{}
	case p.env.Rested().After(m.since()) || now.Sub(m.since()) >= noticeAfter:
		text = p.env.Name() + " is " + string(state.State)
	default:
		return m.since().Add(noticeAfter)
	}
	p.notices = slices.DeleteFunc(p.notices, func(o *Message) bool { return o == m })
	p.env.Answer(m.copy(), text)
	return time.Time{}
}
