package events

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	segmentEnding = ".jsonl"
	thinEnding    = ".thin.jsonl"
)

// segment is one file of the log.
type segment struct {
	first uint64 // no line in it has a lower cursor; its name
	size  int64  // bytes of whole lines; of the one being written see tail.size
	thin  bool   // retention took events out of it; see thin.go
}

func (s segment) name(dir string) string {
	if s.thin {
		return filepath.Join(dir, fmt.Sprintf("%020d%s", s.first, thinEnding))
	}
	return segmentName(dir, s.first)
}

func segmentName(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentEnding))
}

// list finds segments and heads, each in rising order, and sweeps away what a
// kill left half written aside.
func list(dir string) (segments []segment, headed []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the event log: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, asideEnding) {
			_ = os.Remove(filepath.Join(dir, name))
			continue
		}
		digits, ending, _ := strings.Cut(name, ".")
		first, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || len(digits) != 20 || first > maxCursor {
			continue
		}
		switch "." + ending {
		case segmentEnding, thinEnding:
			info, err := entry.Info()
			if err != nil {
				return nil, nil, fmt.Errorf("look at event segment: %w", err)
			}
			segments = append(segments, segment{first: first, size: info.Size(), thin: "."+ending == thinEnding})
		case headsEnding:
			headed = append(headed, first)
		}
	}
	slices.SortFunc(segments, func(a, b segment) int {
		if a.first == b.first && a.thin != b.thin {
			if a.thin {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.first, b.first)
	})
	slices.Sort(headed)
	segments, err = finishThinning(dir, segments)
	return segments, headed, err
}

// holding is the index of the segment that has the cursor, or would have it: the
// last that begins at or before it. -1 says that it lies before them all.
func holding(segments []segment, cursor uint64) int {
	i, found := slices.BinarySearchFunc(segments, cursor, func(s segment, c uint64) int { return cmp.Compare(s.first, c) })
	if found {
		return i
	}
	return i - 1
}

// bisectStep is how far apart the ends of a search may be when it stops and
// the reader scans the rest.
const bisectStep = 32 << 10

// locate finds an offset in the first size bytes of a segment at which a line
// begins, with no line before it above cursor. Lines are in order, so halving
// the file needs a dozen small reads and no index in memory.
func locate(f *os.File, size int64, cursor uint64) int64 {
	low, high := int64(0), size
	for high-low > bisectStep {
		middle := low + (high-low)/2
		at, found := lineAfter(f, middle, high)
		if at < 0 || found > cursor {
			high = middle
		} else {
			low = at
		}
	}
	return low
}

// lineAfter finds the first good line that begins after offset and before
// end; its offset is -1 when there is none.
func lineAfter(f *os.File, offset, end int64) (at int64, cursor uint64) {
	chunk := int64(4 << 10)
	for {
		buf := make([]byte, min(chunk, end-offset))
		n, _ := f.ReadAt(buf, offset) // a short read is looked at for what it gave
		buf = buf[:n]
		start := bytes.IndexByte(buf, '\n') + 1
		for start > 0 && start < len(buf) {
			length := bytes.IndexByte(buf[start:], '\n')
			if length < 0 {
				break
			}
			if f := parseFragment(buf[start : start+length]); f.cursor != 0 {
				return offset + int64(start), f.cursor
			}
			start += length + 1
		}
		if int64(n) < chunk {
			return -1, 0
		}
		chunk *= 4
	}
}

// lastTime reads when the last line of a segment was written.
func lastTime(dir string, s segment) (time.Time, error) {
	f, err := os.Open(s.name(dir))
	if err != nil {
		return time.Time{}, fmt.Errorf("open event segment: %w", err)
	}
	defer f.Close()
	for window := int64(64 << 10); ; window *= 4 {
		from := max(0, s.size-window)
		buf := make([]byte, s.size-from)
		n, err := f.ReadAt(buf, from)
		if n < len(buf) {
			return time.Time{}, fmt.Errorf("read event segment: %w", err)
		}
		lines := bytes.Split(buf, []byte{'\n'})
		if from > 0 {
			lines = lines[1:] // cut in front
		}
		for _, raw := range slices.Backward(lines) {
			if line, err := parseLine(raw); err == nil {
				return line.Time, nil
			}
		}
		if from == 0 { // not one good line: as old as the file
			info, err := f.Stat()
			if err != nil {
				return time.Time{}, fmt.Errorf("look at event segment: %w", err)
			}
			return info.ModTime(), nil
		}
	}
}
