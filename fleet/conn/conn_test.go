package conn

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"berth/test/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are limits with which a test of a death takes no 15 s.
var quick = Options{Window: 64 << 10, Alive: 100 * time.Millisecond, Silence: 2 * time.Second}

// patience bounds each wait of a test. What a test waits for takes far less.
const patience = 30 * time.Second

func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.ReconnectJitter(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func listenOn(t testing.TB, nc *nats.Conn, member string, o Options) *Listener {
	t.Helper()
	l, err := Listen(nc, member, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return l
}

func dialerOn(t testing.TB, nc *nats.Conn, o Options) *Dialer {
	t.Helper()
	d, err := NewDialer(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// pair is a stream and its two ends.
func pair(t testing.TB, d *Dialer, l *Listener) (gateway, member net.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	gateway, err := d.Dial(ctx, l.member)
	if err != nil {
		t.Fatal(err)
	}
	if member, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return gateway, member
}

// within fails the test unless f returns in the time.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s takes longer than %s", what, limit)
	}
}

// ends reads c to its end and returns why it ended.
func ends(t *testing.T, c net.Conn) (read []byte, err error) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	read, err = io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the stream didn't end")
	}
	return read, err
}

// TestAsANetConn is the Go project's own test of what a net.Conn does.
func TestAsANetConn(t *testing.T) {
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), Options{}), listenOn(t, connect(t, s.ClientURL()), "box2", Options{})
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		c1, c2 = pair(t, d, l)
		return c1, c2, func() { _ = c1.Close(); _ = c2.Close() }, nil
	})
}

// pieces are the sizes of a transfer's writes, from the first again after the last. A write is at least one
// message of NATS, so a transfer has at most a thousand writes of one byte and not a million.
var pieces = slices.Concat(slices.Repeat([]int{1}, 500), []int{
	2, 100, 5000, maxData - 1, maxData, maxData + 1, quick.Window - 1, quick.Window, quick.Window + 1, 3 * quick.Window,
})

func TestEveryByteArrivesInOrder(t *testing.T) {
	const streams = 8
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), quick), listenOn(t, connect(t, s.ClientURL()), "box2", quick)
	var running sync.WaitGroup
	for i := range streams {
		a, b := pair(t, d, l)
		for j, way := range [][2]net.Conn{{a, b}, {b, a}} {
			sent := make([]byte, 1<<20+17)
			_, _ = rand.Read(sent)
			next := (2*i + j) * len(pieces) / (2 * streams) // each direction begins with another piece
			running.Go(func() {
				for rest := sent; len(rest) > 0; next++ {
					n := min(len(rest), pieces[next%len(pieces)])
					if _, err := way[0].Write(rest[:n]); err != nil {
						t.Errorf("write: %v", err)
						return
					}
					rest = rest[n:]
				}
				if err := way[0].(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Errorf("close the direction: %v", err)
				}
			})
			running.Go(func() {
				if got, err := io.ReadAll(way[1]); err != nil || !bytes.Equal(got, sent) {
					t.Errorf("read %d of %d bytes, equal %t: %v", len(got), len(sent), bytes.Equal(got, sent), err)
				}
			})
		}
	}
	within(t, patience, "the transfer", running.Wait)
}

func TestASlowReaderStopsItsWriterAlone(t *testing.T) {
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), quick), listenOn(t, connect(t, s.ClientURL()), "box2", quick)
	slow, slowReader := pair(t, d, l)
	sent := make([]byte, 5*quick.Window)
	_, _ = rand.Read(sent)
	written := make(chan error, 1)
	go func() {
		_, err := slow.Write(sent)
		_ = slow.Close()
		written <- err
	}()
	other, otherReader := pair(t, d, l)
	defer other.Close()
	in := slowReader.(*stream)
	within(t, patience, "filling the window", func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		for in.unread.Len() < quick.Window {
			in.reading.changed.Wait()
		}
	})
	// Ten signs of life later the window is still full, and both streams live.
	echo := make([]byte, 4)
	for range 10 {
		heardBefore := time.Now()
		within(t, patience, "a sign of life", func() {
			for {
				in.mu.Lock()
				heard, kept, err := in.heard, in.unread.Len(), in.err
				in.mu.Unlock()
				if kept > quick.Window || err != nil {
					t.Errorf("%d bytes are kept, error %v", kept, err)
				}
				if heard.After(heardBefore) {
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
		within(t, patience, "the other stream", func() {
			_, _ = other.Write([]byte("ping"))
			_, _ = io.ReadFull(otherReader, echo)
		})
	}
	select {
	case err := <-written:
		t.Fatalf("the writer has returned with %v, and nothing was read", err)
	default:
	}
	got, err := ends(t, slowReader)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("read %d of %d bytes: %v", len(got), len(sent), err)
	}
	if err := <-written; err != nil {
		t.Errorf("the writer: %v", err)
	}
}

func TestAHostThatIsNotThere(t *testing.T) {
	s := cluster.Plain(t, 0)
	d := dialerOn(t, connect(t, s.ClientURL()), Options{})
	within(t, 2*time.Second, "Dial", func() {
		if _, err := d.Dial(context.Background(), "box9"); !errors.Is(err, ErrAbsent) {
			t.Errorf("the error is %v", err)
		}
	})
	for _, name := range []string{"", "a.b", "*", ">", "Box", "-x", "a b"} {
		if _, err := d.Dial(context.Background(), name); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}

// TestAHostThatHangs has a process that reads the question and never answers.
func TestAHostThatHangs(t *testing.T) {
	s := cluster.Plain(t, 0)
	hung := connect(t, s.ClientURL())
	if _, err := hung.Subscribe(subjectOpen("box2"), func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := hung.Flush(); err != nil {
		t.Fatal(err)
	}
	d := dialerOn(t, connect(t, s.ClientURL()), quick)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Dial(ctx, "box2"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline the error is %v", err)
	}
	if _, err := d.Dial(context.Background(), "box2"); !errors.Is(err, ErrSilent) {
		t.Errorf("without one it is %v", err)
	}
	if n := len(d.snapshot()); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestLimits(t *testing.T) {
	s := cluster.Plain(t, 0)
	few := quick
	few.Streams = 2
	d, l := dialerOn(t, connect(t, s.ClientURL()), quick), listenOn(t, connect(t, s.ClientURL()), "box2", few)
	a, _ := pair(t, d, l)
	pair(t, d, l)
	if _, err := d.Dial(context.Background(), "box2"); !errors.Is(err, ErrBusy) {
		t.Errorf("the third stream: %v", err)
	}
	_ = a.Close()
	within(t, patience, "a free place", func() {
		for {
			if _, err := d.Dial(context.Background(), "box2"); err == nil {
				return
			} else if !errors.Is(err, ErrBusy) {
				t.Errorf("after one has ended: %v", err)
				return
			}
			// The member's end is open until its holder closes it, too.
			for _, c := range l.snapshot() {
				if c.finishedByOther() {
					_ = c.Close()
				}
			}
		}
	})
}

func (s *stream) finishedByOther() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished
}
