package events

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Open opens the log in a folder of its own, which it makes. What a kill left
// half written is cut; that and other damage at the end is said in a gap. A
// folder that can be read but not written still opens: Stats says so.
func Open(dir string, o Options) (*Log, error) {
	l := &Log{
		dir: dir, o: o.withDefaults(),
		tend: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	l.open.rollAt = l.o.SegmentBytes
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	segments, headed, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	marker, unsound, markErr := openMarker(dir, len(segments) == 0 && len(headed) == 0)
	l.marker = marker
	tailDamage, err := l.recover(segments, headed)
	if err != nil {
		if marker != nil {
			_ = marker.Close()
		}
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	if unsound {
		l.newest = l.lastWritten(segments)
	}
	l.announce(tailDamage, unsound)
	l.ready(segments, markErr)
	go l.keep()
	return l, nil
}

// ready cuts the newest segment, writes the gap if there is one, and lets
// readers in.
func (l *Log) ready(segments []segment, markErr error) {
	if n := len(segments); n > 0 {
		l.open.first = segments[n-1].first
		l.open.torn = l.open.size < segments[n-1].size
		segments[n-1].size = l.open.size
	}
	l.tail.written = l.written
	l.tail.setSegments(segments, l.open.size)
	l.tail.head = l.heads.Cursor
	err := markErr
	if err == nil {
		err = l.write(nil) // opens the newest segment and cuts it
	}
	if err == nil {
		err = l.flush()
	}
	if err != nil {
		l.fail(err)
	} else {
		l.mark(false)
	}
}

// lastWritten is the time of the last event in any segment.
func (l *Log) lastWritten(segments []segment) time.Time {
	if !l.newest.IsZero() {
		return l.newest
	}
	for _, s := range slices.Backward(segments) {
		if t, err := lastTime(l.dir, s); err == nil && s.size > 0 {
			return t
		}
	}
	return time.Time{}
}

// announce makes the numbers that may have been seen but cannot be read a loss.
func (l *Log) announce(d damage, unsound bool) {
	l.written = l.heads.Cursor
	if d.to > l.heads.Cursor {
		l.loss = &loss{from: l.heads.Cursor + 1, to: d.to, why: "the last write was cut or damaged", sessions: map[string]head{}}
		for _, id := range d.ids {
			l.heads.raise(id, head{Seq: l.heads.Sessions[id].Seq + 1, Cursor: d.to})
			l.loss.sessions[id] = l.heads.Sessions[id]
		}
		l.heads.Cursor = d.to
	}
	if !unsound {
		return
	}
	if l.loss == nil {
		l.loss = &loss{from: l.heads.Cursor + 1}
	}
	by := jump(l.newest, l.o.Now())
	l.heads.Cursor += by
	for id, at := range l.heads.Sessions {
		at.Seq += by
		l.heads.Sessions[id] = at
	}
	l.loss.to, l.loss.sessions = l.heads.Cursor, maps.Clone(l.heads.Sessions)
	l.loss.why = "the server ended while the event log could not be written"
}

// damage is what comes after the last good line of the log.
type damage struct {
	to  uint64   // the highest number it may have carried, 0 for none
	ids []string // sessions whose number it carried, one each
}

// recover finds all positions: from the newest heads that can be
// read, and the lines written since.
func (l *Log) recover(segments []segment, headed []uint64) (damage, error) {
	l.heads = heads{Sessions: map[string]head{}}
	for _, first := range slices.Backward(headed) {
		if h, err := loadHeads(l.dir, first); err == nil {
			l.heads, l.headed = h, first
			break
		}
	}
	for _, first := range headed {
		// A kill between deleting a segment and its heads leaves the heads.
		if first < l.headed && (len(segments) == 0 || first < segments[0].first) {
			_ = os.Remove(headsName(l.dir, first)) // the next Open tries again
		}
	}
	var behind damage
	scanned := false
	for i, s := range segments {
		if s.first < l.headed {
			continue
		}
		if scanned {
			// Heads that were not saved, or are damaged, are made again.
			l.due = append(l.due, l.heads.before(s.first, segments[0].first))
		}
		scanned = true
		l.heads.Cursor = max(l.heads.Cursor, s.first-1)
		b, err := os.ReadFile(s.name(l.dir))
		if err != nil {
			return damage{}, fmt.Errorf("read event segment: %w", err)
		}
		var size int64
		size, behind = l.replay(b)
		if i == len(segments)-1 {
			l.open.size = size
		}
	}
	return behind, nil
}

// replay takes in the lines of a segment. It returns the length of what is
// whole, and what damage comes after the last good line.
func (l *Log) replay(b []byte) (size int64, behind damage) {
	var batch []Line
	rest := b
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		raw := rest[:end]
		rest = rest[end+1:]
		line, err := parseLine(bytes.TrimSuffix(raw, []byte{' '}))
		switch {
		case err != nil:
			l.apply(batch) // it was whole once
			behind.add(raw, l.heads.Cursor)
		case bytes.HasSuffix(raw, []byte{' '}):
			batch = append(batch, line)
			continue
		default:
			behind = damage{}
			l.apply(append(batch, line))
		}
		batch = nil
		size = int64(len(b) - len(rest))
	}
	for _, line := range batch { // a batch that was cut was never seen
		behind.add(line.Raw, l.heads.Cursor)
	}
	if f := parseFragment(rest); f.cursor != 0 {
		behind.add(rest, l.heads.Cursor)
	}
	return size, behind
}

func (l *Log) apply(batch []Line) {
	for _, line := range batch {
		l.heads.apply(line)
		if line.Time.After(l.newest) {
			l.newest = line.Time
		}
	}
}

// add counts a bad line behind the last good one: it took a number even when
// it cannot be read.
func (d *damage) add(raw []byte, last uint64) {
	f := parseFragment(raw)
	d.to = max(d.to, last) + 1
	// A number far from the line's place is part of the damage.
	if f.cursor > d.to && f.cursor-d.to < jumpAtLeast {
		d.to = f.cursor
	}
	if f.id != "" {
		d.ids = append(d.ids, strings.Clone(f.id))
	}
}
