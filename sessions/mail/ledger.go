package mail

import (
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
)

// The limits of a session's agent as a sender, and of a session's inbox.
const (
	RateMost    = 20 // messages of one session in rateWithin; each target counts
	rateWithin  = time.Minute
	waitingMost = 200 // messages of one session that are accepted and not delivered
	HopsMost    = 8   // replies after a first message
	loopMost    = 4   // messages of equal text between two sessions in loopWithin
	loopWithin  = 10 * time.Minute

	inboxMost  = 1000    // messages for one session that are accepted and not delivered
	inboxBytes = 8 << 20 // of their texts
	keptMost   = 1000    // messages for one session after that, the newest
	keptBytes  = 4 << 20 // of their texts
)

// TextMost is the longest text of a message, in bytes.
const TextMost = 64 << 10

// Ledger has the messages of a server. The zero value has none. It isn't safe for concurrent use.
type Ledger struct {
	byNumber map[uint64]*Message
	to       map[string][]*Message // by the session that they are for, in the order of acceptance
	sent     map[string][]sending  // by the session that sent them, oldest first
	last     uint64                // number of the newest message
}

// sending is what the limits need of a message that a session sent, also after the message is gone.
type sending struct {
	number   uint64
	at       time.Time // with the clock's monotonic part, for a clock that is set back
	from, to string
	text     string
}

// Draft is a message that is to be sent.
type Draft struct {
	By      loop.Actor
	From    Sender
	Session string // that it is for: the name
	ID      string // of that session
	Text    string
	ReplyTo uint64 // 0: it isn't a reply
	TTL     time.Duration
	Notify  bool

	Event string // of a message about a child: see Message.Event
	End   bool   // that event is the child's end, which no limit of senders refuses
	Quiet bool   // it isn't typed
}

// limited says that the limits of agents count messages of this sender.
func (s Sender) limited() bool {
	return s.Session() != "" && (s.Kind == FromAgent || s.Kind == FromChild)
}

// limit is the error of a message over a limit, with the name of that limit.
func limit(which, format string, args ...any) *api.Error {
	return api.Errorf(api.CodeLimit, format, args...).With("limit", which)
}

// Admit gives the draft a number, or says which limit it exceeds. The message counts from now on.
func (l *Ledger) Admit(d Draft, now time.Time) (*Message, error) {
	hop := 0
	if d.ReplyTo != 0 {
		before, ok := l.byNumber[d.ReplyTo]
		if !ok {
			return nil, api.Errorf(api.CodeNotFound, "there is no message %d to reply to", d.ReplyTo).With("message", d.ReplyTo)
		}
		hop = before.Hop + 1
	}
	if err := l.room(d); err != nil {
		return nil, err
	}
	if sender := d.From.Session(); d.From.limited() && !d.End {
		if err := l.bounds(d, sender, hop, now); err != nil {
			return nil, err
		}
	}
	l.last++
	m := &Message{
		Number: l.last, Session: d.Session, ID: d.ID, From: d.From, Text: d.Text, Bytes: len(d.Text), Hop: hop,
		Sent: api.At(now), Expires: api.At(now.Add(d.TTL)), Notify: d.Notify, Way: []Step{}, by: d.By, quiet: d.Quiet,
	}
	if d.Event != "" {
		m.Event = &d.Event
	}
	if d.ReplyTo != 0 {
		m.ReplyTo = &d.ReplyTo
	}
	l.add(m, now)
	return m, nil
}

// room checks the inbox of the session that the draft is for.
func (l *Ledger) room(d Draft) error {
	count, size := 0, len(d.Text)
	for _, m := range l.to[d.ID] {
		if m.Status == Accepted || m.Status == "" {
			count, size = count+1, size+m.Bytes
		}
	}
	if count >= inboxMost || size > inboxBytes {
		return limit("inbox", "%d messages already wait for %s, and no more may: inbox %s lists them", count, d.Session, d.Session).With("session", d.Session)
	}
	return nil
}

// bounds checks the limits of a session's agent.
func (l *Ledger) bounds(d Draft, sender string, hop int, now time.Time) error {
	if hop > HopsMost {
		return limit("hops", "message %d is %d replies away from the first: at most %d may follow each other. Start anew without --reply-to, if a person wants that",
			d.ReplyTo, hop-1, HopsMost).With("session", d.Session)
	}
	l.forget(now)
	var recent []time.Time
	for _, s := range l.sent[sender] {
		if now.Sub(s.at) < rateWithin {
			recent = append(recent, s.at)
		}
	}
	if len(recent) >= RateMost {
		wait := (recent[len(recent)-RateMost].Add(rateWithin).Sub(now) + time.Second - 1).Truncate(time.Second)
		return limit("rate", "%s has sent %d messages within a minute, and no more may be sent: wait %s", d.From.Name, len(recent), wait).With("session", d.Session)
	}
	waiting := 0
	for _, list := range l.to {
		for _, m := range list {
			if m.From.Session() == sender && (m.Status == Accepted || m.Status == "") {
				waiting++
			}
		}
	}
	if waiting >= waitingMost {
		return limit("waiting", "%d messages of %s wait to be delivered, and no more may: wait until some are", waiting, d.From.Name).With("session", d.Session)
	}
	equal := 0
	for _, s := range slices.Concat(l.sent[sender], l.sent[d.ID]) {
		between := s.from == sender && s.to == d.ID || s.from == d.ID && s.to == sender
		if between && s.text == said(d.Text) && now.Sub(s.at) < loopWithin {
			equal++
		}
	}
	if equal >= loopMost {
		return limit("loop", "%s and %s have sent each other this text %d times within %d minutes: that is a loop, and it ends here",
			d.From.Name, d.Session, equal, int(loopWithin.Minutes())).With("session", d.Session)
	}
	return nil
}

// said is what the receiver gets of a text: one that differs in characters which are never typed is equal.
func said(text string) string { return strings.TrimSpace(agent.CleanMessage(text)) }

// add takes a message in: a new one, or one from its file.
func (l *Ledger) add(m *Message, now time.Time) {
	if l.byNumber == nil {
		l.byNumber, l.to, l.sent = map[uint64]*Message{}, map[string][]*Message{}, map[string][]sending{}
	}
	l.last = max(l.last, m.Number)
	l.byNumber[m.Number] = m
	l.to[m.ID] = append(l.to[m.ID], m)
	if sender := m.From.Session(); m.From.limited() {
		// A time to come is that of a clock that was set back since: it would count without end.
		at := m.Sent.Time
		if at.After(now) {
			at = now
		}
		l.sent[sender] = append(l.sent[sender], sending{number: m.Number, at: at, from: sender, to: m.ID, text: said(m.Text)})
	}
}

// forget drops what no limit needs any more.
func (l *Ledger) forget(now time.Time) {
	for sender, list := range l.sent {
		list = slices.DeleteFunc(list, func(s sending) bool { return now.Sub(s.at) >= loopWithin })
		if l.sent[sender] = list; len(list) == 0 {
			delete(l.sent, sender)
		}
	}
}

// drop forgets a message. What its sender has sent still counts.
func (l *Ledger) drop(m *Message) {
	delete(l.byNumber, m.Number)
	l.to[m.ID] = slices.DeleteFunc(l.to[m.ID], func(o *Message) bool { return o == m })
	if len(l.to[m.ID]) == 0 {
		delete(l.to, m.ID)
	}
}

// withdraw forgets a message that wasn't accepted, as if it had never been sent.
func (l *Ledger) withdraw(m *Message) {
	l.drop(m)
	sender := m.From.Session()
	if i := slices.IndexFunc(l.sent[sender], func(s sending) bool { return s.number == m.Number }); i >= 0 {
		l.sent[sender] = slices.Delete(l.sent[sender], i, i+1)
	}
}

// old are the messages for a session that are kept no longer.
func (l *Ledger) old(id string) (old []*Message) {
	count, size := 0, 0
	for _, m := range slices.Backward(l.to[id]) {
		if m.Status == "" || m.Status == Accepted {
			continue
		}
		if count, size = count+1, size+m.Bytes; count > keptMost || size > keptBytes {
			old = append(old, m)
		}
	}
	return old
}
