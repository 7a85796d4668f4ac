package commands

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions/events"
)

// ownStream is what watch reads on a server: the log of its own events.
type ownStream struct {
	*Call
	reader *events.Reader
}

// ownEvents opens the log for a watch. A word that is a conversation becomes its session, whose agent may go on to
// another conversation.
func (c *Call) ownEvents(w *watcher, since string) (*ownStream, error) {
	if _, err := c.targets(c.Args, orAll); err != nil {
		return nil, err
	}
	for i, word := range w.targets {
		if _, ok := c.Sessions.Find(word); !ok {
			if s, err := c.inConversation(word); err == nil && s != nil {
				w.targets[i] = s.ID()
			}
		}
	}
	reader, err := c.readerSince(since)
	return &ownStream{c, reader}, err
}

// readerSince opens the log after the cursor of --since; an empty string means now.
func (c *Call) readerSince(since string) (*events.Reader, error) {
	log := c.Sessions.Events()
	if since == "" {
		return log.Follow(log.Head()), nil
	}
	if name, number, ok := strings.Cut(since, ":"); ok {
		s, err := c.session(name)
		if err != nil {
			return nil, err
		}
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, api.Errorf(api.CodeUsage, "--since %s: give the number (seq) of an event after the colon", api.Quote(since))
		}
		return log.FollowSession(s.ID(), seq), nil
	}
	if since == "0" {
		return log.Follow(0), nil
	}
	cursor, err := events.ParseCursor(since)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "--since %s isn't a valid cursor: give the cursor of an event, such as e123, or S:N", api.Quote(since))
	}
	if cursor > log.Head() {
		return nil, api.Errorf(api.CodeBadRequest, "--since %s is later than the newest event, e%d: is the cursor from another server?", since, log.Head())
	}
	return log.Follow(cursor), nil
}

func (o *ownStream) next(ctx context.Context) (streamed, error) {
	line, err := o.reader.Next(ctx)
	return streamed{Line: line}, err
}

func (o *ownStream) cursor() string { return events.FormatCursor(o.reader.Position()) }

func (o *ownStream) endNow() bool {
	head := o.Sessions.Events().Head()
	o.reader.Until(head)
	return o.reader.Position() < head
}

func (o *ownStream) begin(w *watcher) ([]seen, error) {
	list, err := o.targets(w.targets, orAll)
	if err != nil {
		return nil, err
	}
	var out []seen
	for _, s := range list {
		status := s.Status()
		st := status.State(o.Now())
		out = append(out, seen{st.Session, agent.State(st.State), status.FirstPending, func(head streamLine) any {
			return snapshotLine{head, st.Session, st.ID, st.Seq, st}
		}})
	}
	return out, nil
}

func (o *ownStream) concerns(w *watcher, line streamed) bool {
	if line.ID == "" {
		return line.MayMiss(func(id string) bool {
			s, ok := o.Sessions.Find(id)
			return !ok || o.sees(s) && o.aimedAt(w.targets, events.Line{ID: id, Session: s.Status().Name})
		})
	}
	return o.mayRead(line.Line) && o.aimedAt(w.targets, line.Line)
}

// mayRead is the right to see the event's session. A removed session is judged by its name at
// the time of the event.
func (c *Call) mayRead(line events.Line) bool {
	if s, ok := c.Sessions.Find(line.ID); ok {
		return c.sees(s)
	}
	id := c.Identity()
	return id.Kind != keys.KindAgent && id.Sees(line.Session, nil)
}

func (c *Call) aimedAt(targets []string, line events.Line) bool {
	return len(targets) == 0 || slices.ContainsFunc(targets, func(t string) bool {
		if t == "all" || t == line.Session || t == line.ID {
			return true
		}
		if tag, isTag := strings.CutPrefix(t, "tag:"); isTag {
			s, ok := c.Sessions.Find(line.ID)
			return ok && s.Status().HasTag(tag)
		}
		s, ok := c.Sessions.Find(t) // it may have been renamed since
		return ok && (s.ID() == line.ID || c.tree() && c.Sessions.Descends(line.ID, s.ID()))
	})
}

func (o *ownStream) idle(line streamed) bool { return o.idleNow(line.ID) }

func (c *Call) idleNow(id string) bool {
	s, ok := c.Sessions.Find(id)
	return ok && s.Status().Now == agent.Idle
}
