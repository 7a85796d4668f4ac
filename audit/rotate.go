package audit

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// seal signs the head. If the head can't be written, the next line tries again.
func (l *Log) seal() {
	h := l.head()
	if _, err := l.append(Entry{Kind: KindHead, Of: h.N, Hash: h.Hash, Cursor: l.cursor}); err != nil {
		l.o.Log.Error("the audit log's head couldn't be signed", "head", h.String(), "error", err)
		return
	}
	l.loose = 0
	// One for the signed line and one for the signature's own line: either finds an earlier change.
	l.o.Log.Info("audit head", "head", l.head().String(), "signed", h.String())
}

// tooOld says whether the file covers the longest time that one may.
func (l *Log) tooOld() bool {
	return l.o.Age > 0 && l.o.Now().Sub(l.began) >= max(l.o.Age/8, time.Hour)
}

// rotate starts the next file after a signed head, and removes the oldest files if there are too many.
func (l *Log) rotate() {
	if l.loose > 0 {
		l.seal()
	}
	if err := l.file.Truncate(l.size); err != nil { // frees the reserved room
		l.o.Log.Error("a file of the audit log keeps more room than it needs", "file", l.path, "error", err)
	}
	if err := l.begin(l.n + 1); err != nil {
		l.kept = 0
		l.o.Log.Error("the audit log couldn't start a new file, and the current one is too long", "file", l.path, "error", err)
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log couldn't be removed", "error", err)
	}
}

// retire removes the oldest files until the rest is within the limits. It writes the line about it first.
func (l *Log) retire() error {
	list, err := segments(l.dir)
	if err != nil {
		return err
	}
	var sum int64
	for _, s := range list {
		sum += s.size
	}
	for i := 0; i+1 < len(list); i++ {
		text := fmt.Sprintf("lines %d to %d, %d bytes, ", list[i].first, list[i+1].first-1, list[i].size)
		switch {
		case sum > l.o.Total:
			text += fmt.Sprintf("to stay below %d", l.o.Total)
		case l.past(list[i+1]):
			text += fmt.Sprintf("older than %s", l.o.Age)
		default:
			return nil
		}
		if _, err := l.append(Entry{Kind: KindRetired, Of: list[i+1].first - 1, Text: text}); err != nil {
			return err
		}
		if err := os.Remove(list[i].path); err != nil {
			return fmt.Errorf("remove an old file of the audit log: %w", err)
		}
		sum -= list[i].size
	}
	return nil
}

// past says whether all lines before this file's are too old to be kept.
func (l *Log) past(next segment) bool {
	if l.o.Age <= 0 {
		return false
	}
	first, err := firstTime(next.path)
	return err == nil && l.o.Now().Sub(first) > l.o.Age
}

// keep syncs lines to disk, until the log is closed.
func (l *Log) keep() {
	defer close(l.done)
	look := time.NewTicker(time.Hour)
	defer look.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-look.C:
			l.ageOut()
			continue
		case <-l.dirty:
		}
		select {
		case <-l.stop:
			return
		case <-time.After(syncWithin / 2): // for the lines that come meanwhile
		}
		l.sync()
	}
}

// ageOut removes files that are too old, also when no lines are added.
func (l *Log) ageOut() {
	if l.o.Age <= 0 || !l.mu.LockWithin(patience) {
		return
	}
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log couldn't be removed", "error", err)
	}
}

func (l *Log) sync() {
	l.mu.Lock()
	f, old, named := l.file, l.old, l.named
	l.old, l.named = nil, false
	l.mu.Unlock()
	// Not under the lock: a slow disk must not delay the callers of Append.
	for _, o := range old {
		if err := errors.Join(o.Sync(), o.Close()); err != nil {
			l.o.Log.Error("a file of the audit log may not be on disk", "error", err)
		}
	}
	err := f.Sync()
	if named {
		err = errors.Join(err, syncDir(l.dir))
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		l.o.Log.Error("the audit log may not be on disk", "error", err)
	}
}

// syncDir makes new names in a folder survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
