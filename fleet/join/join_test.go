package join

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/broker"
	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// gateway is the gateway's side: a folder, and what runs on it.
type gateway struct {
	t      *testing.T
	dir    string
	realm  *realm.Realm
	book   *invite.Book
	roster *Roster
	pin    realm.Pin
	broker *broker.Broker
	nc     *nats.Conn
	asked  *nats.Subscription // the questions
	now    func() time.Time
}

func newGateway(t *testing.T) *gateway {
	g := &gateway{t: t, dir: t.TempDir(), now: time.Now}
	g.start("127.0.0.1:0")
	t.Cleanup(g.stop)
	return g
}

// start starts everything from the folder, as a new process does.
func (g *gateway) start(address string) {
	g.t.Helper()
	var err error
	must := func(e error) {
		g.t.Helper()
		if e != nil {
			g.t.Fatal(e)
		}
	}
	g.realm, err = realm.Open(g.dir + "/fleet.json")
	must(err)
	certificate, pin, err := realm.Certificate(g.dir+"/fleet.pem", time.Now())
	must(err)
	g.pin = pin
	g.book, err = invite.Open(g.dir+"/invites", func() time.Time { return g.now() })
	must(err)
	g.roster, err = OpenRoster(g.dir + "/hosts")
	must(err)
	g.broker, err = broker.Start(g.dir+"/events", address, certificate, g.realm)
	must(err)
	pair, _ := nkeys.CreateUser()
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	text, err := g.realm.Gateway(public)
	must(err)
	g.nc, err = nats.Connect("tls://"+g.broker.Addr().String(), nats.Secure(realm.Pinned(pin)), nats.TLSHandshakeFirst(), nats.UserJWTAndSeed(text, string(seed)), nats.ReconnectBufSize(-1))
	must(err)
	office := &Office{Users: g.realm.Users, Removed: g.realm.Removed, Book: g.book, Roster: g.roster, Authority: hostKey(g.t), Now: func() time.Time { return g.now() }, Log: slog.New(slog.DiscardHandler), Joined: func(string) {}}
	g.asked, err = office.Serve(g.nc)
	must(err)
	must(g.nc.Flush())
}

func (g *gateway) stop() {
	g.nc.Close()
	g.broker.Close()
}

func (g *gateway) invite(name string) invite.Token {
	g.t.Helper()
	token, err := g.book.New(name, g.broker.Addr().String(), "ann", g.pin)
	if err != nil {
		g.t.Fatal(err)
	}
	return token
}

func hostKey(t *testing.T) gossh.PublicKey {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := gossh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// dial opens a stream to a host as soon as it is there, and lets both ends say a word.
func (g *gateway) dial(l *conn.Listener, host string) {
	g.t.Helper()
	d, err := conn.NewDialer(g.nc, conn.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		near, err := d.Dial(ctx, host)
		if errors.Is(err, conn.ErrAbsent) && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond) // it isn't there yet, and nothing says when it is
			continue
		}
		if err != nil {
			g.t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			g.t.Fatal(err)
		}
		word := make([]byte, 2)
		if _, err := near.Write([]byte("hi")); err != nil {
			g.t.Fatal(err)
		}
		if n, err := far.Read(word); err != nil || string(word[:n]) != "hi" {
			g.t.Fatalf("%q, %v", word[:n], err)
		}
		_, _ = near.Close(), far.Close()
		return
	}
}

// TestJoin is a host's life: it joins, is reached, comes back by itself after the gateway has started anew, and is
// removed.
func TestJoin(t *testing.T) {
	g := newGateway(t)
	path := t.TempDir() + "/membership.json"
	if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	key := hostKey(t)
	text := g.invite("box2").String()
	token, err := invite.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := Join(t.Context(), path, token, "operator", []gossh.PublicKey{key}, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil || m != joined || m.Name != "box2" {
		t.Fatalf("%+v, %v", m, err)
	}
	h, err := g.roster.Host("box2")
	if err != nil || len(h.HostKeys) != 1 || h.HostKeys[0] != string(gossh.MarshalAuthorizedKey(key)) {
		t.Errorf("the roster has %+v, %v", h, err)
	}
	nc, err := Connect(m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	l, err := conn.Listen(nc, m.Name, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g.dial(l, "box2")

	if err := errors.Join(g.roster.Drain("box2", true), g.roster.add(h)); err != nil { // its answer was lost, and it asks again
		t.Fatal(err)
	}
	if h, err := g.roster.Host("box2"); err != nil || !h.Draining {
		t.Errorf("a drained host that asked to join once more: %+v, %v", h, err)
	}

	address := g.broker.Addr().String()
	g.stop()
	g.start(address)
	g.dial(l, "box2")

	if _, err := g.roster.Remove("box2"); err != nil {
		t.Fatal(err)
	}
	if err := g.realm.Remove(h.Key, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := g.broker.Update(g.realm); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(path+pending, joined); err != nil { // a host that has kept its key
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), path, token, "operator", []gossh.PublicKey{key}, 0); err == nil || !strings.Contains(err.Error(), ErrRemoved.Error()) {
		t.Errorf("it used its token again: %v", err)
	}
	d, err := conn.NewDialer(g.nc, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c, err := d.Dial(t.Context(), "box2")
		if errors.Is(err, conn.ErrAbsent) {
			break
		}
		if err == nil {
			_ = c.Close()
		}
		if time.Now().After(end) {
			t.Fatalf("a removed host is reached: %v", err)
		}
	}
}

// TestBeforeTheGateway connects a host whose gateway is down.
func TestBeforeTheGateway(t *testing.T) {
	g := newGateway(t)
	m, err := Join(t.Context(), t.TempDir()+"/m", g.invite("box2"), "operator", []gossh.PublicKey{hostKey(t)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	address := g.broker.Addr().String()
	g.stop()
	nc, err := Connect(m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	l, err := conn.Listen(nc, m.Name, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g.start(address)
	g.dial(l, "box2")
}

func TestNotAdmitted(t *testing.T) {
	g := newGateway(t)
	keys := []gossh.PublicKey{hostKey(t)}
	join := func(token invite.Token) error {
		_, err := Join(t.Context(), t.TempDir()+"/m", token, "operator", keys, 0)
		return err
	}
	used := g.invite("box2")
	if err := join(used); err != nil {
		t.Fatal(err)
	}
	guessed, stranger := g.invite("box4"), g.invite("box4")
	guessed.Secret[3]++
	stranger.Pin[3]++
	for name, c := range map[string]struct {
		token invite.Token
		want  string
	}{
		"a token used twice":        {used, invite.ErrUsed.Error()},
		"a second host of the name": {g.invite("box2"), ErrName.Error()},
		"a guessed secret":          {guessed, invite.ErrUnknown.Error()},
		"another server":            {stranger, realm.ErrPin.Error()},
		"a name that isn't one":     {g.invite("box/3"), "isn't a valid name"},
	} {
		if err := join(c.token); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	late := g.invite("box5")
	g.now = func() time.Time { return time.Now().Add(invite.Life) }
	if err := join(late); err == nil || !strings.Contains(err.Error(), invite.ErrExpired.Error()) {
		t.Errorf("an expired token: %v", err)
	}
	g.now = time.Now
	keys = nil
	if err := join(late); err == nil || !strings.Contains(err.Error(), ErrHostKey.Error()) {
		t.Errorf("without a host key: %v", err)
	}
}

// TestManyQuestions: a client without a token that asks all the time gets a bounded number of answers in a second.
func TestManyQuestions(t *testing.T) {
	g := newGateway(t)
	var clock atomic.Int64
	began := time.Now()
	g.now = func() time.Time { return began.Add(time.Duration(clock.Load())) }
	nc, err := nats.Connect("tls://"+g.broker.Addr().String(), nats.Secure(realm.Pinned(g.pin)), nats.TLSHandshakeFirst(), nats.NoReconnect(), nats.CustomInboxPrefix(realm.JoinInbox))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	inbox := nc.NewRespInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(times int) {
		for range times {
			if err := nc.PublishRequest(realm.JoinSubject, inbox, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := func() {
		t.Helper()
		if _, err := answers.NextMsg(patience); err != nil {
			t.Fatal(err)
		}
	}
	ask(questionsASecond + 100)
	for range questionsASecond {
		next()
	}
	for n := int64(0); n < questionsASecond+100; {
		if n, err = g.asked.Delivered(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // nothing says when they are
	}
	host := g.invite("box2")
	clock.Add(int64(time.Second))
	if _, err := Join(t.Context(), t.TempDir()+"/m", host, "operator", []gossh.PublicKey{hostKey(t)}, 0); err != nil {
		t.Fatal(err)
	}
	if n, _, err := answers.Pending(); err != nil || n > 1 { // the last question may have seen the clock go on
		t.Errorf("%d more answers, %v", n, err)
	}
}

// TestAnswerLost has a host that asks, is killed before it has the answer, and asks again.
func TestAnswerLost(t *testing.T) {
	g := newGateway(t)
	path, token, key := t.TempDir()+"/m", g.invite("box2"), hostKey(t)
	first, err := Join(t.Context(), path, token, "operator", []gossh.PublicKey{key}, 0)
	if err != nil {
		t.Fatal(err)
	}
	killed := first
	killed.JWT, killed.Authority = "", ""
	if err := errors.Join(os.Remove(path), writeJSON(path+pending, killed)); err != nil { // what is on disk then
		t.Fatal(err)
	}
	again, err := Join(t.Context(), path, token, "operator", []gossh.PublicKey{key}, 0)
	if err != nil || again.Seed != first.Seed || again.JWT == "" {
		t.Errorf("the second call: %v", err)
	}
	if m, err := Open(path); err != nil || m != again {
		t.Errorf("it has %+v: %v", m, err)
	}
	// A token that isn't good leaves the membership as it is.
	if _, err := Join(t.Context(), path, invite.Token{Name: "x", Address: g.broker.Addr().String(), Pin: g.pin}, "operator", []gossh.PublicKey{key}, 0); err == nil {
		t.Error("an empty token was accepted")
	}
	if m, err := Open(path); err != nil || m != again {
		t.Errorf("after a refusal it has %+v: %v", m, err)
	}
	if hosts, err := g.roster.Hosts(); err != nil || len(hosts) != 1 {
		t.Errorf("%d hosts: %v", len(hosts), err)
	}
}
