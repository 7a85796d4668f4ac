package events

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	retryEvery = 250 * time.Millisecond // while the files cannot be written
	pruneEvery = time.Minute            // for segments that have become too old
)

// keep is the log's goroutine: it saves heads, deletes what is too old, and
// tries again what could not be written. Close ends it.
func (l *Log) keep() {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-l.tend:
		case <-timer.C:
		}
		failing := l.retry()
		err := l.Prune()
		switch {
		case failing || err != nil:
			timer.Reset(retryEvery)
		case l.o.MaxAge > 0:
			timer.Reset(pruneEvery)
		}
	}
}

func (l *Log) wakeKeeper() {
	select {
	case l.tend <- struct{}{}:
	default: // it is already signaled
	}
}

// retry writes what waits, and says whether something still waits.
func (l *Log) retry() (failing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if err := l.flush(); err != nil {
		l.fail(err)
	}
	return l.failing
}

// Prune saves the heads that are due and deletes the oldest segments past the
// limits. The log does so by itself after each new segment and every minute; a
// caller that needs the space now may call it. A segment is only deleted when
// heads of a later one are saved, so that no number is forgotten with it.
func (l *Log) Prune() error {
	l.pruning.Lock()
	defer l.pruning.Unlock()
	if l.o.MaxAge > 0 {
		l.retireNewest()
	}
	err := l.saveHeads()
	gone := l.takeOut()
	for _, s := range gone {
		err = errors.Join(err, removeFile(segmentName(l.dir, s.first)), removeFile(headsName(l.dir, s.first)))
	}
	if err != nil {
		err = fmt.Errorf("prune the event log: %w", err)
		l.mu.Lock()
		l.lastErr, l.lastFail = err, l.o.Now()
		l.mu.Unlock()
	}
	return err
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// retireNewest begins a new segment when all in the newest is too old, so that
// it can be deleted like any other.
func (l *Log) retireNewest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.failing || l.open.file == nil || l.open.size == 0 || l.o.Now().Sub(l.newest) <= l.o.MaxAge {
		return
	}
	l.roll()
}

// saveHeads writes the heads that are due, outside the lock: writers go on.
func (l *Log) saveHeads() error {
	for {
		l.mu.Lock()
		if len(l.due) == 0 {
			l.mu.Unlock()
			return nil
		}
		h := l.due[0]
		l.mu.Unlock()
		if err := h.save(l.dir); err != nil {
			return err
		}
		l.mu.Lock()
		l.due = l.due[1:]
		l.headed = max(l.headed, h.first)
		l.mu.Unlock()
	}
}

// takeOut removes from the list the segments that have to go; readers that
// look for them from now on get a gap.
func (l *Log) takeOut() (gone []segment) {
	l.mu.Lock()
	segments, total, headed := l.tail.segments, l.open.size, l.headed
	l.mu.Unlock()
	for _, s := range segments[:max(0, len(segments)-1)] {
		total += s.size
	}
	n := 0
	for n < len(segments)-1 && segments[n+1].first <= headed {
		if total <= l.o.MaxBytes && !l.tooOld(segments[n]) {
			break
		}
		total -= segments[n].size
		n++
	}
	if n == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Only this function takes from the front, and roll appends.
	l.tail.setSegments(l.tail.segments[n:], l.open.size)
	return segments[:n]
}

func (l *Log) tooOld(s segment) bool {
	if l.o.MaxAge <= 0 {
		return false
	}
	last, err := lastTime(l.dir, s)
	return err == nil && l.o.Now().Sub(last) > l.o.MaxAge
}
