package terminal

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func write(cols, rows int, s string) *Terminal {
	t := New(Options{Cols: cols, Rows: rows, Scrollback: 100, Now: fixedClock})
	t.Write([]byte(s))
	return t
}

func TestSnapshotsShareUnchangedRows(t *testing.T) {
	term := write(40, 5, "one\r\ntwo\r\nthree\r\nfour\r\nfive")
	a := term.Snapshot(0)
	term.Write([]byte("\x1b[2;1Hchanged"))
	b := term.Snapshot(0)
	for y := range a.Lines {
		if same := a.Lines[y] == b.Lines[y]; same != (y != 1) {
			t.Errorf("row %d: identical is %v", y, same)
		}
	}
	if a.Lines[1].Text() != "two" || b.Lines[1].Text() != "changed" {
		t.Errorf("rows %q and %q", a.Lines[1].Text(), b.Lines[1].Text())
	}
	term.Write([]byte("\x1b[5;1H\r\nsix"))
	c := term.Snapshot(10)
	if c.Lines[0] != b.Lines[1] || len(c.History) != 1 || c.History[0] != b.Lines[0] {
		t.Error("rows that scrolled are not the identical lines")
	}
	if c.Revision <= b.Revision || b.Revision <= a.Revision {
		t.Errorf("revisions %d, %d, %d do not grow", a.Revision, b.Revision, c.Revision)
	}
}

// TestSnapshotsAreReadWhileWriting is for the race detector.
func TestSnapshotsAreReadWhileWriting(t *testing.T) {
	term := New(Options{Cols: 80, Rows: 24, Scrollback: 50})
	var readers sync.WaitGroup
	for i := range 200 {
		term.Write(fmt.Appendf(nil, "line %d \x1b[3%dmred e\u0301 \u4f60\x1b[0m\r\n\x1b[5;5Hx\x1b[24;1H", i, i%8))
		s := term.Snapshot(10)
		readers.Go(func() {
			s.Text()
			for _, l := range append(s.History, s.Lines...) {
				for x := range l.Len() {
					l.Cell(x)
				}
			}
		})
		if i%50 == 49 {
			term.Resize(60+i%40, 20)
		}
	}
	readers.Wait()
}

func TestRevisionStandsStillForQueries(t *testing.T) {
	term := write(40, 5, "text")
	before := term.Revision()
	term.Write([]byte("\x1b[6n\x1b[c\x1b]11;?\x07\x1b[?25$p\x1bP$qm\x1b\\"))
	if term.Revision() != before {
		t.Error("a query changed the revision")
	}
	term.Write([]byte("x"))
	if term.Revision() == before {
		t.Error("a letter did not change the revision")
	}
}

func TestInSync(t *testing.T) {
	now := time.Unix(100, 0)
	term := New(Options{Cols: 40, Rows: 5, Now: func() time.Time { return now }})
	step := func(in string, after time.Duration, want bool) {
		t.Helper()
		term.Write([]byte(in))
		now = now.Add(after)
		if term.InSync() != want {
			t.Errorf("after %q and %v: %v", in, after, !want)
		}
	}
	step("", 0, false)
	step("\x1b[?2026h", 149*time.Millisecond, true)
	step("\x1b[?2026h", time.Millisecond, false) // still the first one, 150 ms old
	step("\x1b[?2026h", 0, true)
	step("frame\x1b[?2026l", 0, false)
}

func TestHandlers(t *testing.T) {
	var got []string
	term := New(Options{Cols: 40, Rows: 5, Handlers: Handlers{
		Title:  func(title string) { got = append(got, "title "+title) },
		Notice: func(n Notice) { got = append(got, fmt.Sprintf("%d %s @%d", n.OSC, n.Payload, n.At)) },
		Reply:  func(reply []byte, at int64) { got = append(got, fmt.Sprintf("%q @%d", reply, at)) },
	}})
	term.SetOffset(1000)
	for _, b := range []byte("\x1b]0;a\u2733b\x1b\\\x07\x1b]7501;x;y\x07\x1b[c\x1b]0;a\u2733b\x07\x1b]9;hi\x07") {
		term.Write([]byte{b})
	}
	want := []string{
		"title a\u2733b", "-1  @1012", "7501 x;y @1023", `"\x1b[?1;2c" @1026`, "9 hi @1043",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestPanicInside begins the screen anew and continues after the byte that hurt.
func TestPanicInside(t *testing.T) {
	var term *Terminal
	term = New(Options{Cols: 20, Rows: 3, Handlers: Handlers{Notice: func(Notice) { panic("a handler's fault") }}})
	term.SetPass(true)
	n, err := term.Write([]byte("before\x07after"))
	if n != 12 || err != nil || term.Panics() != 1 || term.Offset() != 12 {
		t.Fatalf("Write: %d, %v; panics %d, offset %d", n, err, term.Panics(), term.Offset())
	}
	if text := term.Snapshot(0).Text()[0]; text != "after" {
		t.Errorf("row 0 is %q", text)
	}
	viewer := New(Options{Cols: 20, Rows: 3})
	viewer.Write([]byte("before"))
	viewer.Write(term.TakePass())
	if diff := samePicture(viewer.Snapshot(0), term.Snapshot(0)); diff != "" {
		t.Error(diff)
	}
}

func TestStringsEndAtBellOrEscapeBackslashOnly(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]0;\u2733 a\x07":          "\u2733 a", // E2 9C B3: 0x9C is inside
		"\x1b]0;a\x9cb\x07":            "ab",
		"\x1b]0;a\u009cb\x1b\\":        "ab",
		"\x1b]0;lost\x18\x1b]0;b\x07":  "b",
		"\x1b]0;lost\x1a":              "",
		"\x1b]0;lost\x1b[m":            "",
		"\x1bPq\x07\x1b]0;c\x07\x1b\\": "c",
		"\x1b_a\x07\x1b\\\x1b]2;d\x07": "d",
	} {
		term := write(40, 5, in+"!")
		if term.Title() != want || term.Snapshot(0).Text()[0] != "!" {
			t.Errorf("%q: title %q, screen %q", in, term.Title(), term.Snapshot(0).Text()[0])
		}
	}
	long := strings.Repeat("x", maxString+1)
	if term := write(40, 5, "\x1b]0;"+long+"\x07ok"); term.Title() != "" || term.Snapshot(0).Text()[0] != "ok" {
		t.Error("an overlong title was not swallowed")
	}
}

func TestResizeBringsBackHistory(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	term := write(40, 10, b.String()+"$ ")
	term.Resize(40, 20)
	if text := term.Snapshot(0).Text(); text[0] != "line 11" || text[19] != "$" {
		t.Errorf("grown: %q", text)
	}
	term.Resize(40, 5)
	s := term.Snapshot(100)
	if s.Text()[4] != "$" || len(s.History) != 26 || s.History[25].Text() != "line 25" {
		t.Errorf("shrunk: %q, history %d", s.Text(), len(s.History))
	}
}

func TestReflowKeepsText(t *testing.T) {
	paragraph := strings.Repeat("0123456789", 30) + "\u4f60\u597de\u0301"
	term := write(100, 20, paragraph+"\r\nshort\r\n$ ")
	for _, cols := range []int{37, 120, 11, 80, 100} {
		term.Resize(cols, 20)
		s := term.Snapshot(100)
		var joined strings.Builder
		for _, l := range append(s.History, s.Lines...) {
			if l.Wrapped() {
				joined.WriteString(l.Text())
			} else {
				joined.WriteString("\n" + l.Text())
			}
		}
		want := "\n" + paragraph + "\nshort\n$"
		if got := strings.TrimRight(joined.String(), "\n"); got != want {
			t.Fatalf("%d columns: %q", cols, got)
		}
	}
}

func TestANSI(t *testing.T) {
	term := write(40, 3, "a\x1b[1;31mb\x1b[0m c\x1b[44m\x1b[2X\x1b[0m")
	if got := term.Snapshot(0).Lines[0].ANSI(); got != "a\x1b[0;1;31mb\x1b[0m c\x1b[0;44m  \x1b[0m" {
		t.Errorf("%q", got)
	}
}
