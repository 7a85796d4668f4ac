package mail

import (
	"berth/api"
	"berth/sessions/loop"
)

// EventTell is the type of the events about messages between sessions.
const EventTell = "tell"

// Event is what such an event has beside its head. It never has the text. It is an event of the session
// that the message is for. A message that a limit or a right has refused has no number, and its event
// is one of the session that tried to send it.
type Event struct {
	By      loop.By   `json:"by"`      // who sent it
	Message *uint64   `json:"message"` // its number; null if it was refused at once
	From    Sender    `json:"from"`
	To      string    `json:"to"` // the session's name, or the word that was given for it
	Status  Status    `json:"status"`
	Channel *Channel  `json:"channel"` // null unless it is delivered or taken
	Bytes   int       `json:"bytes"`
	ReplyTo *uint64   `json:"reply_to"`
	Hop     int       `json:"hop"`
	Expires *api.Time `json:"expires"`
	Why     string    `json:"why"`
	Code    string    `json:"code"` // of the error that refused it at once; otherwise empty
	loop.Repeated
}

// After has the newest of several refusals; their number is in untold.
func (e Event) After(earlier loop.Paced) loop.Paced {
	e.Repeated = loop.Since(earlier)
	return e
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{EventTell: Event{}}

// event is the event of a message's status.
func (p *Mail) event(m *Message, to Status, channel *Channel, why string) Event {
	return Event{
		By: m.by.By(), Message: &m.Number, From: m.From, To: p.env.Name(), Status: to, Channel: channel,
		Bytes: m.Bytes, ReplyTo: m.ReplyTo, Hop: m.Hop, Expires: &m.Expires, Why: why,
	}
}
