package events

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Options say how long events are kept. The zero value means the defaults.
type Options struct {
	Now          func() time.Time // the clock; time.Now by default
	MaxBytes     int64            // of all segments together, 256 MiB by default
	MaxAge       time.Duration    // segments whose last event is older go; 0 keeps them
	SegmentBytes int64            // a segment that has grown past this is followed by the next, 4 MiB by default
}

const (
	defaultMaxBytes     = 256 << 20
	defaultSegmentBytes = 4 << 20
)

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	// Retention takes whole segments and never the newest.
	o.SegmentBytes = min(o.SegmentBytes, max(o.MaxBytes/2, 1))
	return o
}

// Log is the event log of one server. Its methods are safe for concurrent use.
// One process at a time may have a folder open; who opens it sees to that.
type Log struct {
	dir  string
	o    Options
	tail tail

	mu       sync.Mutex // everything below: one writer at a time
	heads    heads      // as of the last number given out
	open     openSegment
	written  uint64    // last cursor that is in a file or lost
	loss     *loss     // events that are lost and not yet recorded as lost
	buffer   []byte    // bytes of the write under way
	failing  bool      // the last write failed: events wait in memory
	marker   *os.File  // see mark.go
	newest   time.Time // time of the newest event
	dropped  uint64    // events since Open that did not fit into memory
	lastErr  error
	lastFail time.Time
	closed   bool

	pruning sync.Mutex // what follows is retention's
	due     []heads    // to be saved; guarded by mu
	headed  uint64     // the newest segment with saved heads; guarded by mu

	tend chan struct{} // there is something to do for the keeper
	stop chan struct{}
	done chan struct{}
}

// openSegment is the newest segment, the only one that is written to.
type openSegment struct {
	file   *os.File // nil before the first segment, or when it can't be opened
	first  uint64   // cursor in the file's name; 0 without a file
	size   int64    // bytes of whole lines
	rollAt int64    // size at which the next segment starts
	torn   bool     // bytes after size could not be removed
}

// Append puts one event into the log: numbers it, writes it, and only then
// lets readers see it. It never waits for a reader. While the files cannot be
// written the event is seen from memory, Append does not fail, and Stats reports it.
// Errors: ErrClosed, or Data that cannot be an event's.
func (l *Log) Append(e Event) (Event, error) {
	out, err := l.AppendAll(e)
	if err != nil {
		return Event{}, err
	}
	return out[0], nil
}

// AppendAll puts several events into the log as one: they follow each other
// immediately, and a kill leaves all of them or none. Use it when one journal
// record makes more than one event.
func (l *Log) AppendAll(batch ...Event) ([]Event, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	objects := make([][]byte, len(batch))
	for i, e := range batch {
		if e.Type == "" {
			return nil, errors.New("append event: it has no type")
		}
		var err error
		if objects[i], err = marshalData(e.Data); err != nil {
			return nil, fmt.Errorf("append event %s: %w", e.Type, err)
		}
	}
	out := make([]Event, len(batch))
	copy(out, batch)

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("append event: %w", ErrClosed)
	}
	lines := make([]Line, len(out))
	for i := range out {
		e := &out[i]
		l.number(e)
		lines[i] = e.line(slices.Clip(encode(*e, objects[i])))
	}
	l.record(lines)
	return out, nil
}

// number gives the event its numbers and its time.
func (l *Log) number(e *Event) {
	e.Cursor = l.heads.Cursor + 1
	l.heads.Cursor = e.Cursor
	e.Seq = 0
	if e.ID != "" {
		e.Seq = l.heads.Sessions[e.ID].Seq + 1
		l.heads.raise(e.ID, head{Seq: e.Seq, Cause: e.Cause, Cursor: e.Cursor})
	}
	if e.Time.IsZero() {
		e.Time = l.o.Now()
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond) // as it is read back
	l.newest = e.Time
}

// record writes a batch and makes it seen.
func (l *Log) record(batch []Line) {
	err := l.flush()
	if err == nil {
		err = l.writeBatch(batch)
	}
	size := l.open.size
	if err != nil {
		l.fail(err)
		size = -1
	}
	for _, gone := range l.tail.push(batch, size) {
		l.lose(gone)
	}
	if err == nil && l.open.size >= l.open.rollAt {
		l.roll()
	}
}

// Head is the cursor of the last event that can be seen, 0 before the first.
func (l *Log) Head() uint64 {
	l.tail.mu.RLock()
	defer l.tail.mu.RUnlock()
	return l.tail.head
}

// LastCause is the highest journal record number that made an event of the
// session, 0 for none.
func (l *Log) LastCause(id string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heads.Sessions[id].Cause
}

// LastSeq is the session's last event number, 0 for none.
func (l *Log) LastSeq(id string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heads.Sessions[id].Seq
}

// Forget says that a session is removed for good. Its events stay as long as
// all others; its numbers are forgotten when the last of them is gone.
func (l *Log) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.heads.Sessions[id]; ok {
		at.Forgot = true
		l.heads.Sessions[id] = at
	}
}

// Stats is how the log does, for health.
type Stats struct {
	Head     uint64    // last cursor given out
	First    uint64    // events before this cursor are gone
	Written  uint64    // last cursor in a file
	Pending  int       // events that wait in memory for the files to be writable
	Dropped  uint64    // events lost that way since Open
	Segments int       // files
	Bytes    int64     // in them
	Failing  bool      // the files cannot be written at present
	Err      error     // the last failure, nil when there was none since Open
	ErrTime  time.Time // when
}

// Stats reports the log's health.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{
		Head: l.heads.Cursor, Written: l.written, Dropped: l.dropped,
		Bytes: l.open.size, Failing: l.failing, Err: l.lastErr, ErrTime: l.lastFail,
	}
	l.tail.mu.RLock()
	defer l.tail.mu.RUnlock()
	if l.failing {
		from := max(l.written, l.tail.head-uint64(l.tail.count))
		s.Pending = int(l.tail.head - min(l.tail.head, from))
	}
	s.First = s.Head + 1
	if n := len(l.tail.segments); n > 0 {
		s.First, s.Segments = l.tail.segments[0].first, n
		for _, older := range l.tail.segments[:n-1] {
			s.Bytes += older.size
		}
	}
	return s
}

// Close writes what waits, if it can, and ends every reader once it has read
// what there is. It returns when the log's goroutine has ended.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		<-l.done
		return nil
	}
	l.closed = true
	err := l.flush()
	if err != nil {
		l.fail(err)
	}
	if l.open.file != nil {
		err = errors.Join(err, l.open.file.Close())
		l.open.file = nil
	}
	if l.marker != nil {
		err = errors.Join(err, l.marker.Close())
		l.marker = nil
	}
	l.mu.Unlock()
	l.tail.close()
	close(l.stop)
	<-l.done
	if err != nil {
		return fmt.Errorf("close the event log: %w", err)
	}
	return nil
}
