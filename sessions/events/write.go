package events

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// loss is a range of cursors that was given out and is in no file.
type loss struct {
	from, to uint64
	why      string
	sessions map[string]head // where the sessions stand that lost events
}

// lose takes an event for lost that did not fit into memory.
func (l *Log) lose(line Line) {
	if l.loss == nil {
		l.loss = &loss{from: line.Cursor, why: reason(l.lastErr), sessions: map[string]head{}}
	}
	l.dropped++
	l.loss.to = line.Cursor
	if line.ID != "" {
		at := l.loss.sessions[line.ID]
		l.loss.sessions[line.ID] = head{Seq: line.Seq, Cause: max(at.Cause, line.Cause), Cursor: line.Cursor}
	}
}

// fail notes that the files cannot be written. Before an event that is in no
// file can be seen, the marker says so (mark.go).
func (l *Log) fail(err error) {
	if !l.failing {
		l.failing = true
		l.mark(true)
		l.wakeKeeper()
	}
	l.lastErr, l.lastFail = err, l.o.Now()
	l.tail.setFailure(reason(err))
}

// reason is the text of an error for watchers: it contains no path of the machine.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return "the event log could not be written: " + number.Error()
	}
	return "the event log could not be written"
}

// flush writes what waits: the gap for what was lost, then batch after batch.
func (l *Log) flush() error {
	if !l.failing && l.loss == nil {
		return nil
	}
	if l.loss != nil {
		if err := l.write(append(l.lossLine().Raw, '\n')); err != nil {
			return err
		}
		l.wrote(l.loss.to)
		l.loss = nil
	}
	for _, batch := range l.tail.unwritten() {
		if err := l.writeBatch(batch); err != nil {
			return err
		}
		l.wrote(batch[len(batch)-1].Cursor)
	}
	if l.failing {
		l.failing = false
		l.mark(false)
		l.tail.setFailure("")
	}
	return nil
}

func (l *Log) wrote(cursor uint64) {
	l.written = cursor
	l.tail.wrote(cursor, l.open.size)
}

func (l *Log) lossLine() Line {
	return gapLine(Event{Cursor: l.loss.to, Time: l.o.Now()}, gapData{
		From: FormatCursor(l.loss.from), To: FormatCursor(l.loss.to),
		Why: l.loss.why, Sessions: l.loss.sessions,
	})
}

// bufferKept is the largest buffer that is kept for the next write; an event
// with a whole hook payload is 64 KiB.
const bufferKept = 128 << 10

// writeBatch writes the lines of a batch with one write. All lines but the last end with a blank, so that
// Open recognizes a batch that was cut.
func (l *Log) writeBatch(batch []Line) error {
	b := l.buffer[:0]
	for i, line := range batch {
		b = append(b, line.Raw...)
		if i < len(batch)-1 {
			b = append(b, ' ')
		}
		b = append(b, '\n')
	}
	if cap(b) <= bufferKept {
		l.buffer = b
	}
	if err := l.write(b); err != nil {
		return err
	}
	l.written = batch[len(batch)-1].Cursor
	return nil
}

// write appends whole lines to the newest segment, all of them or none.
func (l *Log) write(b []byte) error {
	if l.open.file == nil {
		if err := l.openNewest(); err != nil {
			return err
		}
	}
	if l.open.torn {
		if err := l.open.file.Truncate(l.open.size); err != nil {
			return fmt.Errorf("take away half a line: %w", err)
		}
		l.open.torn = false
	}
	n, err := l.open.file.WriteAt(b, l.open.size)
	if err != nil {
		if n > 0 {
			l.open.torn = l.open.file.Truncate(l.open.size) != nil
		}
		return fmt.Errorf("write the event log: %w", err)
	}
	l.open.size += int64(n)
	return nil
}

// openNewest opens the newest segment for writing, or begins the first.
func (l *Log) openNewest() error {
	if l.open.first != 0 {
		f, err := os.OpenFile(segmentName(l.dir, l.open.first), os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("open event segment: %w", err)
		}
		l.open.file = f
		return nil
	}
	first := l.written + 1
	f, err := os.OpenFile(segmentName(l.dir, first), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("begin event segment: %w", err)
	}
	l.open.file, l.open.first, l.open.size = f, first, 0
	l.tail.setSegments([]segment{{first: first}}, 0)
	return nil
}

// rollRetry is how much further a segment grows when the next cannot be begun.
const rollRetry = 64 << 10

// roll begins the next segment. When that cannot be, the present one goes on.
func (l *Log) roll() bool {
	first := l.written + 1
	f, err := os.OpenFile(segmentName(l.dir, first), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		l.lastErr, l.lastFail = fmt.Errorf("begin event segment: %w", err), l.o.Now()
		l.open.rollAt = l.open.size + rollRetry
		return false
	}
	_ = l.open.file.Close() // the data is already synced, so a failed close loses nothing
	segments := append([]segment(nil), l.tail.segments...)
	segments[len(segments)-1].size = l.open.size
	segments = append(segments, segment{first: first})
	l.open.file, l.open.first, l.open.size, l.open.rollAt = f, first, 0, l.o.SegmentBytes
	l.tail.setSegments(segments, 0)
	l.due = append(l.due, l.heads.before(first, segments[0].first))
	l.wakeKeeper()
	return true
}
