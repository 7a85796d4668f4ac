package hold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"berth/rawio"
)

const (
	outputSegment = 4 << 20
	markEvery     = 10 * time.Millisecond
	retryEvery    = time.Second
	// probeSize is what a full disk must take again before output counts on
	// it: more than the slack after the end of a small file.
	probeSize = 64 << 10
)

// outputLog writes the output's segments. It has one owner at a time.
type outputLog struct {
	dir     string
	segment int64 // size at which the next segment begins
	limit   int64
	// lost is called with bytes that could not be written, once writing works.
	lost func(from, to int64, why string)

	next  int64     // offset of the next byte of the stream, written or not
	kept  []segment // on disk, oldest first; the last is the open one if any
	file  *os.File
	marks *os.File
	size  int64 // of the open segment

	lastMark time.Time
	unmarked []byte // a mark to be written; see noteTime
	failure  error
	lossFrom int64
	tried    time.Time
}

// openOutputLog continues after what dir has, and not below floor: the
// control log may have seen more of the stream than could be written.
func openOutputLog(session string, limit, floor int64, lost func(from, to int64, why string)) (*outputLog, error) {
	dir := filepath.Join(session, outputDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the output's folder: %w", err)
	}
	kept, err := statSegments(dir, outputExt)
	if err != nil {
		return nil, fmt.Errorf("list the output: %w", err)
	}
	o := &outputLog{
		dir:     dir,
		segment: min(outputSegment, max(limit/4, 64<<10)),
		limit:   limit,
		lost:    lost,
		next:    floor,
		kept:    kept,
	}
	if n := len(kept); n > 0 {
		o.next = max(o.next, int64(kept[n-1].first)+kept[n-1].size)
	}
	return o, nil
}

// failing reports whether bytes are being lost.
func (o *outputLog) failing() bool { return o.failure != nil }

// write appends p to the stream and returns how many of its first bytes are
// in the files. The rest is lost to them; it is not an error.
func (o *outputLog) write(p []byte, now time.Time) int {
	if o.failing() && !o.retry(now) {
		o.next += int64(len(p))
		return 0
	}
	done := 0
	for done < len(p) {
		if o.file == nil || o.size >= o.segment {
			if err := o.rotate(); err != nil {
				o.fail(err, now, len(p)-done)
				return done
			}
			o.lastMark = time.Time{}
		}
		o.mark(now)
		n := min(int64(len(p)-done), o.segment-o.size)
		// Write, not WriteAt: os.File.WriteAt forgets what a write that ended
		// in an error had put into the file.
		w, err := rawio.Append(o.file, p[done:done+int(n)])
		o.size += int64(w)
		o.next += int64(w)
		done += w
		if err != nil {
			o.fail(fmt.Errorf("writing output: %w", err), now, len(p)-done)
			return done
		}
	}
	return done
}

// mark notes the time of the next byte, unless one was noted just before.
func (o *outputLog) mark(now time.Time) {
	if o.marks == nil || now.Sub(o.lastMark) < markEvery {
		return
	}
	o.lastMark = now
	o.noteTime()
	line := strconv.AppendInt(o.unmarked, now.UnixMilli(), 10)
	line = append(line, ' ')
	line = strconv.AppendInt(line, o.next, 10)
	o.unmarked = append(line, '\n')
}

// noteTime writes the mark of what was written last: after it, and after the
// word to the server, which an echo waits for. A mark that cannot be written
// ends the marks of this segment, so that no later one is glued to its stump.
func (o *outputLog) noteTime() {
	if len(o.unmarked) == 0 {
		return
	}
	line := o.unmarked
	o.unmarked = o.unmarked[:0]
	if o.marks == nil {
		return
	}
	if _, err := rawio.Append(o.marks, line); err != nil {
		o.marks.Close()
		o.marks = nil
	}
}

// rotate begins the segment at next and deletes what is older than the limit.
func (o *outputLog) rotate() error {
	o.closeFiles()
	first := uint64(o.next)
	f, err := os.OpenFile(segmentName(o.dir, first, outputExt), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("start a segment of output: %w", err)
	}
	o.file, o.size = f, 0
	if n := len(o.kept); n > 0 && o.kept[n-1].first == first {
		o.kept = o.kept[:n-1]
	}
	o.kept = append(o.kept, segment{first: first})
	o.marks, _ = os.OpenFile(segmentName(o.dir, first, timeExt), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	o.trim()
	return nil
}

// trim deletes the oldest segments as long as limit bytes remain without them.
func (o *outputLog) trim() {
	var total int64
	for _, s := range o.kept {
		total += s.size
	}
	for len(o.kept) > 1 && total-o.kept[0].size >= o.limit {
		first := o.kept[0].first
		os.Remove(segmentName(o.dir, first, timeExt))
		if err := os.Remove(segmentName(o.dir, first, outputExt)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return // tried again at the next segment
		}
		total -= o.kept[0].size
		o.kept = append(o.kept[:0], o.kept[1:]...)
	}
}

// closeFiles ends the open segment; one with nothing in it is deleted.
func (o *outputLog) closeFiles() {
	if o.file == nil {
		return
	}
	o.noteTime()
	o.file.Close()
	if o.marks != nil {
		o.marks.Close()
	}
	o.file, o.marks = nil, nil
	last := &o.kept[len(o.kept)-1]
	last.size = o.size
	if o.size == 0 {
		os.Remove(segmentName(o.dir, last.first, timeExt))
		os.Remove(segmentName(o.dir, last.first, outputExt))
		o.kept = o.kept[:len(o.kept)-1]
	}
}

// fail begins a loss: the n bytes from next on are its first.
func (o *outputLog) fail(err error, now time.Time, n int) {
	o.closeFiles()
	o.failure, o.lossFrom, o.tried = err, o.next, now
	o.next += int64(n)
}

// retry looks, at most once a second, whether writing works again. If so the
// loss is reported and the next byte begins a new segment.
func (o *outputLog) retry(now time.Time) bool {
	if !o.failing() {
		return true
	}
	if now.Sub(o.tried) < retryEvery {
		return false
	}
	o.tried = now
	if err := probe(o.dir); err != nil {
		return false
	}
	why := o.failure.Error()
	o.failure = nil
	o.lost(o.lossFrom, o.next, why)
	return true
}

// probe finds out whether a file in dir takes probeSize bytes.
func probe(dir string) error {
	name := filepath.Join(dir, probeFile)
	defer os.Remove(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Close())
}
