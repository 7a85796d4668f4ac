package events

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
	err := l.makeRoom()
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

// makeRoom brings the log within its limits. While it is too large, the oldest segment that is still whole loses the
// events of the sessions that have most of it (thin.go), until such segments are half of the log. Then, and when
// that fails, the oldest segment goes as a whole.
func (l *Log) makeRoom() error {
	var errs error
	for {
		if err := l.saveHeads(); errs == nil {
			errs = err
		}
		l.mu.Lock()
		segments, total, headed := l.tail.segments, l.open.size, l.headed
		l.mu.Unlock()
		closed, thin, thinned := segments[:max(0, len(segments)-1)], 0, int64(0)
		for _, s := range closed {
			total += s.size
			if s.thin {
				thin, thinned = thin+1, thinned+s.size
			}
		}
		mayTouch := func(i int) bool { return i < len(closed) && segments[i+1].first <= headed }
		if !mayTouch(0) || total <= l.o.MaxBytes && !l.tooOld(segments[0]) {
			return errs
		}
		if total > l.o.MaxBytes && thinned <= l.o.MaxBytes/2 && mayTouch(thin) {
			from, by, err := l.thin(segments, thin)
			if err == nil {
				errs = errors.Join(errs, l.replace(from, thin+1-from, by...))
				continue
			}
			errs = errors.Join(errs, err)
		}
		errs = errors.Join(errs, l.replace(0, 1))
	}
}

// replace puts other segments in the list in the place of n from at on, and then removes the files that the list has no
// more. Readers that look for those from now on look at the list again.
func (l *Log) replace(at, n int, by ...segment) error {
	l.mu.Lock()
	old := l.tail.segments
	// Only retention changes what isn't the newest, and roll appends.
	list := slices.Concat(old[:at], by, old[at+n:])
	l.tail.setSegments(list, l.open.size)
	l.mu.Unlock()
	var errs error
	for _, s := range old[at : at+n] {
		if !slices.ContainsFunc(by, func(b segment) bool { return b.first == s.first && b.thin == s.thin }) {
			errs = errors.Join(errs, removeFile(s.name(l.dir)))
		}
		if !slices.ContainsFunc(by, func(b segment) bool { return b.first == s.first }) {
			errs = errors.Join(errs, removeFile(headsName(l.dir, s.first)))
		}
	}
	return errs
}

func (l *Log) tooOld(s segment) bool {
	if l.o.MaxAge <= 0 {
		return false
	}
	last, err := lastTime(l.dir, s)
	return err == nil && l.o.Now().Sub(last) > l.o.MaxAge
}
