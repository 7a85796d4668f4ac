package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/loop"
	"berth/sessions/mail"
	"berth/sessions/outbox"
)

// Message is a message between sessions.
type Message = mail.Message

// How long a message waits to be delivered.
const (
	DefaultTTL = 24 * time.Hour
	MaxTTL     = 7 * 24 * time.Hour
)

// Tell is a message to a session, and how it is to be sent.
type Tell struct {
	Text    string
	ReplyTo uint64        // number of the message that it answers; 0: none
	TTL     time.Duration // 0: DefaultTTL
	Notify  bool          // the sender, a session, gets a message when the agent is idle after it
}

// Sent is what became of a message at once.
type Sent struct {
	Session string      `json:"session"`
	ID      string      `json:"id"`
	Message *uint64     `json:"message"` // its number; null if it was refused
	Status  mail.Status `json:"status"`
	Error   *api.Error  `json:"error,omitempty"` // of one target of several
}

// sender is the caller as a message has it.
func (r *Registry) sender(by Actor) mail.Sender {
	id := by.Identity
	from := mail.Sender{Kind: mail.FromKey, Name: id.Name}
	switch id.Kind {
	case keys.KindLocal:
		from.Kind = mail.FromLocal
	case keys.KindAgent:
		from = mail.Sender{Kind: mail.FromAgent, Name: strings.TrimPrefix(id.Name, "agent:"), ID: &id.Session}
		if s, ok := r.Find(id.Session); ok {
			from.Name = s.Status().Name
		}
	}
	return from
}

// MayTell says whether a process inside one session may send messages to another: to the parent and
// the children, to sessions whose peers name it, and without peers to those of the same team.
func (r *Registry) MayTell(from, to *Session) bool {
	a, b := from.Status(), to.Status()
	switch {
	case a.ID == b.ID:
		return false
	case b.Parent == a.ID || a.Parent == b.ID:
		return true
	case b.Peers == nil:
		return b.Team != "" && b.Team == a.Team
	}
	return slices.ContainsFunc(b.Peers, func(peer string) bool {
		tag, isTag := strings.CutPrefix(peer, "tag:")
		return isTag && a.HasTag(tag) || !isTag && peer == a.Name
	})
}

// Tell sends a message to a session. It is on disk when Tell returns without an error. Who sent it
// comes from the caller's identity alone. The rights of a caller with a key are the caller's to check; those
// of a process inside a session are checked here. Errors: DENIED, LIMIT, EXITED, NOT_FOUND, BAD_REQUEST. A
// refusal of a process inside a session is an event of that session.
func (r *Registry) Tell(ctx context.Context, by Actor, to *Session, t Tell) (Sent, error) {
	st := to.Status()
	sent := Sent{Session: st.Name, ID: st.ID, Status: mail.Refused}
	from := r.sender(by)
	if err := r.checkTell(by, to, t); err != nil {
		return sent, r.RefuseTell(by, st.Name, len(t.Text), err)
	}
	ttl := t.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	m, err := r.mail.Admit(mail.Draft{By: by, From: from, Session: st.Name, ID: st.ID, Text: t.Text, ReplyTo: t.ReplyTo, TTL: ttl, Notify: t.Notify})
	if err != nil {
		return sent, r.RefuseTell(by, st.Name, len(t.Text), err)
	}
	number := m.Number
	if err := r.accept(ctx, to, m); err != nil {
		return sent, err
	}
	sent.Message, sent.Status = &number, mail.Accepted
	return sent, nil
}

// accept has the session's loop keep a message that was admitted.
func (r *Registry) accept(ctx context.Context, to *Session, m *mail.Message) error {
	_, err := ask(context.WithoutCancel(ctx), to, func(c *core) (struct{}, error) { return struct{}{}, c.mail.Accept(m) })
	if err != nil {
		r.mail.Withdraw(m)
	}
	return err
}

// checkTell is what can be said of a message before it counts.
func (r *Registry) checkTell(by Actor, to *Session, t Tell) error {
	id := by.Identity
	switch {
	case strings.TrimSpace(agent.CleanMessage(t.Text)) == "": // as it would be typed
		return api.Errorf(api.CodeUsage, "the message is empty: nothing was sent")
	case len(t.Text) > mail.TextMost:
		return api.Errorf(api.CodeLimit, "the message has %d bytes, and at most %d may be sent: put the text into a file, and send its path", len(t.Text), mail.TextMost).With("limit", "text")
	case t.TTL < 0 || t.TTL > MaxTTL:
		return api.Errorf(api.CodeUsage, "--ttl must be above 0 and at most %s", MaxTTL)
	case t.Notify && id.Kind != keys.KindAgent:
		return api.Errorf(api.CodeUsage, "--notify-when-idle sends a message to the sender's session, and %s is in none: use wait %s", id.Name, to.Status().Name)
	}
	if id.Kind == keys.KindAgent {
		from, ok := r.Find(id.Session)
		switch {
		case !ok || id.Session == "":
			return deniedTell(by, to.Status().Name)
		case from == to:
			return api.Errorf(api.CodeDenied, "%s can't send itself a message", to.Status().Name).With("verb", "tell").With("identity", id.Name).With("session", to.Status().Name)
		case !r.MayTell(from, to):
			return deniedTell(by, to.Status().Name)
		}
	}
	if t.ReplyTo != 0 {
		if m, ok := r.mail.Find(t.ReplyTo); !ok || !r.MaySeeMessage(id, m) {
			return api.Errorf(api.CodeNotFound, "there is no message %d to reply to", t.ReplyTo).With("message", t.ReplyTo)
		}
	}
	return r.mayCause(by, eventsOfMessage)
}

// deniedTell is the error for a session that the caller may not send messages to. It is the same for one
// that doesn't exist, so that an agent learns no names.
func deniedTell(by Actor, word string) error {
	return api.Errorf(api.CodeDenied, "%s may send no message to %s: it may to its parent, its children, and sessions whose peers or team include it", by.Identity.Name, api.Quote(word)).
		With("verb", "tell").With("identity", by.Identity.Name).With("session", word)
}

// Recipient finds a session that a process inside a session may send messages to, by name or id.
func (r *Registry) Recipient(by Actor, word string) (*Session, error) {
	to, ok := r.Find(word)
	from, inside := r.Find(by.Identity.Session)
	if ok && inside && (to == from || r.MayTell(from, to)) {
		return to, nil
	}
	return nil, r.RefuseTell(by, word, 0, deniedTell(by, word))
}

// toMost bounds the word for a session in the event of a refusal, in bytes.
const toMost = 64

// RefuseTell writes the event of a message that is refused at once, if its sender is in a session and a
// right or a limit refuses it. It gives the error back.
func (r *Registry) RefuseTell(by Actor, to string, size int, err error) error {
	code := api.AsError(err).Code
	s, ok := r.Find(by.Identity.Session)
	if !ok || by.Identity.Kind != keys.KindAgent || code != api.CodeDenied && code != api.CodeLimit {
		return err
	}
	e := mail.Event{By: by.By(), From: r.sender(by), To: to, Status: mail.Refused, Bytes: size, Why: api.AsError(err).Message, Code: string(code)}
	if len(e.To) > toMost {
		e.To = strings.ToValidUTF8(e.To[:toMost], "")
	}
	_ = s.do(context.Background(), func(c *core) { // a session that is gone has no events
		c.kernel.Emit.Paced(0, mail.EventTell, "tell", e.By, e)
	})
	return err
}

// MaySeeMessage says whether the caller may see a message: its sender, its receiver, and who sees one of them.
func (r *Registry) MaySeeMessage(id keys.Identity, m Message) bool {
	if id.Kind == keys.KindAgent {
		return id.Session != "" && (id.Session == m.ID || id.Session == m.From.Session())
	}
	for _, session := range []string{m.ID, m.From.Session()} {
		if s, ok := r.Find(session); ok && session != "" {
			if st := s.Status(); id.Sees(st.Name, st.Tags) {
				return true
			}
		}
	}
	return id.SeesAll()
}

// FindMessage gives a message by its number.
func (r *Registry) FindMessage(number uint64) (Message, bool) { return r.mail.Find(number) }

// InboxPage is a part of a session's messages.
type InboxPage struct {
	Messages []Message
	Cursor   string // to go on from
	More     bool   // there are later messages
}

// Inbox gives messages for a session, the oldest first, as mail.Office.Page chooses them. If own, a process of the session
// reads them: those that waited are delivered now. It returns at once, also without a message.
func (r *Registry) Inbox(ctx context.Context, s *Session, since *uint64, most int, own bool) (p InboxPage, err error) {
	p.Messages, p.More = r.mail.Page(s.id, since, most)
	if own { // none is accepted between the delivery and the page
		p, err = ask(context.WithoutCancel(ctx), s, func(c *core) (p InboxPage, _ error) {
			p.Messages, p.More = r.mail.Page(s.id, since, most)
			c.mail.Read(p.Messages)
			for i, m := range p.Messages {
				if now, ok := r.mail.Find(m.Number); ok {
					p.Messages[i] = now
				}
			}
			return p, nil
		})
	}
	if p.Cursor = events.FormatCursor(0); since != nil {
		p.Cursor = events.FormatCursor(*since)
	}
	if n := len(p.Messages); n > 0 {
		p.Cursor = p.Messages[n-1].Cursor
	}
	return p, err
}

// UnreadSince is the cursor after which the messages come that still wait for the session; without any, the
// newest message's.
func (r *Registry) UnreadSince(s *Session) (since uint64) {
	for _, m := range r.mail.Inbox(s.id, 0) {
		if m.Status == mail.Accepted {
			break
		}
		since, _ = events.ParseCursor(m.Cursor) // an accepted one has a cursor
	}
	return since
}

// AwaitMail waits until there is a message for the session that was accepted after the cursor; with the
// context's error before that.
func (r *Registry) AwaitMail(ctx context.Context, s *Session, since uint64) error {
	changed, stop := r.mail.Subscribe()
	defer stop()
	for len(r.mail.Inbox(s.id, since)) == 0 {
		select {
		case <-changed:
		case <-s.kernel.Over():
			return s.stopped()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sweepMail removes old messages for sessions that are gone.
func (r *Registry) sweepMail() {
	err := r.mail.Sweep(func(id string) bool {
		s, ok := r.Find(id)
		return ok && s.id == id
	})
	if err != nil {
		r.log.Error("old messages between sessions could not be removed", "error", err)
	}
}

// answer sends the notice about a message to the session that sent it.
func (r *Registry) answer(ctx context.Context, m Message, text string) {
	to, ok := r.Find(m.From.Session())
	if !ok {
		return
	}
	from := mail.Sender{Kind: mail.FromBerth, Name: "berth"}
	st := to.Status()
	by := Actor{Identity: keys.Identity{Name: loop.Berth.Identity}}
	one, err := r.mail.Admit(mail.Draft{By: by, From: from, Session: st.Name, ID: st.ID, Text: fmt.Sprintf("%s (your message %d to %s)", text, m.Number, m.Session), ReplyTo: m.Number, TTL: DefaultTTL})
	if err == nil {
		err = r.accept(ctx, to, one)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("a notice about a message couldn't be sent", "message", m.Number, "session", st.Name, "error", err)
	}
}

// letters is what the outbox uses of the messages between sessions.
func (c *core) letters() outbox.Letters {
	return outbox.Letters{
		Events: func(letter uint64, status, why string) []events.Event {
			return c.mail.Events(letter, mail.Status(status), why)
		},
		Moved: func(letter uint64, status, why string, seq uint64, over bool) {
			c.mail.Moved(letter, mail.Status(status), why, seq, over)
		},
	}
}

func (c *core) mailEnv() mail.Env {
	return mail.Env{
		Env: c.env(), Append: c.kernel.Emit.Append, Head: c.s.reg.events.Head,
		Rested: func() time.Time { return c.track.View().Since },
		Types: func() bool {
			_, ok := c.env().Driver().(agent.MessageTyper)
			return ok
		},
		Post: func(m *mail.Message) error {
			return c.outbox.Post(outbox.Letter{Number: m.Number, Text: m.Typed(), By: m.By(), Expires: m.Expires.Time})
		},
		Posted: c.outbox.Posted, Take: c.outbox.TakeLetter, Drop: c.outbox.DropLetter,
		Answer: func(m mail.Message, text string) { c.background(func() { c.s.reg.answer(c.s.reg.ctx, m, text) }) },
	}
}
