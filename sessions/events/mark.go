package events

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The marker is a file of one byte that says whether events were seen that are
// in no file: '1' from before the first of them until all are written. A server
// killed in between has given out numbers no reader can find, so the next
// jumps over all it may have given out. The byte is changed in place, which
// works on a full disk; where even that fails the file is removed, and a missing
// marker beside segments means the same.
const markerName = "unwritten"

// openMarker says whether numbers may have been given out that no file has.
func openMarker(dir string, fresh bool) (f *os.File, unsound bool, err error) {
	name := filepath.Join(dir, markerName)
	b, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		unsound = !fresh
	case err != nil:
		return nil, true, fmt.Errorf("read the event log's marker: %w", err)
	case len(b) == 0:
		unsound = !fresh // killed between making it and its first byte
	default:
		unsound = b[0] != '0'
	}
	f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, true, fmt.Errorf("open the event log's marker: %w", err)
	}
	if !unsound {
		if _, err := f.WriteAt([]byte{'0'}, 0); err != nil {
			return f, true, fmt.Errorf("write the event log's marker: %w", err)
		}
	}
	return f, unsound, nil
}

// mark says in the marker whether there are events that are in no file.
func (l *Log) mark(unwritten bool) {
	name := filepath.Join(l.dir, markerName)
	if l.marker == nil && !unwritten {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return // it is missing, which says too much rather than too little
		}
		l.marker = f
	}
	sign := byte('0')
	if unwritten {
		sign = '1'
	}
	if l.marker != nil {
		if _, err := l.marker.WriteAt([]byte{sign}, 0); err == nil {
			return
		}
	}
	if unwritten {
		_ = os.Remove(name) // on a file system that became read-only nothing is left to try; see jump
		if l.marker != nil {
			_ = l.marker.Close()
			l.marker = nil
		}
	}
}

// jumpAtLeast and a microsecond each since the last written event: no server
// gives out numbers that fast, so two that were killed one after the other with
// a folder that cannot be written do not give out the same ones.
const jumpAtLeast = 1 << 20

func jump(last, now time.Time) uint64 {
	if last.IsZero() {
		last = time.Unix(0, 0)
	}
	return jumpAtLeast + uint64(max(0, now.Sub(last).Microseconds()))
}
