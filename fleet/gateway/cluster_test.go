package gateway

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/realm"
	"berth/fleet/registry"
	"berth/keys"
	"berth/sessions/events"
	theirs "berth/test/cluster"
	"berth/test/signer"
)

// onCluster are the options of a gateway on a cluster, with the account of that file.
func onCluster(t *testing.T, c *theirs.Cluster, account string) Options {
	t.Helper()
	log, err := events.Open(filepath.Join(t.TempDir(), "events"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	users, err := realm.Tenant(account)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		t.Fatal(err)
	}
	authorities, err := realm.Authorities(pem)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Dir: t.TempDir(), Cluster: &Cluster{URLs: []string{c.URL}, Authorities: authorities, Users: users}, Name: "gw", Key: signer.New(t),
		Rights: func(id keys.Identity) (keys.Identity, error) { return id, nil }, Events: log, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

func startOn(t *testing.T, c *theirs.Cluster) *Gateway {
	t.Helper()
	g, err := Start(onCluster(t, c, c.Account(nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func invited(t *testing.T, g *Gateway, name string) invite.Token {
	t.Helper()
	token, err := g.Invite(name, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(token.String()); n < 1300 || n > 1900 {
		t.Errorf("a token has %d characters", n)
	}
	if token, err = invite.Parse(token.String()); err != nil {
		t.Fatal(err)
	}
	return token
}

// host is a member: its connection, and the listener of its SSH server.
type host struct {
	join.Membership
	nc       *nats.Conn
	listener *conn.Listener
}

func joins(t *testing.T, token invite.Token, path string) (join.Membership, error) {
	t.Helper()
	return join.Join(t.Context(), path, token, "operator", []gossh.PublicKey{signer.New(t).PublicKey()}, 0)
}

func newHost(t *testing.T, g *Gateway, name string) *host {
	t.Helper()
	m, err := joins(t, invited(t, g, name), filepath.Join(t.TempDir(), "fleet.json"))
	if err != nil {
		t.Fatal(err)
	}
	nc, err := join.Connect(m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	l, err := conn.Listen(nc, name, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	return &host{m, nc, l}
}

// until polls for what no event says.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// word sends a word each way between the gateway and a host.
func word(t *testing.T, near io.ReadWriter, far io.ReadWriter) {
	t.Helper()
	for _, way := range [][2]io.ReadWriter{{near, far}, {far, near}} {
		got := make([]byte, 5)
		if _, err := way[0].Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(way[1], got); err != nil || string(got) != "hello" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// reach opens a stream to a host as soon as it is there.
func reach(t *testing.T, g *Gateway, h *host) (near, far net.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	until(t, "a stream to "+h.Name, func() bool {
		c, err := g.Dial(ctx, h.Name)
		if err == nil {
			near = c
		}
		return err == nil
	})
	for { // streams that broke before this one wait there too
		c, err := h.listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		far = c
		if _, err := near.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(far, make([]byte, 1)); err == nil {
			return near, far
		}
	}
}

// TestOnACluster is a host's life in a fleet on a NATS cluster that other people run.
func TestOnACluster(t *testing.T) {
	c := theirs.Start(t)
	g := startOn(t, c)
	box2 := newHost(t, g, "box2")
	box3 := newHost(t, g, "box3")
	near, far := reach(t, g, box2)
	word(t, near, far)

	beat := func(h *host) {
		data, err := json.Marshal(registry.Beat{Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.nc.Publish("berth.from."+h.Name+"."+registry.BeatSubject, data); err != nil {
			t.Fatal(err)
		}
	}
	reachable := func(name string) bool { h, ok := g.Host(name); return ok && h.Reachable }
	until(t, "a beat", func() bool { beat(box2); return reachable("box2") })

	// The cluster is started again: all come back by themselves.
	c.Stop()
	c.Start()
	until(t, "the connections", func() bool { return box2.nc.IsConnected() && g.nc.IsConnected() })
	near, far = reach(t, g, box2)
	word(t, near, far)

	// A removed host can still connect to the cluster. The gateway hears nothing from it and sends it nothing, and its
	// name is never given again.
	early := invited(t, g, "box4")
	box4 := newHost(t, g, "box4")
	if err := errors.Join(g.Remove("box2"), g.Remove("box4")); err != nil {
		t.Fatal(err)
	}
	if err := near.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, conn.ErrDropped) {
		t.Errorf("its stream: %v", err)
	}
	if _, err := g.Dial(t.Context(), "box2"); err == nil || !strings.Contains(err.Error(), "no host") {
		t.Errorf("dial: %v", err)
	}
	for _, h := range []*host{box2, box4} {
		beat(h)
	}
	until(t, "a beat of another host", func() bool { beat(box3); return reachable("box3") })
	if _, known := g.Host("box2"); known {
		t.Error("it is known again")
	}
	if m, err := box2.nc.Request("berth.from.box2.events", []byte(`{"member":"k","lines":null}`), 200*time.Millisecond); err == nil {
		t.Errorf("it got an answer: %s", m.Data)
	}
	if _, err := g.Invite("box2", "ann"); err == nil || !strings.Contains(err.Error(), join.ErrRetired.Error()) {
		t.Errorf("its name is given again: %v", err)
	}
	if _, err := joins(t, early, filepath.Join(t.TempDir(), "m")); err == nil || !strings.Contains(err.Error(), join.ErrRetired.Error()) {
		t.Errorf("its name is given by an older token: %v", err)
	}
	if hosts, err := g.Hosts(); err != nil || len(hosts) != 1 {
		t.Errorf("%v, %v", hosts, err)
	}
}

// TestStartOnACluster has what is wrong at the start.
func TestStartOnACluster(t *testing.T) {
	c := theirs.Start(t)
	good := onCluster(t, c, c.Account(nil))
	g, err := Start(good)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	another := theirs.Start(t)
	stopped := theirs.Start(t)
	stopped.Stop()
	defer stopped.Start()
	for name, f := range map[string]struct {
		options func() Options
		want    string
	}{
		"a second gateway":  {func() Options { o := good; o.Dir = t.TempDir(); return o }, `the gateway "gw" uses the account of fleet.nats_account already`},
		"unreachable":       {func() Options { return onCluster(t, stopped, stopped.Account(nil)) }, "reach the fleet's NATS server at tls://127.0.0.1:"},
		"another's account": {func() Options { return onCluster(t, c, another.Account(nil)) }, "doesn't admit the key of fleet.nats_account"},
		"no JetStream": {func() Options {
			return onCluster(t, c, c.Account(func(a *jwt.AccountClaims) { a.Limits.JetStreamLimits = jwt.JetStreamLimits{} }))
		}, "needs JetStream, with a disk storage of 1 GiB and one stream"},
		"little JetStream": {func() Options {
			return onCluster(t, c, c.Account(func(a *jwt.AccountClaims) { a.Limits.DiskStorage = 1 << 20 }))
		}, "needs JetStream, with a disk storage of 1 GiB and one stream"},
		"another authority": {func() Options {
			o := onCluster(t, c, c.Account(nil))
			o.Cluster.Authorities = onCluster(t, another, another.Account(nil)).Cluster.Authorities
			return o
		}, "certificate signed by unknown authority"},
		"the system's authorities": {func() Options {
			o := onCluster(t, c, c.Account(nil))
			o.Cluster.Authorities = nil
			return o
		}, "certificate"},
	} {
		g, err := Start(f.options())
		if err == nil {
			g.Close()
		}
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	// A host whose token has another authority doesn't show the token there.
	token := invited(t, g, "box2")
	token.Authorities = string(onCluster(t, another, another.Account(nil)).Cluster.Authorities)
	if _, err := joins(t, token, filepath.Join(t.TempDir(), "m")); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a host: %v", err)
	}
}

// stranger is a connection that does what it mustn't, and what the server said to that.
type stranger struct {
	*nats.Conn
	mu     sync.Mutex
	errors []string
}

func newStranger(t *testing.T, g *Gateway, options ...nats.Option) *stranger {
	t.Helper()
	s := &stranger{}
	url, secure := g.carrier.way()
	var err error
	s.Conn, err = nats.Connect(url, append(append(secure, options...), nats.ReconnectBufSize(-1), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errors = append(s.errors, strings.ToLower(err.Error()))
	}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *stranger) denied(subject string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.errors {
		if strings.Contains(e, "permissions violation") && strings.Contains(e, strings.ToLower(`"`+subject+`"`)) {
			return true
		}
	}
	return false
}

// cant checks that the server refuses to publish to these subjects and to read those.
func (s *stranger) cant(t *testing.T, publish, read []string) {
	t.Helper()
	for _, subject := range publish {
		if err := s.Publish(subject, []byte("forged")); err != nil {
			t.Fatal(err)
		}
		until(t, "the refusal to publish to "+subject, func() bool { return s.denied(subject) })
	}
	for _, subject := range read {
		if _, err := s.Subscribe(subject, func(m *nats.Msg) { t.Errorf("it has read %s", m.Subject) }); err != nil {
			t.Fatal(err)
		}
		until(t, "the refusal to read "+subject, func() bool { return s.denied(subject) })
	}
}

// TestHostileOnACluster: hosts and those that join share an account there, so their rights alone keep them apart.
func TestHostileOnACluster(t *testing.T) {
	c := theirs.Start(t)
	g := startOn(t, c)
	box2 := newHost(t, g, "box2")
	read := make(chan string, 64)
	if _, err := box2.nc.Subscribe("berth.to.box2.>", func(m *nats.Msg) { read <- m.Subject }); err != nil {
		t.Fatal(err)
	}
	if err := box2.nc.Flush(); err != nil {
		t.Fatal(err)
	}

	// A host.
	box3 := newStranger(t, g, nats.UserJWTAndSeed(box2.JWT, box2.Seed)) // as taken over: with all that it has
	box3.cant(t, []string{
		"berth.from.box9.beat", "berth.to.box9.open", "berth.to.box2.open", "berth.join", "berth.joined.x", "berth.gateway", "berth.events.box2", "_INBOX.x", "other",
		"$JS.API.INFO", "$JS.API.STREAM.DELETE.EVENTS", "$JS.API.STREAM.MSG.GET.EVENTS", "$JS.API.DIRECT.GET.EVENTS", "$JS.ACK.EVENTS.x", "$SYS.REQ.USER.INFO.x", "$KV.x",
	}, []string{">", "berth.>", "berth.to.>", "berth.to.box9.>", "berth.from.>", "berth.from.box2.>", "berth.events.>", "berth.join", "berth.joined.>", "_INBOX.>", "$JS.>", "$SYS.>"})
	traced := nats.NewMsg("berth.from.box2.beat")
	traced.Header.Set("Nats-Trace-Dest", "berth.to.box9.open")
	if err := box3.PublishMsg(traced); err != nil {
		t.Fatal(err)
	}
	until(t, "the refusal to trace to another host", func() bool { return box3.denied("berth.to.box9.open") })

	// One that has a token, and asks to join.
	token, other := invited(t, g, "box4"), invited(t, g, "box5")
	pair, err := token.Key()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	id, otherID := hex.EncodeToString(token.ID[:]), hex.EncodeToString(other.ID[:])
	joiner := newStranger(t, g, nats.UserJWTAndSeed(token.User, string(seed)), nats.CustomInboxPrefix(realm.InboxOf(id)))
	joiner.cant(t, []string{"berth.from.box2.beat", "berth.to.box2.open", "berth.joined." + otherID + ".x.y", "berth.gateway", "$JS.API.INFO"},
		[]string{">", "berth.>", "berth.join", "berth.joined.>", "berth.joined." + otherID + ".*.*", "berth.to.>", "_INBOX.>", "$JS.>"})

	// Its answer goes to its own inbox or nowhere.
	for _, reply := range []string{"berth.to.box2.open", "berth.to.box2.c.x", realm.InboxOf(otherID) + ".x.y", "berth.from.box2.beat", "berth.joined", "$JS.API.STREAM.DELETE.EVENTS"} {
		for _, q := range []string{"{}", `{"id":"` + id + `","secret":"x"}`, "not JSON"} {
			if err := joiner.PublishRequest(realm.JoinSubject, reply, []byte(q)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(q any) string {
		t.Helper()
		data, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		m, err := joiner.Request(realm.JoinSubject, data, patience)
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Data)
	}
	key, _ := pair.PublicKey()
	hostKey := string(gossh.MarshalAuthorizedKey(signer.New(t).PublicKey()))
	sign := func(text string) []byte {
		proof, err := pair.Sign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return proof
	}
	// What the cluster's admins see is of no use to them: neither a secret, nor a proof for other host keys.
	for name, proof := range map[string][]byte{"no proof": nil, "of another text": sign("x")} {
		if a := ask(map[string]any{"id": id, "key": key, "host_keys": []string{hostKey}, "proof": proof}); !strings.Contains(a, invite.ErrUnknown.Error()) {
			t.Errorf("%s: %s", name, a)
		}
	}
	if a := ask(map[string]any{"id": id, "key": key, "host_keys": []string{hostKey}, "secret": hex.EncodeToString(token.Secret[:])}); !strings.Contains(a, invite.ErrUnknown.Error()) {
		t.Errorf("a secret without a proof: %s", a)
	}

	// The answers so far came to the joiner alone: messages of one sender arrive in order.
	if err := g.nc.Publish("berth.to.box2.end", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case subject := <-read:
		if subject != "berth.to.box2.end" {
			t.Errorf("box2 has read %s", subject)
		}
	case <-time.After(patience):
		t.Error("box2 reads nothing")
	}

	// An answer by another authority is one of the cluster's admins.
	forged := token
	forged.Pin[0]++
	path := filepath.Join(t.TempDir(), "m")
	if _, err := joins(t, forged, path); !errors.Is(err, join.ErrGateway) {
		t.Errorf("another gateway: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("and is kept")
	}
	// A token's user has an end.
	late := token
	if late.User, err = g.carrier.users().Invited(id, key, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := joins(t, late, path); err == nil || !strings.Contains(err.Error(), "make a new one with fleet invite") {
		t.Errorf("an expired token: %v", err)
	}
	if _, err := joins(t, other, path); err != nil {
		t.Errorf("an honest host: %v", err)
	}
}

// TestAnswersGoToTheirHost: a host names another's subject for the answer to its events.
func TestAnswersGoToTheirHost(t *testing.T) {
	g := startOn(t, theirs.Start(t))
	box2, box3 := newHost(t, g, "box2"), newHost(t, g, "box3")
	got := make(chan string, 16)
	if _, err := box3.nc.Subscribe("berth.to.box3.x", func(m *nats.Msg) { got <- string(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := box3.nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	question := []byte(`{"member":"k","lines":[]}`)
	for _, reply := range []string{"berth.to.box3.x", "berth.to.box2", "berth.events.box2"} {
		if err := box2.nc.PublishRequest("berth.from.box2.events", reply, question); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // an answer to the last of them is out before the second one of these is
		if m, err := box2.nc.Request("berth.from.box2.events", question, patience); err != nil || string(m.Data) != `{"cursor":0}` {
			t.Fatalf("its own answer: %v", err)
		}
	}
	if err := g.nc.Publish("berth.to.box3.x", []byte("end")); err != nil {
		t.Fatal(err)
	}
	select {
	case data := <-got:
		if data != "end" {
			t.Errorf("another host has got %s", data)
		}
	case <-time.After(patience):
		t.Error("a host doesn't get its own messages")
	}
}
