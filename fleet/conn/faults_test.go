package conn

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"berth/test/cluster"
)

// link is a TCP relay to NATS that a test cuts or freezes.
type link struct {
	net.Listener
	to      string
	mu      sync.Mutex
	conns   []net.Conn
	frozen  bool
	running sync.WaitGroup
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{Listener: listener, to: to}
	l.running.Go(l.serve)
	t.Cleanup(func() { _ = listener.Close(); l.cut(); l.running.Wait() })
	return l
}

func (l *link) serve() {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, near, far)
		l.mu.Unlock()
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			l.running.Go(func() {
				buf := make([]byte, 4096)
				for {
					n, err := way[0].Read(buf)
					if err != nil {
						_ = way[1].Close()
						return
					}
					l.mu.Lock()
					frozen := l.frozen
					l.mu.Unlock()
					if !frozen { // frozen: bytes vanish, as on a dead network
						_, _ = way[1].Write(buf[:n])
					}
				}
			})
		}
	}
}

// cut closes every connection of the link; new ones work.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func (l *link) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = true
}

// stream1 writes without end in one direction, and returns what arrived and why each end has ended. It
// calls breakIt once 256 KiB have arrived.
func stream1(t *testing.T, writer, reader net.Conn, breakIt func()) (readErr, writeErr error) {
	t.Helper()
	pattern := make([]byte, 1<<16)
	_, _ = rand.Read(pattern)
	wrote := make(chan error, 1)
	go func() {
		for {
			if _, err := writer.Write(pattern); err != nil {
				wrote <- err
				return
			}
		}
	}()
	got := make([]byte, 4*len(pattern))
	_ = reader.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(reader, got); err != nil {
		t.Fatal(err)
	}
	breakIt()
	rest, readErr := ends(t, reader)
	got = append(got, rest...)
	for i := 0; i < len(got); i += len(pattern) {
		if piece := got[i:min(i+len(pattern), len(got))]; !bytes.Equal(piece, pattern[:len(piece)]) {
			t.Fatalf("of %d bytes that arrived, those from %d on are others than were sent", len(got), i)
		}
	}
	select {
	case writeErr = <-wrote:
	case <-time.After(patience):
		t.Fatal("the writer doesn't end")
	}
	return readErr, writeErr
}

func TestTheServerIsKilled(t *testing.T) {
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), quick), listenOn(t, connect(t, s.ClientURL()), "box2", quick)
	gateway, member := pair(t, d, l)
	readErr, writeErr := stream1(t, gateway, member, s.Shutdown)
	for _, err := range []error{readErr, writeErr} {
		// A server that shuts down can close one end's connection first, and say so to the other.
		if !errors.Is(err, ErrDisconnected) && !errors.Is(err, ErrGone) {
			t.Errorf("an end ends with %v", err)
		}
	}
}

// TestTheLinkBreaks cuts one end's link in the middle of a transfer. NATS connects again at once; the
// stream ends at both ends, and the next one works.
func TestTheLinkBreaks(t *testing.T) {
	for _, whose := range []string{"gateway", "member"} {
		for _, writes := range []string{"gateway", "member"} {
			t.Run(whose+" cut, "+writes+" writes", func(t *testing.T) {
				s := cluster.Plain(t, 0)
				way := newLink(t, s.Addr().String())
				urls := map[string]string{"gateway": s.ClientURL(), "member": s.ClientURL()}
				urls[whose] = "nats://" + way.Addr().String()
				l := listenOn(t, connect(t, urls["member"]), "box2", quick)
				d := dialerOn(t, connect(t, urls["gateway"]), quick)
				gateway, member := pair(t, d, l)
				writer, reader := gateway, member
				if writes == "member" {
					writer, reader = member, gateway
				}
				readErr, writeErr := stream1(t, writer, reader, way.cut)
				if readErr == nil || writeErr == nil {
					t.Errorf("the reader ends with %v, the writer with %v", readErr, writeErr)
				}
				within(t, patience, "the next stream", func() {
					for {
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						next, err := d.Dial(ctx, "box2")
						cancel()
						if err == nil {
							_ = next.Close()
							return
						}
						if !errors.Is(err, ErrDisconnected) && !errors.Is(err, ErrAbsent) && !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("the next stream: %v", err)
						}
					}
				})
			})
		}
	}
}

// TestTheOtherProcessDies closes an end's NATS connection, as the kernel does for a killed process.
func TestTheOtherProcessDies(t *testing.T) {
	s := cluster.Plain(t, 0)
	for _, dies := range []string{"member", "gateway"} {
		t.Run(dies, func(t *testing.T) {
			ncs := map[string]*nats.Conn{"gateway": connect(t, s.ClientURL()), "member": connect(t, s.ClientURL())}
			d, l := dialerOn(t, ncs["gateway"], quick), listenOn(t, ncs["member"], "box2", quick)
			gateway, member := pair(t, d, l)
			left := gateway
			if dies == "gateway" {
				left = member
			}
			ncs[dies].Close()
			if _, err := ends(t, left); !errors.Is(err, ErrGone) {
				t.Errorf("the reader ends with %v", err)
			}
			if _, err := left.Write([]byte("x")); !errors.Is(err, ErrGone) {
				t.Errorf("the writer ends with %v", err)
			}
		})
	}
}

// TestTheNetworkGoesSilent loses every byte of one link and closes nothing.
func TestTheNetworkGoesSilent(t *testing.T) {
	s := cluster.Plain(t, 0)
	way := newLink(t, s.Addr().String())
	l := listenOn(t, connect(t, "nats://"+way.Addr().String()), "box2", quick)
	d := dialerOn(t, connect(t, s.ClientURL()), quick)
	gateway, member := pair(t, d, l)
	way.freeze()
	from := time.Now()
	for _, c := range []net.Conn{gateway, member} {
		if _, err := ends(t, c); !errors.Is(err, ErrSilent) {
			t.Errorf("%s ends with %v", c.LocalAddr(), err)
		}
	}
	if took := time.Since(from); took < quick.Silence/2 {
		t.Errorf("it ended after %s", took)
	}
}

// TestALiar has another end that breaks the rules: the stream ends, and says so.
func TestALiar(t *testing.T) {
	for name, lie := range map[string]struct {
		frames []frame
		err    error
		reads  string
	}{
		"a gap":                 {[]frame{{kindData, 0, []byte("abc")}, {kindData, 4, []byte("e")}}, ErrLost, "abc"},
		"data twice":            {[]frame{{kindData, 0, []byte("abc")}, {kindData, 0, []byte("abc")}}, ErrLost, "abc"},
		"the last frame lost":   {[]frame{{kindData, 0, []byte("abc")}, {kindAlive, 9, nil}}, ErrLost, "abc"},
		"an early end":          {[]frame{{kindData, 0, []byte("abc")}, {kindFinish, 9, nil}}, ErrLost, "abc"},
		"data after the end":    {[]frame{{kindFinish, 0, nil}, {kindData, 0, []byte("abc")}}, nil, ""},
		"more than was granted": {[]frame{{kindData, 0, make([]byte, quick.Window+1)}}, errAny, ""},
		"an open on a stream":   {[]frame{{kindOpen, 0, nil}}, errAny, ""},
		"an unknown frame":      {[]frame{{99, 0, nil}}, errAny, ""},
		"a reset":               {[]frame{{kindData, 0, []byte("abc")}, {kindReset, 0, []byte("enough")}}, ErrReset, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster.Plain(t, 0)
			liar := connect(t, s.ClientURL())
			resets := make(chan string, 8)
			sub, err := liar.Subscribe("berth.to.box2.>", func(m *nats.Msg) {
				f, err := parse(m.Data)
				switch {
				case err != nil:
				case f.kind == kindReset:
					resets <- string(f.data)
				case f.kind == kindOpen:
					for _, f := range append([]frame{{kindAccept, 1 << 20, nil}}, lie.frames...) {
						_ = liar.Publish(m.Reply, f.append(nil))
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Unsubscribe()
			_ = liar.Flush()
			d := dialerOn(t, connect(t, s.ClientURL()), quick)
			c, err := d.Dial(context.Background(), "box2")
			if err != nil {
				t.Fatal(err)
			}
			got, err := ends(t, c)
			if string(got) != lie.reads || (err == nil) != (lie.err == nil) || lie.err != nil && lie.err != errAny && !errors.Is(err, lie.err) {
				t.Errorf("read %q, then %v", got, err)
			}
			if _, err := c.Write([]byte("x")); lie.err != nil && err == nil {
				t.Error("it can still be written")
			}
			if name == "a reset" {
				return
			}
			select {
			case <-resets:
			case <-time.After(patience):
				t.Error("the liar got no reset")
			}
		})
	}
}

var errAny = errors.New("any error")

// TestKeptBytes refuses a NATS connection that sends bytes after a break.
func TestKeptBytes(t *testing.T) {
	s := cluster.Plain(t, 0)
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := NewDialer(nc, Options{}); err == nil {
		t.Error("it was accepted")
	}
}

// TestCloseEndsAll closes both ends with streams that read and write.
func TestCloseEndsAll(t *testing.T) {
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), quick), listenOn(t, connect(t, s.ClientURL()), "box2", quick)
	gateway, member := pair(t, d, l)
	var running sync.WaitGroup
	for _, c := range []net.Conn{gateway, member} {
		running.Go(func() { _, _ = io.Copy(io.Discard, c) })
		running.Go(func() {
			for {
				if _, err := c.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		})
	}
	accepted := make(chan error, 1)
	go func() { _, err := l.Accept(); accepted <- err }()
	if err := errors.Join(l.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	within(t, patience, "the end of all", running.Wait)
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
}
