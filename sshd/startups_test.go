package sshd

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func startupConn() *connection { return &connection{wire: &wire{}} }

func TestWhoGoesForANewConnection(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	one, two := prefix("10.0.0.1/32"), prefix("10.0.0.2/32")

	s := newStartups(3, 2)
	a, b, c, d := startupConn(), startupConn(), startupConn(), startupConn()
	s.add(a, one, at(0))
	s.exchanged(a) // a person unlocks a key
	s.add(b, one, at(100))
	if v := s.add(c, one, at(5000)); v != b {
		t.Error("the third of one source: the one without key exchange was not the one to go")
	}
	if v := s.add(d, two, at(5001)); v != nil {
		t.Error("a connection was closed although there was room")
	}
	if v := s.add(startupConn(), two, at(5002)); v == nil || v == a {
		t.Error("the fourth of all: not a connection without key exchange")
	}

	// One that has said something stays before one that has not.
	s = newStartups(2, 2)
	s.add(a, one, at(0))
	s.add(b, one, at(0))
	a.wire.heard.Store(1)
	if v := s.add(c, one, at(5000)); v != b {
		t.Error("not the silent one went")
	}

	// With a flood that hangs after the key exchange, a young one that has
	// spoken stays before the old ones of the flood.
	s = newStartups(2, 2)
	s.add(a, one, at(0))
	s.exchanged(a)
	b.wire.heard.Store(1)
	s.add(b, one, at(5000))
	if v := s.add(c, one, at(5001)); v != a {
		t.Error("a login under way went for one that hangs")
	}

	// Among equals the older than a second go first, and any of them may.
	s = newStartups(50, 50)
	old := map[*connection]bool{}
	for i := range 50 {
		c := startupConn()
		old[c] = i < 10
		if i < 10 {
			s.add(c, one, at(0))
		} else {
			s.add(c, one, at(4500))
		}
	}
	for range 10 {
		if v := s.add(startupConn(), one, at(5000)); !old[v] {
			t.Error("a young connection went before an old one")
		}
	}
	if v := s.add(startupConn(), one, at(5000)); v == nil || old[v] {
		t.Error("with only young ones none of them went")
	}
	if len(s.waiting) != 50 || s.sources[one] != 50 || s.takeDropped() != 11 {
		t.Errorf("%d waiting, %d counted", len(s.waiting), s.sources[one])
	}
	for c := range s.waiting {
		s.remove(c)
		s.remove(c)
	}
	if len(s.sources) != 0 {
		t.Errorf("sources left: %v", s.sources)
	}
}

func TestSourceOf(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7/32",
		"::ffff:192.0.2.7":     "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1": "2001:db8:1:2::/64",
	} {
		if got := sourceOf(&net.TCPAddr{IP: net.ParseIP(addr), Port: 1}); got != prefix(want) {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
}

func TestPenalties(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPenalties(Penalties{})
	bad, good, here := clientAt("192.0.2.1"), clientAt("198.51.100.1"), clientAt("127.0.0.1")
	for i := range 3 {
		if p.refuses(bad, now) {
			t.Errorf("refused after %d failures", i)
		}
		p.failed(bad, true, now)
		p.add(here, p.o.Most, now)
	}
	if !p.refuses(bad, now) || p.refuses(good, now) || p.refuses(here, now) {
		t.Error("after three failures")
	}
	now = now.Add(time.Second)
	if p.refuses(bad, now) {
		t.Error("still refused when part of the time has passed")
	}
	for range 1000 {
		p.failed(bad, true, now)
	}
	if now = now.Add(p.o.Most - p.o.From); !p.refuses(bad, now) {
		t.Error("not refused for long")
	}
	if now = now.Add(p.o.From); p.refuses(bad, now) || len(p.until) != 0 {
		t.Error("refused or remembered after the longest time")
	}
	for i := range 2 * penaltySources {
		p.add(&net.TCPAddr{IP: net.IPv4(198, 18, byte(i>>8), byte(i)), Port: 1}, time.Second, now)
	}
	if len(p.until) != penaltySources {
		t.Errorf("%d sources remembered", len(p.until))
	}
}

func clientAt(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }

// Failed logins of a process of this machine, from any of its addresses, lock out neither other local
// callers nor the machine's neighbours; those of a neighbour lock out no local caller.
func TestPenaltiesOfThisMachine(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPenalties(Penalties{})
	p.own = func(a netip.Addr) (bool, error) { return a == netip.MustParseAddr("2001:db8::1"), nil }
	here, neighbour := clientAt("2001:db8::1"), clientAt("2001:db8::2")
	p.add(here, p.o.Most, now)
	if p.refuses(here, now) || p.refuses(neighbour, now) {
		t.Error("a process of this machine made others wait")
	}
	p.add(neighbour, p.o.Most, now)
	if p.refuses(here, now) || !p.refuses(neighbour, now) {
		t.Error("the neighbour's failures")
	}
	p.o.Exempt = []netip.Prefix{prefix("2001:db8::2/128")}
	if p.refuses(neighbour, now) || !p.refuses(here, now) {
		t.Error("with networks that are exempt")
	}
}

func TestBucket(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newBucket(10, 2, now)
	count := func() (n int) {
		for b.take(now) {
			n++
		}
		return n
	}
	if n := count(); n != 20 {
		t.Errorf("%d at first, want 20", n)
	}
	now = now.Add(500 * time.Millisecond)
	if n := count(); n != 5 {
		t.Errorf("%d after half a second, want 5", n)
	}
	now = now.Add(-time.Hour) // a clock set back gives nothing and takes nothing
	if n := count(); n != 0 {
		t.Errorf("%d after the clock went back", n)
	}
	now = now.Add(time.Hour)
	if n := count(); n != 20 {
		t.Errorf("%d after a long time, want 20", n)
	}
}

// silent opens a connection that sends what it is given and no more.
func (h *harness) silent(say string) net.Conn {
	h.t.Helper()
	c, err := net.Dial("tcp", h.server.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, say); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// Connections that hang after the key exchange do not keep a good login out.
func TestHangingConnections(t *testing.T) {
	h := start(t, echo, func(o *Options) {
		o.Limits.LoginGrace = 30 * time.Second
		o.Limits.Startups, o.Limits.StartupsPerSource = 40, 20
	})
	release := make(chan struct{})
	var hanging sync.WaitGroup
	hang := func() {
		config := h.clientConfig()
		config.Auth = []gossh.AuthMethod{gossh.PublicKeysCallback(func() ([]gossh.Signer, error) {
			<-release
			return nil, errors.New("enough")
		})}
		conn := h.silent("")
		hanging.Go(func() {
			if c, _, _, err := gossh.NewClientConn(conn, "x", config); err == nil {
				c.Close()
			}
		})
	}
	for range 40 {
		hang()
	}
	waiting := func() (n, exchanged int) {
		h.server.startups.mu.Lock()
		defer h.server.startups.mu.Unlock()
		for _, u := range h.server.startups.waiting {
			if u.exchanged {
				exchanged++
			}
		}
		return len(h.server.startups.waiting), exchanged
	}
	eventually(t, "all there is room for hang", func() bool { n, exchanged := waiting(); return n == 20 && exchanged == 20 })
	time.Sleep(startupPatience) // until they are old
	for range 10 {
		hang()
		if r := h.ssh("", "a@127.0.0.1", "say"); r.status != 0 {
			t.Errorf("a good login: %+v", r)
		}
		hang()
	}
	close(release)
	hanging.Wait()
}

// Trap 13: connections that never log in do not keep a good login out, and
// are cut at the grace limit.
func TestSilentConnections(t *testing.T) {
	const grace = 3 * time.Second
	h := start(t, echo, func(o *Options) { o.Limits.LoginGrace = grace })
	begin := time.Now()
	var conns []net.Conn
	for i := range 200 {
		conns = append(conns, h.silent([]string{"", "SSH-2.0-x\r\n", "SSH-2.0-x\r\n\x00\x00\x01"}[i%3]))
	}
	for range 3 {
		if r := h.ssh("", "a@127.0.0.1", "say"); r.status != 0 {
			t.Fatalf("a good login: %+v", r)
		}
	}
	// The flood goes on while others log in.
	stop := make(chan struct{})
	var flood sync.WaitGroup
	flood.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
			if c, err := net.Dial("tcp", h.server.Addr().String()); err == nil {
				t.Cleanup(func() { c.Close() })
			}
		}
	})
	for range 10 {
		if r := h.ssh("", "a@127.0.0.1", "say"); r.status != 0 {
			t.Errorf("a good login in a flood: %+v", r)
		}
	}
	close(stop)
	flood.Wait()
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(grace + 5*time.Second))
		_, err := io.Copy(io.Discard, c)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("connection %d is still open after %v", i, time.Since(begin))
		}
	}
	if took := time.Since(begin); took > grace+3*time.Second {
		t.Errorf("all cut only after %v", took)
	}
	eventually(t, "nothing of them is left", func() bool {
		h.server.startups.mu.Lock()
		defer h.server.startups.mu.Unlock()
		return len(h.server.startups.sources) == 0
	})
}
