package dispatch

import (
	"context"
	"errors"

	"berth/api"
	"berth/attach"
	"berth/commands"
	"berth/sessions"
	"berth/sessions/clients"
	"berth/sessions/lease"
	"berth/sshd"
	"berth/terminal"
)

// adapter shows a session to package attach, which doesn't know the registry.
type adapter struct {
	to   commands.Attachment
	call *sshd.Session
}

func (a adapter) Name() string { return a.to.Session.Status().Name }
func (a adapter) ID() string   { return a.to.Session.ID() }

func (a adapter) Join(ctx context.Context, c attach.Client) (attach.Member, error) {
	visitor := sessions.Visitor{
		Actor:    sessions.Actor{Identity: a.call.Identity(), Client: a.call.Client},
		ReadOnly: !c.MayWrite, Terminal: c.Terminal, Cols: c.Cols, Rows: c.Rows,
		Allowed: a.to.Allowed, Sees: a.to.Sees,
	}
	m, err := a.to.Session.Join(ctx, visitor)
	if err != nil {
		return nil, err
	}
	joined := &member{Member: m, session: a.to.Session, notices: make(chan attach.Notice, cap(m.Notices())), stop: make(chan struct{})}
	go joined.forward()
	return joined, nil
}

// member adds to a session's member the methods that package attach wants.
type member struct {
	*sessions.Member
	session *sessions.Session
	notices chan attach.Notice
	stop    chan struct{}
}

// forward converts notices to attach's types until the member leaves.
func (m *member) forward() {
	for {
		select {
		case n := <-m.Member.Notices():
			notice := attach.Notice{Kind: attach.NoticeLeaseLost, By: n.LostTo}
			switch {
			case n.Kicked != "":
				notice = attach.Notice{Kind: attach.NoticeKicked, Text: n.Kicked}
			case n.Detached != "":
				notice = attach.Notice{Kind: attach.NoticeDetached, By: terminal.Printable(n.Detached)}
			}
			select {
			case m.notices <- notice:
			case <-m.stop:
				return
			}
		case <-m.stop:
			return
		}
	}
}

func (m *member) Leave() {
	select {
	case <-m.stop:
		return // a second call
	default:
	}
	close(m.stop)
	m.Member.Leave()
}

func (m *member) Notices() <-chan attach.Notice { return m.notices }

func (m *member) Snapshot(ctx context.Context, history int) (*terminal.Snapshot, error) {
	return m.session.Snapshot(ctx, history)
}

func (m *member) Resync(ctx context.Context, q *attach.Queue, o terminal.RepaintOptions) (attach.Paint, error) {
	p, err := m.Member.Resync(ctx, q, o)
	return attach.Paint(p), err
}

func (m *member) Unfollow(q *attach.Queue) { m.Member.Unfollow(q) }

func (m *member) Type(ctx context.Context, data []byte) error {
	return attachError(m.Member.Type(ctx, data))
}

func (m *member) TryType(data []byte, answered func(error)) bool {
	return m.Member.TryType(data, func(err error) { answered(attachError(err)) })
}

func (m *member) Take(ctx context.Context) error { return attachError(m.Member.Take(ctx)) }

func (m *member) Release(ctx context.Context) error { return attachError(m.Member.Release(ctx)) }

// attachError converts a refusal to the error that package attach checks for.
func attachError(err error) error {
	var busy *lease.BusyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return &attach.BusyError{Writer: writer(clients.WriterOf(busy.Holder)), MayTake: true}
	case errors.Is(err, sessions.ErrReadOnly):
		return attach.ErrReadOnly
	case api.AsError(err).Code == api.CodeExited:
		return attach.ErrEnded
	case api.AsError(err).Code == api.CodeDenied:
		return attach.ErrReadOnly
	}
	return err
}

func writer(w *api.Writer) attach.Person {
	if w == nil {
		return attach.Person{}
	}
	return attach.Person{Client: w.Client, Name: terminal.Printable(w.Identity), Writer: true, Since: w.Since.Time, Expires: w.Expires.Time}
}

func (m *member) Who(ctx context.Context) ([]attach.Person, error) {
	list, err := m.session.Who(ctx)
	if err != nil {
		return nil, err
	}
	people := []attach.Person{}
	holder := m.session.Status().Writer
	joined := false
	for _, a := range list {
		p := attach.Person{Client: a.Client, Name: terminal.Printable(a.Identity), Source: a.Source, Writer: a.Writer, Cols: a.Cols, Rows: a.Rows, Since: a.Since.Time}
		if a.Writer && holder != nil {
			joined, p.Expires = true, holder.Expires.Time
		}
		people = append(people, p)
	}
	if holder != nil && !joined { // an exec call writes without having joined
		people = append([]attach.Person{writer(holder)}, people...)
	}
	return people, nil
}

func (m *member) Status() attach.Status {
	st := m.session.Status()
	s := attach.Status{
		Cols: st.Cols, Rows: st.Rows, Modes: st.Modes, Title: terminal.Printable(st.Title), State: string(st.Now), Detail: terminal.Printable(st.Program),
		Strict: st.ReadsKeys || st.Request != nil, Since: st.Since, Writer: writer(st.Writer), Viewers: st.Viewers, Ended: st.Over(),
	}
	if !st.Started.IsZero() {
		s.Uptime = m.session.Uptime()
	}
	if st.Exit != nil {
		s.End = st.Exit.String()
	}
	if st.Mode != nil {
		s.Mode = *st.Mode
	}
	if st.Failure != nil {
		s.Detail = terminal.Printable(st.Failure.Class + ": " + st.Failure.Text)
	}
	if st.Request != nil {
		s.Prompt, s.Respond = commands.PromptLines(st.Name, st.Request)
	}
	return s
}
