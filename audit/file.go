package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// reserve is how many bytes the disk keeps for new lines: even on a full disk, some 1,500 lines can
// still be written.
const reserve = 1 << 20

// recover finds the end of the newest file. An incomplete last line is never removed: it gets a line
// feed, and the next line reports it.
func (l *Log) recover() error {
	list, err := segments(l.dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return l.begin(1)
	}
	newest := list[len(list)-1]
	l.n = newest.first - 1
	torn, err := l.scan(newest.path)
	if err != nil {
		return err
	}
	if l.file, err = os.OpenFile(newest.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	l.path, l.size, l.kept = newest.path, newest.size, 0
	l.keepRoom()
	if !torn {
		return nil
	}
	if err := l.write([]byte("\n")); err != nil {
		return errors.Join(err, l.file.Close())
	}
	_, err = l.append(Entry{Kind: KindTorn, Text: "the line before this one was cut off when a server ended"})
	return err
}

// scan reads the newest file for its last number, hash and cursor. torn says that the last line is
// incomplete.
func (l *Log) scan(path string) (torn bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	err = lines(f, func(line []byte, whole bool) error {
		l.n++
		l.last = digestOf(line)
		l.loose++
		torn = !whole
		e, err := parse(line)
		if err != nil {
			return nil // Verify reports it
		}
		if e.Cursor != "" {
			l.cursor = e.Cursor
		}
		if l.began.IsZero() {
			l.began = e.Time.Time
		}
		if e.Kind == KindHead {
			l.loose = 0
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("read the audit log: %w", err)
	}
	return torn, nil
}

// begin starts the file whose first line has that number.
func (l *Log) begin(first uint64) error {
	path := segmentPath(l.dir, first)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("start a file of the audit log: %w", err)
	}
	if l.file != nil {
		l.old = append(l.old, l.file) // synced by keep, so that no caller waits for it
	}
	l.file, l.path, l.size, l.kept, l.began, l.named = f, path, 0, 0, l.o.Now(), true
	l.keepRoom()
	return nil
}

// keepRoom asks the disk to keep room for new lines, before half of the reserve is used.
func (l *Log) keepRoom() {
	if l.kept-l.size < reserve/2 {
		l.kept = l.size + reserve
		reserveTo(l.file, l.kept)
	}
}

// write adds bytes, whole or not at all.
func (l *Log) write(b []byte) error {
	n, err := l.file.Write(b)
	if err == nil {
		l.size += int64(n)
		l.keepRoom()
		return nil
	}
	l.kept = 0
	err = fmt.Errorf("write the audit log: %w", err)
	if n > 0 { // our own bytes, which no caller has seen
		err = errors.Join(err, l.file.Truncate(l.size))
	}
	return err
}

// undisturbed checks that the file is as this log left it, and adds a line to the log if it isn't.
func (l *Log) undisturbed() error {
	info, err := os.Stat(l.path)
	mine, mineErr := l.file.Stat()
	why := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "the file that was written last was removed"
	case err != nil || mineErr != nil:
		return fmt.Errorf("check the audit log: %w", errors.Join(err, mineErr))
	case !os.SameFile(info, mine):
		why = "the file that was written last was replaced"
	case info.Size() != l.size:
		why = fmt.Sprintf("the file that was written last had %d bytes and has %d", l.size, info.Size())
	default:
		return nil
	}
	l.o.Log.Error("the audit log was changed by another program", "file", l.path, "what", why, "head", l.head().String())
	first := l.n + 1
	if err := l.begin(first); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the audit log was changed by another program, and its next file already exists: move %s away", segmentPath(l.dir, first))
	} else if err != nil {
		return err
	}
	if _, err := l.append(Entry{Kind: KindAmiss, Text: why}); err != nil {
		return err
	}
	l.seal()
	return nil
}
