package hold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/api"
	"berth/rawio"
)

// controlQueue bounds the records kept in memory while none can be written.
// Beyond it the newest are dropped and counted, but for exit and loss.
const controlQueue = 1 << 20

// controlLog writes the control log's segments. Its owner serialises calls.
type controlLog struct {
	dir     string
	segment int64
	limit   int64

	last       uint64 // number of the last record
	lastOffset int64  // its offset, at opening
	kept       []segment
	file       *os.File
	size       int64

	failure error
	tried   time.Time
	queue   []queuedRecord
	queued  int // bytes
	dropped int

	// waiting are the hooks, at opening, whose wait has no end in the log.
	waiting unendedHooks
	// trimmed is called with the number of the first record that is left when
	// older ones were deleted.
	trimmed func(first uint64)
}

type queuedRecord struct {
	n    uint64
	line []byte
}

// openControlLog repairs a torn last line and continues after it.
func openControlLog(session string, limit int64) (*controlLog, error) {
	dir := filepath.Join(session, controlDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the control log's folder: %w", err)
	}
	kept, err := statSegments(dir, controlExt)
	if err != nil {
		return nil, fmt.Errorf("list the control log: %w", err)
	}
	c := &controlLog{dir: dir, segment: min(1<<20, max(limit/8, 64<<10)), limit: limit, kept: kept}
	if len(kept) == 0 {
		return c, nil
	}
	last := &c.kept[len(c.kept)-1]
	if last.size, err = repair(segmentName(dir, last.first, controlExt)); err != nil {
		return nil, err
	}
	c.last = last.first - min(last.first, 1)
	err = ReadControl(session, 0, func(r Record) error {
		c.last = max(c.last, r.N)
		c.lastOffset = max(c.lastOffset, r.Offset)
		c.waiting.see(r)
		return nil
	})
	return c, err
}

// repair cuts a file after its last whole line and returns its length.
func repair(name string) (int64, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, fmt.Errorf("repair the control log: %w", err)
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if whole < int64(len(data)) {
		if err := os.Truncate(name, whole); err != nil {
			return 0, fmt.Errorf("repair the control log: %w", err)
		}
	}
	return whole, nil
}

// append adds a record. The line is returned when it is in no file yet, so
// that a server can be notified in another way. An error means that the
// record is invalid; a full disk is not one.
func (c *controlLog) append(kind string, data any, offset int64, now time.Time) (unwritten []byte, err error) {
	line, err := encodeData(Record{N: c.last + 1, Time: api.At(now), Offset: offset, Kind: kind}, data)
	if err != nil {
		return nil, err
	}
	if int64(len(line)) > c.limit/4 {
		return nil, fmt.Errorf("a %s record of %d bytes is more than a quarter of the control log", kind, len(line))
	}
	c.last++
	if c.flush(offset, now) {
		if err = c.write(c.last, line); err == nil {
			return nil, nil
		}
		c.fail(err, now)
	}
	if c.queued+len(line) > controlQueue && kind != KindExit && kind != KindLoss {
		c.dropped++
		return line, nil
	}
	c.queue = append(c.queue, queuedRecord{c.last, line})
	c.queued += len(line)
	return line, nil
}

// failing reports whether records wait for the disk.
func (c *controlLog) failing() bool { return c.failure != nil }

func (c *controlLog) fail(err error, now time.Time) {
	c.closeFile()
	c.failure, c.tried = err, now
}

// flush writes what waited, trying at most once a second. It reports whether
// nothing is left.
func (c *controlLog) flush(offset int64, now time.Time) bool {
	if !c.failing() {
		return true
	}
	if now.Sub(c.tried) < retryEvery {
		return false
	}
	for len(c.queue) > 0 {
		head := c.queue[0]
		if err := c.write(head.n, head.line); err != nil {
			c.closeFile()
			c.tried = now
			return false
		}
		c.queued -= len(head.line)
		c.queue = c.queue[1:]
	}
	why, dropped := c.failure.Error(), c.dropped
	c.queue, c.queued, c.failure, c.dropped = nil, 0, nil, 0
	if dropped > 0 {
		c.append(KindLoss, LossData{From: offset, To: offset, Records: dropped, Why: why}, offset, now)
	}
	return !c.failing()
}

// write puts one line into the open segment, whole or not at all.
func (c *controlLog) write(n uint64, line []byte) error {
	if c.file == nil || c.size+int64(len(line)) > c.segment && c.size > 0 {
		if err := c.rotate(n); err != nil {
			return err
		}
	}
	if _, err := rawio.Append(c.file, line); err != nil {
		// A stump that cannot be cut off is skipped by readers, and the next
		// record goes to a new segment in any case.
		c.file.Truncate(c.size)
		return fmt.Errorf("write a control record: %w", err)
	}
	c.size += int64(len(line))
	return nil
}

// rotate begins the segment of record n and deletes what is older than the
// limit.
func (c *controlLog) rotate(n uint64) error {
	c.closeFile()
	f, err := os.OpenFile(segmentName(c.dir, n, controlExt), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("start a segment of the control log: %w", err)
	}
	c.file, c.size = f, 0
	c.kept = append(c.kept, segment{first: n})
	c.trim()
	return nil
}

// trim deletes the oldest segments as long as limit bytes and the open
// segment's worth stay within the limit.
func (c *controlLog) trim() {
	total := c.segment
	for _, s := range c.kept {
		total += s.size
	}
	for len(c.kept) > 1 && total > c.limit {
		if err := os.Remove(segmentName(c.dir, c.kept[0].first, controlExt)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return
		}
		total -= c.kept[0].size
		c.kept = append(c.kept[:0], c.kept[1:]...)
		if c.trimmed != nil {
			c.trimmed(c.kept[0].first)
		}
	}
}

// closeFile ends the open segment; one with nothing in it is deleted.
func (c *controlLog) closeFile() {
	if c.file == nil {
		return
	}
	c.file.Close()
	c.file = nil
	last := &c.kept[len(c.kept)-1]
	last.size = c.size
	if c.size == 0 {
		os.Remove(segmentName(c.dir, last.first, controlExt))
		c.kept = c.kept[:len(c.kept)-1]
	}
}
