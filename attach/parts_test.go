package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"berth/terminal"
)

func TestQueue(t *testing.T) {
	q := newQueue(10)
	q.Push([]byte("early"))
	if p, lagged := q.Take(); p != nil || lagged {
		t.Errorf("before Start: %q, %v", p, lagged)
	}
	q.Start()
	q.Push([]byte("abc"))
	q.Push([]byte("def"))
	<-q.Ready()
	if p, lagged := q.Take(); string(p) != "abcdef" || lagged {
		t.Errorf("%q, %v", p, lagged)
	}
	q.Push([]byte("0123456"))
	q.Push([]byte("789ab"))
	if p, lagged := q.Take(); p != nil || !lagged {
		t.Errorf("overflow: %q, %v", p, lagged)
	}
	q.Push([]byte("x"))
	if p, lagged := q.Take(); p != nil || !lagged {
		t.Errorf("after overflow: %q, %v", p, lagged)
	}
	q.Start()
	q.Push([]byte("new"))
	q.Lag()
	<-q.Ready()
	if p, lagged := q.Take(); p != nil || !lagged {
		t.Errorf("Lag: %q, %v", p, lagged)
	}
	q.Start()
	q.Push([]byte("x"))
	q.Stop()
	q.Lag()
	if p, lagged := q.Take(); p != nil || lagged {
		t.Errorf("Stop: %q, %v", p, lagged)
	}
}

func TestPump(t *testing.T) {
	r, w := io.Pipe()
	p := NewPump(r)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	buf := make([]byte, 4)
	if n, err := p.ReadContext(ctx, buf); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %d, %v", n, err)
	}
	go func() {
		w.Write([]byte("abcdef"))
		w.Close()
	}()
	read := func() string {
		n, err := p.ReadContext(context.Background(), buf)
		if err != nil {
			return err.Error()
		}
		return string(buf[:n])
	}
	if got := read(); got != "abcd" {
		t.Error(got)
	}
	p.Unread([]byte("cd"))
	if got := read(); got != "cdef" {
		t.Error(got)
	}
	if got := read(); got != "EOF" {
		t.Error(got)
	}
	p.Close()
}

func TestWithoutMouse(t *testing.T) {
	for in, want := range map[string]string{
		"text":                          "text",
		"a\x1b[?1000hb":                 "ab",
		"\x1b[?25l\x1b[?1003;25;1006hx": "\x1b[?25l\x1b[?25hx",
		"\x1b[?1049h\x1b[?2004h":        "\x1b[?1049h\x1b[?2004h",
		"\x1b[?1J\x1b[?1;1004l":         "\x1b[?1J\x1b[?1l",
	} {
		if got := string(withoutMouse([]byte(in))); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

func TestMoveMouse(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[<0;1;1M":  "\x1b[<0;11;6M",
		"\x1b[<0;60;3m": "\x1b[<0;70;8m",
		"\x1b[<0;71;3m": "",
		"\x1b[32;2;2M":  "\x1b[32;12;7M",
		"\x1b[M !!":     "\x1b[M +&",
		"\x1b[<0;1M":    "",
	} {
		if got := string(moveMouse([]byte(in), 10, 5, 80, 24)); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

func TestCropStays(t *testing.T) {
	var c crop
	at := func(row, col int) string {
		c.follow(terminal.Cursor{Row: row, Col: col, Visible: true}, 120, 40, 60, 20)
		return fmt.Sprint(c.top, c.left)
	}
	for _, step := range []struct {
		row, col int
		want     string
	}{
		{0, 0, "0 0"}, {10, 51, "0 0"}, {10, 52, "0 21"}, {10, 40, "0 21"}, {17, 40, "0 21"}, {18, 40, "1 21"}, {39, 119, "20 60"}, {30, 10, "20 0"},
	} {
		if got := at(step.row, step.col); got != step.want {
			t.Errorf("cursor %d,%d: crop at %s, want %s", step.row, step.col, got, step.want)
		}
	}
}

// TestScrollbackMissesNothing: lines that go by while help is shown are in the
// client's scrollback afterwards, each once.
func TestScrollbackMissesNothing(t *testing.T) {
	s := newFakeSession(60, 10)
	clock := newFakeClock()
	p := attach(t, s, 60, 10, func(o *Options) { o.Clock = clock })
	line := 0
	write := func(n int) {
		for range n {
			s.write(fmt.Appendf(nil, "line %d\r\n", line))
			line++
		}
	}
	write(30)
	eventually(t, same(p, s))
	for range 3 {
		p.press("\x1d?")
		eventually(t, shows(p, "d  detach"))
		write(25)
		p.press("q")
		eventually(t, func() string {
			clock.advance(frameTime)
			return same(p, s)()
		})
		write(7)
		eventually(t, same(p, s))
	}
	got := p.sees()
	var all []string
	for _, l := range append(got.History, got.Lines...) {
		if strings.HasPrefix(l.Text(), "line ") {
			all = append(all, l.Text())
		}
	}
	last := -1
	for _, l := range all {
		n := -1
		fmt.Sscanf(l, "line %d", &n)
		if n != last+1 {
			t.Fatalf("line %d follows line %d", n, last)
		}
		last = n
	}
	if last != line-1 {
		t.Errorf("last is line %d of %d", last, line)
	}
}

func TestPlainTerminalsAreDrawn(t *testing.T) {
	s := newFakeSession(60, 10)
	s.write([]byte("\x1b[38;2;1;2;3mcolour\x1b[0m ─ \x1b[?2004h\x1b[>1u"))
	p := attach(t, s, 60, 10, func(o *Options) {
		o.Term, o.Env = "vt100", map[string]string{"LANG": "C"}
	})
	eventually(t, shows(p, "colour -"))
	p.press("\x1dd")
	if err := p.left(); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, bad := range []string{"\x1b]", "\x1b[38", "\x1b[=", "\x1b[>", "\x1b[<", " q", "\x1b(", "─"} {
		if strings.Contains(string(p.raw), bad) {
			t.Errorf("a vt100 was sent %q", bad)
		}
	}
}

func TestInputEndLeavesPolitely(t *testing.T) {
	s := newFakeSession(80, 24)
	p := attach(t, s, 80, 24, nil)
	eventually(t, same(p, s))
	p.keys.Close()
	if err := p.left(); !errors.Is(err, ErrClientGone) {
		t.Fatalf("Run gave %v", err)
	}
	restored(t, p, "detached from alpha; come back with: ssh -t agents@host attach alpha")
}
