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

// watching is a screen that is followed.
type watching struct {
	every time.Duration // minimum time between two pictures
	stop  func()        // doesn't wait: that could deadlock, because the follower may be sending to this event loop
}

// follow starts to follow the screens that are shown, and stops following the others.
func (d *dashboard) follow() {
	want := d.model.Followed()
	for id, w := range d.watched {
		if want[id] != w.every {
			w.stop()
			delete(d.watched, id)
		}
	}
	for id, every := range want {
		if _, already := d.watched[id]; already {
			continue
		}
		ctx, cancel := context.WithCancel(d.feed)
		d.watched[id] = watching{every, cancel}
		if s, ok := d.Host.Find(id); ok {
			d.feeding.Go(func() { d.followScreen(ctx, s, every) })
		}
	}
	if len(want) > 0 { // not under a page, which may be closed soon
		d.model.KeepScreens(want)
	}
}

func (d *dashboard) stopWatching() {
	for _, w := range d.watched {
		w.stop()
	}
	clear(d.watched)
}

// followScreen sends a session's screen after each change, at most once in each period.
func (d *dashboard) followScreen(ctx context.Context, s *sessions.Session, period time.Duration) {
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
		if !pause(ctx, time.Until(time.Now().Truncate(period).Add(period))) {
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
