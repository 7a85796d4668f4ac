package events

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATornLineIsCutAndSaid(t *testing.T) {
	whole := `{"cursor":"e4","type":"state_change","session":"s-A","id":"A","seq":4,"time":"2026-01-01T00:00:00.000Z","cause_record":4}`
	tests := []struct {
		name, tail string
		gap        uint64 // the cursor that is said to be gone, 0 for none
		seq        uint64 // of the next event
	}{
		{"nothing of the cursor", `{"cursor":"e4`, 0, 4},
		{"one byte", `{`, 0, 4},
		{"cursor alone", whole[:20], 4, 4},
		{"up to the id", whole[:70], 4, 5},
		{"all but the newline", whole, 4, 5},
		{"a batch without its end", whole + " \n", 4, 5},
		{"garbage with a newline", "\x00\x00\n", 4, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, Options{})
			fill(t, l, "A", 3)
			closeLog(t, l)
			appendTo(t, onlyFile(t, dir), tt.tail)
			for range 2 { // said once, and the same after another restart
				l = open(t, dir, Options{})
				if got := l.LastCause("A"); got != 3 {
					t.Errorf("cause %d, want 3", got)
				}
				lines := rest(t, l, l.Follow(3))
				if tt.gap == 0 && len(lines) != 0 {
					t.Errorf("lines %s, want none", lines[0].Raw)
				}
				if tt.gap != 0 && (len(lines) != 1 || lines[0].Type != TypeGap || lines[0].From != 4 || lines[0].Cursor != tt.gap) {
					t.Errorf("lines %v, want one gap at %d", lines, tt.gap)
				}
				closeLog(t, l)
			}
			l = open(t, dir, Options{})
			out := add(t, l, Event{Type: "x", ID: "A"})
			if out.Seq != tt.seq || out.Cursor != max(tt.gap, 3)+1 {
				t.Errorf("goes on with cursor %d seq %d, want seq %d", out.Cursor, out.Seq, tt.seq)
			}
		})
	}
}

func appendTo(t testing.TB, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedLineIsSkippedWithAGap(t *testing.T) {
	for _, wound := range []string{"zero the line", "cut the end of the object", "number far off"} {
		t.Run(wound, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, Options{})
			fill(t, l, "A", 9)
			closeLog(t, l)
			b, err := os.ReadFile(onlyFile(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(b, []byte("\n"))
			switch wound {
			case "zero the line":
				for i := range lines[4][:len(lines[4])-1] {
					lines[4][i] = 0
				}
			case "cut the end of the object":
				lines[4][len(lines[4])-2] = 'x'
			case "number far off":
				lines[4] = bytes.Replace(lines[4], []byte("e5"), []byte("x5"), 1)
			}
			if err := os.WriteFile(onlyFile(t, dir), bytes.Join(lines, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			l = open(t, dir, Options{})
			var got []string
			for _, line := range rest(t, l, l.Follow(2)) {
				got = append(got, fmt.Sprintf("%s %d", line.Type, line.Cursor))
			}
			want := "state_change 3,state_change 4,gap 5,state_change 6,state_change 7,state_change 8,state_change 9"
			if s := strings.Join(got, ","); s != want {
				t.Errorf("got %s", s)
			}
			if _, err := l.ReadBack(t.Context(), "A", 5); !errors.Is(err, ErrGone) {
				t.Errorf("read back the damaged event: %v", err)
			}
			if line, err := l.ReadBack(t.Context(), "A", 6); err != nil || line.Cursor != 6 {
				t.Errorf("read back its neighbour: %v %v", line, err)
			}
			seq := rest(t, l, l.FollowSession("A", 3))
			if len(seq) != 6 || seq[1].Type != TypeGap || !bytes.Contains(seq[1].Raw, []byte(`"from_seq":5,"to_seq":5`)) {
				t.Errorf("by session: %d lines, second %s", len(seq), seq[1].Raw)
			}
		})
	}
}

func TestABatchIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, "A", 2)
	batch := []Event{{Type: "hook", ID: "A"}, {Type: "prompt", ID: "A"}, {Type: "state_change", ID: "A", Cause: 3}}
	if _, err := l.AppendAll(batch...); err != nil {
		t.Fatal(err)
	}
	for _, line := range rest(t, l, l.Follow(2)) {
		if line.Raw[len(line.Raw)-1] != '}' {
			t.Errorf("line %q", line.Raw)
		}
	}
	closeLog(t, l)
	name := onlyFile(t, dir)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(b, []byte(`{"cursor":"e3"`))
	for cut := start + 20; cut < len(b); cut += 7 {
		if err := os.WriteFile(name, b[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, Options{})
		lines := rest(t, l, l.Follow(2))
		if len(lines) != 1 || lines[0].Type != TypeGap || l.LastCause("A") != 2 {
			t.Fatalf("cut at %d: %d lines, cause %d", cut, len(lines), l.LastCause("A"))
		}
		closeLog(t, l)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, Options{})
	if lines := rest(t, l, l.Follow(2)); len(lines) != 3 || l.LastCause("A") != 3 || bytes.HasSuffix(lines[0].Raw, []byte(" ")) {
		t.Errorf("whole: %d lines, cause %d", len(lines), l.LastCause("A"))
	}
}

func TestNumbersSeenButNotWrittenAreNotGivenOutAgain(t *testing.T) {
	for _, missing := range []bool{false, true} {
		dir := t.TempDir()
		l := open(t, dir, Options{})
		fill(t, l, "A", 3)
		closeLog(t, l)
		name := filepath.Join(dir, markerName)
		if missing {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(name, []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
		l = open(t, dir, Options{})
		line := next(t, l.Follow(3))
		if line.Type != TypeGap || line.From != 4 || line.Cursor < 3+jumpAtLeast {
			t.Errorf("line %s", line.Raw)
		}
		if bytes.Contains(line.Raw, []byte(`"sessions"`)) {
			t.Error("the gap names sessions to everybody")
		}
		seq := l.LastSeq("A")
		if seq < 3+jumpAtLeast {
			t.Errorf("seq %d", seq)
		}
		closeLog(t, l)
		l = open(t, dir, Options{}) // and that is kept
		if l.Head() != line.Cursor || l.LastSeq("A") != seq || l.LastCause("A") != 3 {
			t.Errorf("head %d, want %d; seq %d, want %d", l.Head(), line.Cursor, l.LastSeq("A"), seq)
		}
		if by := next(t, l.FollowSession("A", 3)); by.Type != TypeGap || by.Seq != seq {
			t.Errorf("by session: %s", by.Raw)
		}
	}
}

// FuzzSegment opens a log whose only segment holds any bytes: it opens, goes on
// with higher numbers, and what is appended is read back.
func FuzzSegment(f *testing.F) {
	good := `{"cursor":"e1","type":"x","session":null,"id":"A","seq":1,"time":"2026-01-01T00:00:00.000Z"}`
	f.Add([]byte(good + "\n"))
	f.Add([]byte(good + " \n" + strings.Replace(good, "e1", "e2", 1)))
	f.Add([]byte(good + "\n{\"cursor\":\"e2\",\"type\":\"gap\",\"session\":null,\"id\":null,\"seq\":null,\"time\":\"2026-01-01T00:00:00.000Z\",\"from\":\"e2\",\"to\":\"e2\",\"why\":\"x\",\"sessions\":{\"A\":{\"seq\":9}}}\n"))
	f.Add([]byte("\x00\n{}\n[1]\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.WriteFile(segmentName(dir, 1), b, 0o600), os.WriteFile(filepath.Join(dir, markerName), []byte("0"), 0o600)); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, Options{})
		head, seq := l.Head(), l.LastSeq("A")
		if head > maxCursor/2 || seq > maxCursor {
			return // damage that looks like the end of all numbers
		}
		rest(t, l, l.Follow(0))
		e := add(t, l, Event{Type: "x", ID: "A"})
		if e.Cursor != head+1 || e.Seq != seq+1 {
			t.Fatalf("numbers %d %d after %d %d", e.Cursor, e.Seq, head, seq)
		}
		closeLog(t, l)
		l = open(t, dir, Options{})
		defer closeLog(t, l)
		lines := rest(t, l, l.Follow(head))
		if l.Head() != e.Cursor || l.LastSeq("A") != e.Seq || len(lines) != 1 || lines[0].Seq != e.Seq {
			t.Fatalf("read back %v at head %d", lines, l.Head())
		}
	})
}
