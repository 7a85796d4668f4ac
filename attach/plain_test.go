package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// page is a writer that can be looked at.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

type reader struct {
	out, err page
	keys     *io.PipeWriter
	clock    *fakeClock
	result   chan error
	cancel   context.CancelFunc
}

func attachPlain(t *testing.T, s *fakeSession, change func(*PlainOptions)) *reader {
	t.Helper()
	in, keys := io.Pipe()
	pump := NewPump(in)
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{keys: keys, clock: newFakeClock(), result: make(chan error, 1), cancel: cancel}
	o := PlainOptions{
		Session: s, In: pump, Out: &r.out, Err: &r.err, MayWrite: true, Identity: "script", Host: "agents@host", Clock: r.clock,
	}
	if change != nil {
		change(&o)
	}
	done := make(chan struct{})
	go func() { defer close(done); r.result <- RunPlain(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		keys.Close()
		in.Close()
		pump.Close()
		<-done
	})
	return r
}

// reads waits until the output is want.
func (r *reader) reads(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() string {
		r.clock.advance(50 * time.Millisecond)
		if got := r.out.String(); got != want {
			return fmt.Sprintf("got %q, want %q", got, want)
		}
		return ""
	})
}

func TestPlain(t *testing.T) {
	s := newFakeSession(20, 6)
	s.write([]byte("\x1b[31mone\x1b[0m\r\ntwo\r\n$ "))
	r := attachPlain(t, s, nil)
	want := "one\ntwo\n$\n"
	r.reads(t, want)
	s.write([]byte("ls\r\nfile\r\n$ "))
	want += "$ ls\nfile\n"
	r.reads(t, want)
	for i := range 30 { // scrolls by
		s.write(fmt.Appendf(nil, "%d\r\n", i))
		if i == 0 {
			want += "$ 0\n"
		} else {
			want += fmt.Sprintf("%d\n", i)
		}
	}
	r.reads(t, want)
	s.write([]byte("a long line that is wrapped twice by the edge\r\n"))
	want += "a long line that is wrapped twice by the edge\n"
	r.reads(t, want)
	s.write([]byte("same\r\nsame\r\n"))
	want += "same\nsame\n"
	r.reads(t, want)
	s.write([]byte("\x1b[?1049h\x1b[2J\x1b[Htop\x1b[3;1Hbelow\x1b[6;1H"))
	want += "top\n\nbelow\n"
	r.reads(t, want)
	s.write([]byte("\x1b[?1049l"))
	s.write([]byte("back\r\n"))
	want += "back\n"
	r.reads(t, want)
	s.write([]byte("no newline"))
	s.finish("exit status 0")
	want += "no newline\n"
	r.reads(t, want)
	if err := <-r.result; !errors.Is(err, ErrEnded) {
		t.Errorf("RunPlain gave %v", err)
	}
	if e := r.err.String(); !strings.Contains(e, "ssh -t agents@host attach alpha") || !strings.Contains(e, "alpha has ended: exit status 0") {
		t.Errorf("beside it: %q", e)
	}
}

func TestPlainTellsNothingTwice(t *testing.T) {
	s := newFakeSession(40, 8)
	s.write([]byte("$ run\r\n"))
	r := attachPlain(t, s, nil)
	want := "$ run\n"
	r.reads(t, want)
	for i := range 20 { // a spinner is not printed
		s.write(fmt.Appendf(nil, "\rworking %c", "|/-\\"[i%4]))
		r.clock.advance(50 * time.Millisecond)
	}
	s.write([]byte("\r\x1b[Kdone\r\n"))
	want += "done\n"
	r.reads(t, want)
	s.resize(30, 10)
	s.write([]byte("after\r\n"))
	want += "after\n"
	r.reads(t, want)
}

func TestPlainJoinsAtAlternate(t *testing.T) {
	s := newFakeSession(40, 4)
	s.write([]byte("h1\r\nh2\r\nh3\r\nh4\r\nh5\r\n\x1b[?1049h\x1b[2J\x1b[Hvim"))
	r := attachPlain(t, s, nil)
	want := "vim\n"
	r.reads(t, want)
	s.resize(30, 4)
	s.write([]byte("\x1b[?1049l"))
	want += "h3\nh4\nh5\n"
	r.reads(t, want)
}

func TestPlainTypes(t *testing.T) {
	s := newFakeSession(40, 8)
	r := attachPlain(t, s, nil)
	io.WriteString(r.keys, "hello wörld\nwith return\r\nlast")
	r.keys.Close()
	eventually(t, func() string {
		if got := s.got(); got != "hello wörld\rwith return\rlast\r" {
			return fmt.Sprintf("typed %q", got)
		}
		return ""
	})
}

func TestPlainViewerIsTold(t *testing.T) {
	s := newFakeSession(40, 8)
	ann := attach(t, s, 40, 8, nil)
	eventually(t, same(ann, s))
	s.written()
	r := attachPlain(t, s, nil)
	io.WriteString(r.keys, "x\n")
	eventually(t, func() string {
		if !strings.Contains(r.err.String(), "not typed: ann is writing") {
			return r.err.String()
		}
		return ""
	})
}

func TestPlainFlood(t *testing.T) {
	s := newFakeSession(40, 8)
	r := attachPlain(t, s, nil)
	s.write([]byte("start\r\n"))
	r.reads(t, "start\n")
	var b bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	s.write(b.Bytes())
	eventually(t, func() string {
		r.clock.advance(50 * time.Millisecond)
		if !strings.Contains(r.out.String(), "line 4999\n") {
			return "the end is missing"
		}
		return ""
	})
	if !strings.Contains(r.err.String(), "lines were skipped") {
		t.Errorf("nothing said: %q", r.err.String())
	}
	if strings.Count(r.out.String(), "line 4990\n") != 1 {
		t.Error("printed more than once")
	}
}
