package events

import (
	"slices"
	"sync"
)

// Bounds of what is kept in memory. Readers that keep up never touch a file;
// and it is all there is while the files cannot be written.
const (
	tailEvents = 1024
	tailBytes  = 8 << 20 // events with a 64 KiB payload would else fill 64 MiB
)

// kept is an event in memory.
type kept struct {
	line Line
	more bool // the next one belongs to the same batch
}

// tail is what readers and the writer share: the newest events and the list of
// files. Its lock is held for moments, never while a file is touched.
type tail struct {
	mu       sync.RWMutex
	ring     [tailEvents]kept // cursors in it are consecutive
	start    int
	count    int
	bytes    int
	head     uint64    // last event that can be seen
	written  uint64    // last event that is in a file, or gone from it
	size     int64     // bytes of the newest segment that can be read
	segments []segment // never changed in place
	failure  string    // why files cannot be written, empty when they can
	wake     chan struct{}
	closed   bool
}

// glance is what a reader at a position needs to know.
type glance struct {
	line     Line
	have     bool            // line is the next one
	wake     <-chan struct{} // not nil: there is nothing new; closed at the next change
	closed   bool
	first    uint64 // the files are asked for what comes before this cursor
	size     int64
	segments []segment
	failure  string
}

// look returns what comes next for a reader that has everything up to position.
func (t *tail) look(position uint64) glance {
	t.mu.RLock()
	if position < t.head {
		g := t.next(position)
		t.mu.RUnlock()
		return g
	}
	g := glance{wake: t.wake, closed: t.closed}
	t.mu.RUnlock()
	if g.wake != nil || g.closed {
		return g
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if position < t.head {
		return t.next(position)
	}
	if t.wake == nil && !t.closed {
		t.wake = make(chan struct{})
	}
	return glance{wake: t.wake, closed: t.closed}
}

func (t *tail) next(position uint64) glance {
	first := t.head + 1 - uint64(t.count)
	if position+1 >= first {
		at := (t.start + int(position+1-first)) % tailEvents
		return glance{line: t.ring[at].line, have: true}
	}
	return glance{first: first, size: t.size, segments: t.segments, failure: t.failure}
}

// push makes a batch seen. With size at least 0 it is in the newest segment,
// which can be read that far now. It returns the events that were dropped for
// the batch and are in no file.
func (t *tail) push(batch []Line, size int64) (lost []Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if size >= 0 {
		t.written, t.size = batch[len(batch)-1].Cursor, size
	}
	for i, line := range batch {
		for t.count > 0 && (t.count == tailEvents || t.bytes+len(line.Raw) > tailBytes) {
			if old := t.drop(); old.Cursor > t.written {
				lost = append(lost, old)
			}
		}
		t.ring[(t.start+t.count)%tailEvents] = kept{line: line, more: i < len(batch)-1}
		t.count++
		t.bytes += len(line.Raw)
		t.head = line.Cursor
	}
	t.broadcast()
	return lost
}

func (t *tail) drop() Line {
	old := t.ring[t.start].line
	t.ring[t.start] = kept{}
	t.start = (t.start + 1) % tailEvents
	t.count--
	t.bytes -= len(old.Raw)
	return old
}

// unwritten are the batches in no file yet, oldest first.
func (t *tail) unwritten() (batches [][]Line) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var batch []Line
	for i := range t.count {
		k := t.ring[(t.start+i)%tailEvents]
		if k.line.Cursor <= t.written {
			continue
		}
		batch = append(batch, k.line)
		if !k.more {
			batches, batch = append(batches, batch), nil
		}
	}
	return batches
}

// wrote says how far the newest segment can be read now.
func (t *tail) wrote(cursor uint64, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written, t.size = cursor, size
}

func (t *tail) setSegments(segments []segment, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.segments, t.size = segments, size
}

// changed reports whether the list of files is another one.
func (t *tail) changed(segments []segment) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return !slices.Equal(t.segments, segments)
}

func (t *tail) setFailure(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = why
}

func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.broadcast()
}

// broadcast wakes all waiting readers; without any it costs nothing.
func (t *tail) broadcast() {
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
}
