package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Reader pulls the events after a position, from memory when it keeps up and
// from the files when not: one that is slow or paused costs no other
// anything but its own small buffer. It is not safe for concurrent use and
// needs no closing.
type Reader struct {
	log      *Log
	position uint64 // everything up to here was given or is gone
	file     place
	until    uint64 // ErrEnd after this cursor; 0 for never
	held     *Line  // read from a file, and given after the gap before it

	follow string // id of the one session to give, empty for all
	seq    uint64 // its last number that was given or is gone
	after  *Line  // given next: the event after a gap in the session's numbers
	why    string // of the last gap that didn't say which numbers of the session it has
	last   uint64 // cursor of what was given last
}

// Follow gives every event with a cursor above since. Where events are gone it
// gives one gap line in their place.
func (l *Log) Follow(since uint64) *Reader {
	return &Reader{log: l, position: since}
}

// Next waits for the next line. Errors: that of the context, or ErrClosed.
func (r *Reader) Next(ctx context.Context) (Line, error) {
	for {
		if after := r.after; after != nil {
			r.after, r.last = nil, after.Cursor
			return *after, nil
		}
		line, err := r.next(ctx)
		if err != nil || r.follow == "" {
			return line, err
		}
		if line, ok := r.ofSession(line); ok {
			r.last = line.Cursor
			return line, nil
		}
	}
}

// Until makes Next end with ErrEnd after the line of that cursor.
func (r *Reader) Until(cursor uint64) { r.until = cursor }

// Position is the cursor from which Follow would go on.
func (r *Reader) Position() uint64 { return r.position }

func (r *Reader) next(ctx context.Context) (Line, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Line{}, err
		}
		if held := r.held; held != nil {
			r.held = nil
			r.position = held.Cursor
			return *held, nil
		}
		if r.until > 0 && r.position >= r.until {
			return Line{}, ErrEnd
		}
		g := r.log.tail.look(r.position)
		switch {
		case g.have:
			r.file = place{} // keeping up: no buffer
			r.position = g.line.Cursor
			return g.line, nil
		case g.closed:
			return Line{}, ErrClosed
		case g.wake != nil:
			r.file = place{}
			select {
			case <-g.wake:
			case <-ctx.Done():
				return Line{}, ctx.Err()
			}
		default:
			line, ok := r.fromFiles(g)
			if !ok {
				continue // retention changed the files
			}
			r.position = line.Cursor
			return line, nil
		}
	}
}

// fromFiles gives the next line that is not in memory: an event, or the gap up
// to the next one there is. It is false if the files are others than at the glance.
func (r *Reader) fromFiles(g glance) (Line, bool) {
	f := &r.file
	for {
		raw, ok := f.line(r.log, g, r.position)
		if !ok {
			if f.gone {
				*f = place{}
				return Line{}, false
			}
			why := f.why
			if g.failure != "" {
				why = g.failure
			}
			return r.gap(g.first-1, why), true
		}
		line, err := parseLine(bytes.TrimSuffix(raw, []byte{' '}))
		if err != nil || !json.Valid(raw) {
			f.why = whyDamaged
			continue
		}
		if line.Cursor <= r.position {
			continue
		}
		if line.Cursor >= g.first {
			why := f.why
			if line.Type == TypeGap { // its last events are still in memory
				why = whyOf(line, why)
			}
			*f = place{} // it has passed what memory gives next
			return r.gap(g.first-1, why), true
		}
		line.Raw = bytes.Clone(line.Raw) // of the reader's buffer
		if line.Type == TypeGap {
			why := f.why
			f.why = whyMissing
			return r.retell(line, why), true
		}
		if line.Cursor > r.position+1 {
			gap := r.gap(line.Cursor-1, f.why)
			f.why = whyMissing
			// Given next, whatever happens to the file meanwhile.
			held := line
			r.held = &held
			return gap, true
		}
		f.why = whyMissing
		return line, true
	}
}

// gap stands for everything after the position up to and including to.
func (r *Reader) gap(to uint64, why string) Line {
	return gapLine(Event{Cursor: to, Time: r.log.o.Now()}, gapData{
		From: FormatCursor(r.position + 1), To: FormatCursor(to), Why: why,
	})
}

// retell gives a gap of the file as this reader meets it. Which sessions lost
// events is left out: not every reader may know of every session.
func (r *Reader) retell(line Line, before string) Line {
	out := gapLine(Event{Cursor: line.Cursor, Time: line.Time}, gapData{
		From: FormatCursor(r.position + 1), To: FormatCursor(line.Cursor), Why: whyOf(line, before),
	})
	out.lost = line.lost
	return out
}

// whyOf is why the events of a gap are gone, or otherwise if the line doesn't say.
func whyOf(gap Line, otherwise string) string {
	var d gapData
	if err := json.Unmarshal(gap.Raw, &d); err != nil || d.Why == "" {
		return otherwise
	}
	return d.Why
}

// Why events are gone, as a gap says it.
const (
	whyRetention = "retention"
	whyDamaged   = "damaged in the file"
	whyMissing   = "missing from the file"
)

// place is where in the files a reader is.
type place struct {
	in     segment // without a cursor when it is nowhere yet
	offset int64   // of the end of buf
	buf    []byte  // read and not yet given
	why    string  // why the next line is not the next event, if it is not
	gone   bool    // its file isn't there
}

// chunk is how much is read at once; a longer line makes it more for a while.
const chunk = 32 << 10

// line gives the next line of the files that can be seen at g; false when there
// is none.
func (p *place) line(l *Log, g glance, position uint64) ([]byte, bool) {
	if (p.in.first == 0 || !p.listed(g.segments)) && !p.enter(l.dir, g.segments, position) {
		return nil, false
	}
	want := chunk
	for {
		if i := bytes.IndexByte(p.buf, '\n'); i >= 0 {
			raw := p.buf[:i]
			p.buf = p.buf[i+1:]
			return raw, true
		}
		if p.read(l.dir, g, want) {
			want *= 2
			continue
		}
		if p.gone = p.gone && l.tail.changed(g.segments); p.gone {
			return nil, false
		}
		if !p.advance(g.segments) {
			return nil, false
		}
		want = chunk
	}
}

// enter goes to the segment that holds the event behind position.
func (p *place) enter(dir string, segments []segment, position uint64) bool {
	if len(segments) == 0 {
		p.why = whyMissing
		return false
	}
	at := holding(segments, position+1)
	p.why = whyMissing
	if at < 0 {
		at, p.why = 0, whyRetention
	}
	p.in, p.offset, p.buf = segments[at], 0, nil
	if f, err := os.Open(p.in.name(dir)); err == nil {
		defer f.Close()
		p.offset = locate(f, segments[at].size, position)
	}
	return true
}

// read takes more of the segment into the buffer; false when there is no more.
// The file is opened each time: a paused reader holds no file open.
func (p *place) read(dir string, g glance, want int) bool {
	i := holding(g.segments, p.in.first)
	size := g.segments[i].size
	if i == len(g.segments)-1 {
		size = g.size
	}
	n := min(int64(want), size-p.offset)
	if n <= 0 {
		return false
	}
	f, err := os.Open(p.in.name(dir))
	if err != nil {
		p.gone = errors.Is(err, fs.ErrNotExist)
		return false
	}
	defer f.Close()
	buf := make([]byte, len(p.buf), len(p.buf)+int(n))
	copy(buf, p.buf)
	got, _ := f.ReadAt(buf[len(buf):cap(buf)], p.offset) // what cannot be read is missing
	p.buf = buf[:len(buf)+got]
	p.offset += int64(got)
	return got > 0
}

// advance goes to the next segment; false when there is none.
func (p *place) advance(segments []segment) bool {
	i := holding(segments, p.in.first)
	if i+1 >= len(segments) {
		return false
	}
	p.in, p.offset, p.buf = segments[i+1], 0, nil
	return true
}

// listed reports whether the segment that the place is in is still one of the log's.
func (p *place) listed(segments []segment) bool {
	i := holding(segments, p.in.first)
	return i >= 0 && segments[i].first == p.in.first && segments[i].thin == p.in.thin
}

// FollowSession gives the events of one session, by its id, with a number above
// seq. Where some are gone it gives one gap line with from_seq and to_seq.
func (l *Log) FollowSession(id string, seq uint64) *Reader {
	first, gone := l.find(id, seq)
	r := &Reader{log: l, position: first - min(first, 1), follow: id, seq: seq}
	if gone > seq {
		gap := r.seqGap(Line{Cursor: r.position, ID: id, Time: l.o.Now()}, gone, whyRetention)
		r.after = &gap
	}
	return r
}

// ofSession lets through what is new of the one session.
func (r *Reader) ofSession(line Line) (Line, bool) {
	if line.Type == TypeGap {
		why := whyOf(line, whyMissing)
		if lost := line.lost[r.follow]; lost.Seq > r.seq {
			line.ID = r.follow
			return r.seqGap(line, lost.Seq, why), true
		}
		if line.lost == nil {
			r.why = why
		}
		return Line{}, false
	}
	if line.ID != r.follow || line.Seq <= r.seq {
		return Line{}, false
	}
	if line.Seq > r.seq+1 {
		after, before := line, line
		r.after = &after
		before.Cursor--
		gap := r.seqGap(before, line.Seq-1, cmp.Or(r.why, whyMissing))
		r.seq, r.why = line.Seq, ""
		return gap, true
	}
	r.seq, r.why = line.Seq, ""
	return line, true
}

// seqGap stands for the session's events behind seq up to and including to.
func (r *Reader) seqGap(at Line, to uint64, why string) Line {
	e := Event{Cursor: at.Cursor, Session: at.Session, ID: at.ID, Seq: to, Time: at.Time}
	gap := gapLine(e, gapData{
		From: FormatCursor(min(r.last+1, at.Cursor)), To: FormatCursor(at.Cursor),
		FromSeq: r.seq + 1, ToSeq: to, Why: why,
	})
	r.seq = to
	return gap
}

// find gives the segment from which on all events of the session above seq lie,
// and the last of its numbers that is gone.
func (l *Log) find(id string, seq uint64) (first, gone uint64) {
	l.tail.mu.RLock()
	segments := l.tail.segments
	l.tail.mu.RUnlock()
	for i := len(segments) - 1; i >= 0; i-- {
		h, err := loadHeads(l.dir, segments[i].first)
		if err != nil { // not saved yet, or damaged: an older one will do
			if i == 0 {
				return segments[0].first, 0
			}
			continue
		}
		at := h.Sessions[id]
		if at.Seq <= seq {
			return segments[i].first, 0
		}
		if i == 0 {
			return segments[0].first, at.Seq
		}
	}
	return 1, 0
}

// ReadBack reads one event again. Errors: ErrNotFound, ErrGone, or that of the
// context.
func (l *Log) ReadBack(ctx context.Context, id string, seq uint64) (Line, error) {
	failed := func(err error) (Line, error) {
		return Line{}, fmt.Errorf("read event %d of session %s: %w", seq, id, err)
	}
	if seq == 0 || seq > l.LastSeq(id) {
		return failed(ErrNotFound)
	}
	if line, ok := l.tail.find(id, seq); ok {
		return line, nil
	}
	r := l.FollowSession(id, seq-1)
	r.until = l.Head()
	line, err := r.Next(ctx)
	switch {
	case errors.Is(err, ErrEnd), errors.Is(err, ErrClosed), err == nil && line.Type == TypeGap:
		return failed(ErrGone)
	case err != nil:
		return failed(err)
	}
	return line, nil
}

// ErrEnd comes after the line that Until named.
var ErrEnd = errors.New("the reader's end")

// find looks for an event in memory.
func (t *tail) find(id string, seq uint64) (Line, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for i := t.count - 1; i >= 0; i-- {
		if line := t.ring[(t.start+i)%tailEvents].line; line.ID == id && line.Seq == seq {
			return line, true
		}
	}
	return Line{}, false
}
