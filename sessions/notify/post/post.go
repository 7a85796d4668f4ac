// Package post sends the notices of package notify to people and programs. A Poster follows the event
// log on one goroutine, which alone uses the notify.Machine. It runs a rule's command or posts to
// its URL on other goroutines, at most atOnce at a time.
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

	"berth/api"
	"berth/sessions"
	"berth/sessions/events"
	"berth/sessions/notify"
)

const (
	// atOnce bounds the notices that are sent at the same time. The machine bounds those of one rule.
	atOnce = 64
	// mostTries is how often a notice is sent to a service that can't be reached or is busy.
	mostTries = 5
	// firstPause is the time between the first two tries. It doubles with each further try.
	firstPause = 2 * time.Second
	// keepEvery is how often the machine is saved. It bounds how many events the next server reads
	// again.
	keepEvery = 30 * time.Second
	// closeWithin is how long Close waits for the notices that are being sent.
	closeWithin = 3 * time.Second
	// settleIn is how long a new server waits before it sends a notice, because the sessions may
	// first have to take in what happened while no server ran.
	settleIn = 3 * time.Second
)

// Options of a Poster.
type Options struct {
	Sessions *sessions.Registry
	Rules    []notify.Rule // for all sessions, in addition to each session's own
	File     string        // where the machine is saved
	SSH      string        // how a client calls this server: ssh -p 2222 agents@host
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
}

// Poster sends notices until it is closed.
type Poster struct {
	o      Options
	stop   context.CancelFunc
	done   chan struct{}
	work   sync.WaitGroup
	cancel context.CancelFunc // ends the notices that are being sent
	web    *web
	over   over
	last   lasts
}

// saved is what the file keeps for the next server.
type saved struct {
	*notify.Machine
	Last map[string]Last `json:"last,omitempty"`
}

// over has the notices that were sent or have failed. Their events say so too, but there is no event
// if the session was removed in the meantime or the disk is full.
type over struct {
	mu   sync.Mutex
	list []result
	wake context.CancelFunc // ends the wait for an event
}

// result is how one try to send a notice ended.
type result struct {
	rule, key string
	again     bool          // it failed, and another try may succeed
	wait      time.Duration // that the service asked for
	tries     int
}

func (o *over) add(r result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, r)
	o.wake()
}

// take gives what was added since the last call. wake is called when more is added.
func (o *over) take(wake context.CancelFunc) []result {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list, o.wake = nil, wake
	return list
}

// Start continues where the last server ended, according to the file.
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

// Close returns when all goroutines of the Poster have ended. Notices that are being sent have
// closeWithin to end. The next server sends those that did not end again.
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
	p.keep(m) // from now on no event is missed, even if this server is killed
	log := p.o.Sessions.Events()
	reader := log.Follow(m.Cursor)
	started, kept := p.o.Now(), p.o.Now()
	dirty := false
	for {
		waiting, cancel := context.WithCancel(ctx)
		now := p.o.Now()
		for _, r := range p.over.take(cancel) {
			if r.wait > 0 {
				m.Hold(r.rule, now, r.wait)
			}
			if r.again {
				m.Again(r.rule, r.key, now.Add(max(r.wait, firstPause<<(r.tries-1))))
				continue
			}
			m.Done(r.rule, r.key)
			dirty = true
		}
		next := started.Add(settleIn)
		if !now.Before(next) {
			if next = p.send(working, m, now); next.IsZero() {
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
		case errors.Is(err, context.Canceled) && ctx.Err() == nil: // a notice may be due, or one has ended
		default: // the server ends
			p.keep(m)
			return
		}
	}
}

// take takes in an event. If events are missing, the sessions' status replaces them.
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

// rules gives the rules about a session.
func (p *Poster) rules(id string) []notify.Rule {
	s, ok := p.o.Sessions.Find(id)
	if !ok {
		return nil
	}
	st := s.Status()
	return notify.For(st.Name, st.Tags, p.o.Rules, st.Notify)
}

// send begins to send the notices that are due.
func (p *Poster) send(ctx context.Context, m *notify.Machine, now time.Time) (next time.Time) {
	room := atOnce - m.Flying()
	due, next := m.Due(now, room, p.rules)
	for _, n := range due {
		s, ok := p.o.Sessions.Find(n.Occasion.Session)
		if !ok {
			m.Done(n.Rule.ID(), n.Occasion.Key) // the event of its removal will come
			continue
		}
		p.work.Go(func() { p.one(ctx, s, n) })
	}
	return next
}

// one sends one notice, and writes its event if it was sent or has failed for the last time. The event
// keeps the next server from sending it again.
func (p *Poster) one(ctx context.Context, s *sessions.Session, n notify.Notice) {
	b, err := p.body(s, n)
	again, wait := false, time.Duration(0)
	if err == nil {
		var wrong error
		again, wait, wrong, err = p.try(ctx, s, n.Rule, b, s.Secrets())
		if wrong != nil {
			p.o.Log.Warn("a notice has the built-in text", "session", b.Session, "rule", b.Rule, "error", wrong)
		}
	}
	if ctx.Err() != nil {
		return // the server ends: the next one sends it
	}
	done := result{rule: n.Rule.ID(), key: n.Occasion.Key, again: again && n.Try < mostTries, wait: wait, tries: n.Try}
	defer p.over.add(done)
	if done.again {
		return
	}
	sent := sessions.Notified{Rule: done.rule, Key: done.key, Kind: n.Occasion.Kind, OK: err == nil}
	if err != nil {
		if n.Try > 1 {
			err = fmt.Errorf("%w, after %d tries", err, n.Try)
		}
		sent.Error = err.Error()
		p.o.Log.Warn("a notice could not be sent", "session", s.Status().Name, "rule", sent.Rule, "kind", sent.Kind, "error", err)
	}
	p.last.add(sent.Rule, Last{At: api.At(p.o.Now()), Kind: sent.Kind, Session: s.ID()}, err)
	if err := s.Notified(context.WithoutCancel(ctx), sent); err != nil {
		p.o.Log.Warn("a notice has ended, but its event could not be written", "session", s.Status().Name, "error", err)
	}
}

// try sends a notice once. If err is set, again says whether another try may succeed, and wait how long
// the service asked to wait for it. wrong says what is wrong with the rule's template.
func (p *Poster) try(ctx context.Context, s runner, r notify.Rule, b Body, secrets []string) (again bool, wait time.Duration, wrong, err error) {
	data, wrong, err := b.finish(r, secrets)
	if err != nil {
		return false, 0, wrong, err
	}
	if r.Run != nil {
		return false, 0, wrong, p.command(ctx, s, r.Run, data)
	}
	q, err := requestOf(r, b, data, p.o.SSH, p.o.Now())
	if err == nil {
		again, wait, err = p.web.post(ctx, r, q)
	}
	return again, wait, wrong, err
}

// load reads the machine that the last server saved. Without one, events count from now on.
func (p *Poster) load() *notify.Machine {
	log := p.o.Sessions.Events()
	m := notify.New(log.Head())
	data, err := os.ReadFile(p.o.File)
	if err == nil {
		last := saved{Machine: notify.New(0)}
		if err = json.Unmarshal(data, &last); err == nil && last.Cursor <= log.Head() && last.Occasions != nil && last.Rules != nil {
			m = last.Machine
			p.last.set(last.Last)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.o.Log.Warn("the saved notices cannot be read; notices that were due are lost", "error", err)
	}
	m.See(p.o.Rules)
	for _, s := range p.o.Sessions.All() {
		m.See(p.rules(s.ID()))
	}
	return m
}

// keep saves the machine in a new file and renames it, so that a kill leaves a whole file.
func (p *Poster) keep(m *notify.Machine) bool {
	rules := map[string]bool{}
	for _, r := range p.all() {
		rules[r.ID()] = true
	}
	data, err := json.Marshal(saved{m, p.last.keepOnly(rules)})
	if err == nil {
		err = os.WriteFile(p.o.File+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(p.o.File+".new", p.o.File)
	}
	if err != nil {
		p.o.Log.Warn("the notices that are due could not be saved", "error", fmt.Errorf("write %s: %w", p.o.File, err))
	}
	return err == nil
}
