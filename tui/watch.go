package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/api"
	"berth/sessions"
	"berth/sessions/events"
)

// followEvents sends a message after events were written. The dashboard then looks at all sessions,
// so the events themselves don't matter.
func (d *dashboard) followEvents(head uint64) {
	for log := d.Host.Events(); ; {
		_, err := log.Follow(head).Next(d.feed)
		switch {
		case err == nil:
			head = log.Head()
			d.program.Send(news{})
			pause(d.feed, frameTime)
		case d.feed.Err() != nil:
			return
		case errors.Is(err, events.ErrClosed):
			d.program.Send(ended{errors.New("the server is stopping")})
			return
		default:
			d.program.Send(ended{fmt.Errorf("read the event log: %w", err)})
			return
		}
	}
}

// follow starts to follow the screen that is shown, and stops following the one before.
func (d *dashboard) follow() {
	want := d.model.Wanted()
	if want == d.watched {
		return
	}
	d.stopWatching()
	if want == "" {
		return
	}
	d.watched = want
	s, ok := d.Host.Find(want)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(d.feed)
	d.feeding.Go(func() { d.followScreen(ctx, s) })
	d.unwatch = cancel // waiting here could deadlock: it may be sending to this event loop
}

func (d *dashboard) stopWatching() {
	if d.unwatch != nil {
		d.unwatch()
	}
	d.watched, d.unwatch = "", nil
}

// followScreen sends a session's screen after each change, at the rate that it is drawn.
func (d *dashboard) followScreen(ctx context.Context, s *sessions.Session) {
	changed, stop := s.Subscribe()
	defer stop()
	var last uint64
	for first := true; ; first = false {
		pic, err := s.Snapshot(ctx, 0)
		if ctx.Err() != nil {
			return
		}
		one := shot{id: s.ID(), pic: pic, of: ctx, drawn: make(chan struct{})}
		if err != nil {
			one.why = err.Error()
		}
		if first || err != nil || pic.Revision != last {
			d.program.Send(one)
			select {
			case <-one.drawn:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return // the session was removed, or the server is stopping
		}
		last = pic.Revision
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		if !pause(ctx, frameTime) {
			return
		}
	}
}

// pause waits for d. It returns false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// historyLines is the maximum of scrollback lines on a page.
const historyLines = 5000

// history is a session's scrollback and screen.
func (d *dashboard) history(a Act) Done {
	done := Done{Act: a, Status: api.CodeNotFound.Status(), Err: "the session is gone"}
	s, ok := d.Host.Find(a.Session)
	if !ok || !d.Host.World().May["screen"] {
		return done
	}
	pic, err := s.Snapshot(d.work, historyLines)
	if err != nil {
		done.Err = err.Error()
		return done
	}
	last := 0
	for y, l := range pic.Lines {
		if l.Text() != "" || y == pic.Cursor.Row {
			last = y
		}
	}
	done.Status, done.Err = api.StatusDone, ""
	done.Lines = append(slices.Clone(pic.History), pic.Lines[:last+1]...)
	return done
}
