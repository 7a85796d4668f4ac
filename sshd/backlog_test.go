package sshd

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// unreadBytes is what the server counts for the only caller there is.
func (h *harness) unreadBytes() (sum int64) {
	h.server.shares.mu.Lock()
	defer h.server.shares.mu.Unlock()
	for _, s := range h.server.shares.open {
		sum += s.unread.Load()
	}
	return sum
}

// nothingUnread waits until nothing counts. What packets add to their contents is
// forgotten a moment after the next has come.
func (h *harness) nothingUnread(clients ...*gossh.Client) {
	h.t.Helper()
	eventually(h.t, "nothing counts as unread", func() bool {
		for _, c := range clients {
			if _, _, err := c.SendRequest("any", true, nil); err != nil {
				h.t.Fatal(err)
			}
		}
		return h.unreadBytes() < 64<<10 // what this loop itself sends
	})
}

// holds starts "hold", which reads nothing, on a channel of its own.
func holds(t *testing.T, c *gossh.Client) (in io.WriteCloser) {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start("hold"); err != nil {
		t.Fatal(err)
	}
	return in
}

// Input that no call reads is kept up to the caller's share, over all of its
// connections; then the connection that holds most is ended. Another caller's goes on.
func TestUnreadInput(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, func(op *Options) { op.Limits.ShareUnread = 4 << 20 })
	other := newKey(t, h.dir, "other")
	h.keys.set(other.public(), keys.Identity{Name: "other", Role: keys.Viewer})
	beside, err := h.dial(other)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, beside)
	small, c := h.client(), h.client() // of the same caller
	in := holds(t, small)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var inputs []io.WriteCloser
	for range 4 {
		inputs = append(inputs, holds(t, c))
		if _, err := inputs[len(inputs)-1].Write(make([]byte, 950<<10)); err != nil {
			t.Fatal(err)
		}
	}
	// The one with less passes the bound, and goes on.
	if _, err := in.Write(make([]byte, 600<<10)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bound is passed", func() bool { return h.unreadBytes() > 4<<20 })
	for _, in := range inputs {
		go func() { _, _ = in.Write(make([]byte, 512<<10)) }() // ends with the connection
	}
	receive(t, "the end of the connection", ended)
	for range 6 {
		o.call(t)
	}
	for range 4 {
		if err := receive(t, "the end of a call", o.ends); err != ErrUnread {
			t.Errorf("a call ended with: %v", err)
		}
	}
	for _, c := range []*gossh.Client{small, beside} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.Output("say alive"); err != nil {
			t.Errorf("another connection: %s %v", out, err)
		}
	}
	if n := h.server.Stats().Refused.Unread; n != 1 {
		t.Errorf("%d counted", n)
	}
	eventually(t, "what the ended connection held counts no more", func() bool { return h.unreadBytes() < 1<<20 })
}

// Input of one byte a packet costs the server many times its length. It counts as
// it came over the network.
func TestUnreadInputInSmallPackets(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, func(op *Options) { op.Limits.ShareUnread = 2 << 20 })
	c, beside := h.client(), h.client() // of the same caller, whose share stays
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	in := holds(t, c)
	sent := 0
	for one := []byte{'x'}; sent < 1<<20; sent++ {
		if _, err := in.Write(one); err != nil {
			break
		}
	}
	receive(t, "the end of the connection", ended)
	if sent > 512<<10 {
		t.Errorf("%d bytes were taken", sent)
	}
	h.nothingUnread(beside)
}

// A call that takes no input has it thrown away; so has data of the extended kind.
func TestInputThatNothingReads(t *testing.T) {
	serve := func(ctx context.Context, c *Session) int {
		c.Input.Discard()
		<-ctx.Done()
		return 0
	}
	h := start(t, serve, func(op *Options) { op.Limits.ShareUnread = 512 << 10 })
	c := h.client()
	channel, requests, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go gossh.DiscardRequests(requests)
	if _, err := channel.SendRequest("exec", true, gossh.Marshal(struct{ Command string }{"stay"})); err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.Writer{channel, channel.Stderr()} {
		// More than the window and the share: it is read.
		if _, err := w.Write(make([]byte, 3<<20)); err != nil {
			t.Fatal(err)
		}
	}
	h.nothingUnread(c)
}

// Input that is read late comes whole, and counts no more when it has.
func TestInputReadLate(t *testing.T) {
	const size = 6 << 20
	begin := make(chan struct{})
	got := make(chan int64, 1)
	h := start(t, func(_ context.Context, c *Session) int {
		<-begin
		n, _ := io.Copy(io.Discard, c.Input)
		got <- n
		return 0
	})
	c := h.client()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdin = strings.NewReader(strings.Repeat("x", size))
	if err := s.Start("x"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the window is full", func() bool { return h.unreadBytes() >= 1<<20 })
	close(begin)
	if n := receive(t, "the input", got); n != size {
		t.Errorf("%d bytes of %d", n, size)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	h.nothingUnread(c)
}

// Standard input that verbs gather counts against their caller until they end.
func TestGatheredInput(t *testing.T) {
	failed := make(chan error, 4)
	h := start(t, func(ctx context.Context, c *Session) int {
		_, err := io.Copy(io.Discard, c.Stdin)
		failed <- err
		<-ctx.Done()
		return 0
	}, func(op *Options) { op.Limits.ShareUnread = 1 << 20 })
	c, beside := h.client(), h.client() // of the same caller, whose share stays
	for _, in := range []io.WriteCloser{holds(t, c), holds(t, c)} {
		go func() { _, _ = in.Write(make([]byte, 600<<10)) }() // ends with the connection
	}
	if err := receive(t, "one is refused", failed); err == nil || !strings.Contains(err.Error(), "more than 1 MiB of unused standard input") {
		t.Errorf("%v", err)
	}
	c.Close()
	h.nothingUnread(beside)
}

// All channels of a caller count together, over its connections.
func TestChannelsOfOneCaller(t *testing.T) {
	h := start(t, newHolding().serve, func(op *Options) { op.Limits.ShareChannels = 3 })
	first, second := h.client(), h.client()
	holds(t, first)
	holds(t, first)
	in := holds(t, second)
	if _, err := second.NewSession(); err == nil || !strings.Contains(err.Error(), "you already have 3 channels open") {
		t.Errorf("a fourth channel: %v", err)
	}
	in.Close()
	first.Close()
	eventually(t, "there is room again", func() bool { _, err := second.NewSession(); return err == nil })
}

// Before its login a client may send neither a large packet nor much in small ones,
// before the key exchange and after it.
func TestBytesBeforeLogin(t *testing.T) {
	h := start(t, newHolding().serve)
	large := make([]byte, 4+200_000)
	binary.BigEndian.PutUint32(large, 200_000)
	ignore := func() []byte { // a packet in the clear that is passed over
		p := make([]byte, 4+1+1+4+1006+4)
		binary.BigEndian.PutUint32(p, uint32(len(p)-4))
		p[4], p[5] = 4, 2
		binary.BigEndian.PutUint32(p[6:], 1006)
		return p
	}
	for name, send := range map[string]func(net.Conn) error{
		"a large packet": func(c net.Conn) error { _, err := c.Write(large[:50_000]); return err },
		"many packets": func(c net.Conn) (err error) {
			for range 100 {
				if _, err = c.Write(ignore()); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		c, err := net.Dial("tcp", h.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "SSH-2.0-x\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = send(c)                                            // the server may have hung up within it
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // far below the grace
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the connection stays", name)
		}
	}
	// The same after the key exchange: the key's callback runs behind it.
	var wire net.Conn
	config := h.clientConfig()
	config.Ciphers = []string{gossh.CipherAES128GCM} // its lengths go in the clear
	ended := make(chan error, 1)
	config.Auth = []gossh.AuthMethod{gossh.PublicKeysCallback(func() ([]gossh.Signer, error) {
		_, _ = wire.Write(large[:50_000])
		_ = wire.SetReadDeadline(time.Now().Add(5 * time.Second))
		return nil, io.ErrUnexpectedEOF
	})}
	wire, err := net.Dial("tcp", h.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	go func() { _, _, _, err := gossh.NewClientConn(wire, "", config); ended <- err }()
	receive(t, "the end of the handshake", ended)
	eventually(t, "the server has hung up", func() bool { return h.server.Stats().Connections == 0 })
}

// stoppable is a connection whose client can stop reading until the test's end.
type stoppable struct {
	net.Conn
	stopped, ended chan struct{}
}

func (s *stoppable) Read(p []byte) (int, error) {
	select {
	case <-s.stopped:
		<-s.ended
		return 0, io.EOF
	default:
		return s.Conn.Read(p)
	}
}

// A client that does not read the answers is cut off when many channels wait to be
// refused: each is a goroutine. The client's buffer stays as it is: one made smaller than
// the window that it has offered drops what comes, and with it acknowledgements, so that
// what it opens waits for retransmissions.
func TestOpensWhoseAnswersAreNotRead(t *testing.T) {
	begun, flood := make(chan struct{}, 8), make(chan struct{})
	h := start(t, func(_ context.Context, c *Session) int {
		begun <- struct{}{}
		<-flood
		for {
			if _, err := c.Write(make([]byte, 32<<10)); err != nil {
				return 0
			}
		}
	}, func(op *Options) { op.Limits.Channels = 8 })
	plain, err := net.Dial("tcp", h.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	wire := &stoppable{Conn: plain, stopped: make(chan struct{}), ended: make(chan struct{})}
	defer close(wire.ended)
	conn, chans, requests, err := gossh.NewClientConn(wire, "", h.clientConfig())
	if err != nil {
		t.Fatal(err)
	}
	c := gossh.NewClient(conn, chans, requests)
	for range 8 { // 2 MiB each: more than the network holds
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start("flood"); err != nil {
			t.Fatal(err)
		}
		receive(t, "a call", begun)
	}
	close(wire.stopped)
	close(flood)
	eventually(t, "the connection is cut off", func() bool {
		for range 8 { // those that come before the network is full are answered
			go func() { _, _, _ = c.OpenChannel("nonsense", nil) }() // ends with the connection
		}
		return h.server.Stats().Connections == 0
	})
}
