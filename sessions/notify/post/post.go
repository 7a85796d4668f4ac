// Package post tells people and programs what an agent waits for, by the rules
// of package notify: it follows the event log and runs commands or posts to
// URLs.
package post

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"berth/sessions"
	"berth/sessions/events"
	"berth/sessions/notify"
)

const (
	// atOnce bounds what is told at the same time.
	atOnce = 4
	// keepEvery is how often what is known is written: it bounds how many events
	// a next server reads again.
	keepEvery = 30 * time.Second
	// closeWithin is how long the end of the server waits for what is being told.
	closeWithin = 3 * time.Second
	// settleIn is how long a server that was just started waits before it tells
	// anything: the sessions may have news from the time without one.
	settleIn = 3 * time.Second
)

// Options of a Poster.
type Options struct {
	Sessions *sessions.Registry
	Rules    []notify.Rule // of all sessions; each has its own besides
	File     string        // where what is known is kept
	SSH      string        // how a client calls this server: ssh -p 2222 agents@host
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
}

// Poster tells what is to be told until it is closed.
type Poster struct {
	o      Options
	stop   context.CancelFunc
	done   chan struct{}
	work   sync.WaitGroup
	cancel context.CancelFunc // of what is being told
	web    *web
	over   over
}

// over is what was told, or could not be, by now. The event says so too, but of
// a session that was removed meanwhile, or on a full disk, there is none.
type over struct {
	mu   sync.Mutex
	list []sessions.Notified
	wake context.CancelFunc // of the wait for an event
}

func (o *over) add(n sessions.Notified) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, n)
	o.wake()
}

// take gives what was added, and has what is added later end a wait.
func (o *over) take(wake context.CancelFunc) []sessions.Notified {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list, o.wake = nil, wake
	return list
}

// Start begins where the file says that the last server ended.
func Start(o Options) *Poster {
	ctx, stop := context.WithCancel(context.Background())
	working, cancel := context.WithCancel(context.Background())
	p := &Poster{o: o, stop: stop, done: make(chan struct{}), cancel: cancel, web: newWeb(o.Version)}
	go func() {
		defer close(p.done)
		p.run(ctx, working)
	}()
	return p
}

// Close returns when nothing of it runs any more. What is being told has a
// moment to end; what has not ended is told again by the next server.
func (p *Poster) Close() {
	p.stop()
	<-p.done
	over := make(chan struct{})
	go func() { p.work.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(closeWithin):
		p.cancel()
		<-over
	}
	p.cancel()
	p.web.close()
}

func (p *Poster) run(ctx, working context.Context) {
	m := p.load()
	p.keep(m) // from here on nothing is missed, however this server ends
	log := p.o.Sessions.Events()
	reader := log.Follow(m.Cursor)
	started, kept := p.o.Now(), p.o.Now()
	dirty := false
	for {
		waiting, cancel := context.WithCancel(ctx)
		for _, told := range p.over.take(cancel) {
			m.Told(told.Rule, told.Key)
			dirty = true
		}
		now := p.o.Now()
		next := started.Add(settleIn)
		if !now.Before(next) {
			if next = p.tell(working, m, now); next.IsZero() {
				next = now.Add(time.Hour)
			}
		}
		if dirty && now.Sub(kept) >= keepEvery {
			dirty, kept = !p.keep(m), now
		}
		if at := kept.Add(keepEvery); dirty && at.Before(next) {
			next = at
		}
		timer := time.AfterFunc(max(next.Sub(now), time.Millisecond), cancel)
		line, err := reader.Next(waiting)
		timer.Stop()
		cancel()
		switch {
		case err == nil:
			dirty = true
			p.take(m, line)
		case errors.Is(err, context.Canceled) && ctx.Err() == nil: // it is time, or something was told
		default: // the server ends
			p.keep(m)
			return
		}
	}
}

// take takes in an event. Where some are gone the sessions say what is so.
func (p *Poster) take(m *notify.Machine, line events.Line) {
	if line.Type == events.TypeGap {
		for _, s := range p.o.Sessions.All() {
			p.settle(m, s, line.Cursor)
		}
	}
	m.Take(notify.Line{Cursor: line.Cursor, Type: line.Type, Session: line.ID, Time: line.Time, Raw: json.RawMessage(line.Raw)})
	if line.Type == "session_created" {
		m.See(p.rules(line.ID))
	}
}

func (p *Poster) settle(m *notify.Machine, s *sessions.Session, gone uint64) {
	st := s.Status()
	var prompts []string
	since := map[string]time.Time{}
	for _, r := range st.Requests {
		prompts = append(prompts, r.ID)
		since[r.ID] = r.Since.Time
	}
	m.Settle(s.ID(), string(st.Now), prompts)
	m.Found(gone, s.ID(), string(st.Now), st.Since, since)
}

// rules are those about a session.
func (p *Poster) rules(id string) []notify.Rule {
	s, ok := p.o.Sessions.Find(id)
	if !ok {
		return nil
	}
	st := s.Status()
	return notify.For(st.Name, st.Tags, p.o.Rules, st.Notify)
}

// tell begins to tell what is due.
func (p *Poster) tell(ctx context.Context, m *notify.Machine, now time.Time) (next time.Time) {
	room := atOnce - m.Flying()
	due, next := m.Due(now, room, p.rules)
	for _, n := range due {
		s, ok := p.o.Sessions.Find(n.Occasion.Session)
		if !ok {
			m.Told(n.Rule.ID(), n.Occasion.Key) // its removal is among the events to come
			continue
		}
		p.work.Go(func() { p.one(ctx, s, n) })
	}
	return next
}

// one tells one thing, and writes the event by which it is known to be told.
func (p *Poster) one(ctx context.Context, s *sessions.Session, n notify.Notice) {
	data, err := p.body(s, n)
	if err == nil && n.Rule.Run != nil {
		err = p.command(ctx, s, n.Rule.Run, data)
	} else if err == nil {
		err = p.web.post(ctx, n.Rule.URL, data)
	}
	if ctx.Err() != nil {
		return // the server ends: the next one tells it
	}
	told := sessions.Notified{Rule: n.Rule.ID(), Key: n.Occasion.Key, Kind: n.Occasion.Kind, OK: err == nil}
	if err != nil {
		told.Error = err.Error()
		p.o.Log.Warn("a notice could not be told", "session", s.Status().Name, "rule", told.Rule, "kind", told.Kind, "error", err)
	}
	if err := s.Notified(context.WithoutCancel(ctx), told); err != nil {
		p.o.Log.Warn("a notice was told, and no event says so", "session", s.Status().Name, "error", err)
	}
	p.over.add(told)
}

// load is what the last server knew; without it, what comes from now on counts.
func (p *Poster) load() *notify.Machine {
	log := p.o.Sessions.Events()
	m := notify.New(log.Head())
	data, err := os.ReadFile(p.o.File)
	if err == nil {
		last := notify.New(0)
		if err = json.Unmarshal(data, last); err == nil && last.Cursor <= log.Head() && last.Occasions != nil && last.Rules != nil {
			m = last
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.o.Log.Warn("what was to be notified is not known any more", "error", err)
	}
	m.See(p.o.Rules)
	for _, s := range p.o.Sessions.All() {
		m.See(p.rules(s.ID()))
	}
	return m
}

// keep writes what is known aside and renames it.
func (p *Poster) keep(m *notify.Machine) bool {
	data, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(p.o.File+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(p.o.File+".new", p.o.File)
	}
	if err != nil {
		p.o.Log.Warn("what is to be notified could not be kept", "error", fmt.Errorf("write %s: %w", p.o.File, err))
	}
	return err == nil
}
