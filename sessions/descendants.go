package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/gates"
	"berth/sessions/loop"
	"berth/sessions/mail"
)

const (
	eventEnded = "exited" // of package life
	// placeEvery is how many events without a message a server that was killed reads again.
	placeEvery = 1000
	// endSaid bounds the last message in the message about a child's end. The verb last has all of it.
	endSaid = 4 << 10
)

// passOn sends each session what its children report, and that they have ended: once, in the order of the events.
func (r *Registry) passOn(ctx context.Context, since uint64) {
	reader := r.events.Follow(since)
	for {
		line, err := reader.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.log.Error("sessions don't hear of their children any more", "error", err)
			}
			return
		}
		sent, err := r.passEvent(ctx, line)
		if ctx.Err() != nil {
			return // the next server passes it on
		}
		if err != nil {
			r.log.Warn("a session couldn't be sent what its child reports", "session", line.Session, "cursor", line.Cursor, "error", err)
		}
		if !sent && line.Cursor-since < placeEvery {
			continue
		}
		since = line.Cursor
		if err := r.mail.KeepPlace(since); err != nil {
			r.log.Error("a restarted server may read old events of children again", "error", err)
		}
	}
}

// passEvent sends the message about one event, if it is one of a child whose parent runs.
func (r *Registry) passEvent(ctx context.Context, line events.Line) (sent bool, err error) {
	if line.Type != eventEnded && line.Type != gates.KindReport {
		return false, nil
	}
	child, ok := r.Find(line.ID)
	if !ok {
		return false, nil
	}
	st := child.Status()
	parent, ok := r.Find(st.Parent)
	if !ok || st.Parent == "" || r.mail.Passed(events.FormatCursor(line.Cursor)) {
		return false, nil
	}
	to := parent.Status()
	d := mail.Draft{
		From: mail.Sender{Kind: mail.FromChild, Name: st.Name, ID: &st.ID}, Session: to.Name, ID: to.ID, TTL: DefaultTTL,
		Event: events.FormatCursor(line.Cursor), Quiet: to.Children.InboxOnly,
	}
	if line.Type == eventEnded {
		d.By, d.End = Actor{Identity: keys.Identity{Name: loop.Berth.Identity}}, true
		d.Text, ok = child.ended(ctx, line, to.Name)
	} else {
		d.By = Actor{Identity: keys.Identity{Kind: keys.KindAgent, Name: "agent:" + st.Name, Session: st.ID}}
		d.Text, ok = reported(line)
	}
	if !ok {
		return false, nil
	}
	m, err := r.mail.Admit(d)
	if err == nil {
		err = r.accept(ctx, parent, m)
	}
	if err != nil && api.AsError(err).Code == api.CodeExited {
		return false, nil // no process of the parent's could read it
	}
	if err != nil && api.AsError(err).Code == api.CodeLimit && !d.End {
		_ = r.RefuseTell(d.By, to.Name, len(d.Text), err) // its event is the sender's answer
		return true, nil
	}
	return true, err
}

// reported is what a report's event says.
func reported(line events.Line) (text string, ok bool) {
	var e gates.Report
	if json.Unmarshal(line.Raw, &e) != nil {
		return "", false
	}
	text = "report " + string(e.Kind)
	if strings.TrimSpace(agent.CleanMessage(e.Message)) != "" {
		text += ": " + e.Message
	}
	return text, true
}

// ended says how the session has ended; ok is false if it goes on, or if an agent inside the parent has ended it.
func (s *Session) ended(ctx context.Context, line events.Line, parent string) (text string, ok bool) {
	var e struct {
		Code   *int   `json:"code"`
		Signal string `json:"signal"`
		Lost   bool   `json:"lost"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal(line.Raw, &e) != nil {
		return "", false
	}
	over, err := ask(ctx, s, func(c *core) (bool, error) {
		return c.life.Over() && c.track.State() == agent.Exited && c.life.EndedBy().Identity != "agent:"+parent, nil
	})
	if err != nil || !over {
		return "", false
	}
	switch {
	case e.Lost:
		text = "ended: its holder is gone"
	case e.Signal != "":
		text = "ended by signal " + e.Signal
	case e.Code != nil:
		text = fmt.Sprintf("ended with status %d", *e.Code)
	}
	if e.Reason != "" {
		text += ", " + e.Reason
	}
	said := s.LastSaid(ctx)
	if said == nil {
		return text, true
	}
	last := said.Text
	if len(last) > endSaid {
		last = strings.ToValidUTF8(last[:endSaid], "") + "..."
	}
	return text + ". Its last message: " + last, true
}
