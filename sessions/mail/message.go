// Package mail keeps the messages that sessions and people send to sessions with the verb tell.
//
// Ledger is the pure core: it knows the messages of the server, and it decides whether another may be
// sent (the limits of agents, hops, loops). The clock is passed in. Office is the ledger with its files, a
// file for each message in one folder, with a mutex. Mail is the part of one session: the session's
// loop alone moves the messages for that session from status to status, and each move is one event.
//
// # Statuses
//
//	accepted ─▶ delivered ─▶ taken, unconfirmed
//	    └─▶ refused, expired
//
// A message is accepted once its file and its event are on disk. It is delivered when the agent's
// composer has it, or when a process inside the session has read it with the verb inbox. It is taken
// when the agent itself reports that a turn has it, and unconfirmed when the outbox gives up waiting for that
// report: the delivery has ended without it, or the program has. A message that was read with inbox stays
// delivered. The event of a move is written before the file, and a server that was killed between
// the two leaves the event: Recall brings the message up to date, so no move has two events.
//
// No message stays accepted for ever: it waits at most for its ttl. Until then it may wait for an agent that
// works, that has a prompt open or whose screen is at no rest, for a program that Berth can't type messages
// to, and for one that has ended and may be restarted. A session that is removed refuses what waits for it,
// and a letter for an agent in a shell is refused when that agent ends.
//
// Messages go to the outbox one at a time, in the order of their acceptance. The outbox types a
// message like a queued one: when the agent rests and its composer is empty.
package mail

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"berth/api"
	"berth/keys"
	"berth/sessions/loop"
	"berth/terminal"
)

// Status is how far a message has come.
type Status string

// The statuses. A message without one is on its way to be accepted.
const (
	Accepted  Status = "accepted"
	Delivered Status = "delivered"
	Taken     Status = "taken"
	Refused   Status = "refused"
	Expired   Status = "expired"
	// Unconfirmed: the composer had it, and the agent doesn't report that a turn has it.
	Unconfirmed Status = "unconfirmed"
)

// Final says that no other status follows.
func (s Status) Final() bool {
	return s == Taken || s == Refused || s == Expired || s == Unconfirmed
}

// composed says that the composer has had a message of this status. Before it the message was delivered.
func (s Status) composed() bool { return s == Taken || s == Unconfirmed }

// follows says that a message of status s may get the status next.
func (s Status) follows(next Status) bool {
	switch s {
	case "":
		return next == Accepted
	case Accepted:
		return next != Accepted
	case Delivered:
		return next.composed()
	}
	return false
}

// Channel is how a message reached its session.
type Channel string

// The channels.
const (
	ByComposer Channel = "composer" // typed like a nudge
	ByInbox    Channel = "inbox"    // read with the verb inbox
)

// Kind says what a sender is.
type Kind string

// The kinds of senders.
const (
	FromAgent Kind = "agent" // a process inside a session
	FromKey   Kind = "key"   // a person or a program with a key
	FromLocal Kind = "local" // a process of the server's user
	FromBerth Kind = "berth" // the server itself
	FromChild Kind = "child" // the server about a session that the receiver started: its end, or what it reported
)

// Sender is who sent a message.
type Sender struct {
	Kind Kind    `json:"kind"`
	Name string  `json:"name"` // of the session, or of the key
	ID   *string `json:"id"`   // of the session, of the kinds agent and child; null for other senders
}

// Session is the id of the session that sent the message, or that it is about; empty for other senders.
func (s Sender) Session() string {
	if s.ID == nil {
		return ""
	}
	return *s.ID
}

// Step is one status that a message has had.
type Step struct {
	Status Status   `json:"status"`
	At     api.Time `json:"happened_at"`
	Seq    uint64   `json:"seq"` // of its event, in the session that the message is for
	Why    string   `json:"why"`
}

// Message is one message, as its file and the answers have it.
type Message struct {
	Number  uint64   `json:"message"`
	Session string   `json:"session"` // that it is for: the name when it was sent
	ID      string   `json:"id"`      // of that session
	From    Sender   `json:"from"`
	Text    string   `json:"text"`
	Bytes   int      `json:"size_bytes"`
	Status  Status   `json:"status"`
	Channel *Channel `json:"channel"` // null until it is delivered
	ReplyTo *uint64  `json:"reply_to"`
	Hop     int      `json:"hop"` // 0 for a message that isn't a reply
	Sent    api.Time `json:"sent_at"`
	Expires api.Time `json:"expires_at"`
	Notify  bool     `json:"notify_when_idle"`
	Cursor  string   `json:"cursor"` // of the event of its acceptance
	Way     []Step   `json:"way"`
	Event   *string  `json:"event"` // the cursor of the child's event that the message is about; null for other messages

	by     loop.Actor // whose rights are checked again when it is delivered
	behind bool       // its file couldn't be written when it moved
	quiet  bool       // it isn't typed: it waits for the verb inbox
}

// By is the caller who sent the message, without rights.
func (m *Message) By() loop.Actor { return m.by }

// record is a message as its file has it.
type record struct {
	Message
	By          loop.By   `json:"by"`
	Kind        keys.Kind `json:"kind"`
	Source      string    `json:"source"`
	Certificate []byte    `json:"certificate,omitempty"`
	Quiet       bool      `json:"quiet,omitempty"`
}

// record is the message for its file.
func (m *Message) record() record {
	id := m.by.Identity
	return record{Message: *m, By: m.by.By(), Kind: id.Kind, Source: id.Source, Certificate: id.Certificate, Quiet: m.quiet}
}

// message is the message of a file.
func (r record) message() *Message {
	m := r.Message
	m.by = loop.Actor{Client: r.By.Client, Identity: keys.Identity{
		Kind: r.Kind, Name: r.By.Identity, Fingerprint: r.By.Fingerprint, Source: r.Source, Certificate: r.Certificate,
	}}
	m.quiet = r.Quiet
	return &m
}

// Typed is the text as the agent gets it: what was sent, after who sent it.
func (m *Message) Typed() string {
	return fmt.Sprintf("[message %d from %s, not from your user] %s", m.Number, m.From.Words(), m.Text)
}

// Words name a sender. A name has no bracket, so that it can't end the mark before the text.
func (s Sender) Words() string {
	name := strings.Map(func(r rune) rune {
		if r == '[' || r == ']' {
			return -1
		}
		return r
	}, terminal.Printable(s.Name))
	switch s.Kind {
	case FromAgent:
		return "agent " + name
	case FromChild:
		return "your session " + name
	}
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("@.-_+:/", r)
	}
	if strings.ContainsFunc(name, odd) { // a key's name may be that of an agent, or a sentence, also with unusual blanks
		return `"` + strings.ReplaceAll(name, `"`, "") + `"`
	}
	return name
}

// last is the newest status's step.
func (m *Message) last() Step {
	if len(m.Way) == 0 {
		return Step{At: m.Sent}
	}
	return m.Way[len(m.Way)-1]
}

// since is when the message got its newest status.
func (m *Message) since() time.Time { return m.last().At.Time }

// inbox says that a process inside the session has read it.
func (m *Message) inbox() bool { return m.Channel != nil && *m.Channel == ByInbox }

// copy is the message for a caller.
func (m *Message) copy() Message {
	c := *m
	c.Way = append([]Step{}, m.Way...)
	return c
}
