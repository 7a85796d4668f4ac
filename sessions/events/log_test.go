package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		os.Exit(writeUntilKilled(dir))
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, l *Log, e Event) Event {
	t.Helper()
	out, err := l.Append(e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fill appends n events of the session, with causes that go on from the last.
func fill(t testing.TB, l *Log, id string, n int) {
	t.Helper()
	for range n {
		add(t, l, Event{Type: "state_change", Session: "s-" + id, ID: id, Cause: l.LastCause(id) + 1, Data: map[string]any{"next": "idle"}})
	}
}

func next(t testing.TB, r *Reader) Line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	line, err := r.Next(ctx)
	if err != nil {
		t.Fatalf("Next after %d: %v", r.Position(), err)
	}
	return line
}

// rest reads to the head.
func rest(t testing.TB, l *Log, r *Reader) (lines []Line) {
	t.Helper()
	r.until = l.Head()
	if r.until == 0 {
		return nil
	}
	for {
		line, err := r.Next(t.Context())
		if errors.Is(err, ErrEnd) {
			return lines
		}
		if err != nil {
			t.Fatalf("Next after %d: %v", r.Position(), err)
		}
		lines = append(lines, line)
	}
}

// until polls a condition for 10 s, because no event announces it.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 10 s: %s", what)
		}
	}
}

func onlyFile(t testing.TB, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentEnding))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segment in %s: %v", dir, err)
	}
	return names[len(names)-1]
}

func TestALineHasTheHeaderInOrderAndTheDataFlattened(t *testing.T) {
	at := time.Date(2026, 11, 20, 16, 4, 5, 123456789, time.FixedZone("", 3600))
	l := open(t, t.TempDir(), Options{})
	out := add(t, l, Event{Type: "hook", Session: "alpha", ID: "01J", Time: at, Cause: 7,
		Data: struct {
			Event   string          `json:"event"`
			Payload json.RawMessage `json:"payload"`
		}{"Stop", json.RawMessage(`{"a": "<ü>", "id": 3}`)}})
	add(t, l, Event{Type: "note", Time: at})
	if out.Cursor != 1 || out.Seq != 1 {
		t.Errorf("numbers %d %d, want 1 1", out.Cursor, out.Seq)
	}
	r := l.Follow(0)
	want := `{"cursor":"e1","type":"hook","session":"alpha","id":"01J","seq":1,"time":"2026-11-20T15:04:05.123Z","event":"Stop","payload":{"a":"<ü>","id":3},"cause_record":7}`
	first := next(t, r)
	if got := string(first.Raw); got != want {
		t.Errorf("line\n got %s\nwant %s", got, want)
	}
	want = `{"cursor":"e2","type":"note","session":null,"id":null,"seq":null,"time":"2026-11-20T15:04:05.123Z"}`
	if got := string(next(t, r).Raw); got != want {
		t.Errorf("line\n got %s\nwant %s", got, want)
	}
	closeLog(t, l)
	back := open(t, l.dir, Options{})
	again := next(t, back.Follow(0))
	if !again.Time.Equal(first.Time) || again.Cause != 7 || again.ID != "01J" || !bytes.Equal(again.Raw, first.Raw) {
		t.Errorf("read back %+v, want %+v", again, first)
	}
}

func TestDataMustBeAnObjectWithFieldsOfItsOwn(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	bad := []any{[]int{1}, "text", 7, map[string]any{"seq": 1}, map[string]any{"a": 1, "cause_record": 2}, func() {}}
	for _, data := range bad {
		if _, err := l.Append(Event{Type: "x", Data: data}); err == nil {
			t.Errorf("data %#v was taken", data)
		}
	}
	good := []any{nil, struct{}{}, map[string]any{"a": map[string]any{"id": 1}, "b": []string{"seq"}, "c": "time"}, (*struct{})(nil)}
	for _, data := range good {
		if _, err := l.Append(Event{Type: "x", Data: data}); err != nil {
			t.Errorf("data %#v: %v", data, err)
		}
	}
	if _, err := l.Append(Event{}); err == nil {
		t.Error("an event without a type was taken")
	}
	if got := l.Head(); got != uint64(len(good)) {
		t.Errorf("head %d: a refused event took a number", got)
	}
}

func TestNumbersGoOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	for life := range 5 {
		l := open(t, dir, Options{SegmentBytes: 2000})
		for _, id := range []string{"A", "B"} {
			if got := l.LastSeq(id); got != uint64(life*20) {
				t.Fatalf("life %d: last seq of %s %d", life, id, got)
			}
			if got := l.LastCause(id); got != uint64(life*20) {
				t.Fatalf("life %d: last cause of %s %d", life, id, got)
			}
		}
		for range 20 {
			fill(t, l, "A", 1)
			fill(t, l, "B", 1)
		}
		if got := l.Head(); got != uint64(life+1)*40 {
			t.Fatalf("life %d: head %d", life, got)
		}
		lines := rest(t, l, l.Follow(0))
		seqs := map[string]uint64{}
		for i, line := range lines {
			seqs[line.ID]++
			if line.Cursor != uint64(i+1) || line.Seq != seqs[line.ID] {
				t.Fatalf("line %d: %s", i, line.Raw)
			}
		}
		closeLog(t, l)
	}
}

func TestOpenNeedsNoHeadsAndMendsThem(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 1500})
	fill(t, l, "A", 100)
	closeLog(t, l)
	heads, _ := filepath.Glob(filepath.Join(dir, "*"+headsEnding))
	for i, name := range heads {
		if i%2 == 0 {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(name, []byte(`{"version":1,"cur`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir, Options{SegmentBytes: 1500})
	if l.LastSeq("A") != 100 || l.LastCause("A") != 100 || l.Head() != 100 {
		t.Errorf("seq %d cause %d head %d, want 100 each", l.LastSeq("A"), l.LastCause("A"), l.Head())
	}
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	segments, headed, err := list(dir)
	if err != nil || len(headed) != len(segments)-1 {
		t.Errorf("%d heads for %d segments (%v), want all but the first's", len(headed), len(segments), err)
	}
}

func TestRetentionTellsWhatIsGoneAndForgetsNoNumber(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	o := Options{SegmentBytes: 1000, MaxBytes: 4000, MaxAge: time.Hour, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}
	l := open(t, dir, o)
	fill(t, l, "OLD", 3)
	l.Forget("OLD")
	fill(t, l, "KEPT", 3)
	early := l.Follow(0)
	if line := next(t, early); line.Cursor != 1 {
		t.Fatalf("first %s", line.Raw)
	}
	fill(t, l, "A", 3000) // more than memory holds
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.Bytes > 4000+1000 || s.First == 1 || s.Failing {
		t.Errorf("stats %+v", s)
	}
	first := l.Stats().First
	for name, r := range map[string]*Reader{"a reader that paused": early, "a new one": l.Follow(1)} {
		line := next(t, r)
		if line.Type != TypeGap || line.From != 2 || line.Cursor < 1000 || line.Cursor >= first && line.Cursor > 3006-tailEvents {
			t.Errorf("%s: %s (files from %d)", name, line.Raw, first)
		}
		if following := next(t, r); following.Cursor != line.Cursor+1 || following.Type == TypeGap {
			t.Errorf("%s: then %s", name, following.Raw)
		}
	}
	closeLog(t, l)

	l = open(t, dir, o)
	line := next(t, l.Follow(0))
	if line.Type != TypeGap || line.From != 1 || line.Cursor != first-1 || !bytes.Contains(line.Raw, []byte(whyRetention)) {
		t.Errorf("after a restart: %s, files from %d", line.Raw, first)
	}
	seq := next(t, l.FollowSession("A", 5))
	if seq.Type != TypeGap || seq.ID != "A" || !bytes.Contains(seq.Raw, []byte(`"from_seq":6`)) {
		t.Errorf("by session: %s", seq.Raw)
	}
	if _, err := l.ReadBack(t.Context(), "A", 5); !errors.Is(err, ErrGone) {
		t.Errorf("read back an old event: %v", err)
	}
	if _, err := l.ReadBack(t.Context(), "A", 3001); !errors.Is(err, ErrNotFound) {
		t.Errorf("read back one that is not yet: %v", err)
	}

	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	if err := l.Prune(); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.First != 3007 || s.Segments != 1 || s.Bytes != 0 {
		t.Errorf("all is too old: %+v", s)
	}
	closeLog(t, l)

	l = open(t, dir, o)
	if l.Head() != 3006 || l.LastSeq("A") != 3000 || l.LastCause("A") != 3000 || l.LastSeq("KEPT") != 3 {
		t.Errorf("head %d A %d/%d KEPT %d", l.Head(), l.LastSeq("A"), l.LastCause("A"), l.LastSeq("KEPT"))
	}
	if l.LastSeq("OLD") != 0 {
		t.Error("a removed session without events is still known")
	}
	if line := next(t, l.Follow(7)); line.Type != TypeGap || line.From != 8 || line.Cursor != 3006 {
		t.Errorf("all gone: %s", line.Raw)
	}
	if out := add(t, l, Event{Type: "x", ID: "A"}); out.Cursor != 3007 || out.Seq != 3001 {
		t.Errorf("goes on with %d %d", out.Cursor, out.Seq)
	}
}

func TestReadersOfEveryPositionGetTheRestOnce(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 100 << 10})
	for i := range 4000 {
		data := map[string]any{"n": i}
		if i%97 == 0 {
			data["long"] = strings.Repeat("x", rand.IntN(200<<10))
		}
		add(t, l, Event{Type: "x", ID: fmt.Sprint(i % 3), Data: data})
	}
	check := func(l *Log) {
		for range 40 {
			since := rand.Uint64N(4001)
			want := since
			for _, line := range rest(t, l, l.Follow(since)) {
				want++
				if line.Cursor != want || line.Type == TypeGap {
					t.Fatalf("since %d: %d instead of %d", since, line.Cursor, want)
				}
			}
			if want != 4000 {
				t.Fatalf("since %d: ended at %d", since, want)
			}
			seq := rand.Uint64N(1330) // of 1333
			for _, line := range rest(t, l, l.FollowSession("1", seq))[:3] {
				seq++
				if line.Seq != seq || line.ID != "1" || line.Type == TypeGap {
					t.Fatalf("by session: %d instead of %d", line.Seq, seq)
				}
			}
			if line, err := l.ReadBack(t.Context(), "1", seq); err != nil || line.Seq != seq || line.ID != "1" {
				t.Fatalf("read back %d: %v %v", seq, line, err)
			}
		}
	}
	check(l)
	closeLog(t, l)
	check(open(t, dir, Options{}))
}

func TestWritersAndReadersAtOnce(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 20 << 10})
	const writers, each = 4, 1500
	var group sync.WaitGroup
	for reader := range 8 {
		group.Go(func() {
			r := l.Follow(0)
			seqs := map[string]uint64{}
			for want := uint64(1); want <= writers*each; want++ {
				line, err := r.Next(t.Context())
				seqs[line.ID]++
				if err != nil || line.Cursor != want || line.Seq != seqs[line.ID] {
					t.Errorf("got %s (%v), want cursor %d", line.Raw, err, want)
					return
				}
				if reader < 2 && want%100 == 0 { // falls behind now and then; it polls because nothing announces the head, until the test ends
					for l.Head() < min(want+1100, writers*each) && t.Context().Err() == nil {
						time.Sleep(time.Millisecond)
					}
				}
			}
		})
	}
	for w := range writers {
		group.Go(func() {
			for range each {
				if _, err := l.Append(Event{Type: "x", ID: fmt.Sprint(w), Data: map[string]int{"w": w}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestCloseGivesReadersTheRestAndEndsThem(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	fill(t, l, "A", 5)
	r, waiting := l.Follow(3), l.Follow(5)
	ended := make(chan error, 1)
	go func() {
		_, err := waiting.Next(context.Background())
		ended <- err
	}()
	closeLog(t, l)
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("a waiting reader: %v", err)
	}
	if a, b := next(t, r), next(t, r); a.Cursor != 4 || b.Cursor != 5 {
		t.Errorf("got %d %d", a.Cursor, b.Cursor)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("at the end: %v", err)
	}
	if _, err := l.Append(Event{Type: "x"}); !errors.Is(err, ErrClosed) {
		t.Errorf("append: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Follow(0).Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTheLogPrunesItself(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 1000, MaxBytes: 5000})
	fill(t, l, "A", 500)
	until(t, "old segments are deleted", func() bool {
		s := l.Stats()
		return s.Bytes <= 5000 && s.First > 400
	})
	until(t, "and so are their heads", func() bool {
		names, err := filepath.Glob(filepath.Join(l.dir, "*"))
		return err == nil && len(names) <= 2*l.Stats().Segments+1
	})
}
