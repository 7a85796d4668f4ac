package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	ssh "charm.land/ssh"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/conn"
	"berth/fleet/join"
	"berth/keys"
	"berth/sshd"
	"berth/test/cluster"
	"berth/test/signer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// source is who may log in: one key, or passes.
type source struct {
	mu      sync.Mutex
	lookup  func(gossh.PublicKey, time.Time) (keys.Identity, error)
	changes chan struct{}
}

func newSource(f func(gossh.PublicKey, time.Time) (keys.Identity, error)) *source {
	return &source{lookup: f, changes: make(chan struct{})}
}

func (k *source) Lookup(key gossh.PublicKey, _ net.Addr, now time.Time) (keys.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lookup(key, now)
}

func (k *source) Changed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes
}

func (k *source) set(f func(gossh.PublicKey, time.Time) (keys.Identity, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lookup = f
	close(k.changes)
	k.changes = make(chan struct{})
}

func serve(t *testing.T, host gossh.Signer, k sshd.KeySource, handle func(*sshd.Session) int) *sshd.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	server, err := sshd.New(sshd.Options{
		Listen: []string{"127.0.0.1:0"}, HostKeys: []gossh.Signer{host}, Keys: k, Log: log,
		Handler: sshd.Recover(log)(func(s ssh.Session) { one := sshd.Of(s); _ = one.Exit(handle(one)) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server
}

// fleet is a gateway with one person, and the host box2.
type fleet struct {
	*Gateway
	nats   *natsd.Server
	hosts  net.Listener // of box2's streams
	person gossh.Signer
	keys   *source // of the gateway
	edge   *sshd.Server
	seen   chan error // why a relayed session ended, at the gateway
}

func personIs(signer gossh.Signer, role keys.Role) func(gossh.PublicKey, time.Time) (keys.Identity, error) {
	return func(key gossh.PublicKey, _ time.Time) (keys.Identity, error) {
		if string(key.Marshal()) != string(signer.PublicKey().Marshal()) {
			return keys.Identity{}, errors.New("another key")
		}
		return keys.Identity{Kind: keys.KindKey, Name: "ann", Role: role}, nil
	}
}

func connect(t *testing.T, s *natsd.Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.ClientURL(), nats.ReconnectBufSize(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func newFleet(t *testing.T, handle func(*sshd.Session) int) *fleet {
	t.Helper()
	f := &fleet{person: signer.New(t), seen: make(chan error, 16)}
	server := cluster.Plain(t, 0)
	f.nats = server
	ca, host := signer.New(t), signer.New(t)
	rules := keys.PassRules{Authority: ca.PublicKey(), Host: "box2", HostKeys: []gossh.PublicKey{host.PublicKey()}, MaxRole: keys.Operator}
	box2 := connect(t, server)
	var err error
	if f.hosts, err = conn.Listen(box2, "box2", conn.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.hosts.Close() })
	if err := box2.Flush(); err != nil {
		t.Fatal(err)
	}
	none := newSource(func(gossh.PublicKey, time.Time) (keys.Identity, error) { return keys.Identity{}, errors.New("no key") })
	if err := serve(t, host, none, handle).Carry(f.hosts, newSource(rules.Identity)); err != nil {
		t.Fatal(err)
	}
	d, err := conn.NewDialer(connect(t, server), conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	line := string(gossh.MarshalAuthorizedKey(host.PublicKey()))
	f.Gateway = &Gateway{Name: "gw", Key: signer.New(t), Authority: ca, Dial: d.Dial, Now: time.Now, Host: func(name string) (join.Host, error) {
		if name != "box2" && name != "box3" {
			return join.Host{}, fs.ErrNotExist
		}
		return join.Host{Name: name, HostKeys: []string{line}}, nil
	}}
	f.keys = newSource(personIs(f.person, keys.Operator))
	f.edge = serve(t, signer.New(t), f.keys, func(s *sshd.Session) int {
		person := s.Identity()
		client, err := f.Client(s.Context(), s.User(), person) // the test names the host so
		if err != nil {
			fmt.Fprintln(s.Stderr(), err)
			return 12
		}
		status, err := Run(client, s, person, s.RawCommand(), s.Stderr())
		f.seen <- err
		if err != nil {
			fmt.Fprintln(s.Stderr(), err)
			return 12
		}
		return status
	})
	return f
}

// client is a person's connection to the gateway.
func (f *fleet) client(t *testing.T, host string) *gossh.Client {
	t.Helper()
	client, err := gossh.Dial("tcp", f.edge.Addr().String(), &gossh.ClientConfig{User: host, Auth: []gossh.AuthMethod{gossh.PublicKeys(f.person)}, HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (f *fleet) session(t *testing.T, host string) *gossh.Session {
	t.Helper()
	session, err := f.client(t, host).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func get[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %s", what, patience)
	}
	return v
}

// TestRelay runs a command with input, a lot of output, messages and a status.
func TestRelay(t *testing.T) {
	f := newFleet(t, func(s *sshd.Session) int {
		id := s.Identity()
		in, err := io.ReadAll(s.Input)
		fmt.Fprintf(s, "%s|%s|%s|%s|%v|%d", s.RawCommand(), id.Name, id.Role, s.Env()["LANG"], err, len(in))
		_, _ = s.Write(bytes.Repeat([]byte("x"), 2<<20))
		fmt.Fprint(s.Stderr(), "a message")
		return 7
	})
	session := f.session(t, "box2")
	var out, messages bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(strings.Repeat("i", 1<<20)), &out, &messages
	if err := session.Setenv("LANG", "C.UTF-8"); err != nil {
		t.Fatal(err)
	}
	err := session.Run(`nudge alpha "it's"`)
	var exit *gossh.ExitError
	if !errors.As(err, &exit) || exit.ExitStatus() != 7 {
		t.Errorf("the status: %v", err)
	}
	head, rest, _ := strings.Cut(out.String(), "x")
	if want := `nudge alpha "it's"|ann via gw|operator|C.UTF-8|<nil>|1048576`; head != want || len(rest) != 2<<20-1 {
		t.Errorf("it has printed %q and %d bytes more", head, len(rest))
	}
	if messages.String() != "a message" {
		t.Errorf("messages: %q", messages.String())
	}
}

// TestRelayedTerminal has a terminal, a new size, keys and a signal.
func TestRelayedTerminal(t *testing.T) {
	f := newFleet(t, func(s *sshd.Session) int {
		cols, rows := s.Window()
		fmt.Fprintf(s, "%s %dx%d\n", s.Terminal.Term, cols, rows)
		<-s.Resized()
		cols, rows = s.Window()
		fmt.Fprintf(s, "%dx%d\n", cols, rows)
		signals := make(chan ssh.Signal, 1)
		s.Signals(signals)
		fmt.Fprintf(s, "%s\n", <-signals)
		s.Signals(nil)
		_, _ = io.CopyN(s, s.Input, 3)
		return 0
	})
	session := f.session(t, "box2")
	in, _ := session.StdinPipe()
	out, _ := session.StdoutPipe()
	lines := make(chan string)
	go func() {
		defer close(lines)
		b := make([]byte, 100)
		for {
			n, err := out.Read(b)
			if err != nil {
				return
			}
			lines <- string(b[:n])
		}
	}()
	if err := errors.Join(session.RequestPty("xterm-256color", 40, 120, nil), session.Start("attach alpha")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "xterm-256color 120x40\n"},
		{func() error { return session.WindowChange(30, 90) }, "90x30\n"},
		{func() error { return session.Signal(gossh.SIGINT) }, "INT\n"},
		{func() error { _, err := in.Write([]byte("abc")); return err }, "abc"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := get(t, "a line", lines); got != step.want {
			t.Errorf("got %q, wanted %q", got, step.want)
		}
	}
	if err := session.Wait(); err != nil {
		t.Error(err)
	}
}

// TestUnreachable: a host that isn't connected, one that hangs, and one that isn't in the fleet.
func TestUnreachable(t *testing.T) {
	f := newFleet(t, func(*sshd.Session) int { return 0 })
	hung := connect(t, f.nats)
	l, err := conn.Listen(hung, "box3", conn.Options{}) // it accepts no stream, so no byte is answered
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := hung.Flush(); err != nil {
		t.Fatal(err)
	}
	ann := keys.Identity{Kind: keys.KindKey, Name: "ann", Role: keys.Viewer, Fingerprint: gossh.FingerprintSHA256(f.person.PublicKey())}
	from := time.Now()
	if _, err := f.Client(t.Context(), "box3", ann); !errors.Is(err, ErrUnreachable) || time.Since(from) < connectTime {
		t.Errorf("a host that hangs, after %s: %v", time.Since(from), err)
	}
	_ = l.Close()
	if err := hung.Flush(); err != nil { // the NATS server knows that there is no listener any more
		t.Fatal(err)
	}
	if _, err := f.Client(t.Context(), "box3", ann); !errors.Is(err, ErrUnreachable) || !errors.Is(err, conn.ErrAbsent) {
		t.Errorf("a host that isn't connected: %v", err)
	}
	if _, err := f.Client(t.Context(), "box9", ann); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a host of another fleet: %v", err)
	}
}

// TestHostThatAnswersNothing: a host that logs a caller in, and then answers nothing, holds up no caller.
func TestHostThatAnswersNothing(t *testing.T) {
	for name, accepts := range map[string]bool{"no channel": false, "no request": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, func(*sshd.Session) int { return 0 })
			own := signer.New(t)
			f.Gateway.Host = func(name string) (join.Host, error) {
				return join.Host{Name: name, HostKeys: []string{string(gossh.MarshalAuthorizedKey(own.PublicKey()))}}, nil
			}
			nc := connect(t, f.nats)
			l, err := conn.Listen(nc, "box3", conn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			go func() { // until the listener is closed
				config := &gossh.ServerConfig{PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil }}
				config.AddHostKey(own)
				one, err := l.Accept()
				if err != nil {
					return
				}
				_, channels, _, err := gossh.NewServerConn(one, config)
				if err != nil {
					return
				}
				for offered := range channels {
					if accepts {
						_, _, _ = offered.Accept()
					}
				}
			}()
			from := time.Now()
			var messages bytes.Buffer
			session := f.session(t, "box3")
			session.Stderr = &messages
			if err := session.Run("state api"); err == nil || !strings.Contains(messages.String(), ErrUnreachable.Error()) || time.Since(from) < connectTime {
				t.Errorf("after %s: %v, %s", time.Since(from), err, messages.String())
			}
		})
	}
}

// TestAnotherHostKey is a host that isn't the one that joined.
func TestAnotherHostKey(t *testing.T) {
	f := newFleet(t, func(*sshd.Session) int { return 0 })
	f.Gateway.Host = func(name string) (join.Host, error) {
		return join.Host{Name: name, HostKeys: []string{string(gossh.MarshalAuthorizedKey(signer.New(t).PublicKey()))}}, nil
	}
	if _, err := f.Client(t.Context(), "box2", keys.Identity{Kind: keys.KindKey, Name: "ann", Role: keys.Viewer, Fingerprint: gossh.FingerprintSHA256(f.person.PublicKey())}); !errors.Is(err, ErrHostKey) {
		t.Errorf("it was trusted: %v", err)
	}
}

// TestEnds: whichever way the caller's rights or connection end, the host's session does.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end func(*testing.T, *fleet, *gossh.Session, *gossh.Client)
		err error // at the gateway; nil for any
	}{
		"the caller leaves":            {func(_ *testing.T, _ *fleet, _ *gossh.Session, client *gossh.Client) { _ = client.Close() }, nil},
		"the caller closes its window": {func(_ *testing.T, _ *fleet, session *gossh.Session, _ *gossh.Client) { _ = session.Close() }, nil},
		"the key is removed": {func(_ *testing.T, f *fleet, _ *gossh.Session, _ *gossh.Client) {
			f.keys.set(func(gossh.PublicKey, time.Time) (keys.Identity, error) { return keys.Identity{}, errors.New("removed") })
		}, sshd.ErrRevoked},
		"the role is lowered": {func(_ *testing.T, f *fleet, _ *gossh.Session, _ *gossh.Client) {
			f.keys.set(personIs(f.person, keys.Viewer))
		}, ErrNarrowed},
		"the host's streams end": {func(_ *testing.T, f *fleet, _ *gossh.Session, _ *gossh.Client) { _ = f.hosts.Close() }, ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan struct{})
			f := newFleet(t, func(s *sshd.Session) int {
				close(began)
				<-s.Context().Done()
				close(ended)
				return 0
			})
			client := f.client(t, "box2")
			session, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Start("watch"); err != nil {
				t.Fatal(err)
			}
			get(t, "the begin", began)
			c.end(t, f, session, client)
			get(t, "the end on the host", ended)
			if err := get(t, "the end at the gateway", f.seen); err == nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("at the gateway it ends with %v", err)
			}
		})
	}
}
