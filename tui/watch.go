package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"berth/api"
	"berth/sessions"
	"berth/sessions/events"
)

// followEvents rings whenever an event is written. What it was does not
// matter: the dashboard looks at all there is.
func (d *dashboard) followEvents(ctx context.Context) {
	log := d.Host.Events()
	reader := log.Follow(log.Head())
	for {
		_, err := reader.Next(ctx)
		switch {
		case err == nil:
			ring(d.changed)
		case ctx.Err() != nil:
			return
		case errors.Is(err, events.ErrClosed):
			d.over <- errors.New("the server is going down")
			return
		default:
			d.over <- fmt.Errorf("read the event log: %w", err)
			return
		}
	}
}

func ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default: // one is enough
	}
}

// follow has the screen followed that is shown.
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
	ctx, cancel := context.WithCancel(d.work)
	var watching sync.WaitGroup
	watching.Go(func() { followScreen(ctx, s, d.screens) })
	d.unwatch = func() { cancel(); watching.Wait() }
}

func (d *dashboard) stopWatching() {
	if d.unwatch != nil {
		d.unwatch()
	}
	d.watched, d.unwatch = "", nil
}

// followScreen gives a session's screen at each change, as fast as it is taken.
func followScreen(ctx context.Context, s *sessions.Session, to chan<- shot) {
	changed, stop := s.Subscribe()
	defer stop()
	var last uint64
	for first := true; ; first = false {
		pic, err := s.Snapshot(ctx, 0)
		if ctx.Err() != nil {
			return
		}
		one := shot{id: s.ID(), pic: pic}
		if err != nil {
			one.why = err.Error()
		}
		if first || err != nil || pic.Revision != last {
			select {
			case to <- one:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return // it was removed, or the server ends
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

// pause lets time pass; false when ctx has ended.
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

// historyLines is how much of what has scrolled by is shown.
const historyLines = 5000

// history is what has scrolled by in a session, and its screen.
func (d *dashboard) history(a Act) Done {
	done := Done{Act: a, Status: api.CodeNotFound.Status(), Err: "it is gone"}
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
	done.Lines, done.Cols = append(slices.Clone(pic.History), pic.Lines[:last+1]...), pic.Cols
	return done
}
