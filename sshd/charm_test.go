package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// held starts "hold" on a channel of its own and gives its session.
func (o *holding) held(t testing.TB, c *gossh.Client, prepare ...func(*gossh.Session)) (*gossh.Session, *Session) {
	t.Helper()
	client := newSession(t, c)
	for _, f := range prepare {
		f(client)
	}
	if err := client.Start("hold"); err != nil {
		t.Fatal(err)
	}
	return client, o.call(t)
}

// The words are the verbs' words: nothing is lost of a line that no shell would read.
func TestCommandIsWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{`["ls","a b",""]`, []string{"ls", "a b", ""}},
		{`[]`, nil},
		{`["ls",1]`, []string{"[ls,1]"}},
		{`["ls",null]`, []string{"[ls,null]"}},
		{`["ls"] x`, []string{"[ls]", "x"}},
		{`ls`, []string{"ls"}},
		{`nudge alpha 'two  words' "" $HOME`, []string{"nudge", "alpha", "two  words", "", "$HOME"}},
		{`nudge alpha it's`, []string{`nudge alpha it's`}},
		{``, nil},
	} {
		s := &Session{command: c.line}
		if got := s.Command(); !slices.Equal(got, c.want) || s.RawCommand() != c.line {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

func TestEnvironIsSorted(t *testing.T) {
	s := &Session{env: map[string]string{"LC_ALL": "C", "COLORTERM": "truecolor", "LANG": ""}}
	if got := s.Environ(); !slices.Equal(got, []string{"COLORTERM=truecolor", "LANG=", "LC_ALL=C"}) {
		t.Errorf("%q", got)
	}
	if got := (&Session{}).Environ(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// A session says who is there as charm.land/ssh does, but for rights.
func TestWhoIsThere(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	_, s := o.held(t, h.client())
	if s.User() != "agents" || s.Subsystem() != "" || !ssh.KeysEqual(s.PublicKey(), h.admin.public()) {
		t.Errorf("user %q, subsystem %q, key %v", s.User(), s.Subsystem(), s.PublicKey())
	}
	if p := s.Permissions(); p.Permissions == nil || p.Extensions[provenKey] != string(h.admin.public().Marshal()) {
		t.Errorf("%+v", p)
	}
	ctx := s.Context()
	if ctx.User() != "agents" || ctx.RemoteAddr().String() != s.RemoteAddr().String() || s.LocalAddr().String() != h.server.Addr().String() || ctx.LocalAddr().String() != s.LocalAddr().String() {
		t.Errorf("%q, %v to %v", ctx.User(), ctx.RemoteAddr(), s.LocalAddr())
	}
	for _, a := range []net.Addr{s.LocalAddr(), ctx.LocalAddr(), s.RemoteAddr()} {
		if _, plain := a.(*net.TCPAddr); !plain {
			t.Errorf("the address is a %T", a)
		}
	}
	if _, ok := ctx.Value(ssh.ContextKeyConn).(*gossh.ServerConn); !ok {
		t.Error("the context does not have the connection's values")
	}
	if _, windows, ok := s.Pty(); ok || windows != nil || s.EmulatedPty() {
		t.Error("there is a terminal")
	}
	if n, err := s.Stderr().Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("standard error gives %d bytes, %v", n, err)
	}
}

// Trap 2: a context is its session's alone: its end, its cause, and what is set on it.
func TestContextOfASession(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	c := h.client()
	client, first := o.held(t, c)
	_, second := o.held(t, c)
	first.Context().SetValue("mine", 1)
	if first.Context().Value("mine") != 1 || second.Context().Value("mine") != nil {
		t.Error("a value that was set is seen in another session")
	}
	if Of(first) != first || Of(second) != second || Of(wrapped{first}) != first {
		t.Error("a context gives another session")
	}
	child, cancel := context.WithTimeout(first.Context(), time.Minute)
	defer cancel()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	receive(t, "the end of a context that was made of it", child.Done())
	if err := context.Cause(child); !errors.Is(err, ErrChannelClosed) {
		t.Errorf("cause %v", err)
	}
	if err := second.Context().Err(); err != nil {
		t.Errorf("the other session's context: %v", err)
	}
}

// wrapped is a session as a middleware may hand it on.
type wrapped struct{ ssh.Session }

// The last size waits to be read, and the channel ends after the context.
func TestPtyOfASession(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	client, s := o.held(t, h.client(), func(c *gossh.Session) {
		if err := c.RequestPty("xterm", 24, 80, gossh.TerminalModes{gossh.ECHO: 0}); err != nil {
			t.Fatal(err)
		}
	})
	p, windows, ok := s.Pty()
	if !ok || p.Term != "xterm" || p.Window != (ssh.Window{Width: 80, Height: 24}) || !s.EmulatedPty() {
		t.Fatalf("%+v, %v", p, ok)
	}
	if w := receive(t, "the first size", windows); w != p.Window {
		t.Errorf("the first size is %+v", w)
	}
	for i := range 60 {
		if err := client.WindowChange(30, 100+i); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the last size is known", func() bool { p, _, _ := s.Pty(); return p.Window.Width == 159 })
	last := ssh.Window{Width: 159, Height: 30}
	eventually(t, "the last size is sent", func() bool { return receive(t, "a size", windows) == last })
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if _, more := <-windows; more || s.Context().Err() == nil {
		t.Errorf("after the end: a size %v, context %v", more, s.Context().Err())
	}
}

// The first exit status counts, and the session is over with it.
func TestExitOfASession(t *testing.T) {
	exits := make(chan error, 2)
	h := start(t, func(ctx context.Context, s *Session) int {
		io.WriteString(s, "out")
		io.WriteString(s.Stderr(), "err")
		exits <- s.Exit(3)
		exits <- s.Exit(4)
		if ctx.Err() == nil {
			t.Error("the context goes on")
		}
		if _, err := io.WriteString(s, "more"); err == nil {
			t.Error("more can be written")
		}
		return 5
	})
	if r := h.ssh("", "a@127.0.0.1", "x"); r.status != 3 || r.out != "out" || r.err != "err" {
		t.Errorf("%+v", r)
	}
	if first, second := <-exits, <-exits; first != nil || !errors.Is(second, errExited) {
		t.Errorf("%v, then %v", first, second)
	}
}

// Signals go to the channel that was given last, those first that waited.
func TestSignalsOfASession(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	client, s := o.held(t, h.client())
	send := func(list ...gossh.Signal) {
		for _, signal := range list {
			if err := client.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(gossh.SIGINT, gossh.SIGHUP)
	first, second := make(chan ssh.Signal), make(chan ssh.Signal)
	s.Signals(first)
	for _, want := range []ssh.Signal{ssh.SIGINT, ssh.SIGHUP} {
		if got := receive(t, "a signal", first); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	s.Signals(second)
	send(gossh.SIGUSR1)
	if got := receive(t, "a signal", second); got != ssh.SIGUSR1 {
		t.Errorf("%s", got)
	}
	s.Signals(nil)
	send(gossh.SIGUSR2)
	eventually(t, "a signal waits", func() bool { return len(s.signals) == 1 })
}

// TestSignalsChangeHands: a signal that one channel's reader didn't take goes to the next one.
func TestSignalsChangeHands(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	client, s := o.held(t, h.client())
	for range 50 {
		s.Signals(make(chan ssh.Signal)) // no one reads it
		if err := client.Signal(gossh.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		next := make(chan ssh.Signal)
		s.Signals(next)
		if got := receive(t, "a signal", next); got != ssh.SIGUSR1 {
			t.Errorf("%s", got)
		}
		s.Signals(nil)
	}
}

// A break is answered yes only where it is waited for, and stalls nothing.
func TestBreakOfASession(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	client, s := o.held(t, h.client())
	sent := func() bool {
		ok, err := client.SendRequest("break", true, gossh.Marshal(struct{ Length uint32 }{500}))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if sent() {
		t.Error("a break that is not waited for is taken")
	}
	breaks := make(chan bool, 1)
	s.Break(breaks)
	if !sent() || sent() || !<-breaks {
		t.Error("one break is taken, the next has no room")
	}
	s.Break(nil)
	if sent() {
		t.Error("a break is taken after nil")
	}
}

// What is sent and what ends the output comes after what was written.
func TestOutputGoesFirst(t *testing.T) {
	h := start(t, func(_ context.Context, s *Session) int {
		for range 100 {
			io.WriteString(s, "0123456789")
		}
		if err := s.CloseWrite(); err != nil {
			t.Error(err)
		}
		return 0
	})
	client := newSession(t, h.client())
	if out, err := client.Output("x"); err != nil || len(out) != 1000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
