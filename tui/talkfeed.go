package tui

import (
	"context"

	"berth/agent"
	"berth/render"
	"berth/sessions"
)

// said is what a followed session log has more of. The first has the whole conversation.
type said struct {
	of      context.Context // ends when the view is closed
	id      string
	conv    *render.Conversation
	entries []agent.Entry
	why     string
}

// followTalk follows the session log that the view shows, and stops following another.
func (d *dashboard) followTalk() {
	want := ""
	if t := d.model.talk; t != nil && t.why == "" {
		want = t.id
		if d.model.byID[want] == nil || !d.model.world.May["transcript"] { // perhaps no longer
			want = ""
			d.model.SetConversation(t.id, nil, "the session is gone, or no longer yours to see")
			d.dirty = true
		}
	}
	if want == d.reads {
		return
	}
	if d.unread != nil {
		d.unread()
		d.unread = nil
	}
	if d.reads = want; want == "" {
		return
	}
	s, ok := d.Host.Find(want)
	if !ok {
		d.model.SetConversation(want, nil, "the session is gone, or no longer yours to see")
		return
	}
	ctx, cancel := context.WithCancel(d.feed)
	d.unread = cancel
	d.feeding.Go(func() { d.readTalk(ctx, s) })
}

// readTalk sends a session's conversation, and then what is added to it.
func (d *dashboard) readTalk(ctx context.Context, s *sessions.Session) {
	conv := &render.Conversation{}
	err := s.FollowConversation(ctx, func(entries []agent.Entry, current bool) {
		if conv == nil {
			if len(entries) == 0 { // there is nothing to draw
				return
			}
			d.program.Send(said{of: ctx, id: s.ID(), entries: entries})
			return
		}
		for _, e := range entries {
			conv.Add(e)
		}
		if current {
			d.program.Send(said{of: ctx, id: s.ID(), conv: conv})
			conv = nil
		}
	})
	if ctx.Err() == nil && err != nil {
		d.program.Send(said{of: ctx, id: s.ID(), why: err.Error()})
	}
}
