package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// flood writes n events of session A and, now and then, one of B or C. It returns how many B has.
func flood(t *testing.T, l *Log, n int) (b int) {
	t.Helper()
	for i := range n {
		switch {
		case i%50 == 7:
			add(t, l, Event{Type: "state_change", Session: "b", ID: "B", Data: map[string]string{"next": "idle"}})
			b++
		case i%333 == 9:
			add(t, l, Event{Type: "state_change", Session: "c", ID: "C", Data: map[string]string{"next": "idle"}})
		default:
			add(t, l, Event{Type: "hook", Session: "a", ID: "A", Data: map[string]string{"payload": strings.Repeat("x", rand.IntN(200))}})
		}
	}
	return b
}

// follows checks that the lines go on from each other: each has the next cursor, or is a gap that begins there.
func follows(t *testing.T, since uint64, lines []Line) {
	t.Helper()
	for _, line := range lines {
		from := line.Cursor
		if line.Type == TypeGap {
			from = line.From
		}
		if from != since+1 {
			t.Fatalf("after %d: %s", since, line.Raw)
		}
		since = line.Cursor
	}
}

// TestFlood: a session that writes far more events than the log keeps takes no event of another session.
func TestFlood(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 20 << 10, MaxBytes: 400 << 10}
	l := open(t, dir, o)
	n := flood(t, l, 15_000) // 4 MB
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	check := func(l *Log) {
		t.Helper()
		s := l.Stats()
		if s.Bytes > o.MaxBytes || s.Segments > 40 {
			t.Errorf("%+v", s)
		}
		lines := rest(t, l, l.FollowSession("B", 0))
		for i, line := range lines {
			if line.Seq != uint64(i+1) || line.Type == TypeGap {
				t.Fatalf("event %d of B: %s", i+1, line.Raw)
			}
		}
		if len(lines) != n {
			t.Errorf("B has %d events of %d", len(lines), n)
		}
		follows(t, 0, rest(t, l, l.Follow(0)))
		var last, gaps uint64
		for _, line := range rest(t, l, l.FollowSession("A", 0)) {
			if line.Type == TypeGap {
				gaps++
				if !bytes.Contains(line.Raw, fmt.Appendf(nil, `"from_seq":%d,`, last+1)) || !bytes.Contains(line.Raw, []byte(whyRetention)) {
					t.Fatalf("after %d of A: %s", last, line.Raw)
				}
			} else if line.Seq != last+1 {
				t.Fatalf("after %d of A: %s", last, line.Raw)
			}
			last = line.Seq
		}
		if gaps == 0 || last != l.LastSeq("A") {
			t.Errorf("%d gaps of A, and its last is %d", gaps, last)
		}
		if _, err := l.ReadBack(t.Context(), "A", 5000); !errors.Is(err, ErrGone) {
			t.Errorf("an event that was left out: %v", err)
		}
		if line, err := l.ReadBack(t.Context(), "B", 2); err != nil || line.Seq != 2 {
			t.Errorf("an event that was kept: %+v, %v", line, err)
		}
	}
	check(l)
	closeLog(t, l)
	l = open(t, dir, o)
	check(l)
	n += flood(t, l, 5000)
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	check(l)
}

// TestThinnedUpToMemory: where a gap of the files reaches into what is still in memory, the part before that has the same reason.
func TestThinnedUpToMemory(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 5000, MaxBytes: 100_000})
	flood(t, l, tailEvents+500)
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	readers := map[string]*Reader{"all": l.Follow(0), "A": l.FollowSession("A", 0), "A after 300": l.FollowSession("A", 300)}
	for name, r := range readers {
		gaps, events := 0, 0
		for _, line := range rest(t, l, r) {
			if line.Type != TypeGap {
				events++
				continue
			}
			gaps++
			if !bytes.Contains(line.Raw, []byte(whyRetention)) {
				t.Errorf("%s: %s", name, line.Raw)
			}
		}
		if gaps == 0 || events < tailEvents*9/10 {
			t.Errorf("%s: %d gaps and %d events", name, gaps, events)
		}
	}
}

// TestReasonOfAGap: only a gap right before it, that doesn't name sessions, is why numbers of a session are missing.
func TestReasonOfAGap(t *testing.T) {
	gap := func(lost map[string]head) Line {
		l := gapLine(Event{Cursor: 5}, gapData{From: "e1", To: "e5", Why: whyRetention})
		l.lost = lost
		return l
	}
	event := func(seq uint64) Line { return Line{ID: "B", Seq: seq, Cursor: 10 + seq} }
	for name, c := range map[string]struct {
		lines []Line
		want  string
	}{
		"it names none":   {[]Line{gap(nil), event(5)}, whyRetention},
		"it names others": {[]Line{gap(map[string]head{"A": {Seq: 3}}), event(5)}, whyMissing},
		"events follow":   {[]Line{gap(nil), event(2), event(5)}, whyMissing},
	} {
		r, last := &Reader{follow: "B", seq: 1}, Line{}
		for _, line := range c.lines {
			last, _ = r.ofSession(line)
		}
		if !bytes.Contains(last.Raw, []byte(c.want)) {
			t.Errorf("%s: %s, want %s", name, last.Raw, c.want)
		}
	}
}

// TestThinningThatFails: with a segment that can't be read, the log keeps to its limit too.
func TestThinningThatFails(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 5000, MaxBytes: 1 << 20}
	l := open(t, dir, o)
	flood(t, l, 2000)
	closeLog(t, l)
	o.MaxBytes = 40_000
	segments, _, err := list(dir)
	if err != nil || len(segments) < 30 {
		t.Fatal(len(segments), err)
	}
	bad := segments[0].name(dir)
	if err := errors.Join(os.Remove(bad), os.Mkdir(bad, 0o700)); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	_ = l.Prune() // the log's own may have met that file
	if s := l.Stats(); s.Bytes > o.MaxBytes || s.Segments < 5 {
		t.Errorf("%+v", s)
	}
	follows(t, 0, rest(t, l, l.Follow(0)))
}

// TestFairShare: who has at most the share keeps all.
func TestFairShare(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		want  int64
	}{
		{nil, 0}, {[]int64{100}, 50}, {[]int64{50, 50}, 25}, {[]int64{98, 2}, 48}, {[]int64{49, 49, 2}, 24}, {[]int64{60, 20, 20}, 16}, {[]int64{70, 10, 10, 10}, 20},
	} {
		sizes := map[string]int64{}
		for i, n := range c.sizes {
			sizes[fmt.Sprint(i)] = n
		}
		if got := fairShare(sizes); got != c.want {
			t.Errorf("%v: %d, want %d", c.sizes, got, c.want)
		}
	}
}

// TestThinnedHistoryIsBounded: what is kept of quiet sessions is at most half of the log, and the oldest goes first.
func TestThinnedHistoryIsBounded(t *testing.T) {
	o := Options{SegmentBytes: 2000, MaxBytes: 12_000}
	l := open(t, t.TempDir(), o)
	n := flood(t, l, 4000)
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	lines := rest(t, l, l.FollowSession("B", 0))
	if s := l.Stats(); s.Bytes > o.MaxBytes || len(lines) < 5 || len(lines) >= n {
		t.Errorf("%+v, B has %d of %d", s, len(lines), n)
	}
	whole := int64(0)
	for _, segment := range l.tail.segments {
		if !segment.thin {
			whole += segment.size
		}
	}
	if whole < o.MaxBytes/2-2*o.SegmentBytes {
		t.Errorf("%d bytes are left for the busiest session", whole)
	}
	if first := lines[0]; first.Type != TypeGap || lines[1].Seq != first.Seq+1 || lines[len(lines)-1].Seq != uint64(n) {
		t.Errorf("%s", first.Raw)
	}
}

// TestReadersWhileThinned: readers at every pace get each event or the gap in its place, while retention changes the files
// under them, and all events of the quiet session.
func TestReadersWhileThinned(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 5000, MaxBytes: 200_000})
	const events = 12_000
	var readers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for pace := range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			r, at, seq := l.Follow(0), uint64(0), uint64(0)
			for at < events {
				line, err := r.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				from := line.Cursor
				if line.Type == TypeGap {
					from = line.From
				}
				if from != at+1 {
					t.Errorf("after %d: %s", at, line.Raw)
					return
				}
				if at = line.Cursor; line.ID == "B" {
					if seq++; line.Seq != seq {
						t.Errorf("event %d of B: %s", seq, line.Raw)
						return
					}
				}
				for pace > 1 && at%uint64(pace*100) == 0 { // falls behind
					head := l.Head()
					if head >= min(events, at+3000) {
						break
					}
					if _, err := l.Follow(head).Next(ctx); err != nil {
						t.Error(err)
						return
					}
				}
			}
		}()
	}
	flood(t, l, events)
	readers.Wait()
}

// thinNext thins the oldest segment that is whole.
func thinNext(t *testing.T, l *Log) {
	t.Helper()
	l.pruning.Lock()
	defer l.pruning.Unlock()
	thin := 0
	for l.tail.segments[thin].thin {
		thin++
	}
	from, by, err := l.thin(l.tail.segments, thin)
	if err == nil {
		err = l.replace(from, thin+1-from, by...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestReaderOfAThinnedSegment: a reader that paused in a segment goes on at its place in what is left of that, also if the
// files changed between its look at the list and at the disk.
func TestReaderOfAThinnedSegment(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 120 << 10, MaxBytes: 1 << 30})
	n := flood(t, l, 4000)
	if err := l.Prune(); err != nil { // saves heads
		t.Fatal(err)
	}
	paused, b := l.Follow(0), uint64(0)
	var lines []Line
	for range 300 { // beyond the first bytes that are read at once
		lines = append(lines, next(t, paused))
	}
	before := l.tail.look(paused.Position())
	between := *paused
	thinNext(t, l)
	between.file.buf = nil
	if line, ok := between.fromFiles(before); ok {
		t.Errorf("the file that was there: %s", line.Raw)
	}
	lines = append(lines, rest(t, l, paused)...)
	follows(t, 0, lines)
	for _, line := range lines {
		if line.ID == "B" {
			if b++; line.Seq != b {
				t.Fatalf("event %d of B: %s", b, line.Raw)
			}
		}
	}
	if b != uint64(n) {
		t.Errorf("B has %d events of %d", b, n)
	}
}

// TestKilledWhileThinning: a kill between the steps of a thinning loses no event of a quiet session and doubles none.
func TestKilledWhileThinning(t *testing.T) {
	o := Options{SegmentBytes: 5000, MaxBytes: 1 << 20}
	dir := t.TempDir()
	l := open(t, dir, o)
	n := flood(t, l, 400)
	if err := l.Prune(); err != nil { // saves heads
		t.Fatal(err)
	}
	want := len(rest(t, l, l.FollowSession("B", 0)))
	if want != n {
		t.Fatalf("B has %d of %d", want, n)
	}
	before := filesOf(t, dir)
	sizes := []int{0} // of the thinned segment
	for range 3 {
		thinNext(t, l)
		sizes = append(sizes, int(l.tail.segments[0].size))
	}
	closeLog(t, l)
	after := filesOf(t, dir)
	check := func(what string, files map[string][]byte, size int) {
		t.Helper()
		dir := t.TempDir()
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := open(t, dir, o)
		if first := l.tail.segments[0]; size >= 0 && first.size != int64(size) {
			t.Errorf("%s: the thinned segment has %d bytes, and %d are of segments that are gone", what, first.size, size)
		}
		seq := uint64(0)
		for _, line := range rest(t, l, l.FollowSession("B", 0)) {
			if seq++; line.Seq != seq || line.Type == TypeGap {
				t.Fatalf("%s: event %d of B: %s", what, seq, line.Raw)
			}
		}
		if seq != uint64(n) {
			t.Errorf("%s: B has %d events of %d", what, seq, n)
		}
		follows(t, 0, rest(t, l, l.Follow(0)))
		left, err := filepath.Glob(filepath.Join(dir, "*"+asideEnding))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", what, left, err)
		}
		closeLog(t, l)
	}
	check("all done", after, -1)
	var thinned string
	var gone []string // segments
	for name := range after {
		if strings.HasSuffix(name, thinEnding) {
			thinned = name
		}
	}
	for name := range before {
		if _, there := after[name]; !there && strings.HasSuffix(name, segmentEnding) {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	if len(gone) != 3 || strings.TrimSuffix(gone[0], segmentEnding) != strings.TrimSuffix(thinned, thinEnding) {
		t.Fatalf("%s in the place of %v", thinned, gone)
	}
	for i, name := range gone { // the state when it had been thinned, and was still there
		mixed := maps.Clone(after)
		for _, later := range gone[i:] {
			mixed[later] = before[later]
			heads := strings.TrimSuffix(later, segmentEnding) + headsEnding
			mixed[heads] = before[heads]
		}
		begins, ends := sizes[i], sizes[i+1]
		mixed[thinned] = after[thinned][:ends]
		if i > 0 {
			check(name+" is still there", mixed, begins)
			mixed[thinned] = after[thinned][:(begins+ends)/2]
			check(name+" is still there, and half a write", mixed, begins)
			continue
		}
		check(name+" is still there", mixed, ends)
		delete(mixed, thinned)
		mixed[thinned+asideEnding] = after[thinned][:ends/2]
		check("half a file aside", mixed, -1)
	}
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = data
	}
	return files
}
