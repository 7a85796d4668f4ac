package events

import (
	"bytes"
	"fmt"
	"os"
	"slices"
)

// Thinning is how retention keeps one session from pushing out the events of all others. Of the oldest whole segment it
// leaves out the events of the sessions that have most of it, and keeps the others': with one session that has 99 % of
// a segment, all but 1 % of the file is free again. Where all sessions have the same share, all of them lose the
// segment, as if it had been deleted.
//
// The share is fair in the sense of max-min: half of the segment's bytes are shared out. One level holds for all sessions. A
// session with fewer bytes keeps all of them, and one with more loses its events there. A gap line replaces each run of
// events that were left out. It names their sessions and the last numbers they had, so a reader of one session
// learns of its own gap alone.
//
// A thinned segment has a name of its own, so a reader never finds other bytes at the offset where it was. What
// is left of a segment is appended to the thinned one before it while that is small, so the files stay few. Thinned segments
// are always the oldest. A kill leaves either a file aside, or a thinned file beside the whole one, or lines at the end
// of a thinned file that are in the next one too: finishThinning tidies up each at the next Open.

// thin thins the segment at that place in the list. All before it are thinned. Between the place from and that segment, by is
// what the list has now.
func (l *Log) thin(segments []segment, at int) (from int, by []segment, err error) {
	s := segments[at]
	b, err := os.ReadFile(s.name(l.dir))
	if err != nil {
		return 0, nil, fmt.Errorf("thin an event segment: %w", err)
	}
	out, kept := thinned(b[:min(s.size, int64(len(b)))])
	if at == 0 && !kept {
		return 0, nil, nil
	}
	if at > 0 {
		into := segments[at-1]
		if into.size+int64(len(out)) <= l.o.SegmentBytes {
			if err := appendAt(into.name(l.dir), into.size, out); err != nil {
				return 0, nil, fmt.Errorf("thin an event segment: %w", err)
			}
			into.size += int64(len(out))
			return at - 1, []segment{into}, nil
		}
	}
	to := segment{first: s.first, size: int64(len(out)), thin: true}
	aside := to.name(l.dir) + asideEnding
	if err = writeSynced(aside, out); err == nil {
		err = os.Rename(aside, to.name(l.dir))
	}
	if err != nil {
		_ = os.Remove(aside) // Open removes what remains
		return 0, nil, fmt.Errorf("thin an event segment: %w", err)
	}
	return at, []segment{to}, nil
}

// appendAt writes at the end of the file's whole lines.
func appendAt(name string, size int64, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close() // what was written is synced
	if err := f.Truncate(size); err != nil {
		return err
	}
	if _, err := f.WriteAt(b, size); err != nil {
		return err
	}
	return f.Sync()
}

// thinned is what is left of the lines of a segment. kept is false if that has no event of a session.
func thinned(b []byte) (out []byte, kept bool) {
	sizes := map[string]int64{}
	for raw := range bytes.Lines(b) {
		if line, err := parseStored(raw); err == nil && line.ID != "" {
			sizes[line.ID] += int64(len(raw))
		}
	}
	most := fairShare(sizes)
	var run run
	for raw := range bytes.Lines(b) {
		line, err := parseStored(raw)
		if err == nil && line.ID != "" && sizes[line.ID] > most {
			run.add(line, raw)
			continue
		}
		out = append(run.end(out), raw...)
		kept = kept || err == nil && line.ID != ""
	}
	return run.end(out), kept
}

// parseStored reads a line of a file, with its newline and the blank of a batch.
func parseStored(raw []byte) (Line, error) {
	return parseLine(bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte{'\n'}), []byte{' '}))
}

// fairShare is how much each session may keep if all of them together keep half.
func fairShare(sizes map[string]int64) int64 {
	var each []int64
	room := int64(0)
	for _, n := range sizes {
		each = append(each, n)
		room += n
	}
	room /= 2
	slices.Sort(each)
	for i, n := range each {
		if share := room / int64(len(each)-i); n > share {
			return share
		}
		room -= n
	}
	return 0 // without sessions
}

// run is consecutive events that are left out.
type run struct {
	first, last Line
	raw         []byte
	sessions    map[string]head
}

func (r *run) add(line Line, raw []byte) {
	if r.sessions == nil {
		r.first, r.sessions = line, map[string]head{}
	}
	r.last, r.raw = line, append(r.raw, raw...)
	at := r.sessions[line.ID]
	r.sessions[line.ID] = head{Seq: max(at.Seq, line.Seq), Cause: max(at.Cause, line.Cause), Cursor: line.Cursor}
}

// end appends the gap that replaces the run, or the run itself if that is shorter.
func (r *run) end(out []byte) []byte {
	if r.sessions == nil {
		return out
	}
	gap := gapLine(Event{Cursor: r.last.Cursor, Time: r.last.Time}, gapData{
		From: FormatCursor(r.first.Cursor), To: FormatCursor(r.last.Cursor), Why: whyRetention, Sessions: r.sessions,
	})
	if len(gap.Raw) < len(r.raw) {
		out = append(append(out, gap.Raw...), '\n')
	} else {
		out = append(out, r.raw...)
	}
	*r = run{raw: r.raw[:0]}
	return out
}

// finishThinning tidies up after a kill, in the list of what is in the folder: in rising order, a thinned segment before the
// whole one of its name.
func finishThinning(dir string, found []segment) ([]segment, error) {
	segments := found[:0]
	for i, s := range found {
		if i > 0 && found[i-1].first == s.first { // the thinned one is all of it: it was renamed into place
			_ = os.Remove(s.name(dir)) // the next Open tries again
			continue
		}
		segments = append(segments, s)
	}
	last := -1 // of those that are thinned
	for i, s := range segments {
		if s.thin {
			last = i
		}
	}
	if last < 0 {
		return segments, nil
	}
	s := &segments[last]
	if last == len(segments)-1 { // it is written to from now on
		if err := os.Rename(s.name(dir), segmentName(dir, s.first)); err != nil {
			return nil, fmt.Errorf("go on with a thinned event segment: %w", err)
		}
		s.thin = false
		return segments, nil
	}
	b, err := os.ReadFile(s.name(dir))
	if err != nil {
		return nil, fmt.Errorf("read event segment: %w", err)
	}
	s.size = sizeBefore(b, segments[last+1].first)
	return segments, nil
}

// sizeBefore is how many bytes of whole lines come before the cursor.
func sizeBefore(b []byte, cursor uint64) (size int64) {
	for raw := range bytes.Lines(b) {
		if raw[len(raw)-1] != '\n' || parseFragment(raw).cursor >= cursor {
			break
		}
		size += int64(len(raw))
	}
	return size
}
