package audit

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// seal signs the head. A head that cannot be written is tried again with the
// next line.
func (l *Log) seal() {
	h := l.head()
	if _, err := l.append(Entry{Kind: KindHead, Of: h.N, Hash: h.Hash, Cursor: l.cursor}); err != nil {
		l.o.Log.Error("the audit log's head is not signed", "head", h.String(), "error", err)
		return
	}
	l.loose = 0
	// Of the line that was signed, and of the signature's own line: either finds
	// what was changed before it.
	l.o.Log.Info("audit head", "head", l.head().String(), "signed", h.String())
}

// tooOld says whether the file has gathered lines for as long as one may.
func (l *Log) tooOld() bool {
	return l.o.Age > 0 && l.o.Now().Sub(l.began) >= max(l.o.Age/8, time.Hour)
}

// rotate begins the next file behind a signed head, and removes the oldest
// where there are too many.
func (l *Log) rotate() {
	if l.loose > 0 {
		l.seal()
	}
	if err := l.file.Truncate(l.size); err != nil { // gives back the room that was kept
		l.o.Log.Error("a file of the audit log keeps more room than it needs", "file", l.path, "error", err)
	}
	if err := l.begin(l.n + 1); err != nil {
		l.kept = 0
		l.o.Log.Error("the audit log goes on in its file, which is longer than it should be", "file", l.path, "error", err)
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log are not removed", "error", err)
	}
}

// retire removes the oldest files until the rest is within the bounds. The line
// that tells of it is written first.
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

// keep brings lines to disk, until the log is closed.
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

// ageOut removes what is too old, also where nobody adds lines.
func (l *Log) ageOut() {
	if l.o.Age <= 0 || !l.mu.LockWithin(patience) {
		return
	}
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log are not removed", "error", err)
	}
}

func (l *Log) sync() {
	l.mu.Lock()
	f, old, named := l.file, l.old, l.named
	l.old, l.named = nil, false
	l.mu.Unlock()
	// Not under the lock: a slow disk is not to hold up who appends.
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

// syncDir makes names that were just given survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
