package broker

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"berth/fleet/conn"
	"berth/fleet/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// fleet is a broker and what connects to it.
type fleet struct {
	*Broker
	realm *realm.Realm
	pin   realm.Pin
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dir := t.TempDir()
	r, err := realm.Open(dir + "/fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	certificate, pin, err := realm.Certificate(dir+"/fleet.pem", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Start(dir+"/events", "127.0.0.1:0", certificate, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return &fleet{b, r, pin}
}

// client is a NATS connection, and the errors that the server has sent it.
type client struct {
	*nats.Conn
	mu     sync.Mutex
	errors []string
}

func (c *client) denied(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.errors {
		if strings.Contains(strings.ToLower(e), "permissions violation") && strings.Contains(e, what) {
			return true
		}
	}
	return false
}

func (f *fleet) dial(options ...nats.Option) (*client, error) {
	c := &client{}
	nc, err := nats.Connect("tls://"+f.Addr().String(), append([]nats.Option{
		nats.Secure(realm.Pinned(f.pin)), nats.TLSHandshakeFirst(), nats.ReconnectBufSize(-1), nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.errors = append(c.errors, err.Error())
		}),
	}, options...)...)
	c.Conn = nc
	return c, err
}

func (f *fleet) connect(t *testing.T, options ...nats.Option) *client {
	t.Helper()
	c, err := f.dial(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// user makes a key and its option to log in with the JWT that sign gives it.
func user(t *testing.T, sign func(key string) (string, error)) (key string, login nats.Option) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := pair.Seed()
	key, _ = pair.PublicKey()
	text, err := sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, nats.UserJWTAndSeed(text, string(seed))
}

func (f *fleet) host(t *testing.T, name string) (key string, login nats.Option) {
	return user(t, func(key string) (string, error) { return f.realm.Host(name, key) })
}

func (f *fleet) gateway(t *testing.T) *client {
	_, login := user(t, f.realm.Gateway)
	return f.connect(t, login)
}

// until polls, because NATS reports a violation with no event that a test could wait for.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// TestAHostReachesItself carries a stream between a gateway and a host, with the rights that each has.
func TestAHostReachesItself(t *testing.T) {
	f := newFleet(t)
	_, login := f.host(t, "box2")
	box2 := f.connect(t, login)
	l, err := conn.Listen(box2.Conn, "box2", conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := box2.Flush(); err != nil {
		t.Fatal(err)
	}
	d, err := conn.NewDialer(f.gateway(t).Conn, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	near, err := d.Dial(t.Context(), "box2")
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]interface {
		Write([]byte) (int, error)
		Read([]byte) (int, error)
	}{{near, far}, {far, near}} {
		got := make([]byte, 5)
		if _, err := way[0].Write([]byte("hello")); err != nil {
			t.Error(err)
		}
		if n, err := way[1].Read(got); err != nil || string(got[:n]) != "hello" {
			t.Errorf("%q, %v", got[:n], err)
		}
	}
}

// TestAHostPublishesForAnother has a host that was taken over.
func TestAHostPublishesForAnother(t *testing.T) {
	f := newFleet(t)
	gateway := f.gateway(t)
	seen := make(chan string, 64)
	if _, err := gateway.Subscribe(">", func(m *nats.Msg) { seen <- m.Subject }); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Flush(); err != nil {
		t.Fatal(err)
	}
	_, login := f.host(t, "box3")
	box3 := f.connect(t, login)
	for _, subject := range []string{
		"berth.from.box2.c.x", "berth.to.box2.open", "berth.to.box3.open", "berth.from", "berth.from.box", "berth.from.box33.x", "other",
		"berth.events.box3", "berth.events.box2", "$JS.API.STREAM.CREATE.x", "$JS.API.STREAM.PURGE.EVENTS", "$JS.API.DIRECT.GET.EVENTS", "$JS.API.CONSUMER.CREATE.EVENTS", "$KV.hosts.box2", "$SYS.REQ.SERVER.PING", realm.JoinSubject, "_INBOX.x",
	} {
		if err := box3.Publish(subject, []byte("forged")); err != nil {
			t.Fatal(err)
		}
		until(t, "the refusal of "+subject, func() bool { return box3.denied(`"` + subject + `"`) })
	}
	if err := box3.Publish("berth.from.box3.end", nil); err != nil {
		t.Fatal(err)
	}
	select { // messages of one client arrive in its order, so a forged one would be first
	case subject := <-seen:
		if subject != "berth.from.box3.end" {
			t.Errorf("the gateway has got %s", subject)
		}
	case <-time.After(patience):
		t.Error("a host's own message doesn't arrive")
	}
}

func TestAHostReadsAnothers(t *testing.T) {
	f := newFleet(t)
	_, login := f.host(t, "box3")
	box3 := f.connect(t, login)
	read := make(chan string, 64)
	subjects := []string{">", "berth.>", "berth.to.>", "berth.to.*.open", "berth.to.box2.>", "berth.from.>", "berth.from.box2.c.x", "berth.from.box3.>", "berth.events.>", "berth.events.box3", "$JS.>", "$SYS.>", "_INBOX.>", realm.JoinSubject, realm.JoinInbox + ".>"}
	for _, subject := range subjects {
		for _, queue := range []string{"", "q"} {
			if _, err := box3.QueueSubscribe(subject, queue, func(m *nats.Msg) { read <- m.Subject }); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "the refusal of "+subject, func() bool { return box3.denied(`"` + subject + `"`) })
	}
	if _, err := box3.Subscribe("berth.to.box3.>", func(m *nats.Msg) { read <- m.Subject }); err != nil {
		t.Fatal(err)
	}
	if err := box3.Flush(); err != nil {
		t.Fatal(err)
	}
	gateway := f.gateway(t)
	for _, subject := range []string{"berth.to.box2.open", "berth.from.box2.c.x", "berth.from.box3.c.x", "berth.join", "berth.to.box3.end"} {
		if err := gateway.Publish(subject, []byte("secret")); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case subject := <-read:
		if subject != "berth.to.box3.end" {
			t.Errorf("box3 has read %s", subject)
		}
	case <-time.After(patience):
		t.Error("a host doesn't get its own messages")
	}
}

// TestForgedUsers has logins that the server must refuse, or that are a client without credentials.
func TestForgedUsers(t *testing.T) {
	f := newFleet(t)
	other, err := realm.Open(t.TempDir() + "/other.json")
	if err != nil {
		t.Fatal(err)
	}
	own, _ := nkeys.CreateAccount()
	for name, login := range map[string]nats.Option{
		"a host of another fleet": func() nats.Option {
			_, o := user(t, func(key string) (string, error) { return other.Host("box2", key) })
			return o
		}(),
		"a user that an own account signed": func() nats.Option {
			_, o := user(t, func(key string) (string, error) { return jwt.NewUserClaims(key).Encode(own) })
			return o
		}(),
		"another host's JWT without its key": func() nats.Option {
			key, _ := f.host(t, "box9")
			text, _ := f.realm.Host("box9", key)
			thief, _ := nkeys.CreateUser()
			seed, _ := thief.Seed()
			return nats.UserJWTAndSeed(text, string(seed))
		}(),
	} {
		if c, err := f.dial(login); err == nil {
			c.Close()
			t.Errorf("%s was admitted", name)
		} else if !strings.Contains(strings.ToLower(err.Error()), "authorization") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, key := range map[string]string{"an account's key": f.realm.Fleet(), "none": "", "text": "U123"} {
		if _, err := f.realm.Host("box2", key); err == nil {
			t.Errorf("%s was signed", name)
		}
	}
}

func TestAnotherServerAnswers(t *testing.T) {
	f := newFleet(t)
	f.pin[0]++
	if c, err := f.dial(); !errors.Is(err, realm.ErrPin) {
		t.Errorf("connected %v: %v", c.Conn != nil, err)
	}
	if c, err := tls.Dial("tcp", f.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		_ = c.Close()
		t.Error("TLS 1.2 was accepted")
	}
}

// TestWithoutCredentials is a client that has not joined: it can ask, and nothing else.
func TestWithoutCredentials(t *testing.T) {
	f := newFleet(t)
	gateway := f.gateway(t)
	if _, err := gateway.Subscribe(realm.JoinSubject, func(m *nats.Msg) { _ = m.Respond(append([]byte("re: "), m.Data...)) }); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Flush(); err != nil {
		t.Fatal(err)
	}
	joiner := f.connect(t, nats.CustomInboxPrefix(realm.JoinInbox))
	answer, err := joiner.Request(realm.JoinSubject, []byte("token"), patience)
	if err != nil || string(answer.Data) != "re: token" {
		t.Fatalf("%v, %v", answer, err)
	}
	for _, subject := range []string{"berth.from.box2.c.x", "berth.to.box2.open", "$SYS.REQ.SERVER.PING", "other"} {
		if err := joiner.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		until(t, "the refusal of "+subject, func() bool { return joiner.denied(`"` + subject + `"`) })
	}
	for _, subject := range []string{">", "berth.>", realm.JoinSubject, realm.JoinInbox + ".>"} {
		if _, err := joiner.Subscribe(subject, func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		until(t, "the refusal of "+subject, func() bool { return joiner.denied(`"` + subject + `"`) })
	}
	// They can't take all connections: a host still gets in.
	full := false
	for range 100 {
		c, err := f.dial()
		if err != nil {
			full = true
			break
		}
		t.Cleanup(c.Close)
	}
	if !full {
		t.Error("100 clients without credentials are connected")
	}
	_, login := f.host(t, "box2")
	f.connect(t, login)
}

// TestAnAnswerToAnother is a client without credentials that wants its answer sent to a host. An answer goes to
// the account of who asked, whatever subject it names.
func TestAnAnswerToAnother(t *testing.T) {
	f := newFleet(t)
	gateway := f.gateway(t)
	answered := make(chan error, 1)
	if _, err := gateway.Subscribe(realm.JoinSubject, func(m *nats.Msg) { answered <- m.Respond([]byte("forged")) }); err != nil {
		t.Fatal(err)
	}
	_, login := f.host(t, "box2")
	box2, read := f.connect(t, login), make(chan string, 8)
	if _, err := box2.Subscribe("berth.to.box2.>", func(m *nats.Msg) { read <- m.Subject }); err != nil {
		t.Fatal(err)
	}
	joiner := f.connect(t, nats.CustomInboxPrefix(realm.JoinInbox))
	if err := errors.Join(gateway.Flush(), box2.Flush(), joiner.PublishRequest(realm.JoinSubject, "berth.to.box2.c.x", []byte("token"))); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() bool{
		func() bool { return len(answered) == 1 && <-answered == nil },
		func() bool { return gateway.Publish("berth.to.box2.end", nil) == nil },
		func() bool { return len(read) > 0 },
	} {
		until(t, "the question, the answer and a message", step)
	}
	if subject := <-read; subject != "berth.to.box2.end" {
		t.Errorf("the host has read %s", subject)
	}
}

// TestRemovedHosts ends a host's connection, and keeps it out, also after a restart with the same file.
func TestRemovedHosts(t *testing.T) {
	f := newFleet(t)
	key, login := f.host(t, "box2")
	box2 := f.connect(t, login)
	_, stays := f.host(t, "box3")
	box3 := f.connect(t, stays)
	if err := f.realm.Remove(key, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := f.Update(f.realm); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of its connection", box2.IsClosed)
	if c, err := f.dial(login); err == nil {
		c.Close()
		t.Error("it was admitted again")
	}
	if err := box3.Flush(); err != nil {
		t.Errorf("another host: %v", err)
	}
}

// TestHostThatReadsManySubjects: each would take memory of the NATS server, and a copy of each message.
func TestHostThatReadsManySubjects(t *testing.T) {
	f := newFleet(t)
	_, login := f.host(t, "box2")
	box2 := f.connect(t, login)
	before := f.server.NumSubscriptions()
	for i := range 1000 {
		if _, err := box2.Subscribe("berth.to.box2."+strconv.Itoa(i), func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
	}
	_ = box2.Flush() // the server may have ended the connection
	if n := f.server.NumSubscriptions() - before; n > 30 {
		t.Errorf("it has %d", n)
	}
	_, other := f.host(t, "box3")
	f.connect(t, other)
}

// TestHostWithManyConnections has one that would take all of the server's. Its newest ones stay.
func TestHostWithManyConnections(t *testing.T) {
	f := newFleet(t)
	_, login := f.host(t, "box2")
	_, other := f.host(t, "box3")
	box3 := f.connect(t, other)
	var list []*client
	for range 5 * hostConnections {
		list = append(list, f.connect(t, login))
	}
	until(t, "the end of most", func() bool { return f.server.NumClients() == hostConnections+1 })
	for i, c := range list {
		if newest := i >= len(list)-hostConnections; newest {
			if err := c.Flush(); err != nil {
				t.Errorf("connection %d: %v", i, err)
			}
		} else {
			until(t, "the end of an older one", c.IsClosed)
		}
	}
	if err := box3.Flush(); err != nil {
		t.Errorf("another host: %v", err)
	}
}

// TestHostThatSendsWithoutEnd: what a gateway can't read as fast would end the gateway's connection.
func TestHostThatSendsWithoutEnd(t *testing.T) {
	f := newFleet(t)
	gateway, got, enough := f.gateway(t), 0, make(chan struct{})
	const most = clientBurst + clientRate/2
	if _, err := gateway.Subscribe("berth.from.*.rows", func(m *nats.Msg) {
		if got < most && got+len(m.Data) >= most {
			close(enough)
		}
		got += len(m.Data)
	}); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Flush(); err != nil {
		t.Fatal(err)
	}
	_, login := f.host(t, "box2")
	box2, began := f.connect(t, login), time.Now()
	var sending sync.WaitGroup
	defer sending.Wait()
	defer box2.Close()
	sending.Go(func() {
		for data := make([]byte, 1<<20); box2.Publish("berth.from.box2.rows", data) == nil; {
		}
	})
	select {
	case <-enough:
	case <-time.After(patience):
		t.Fatal("it may not even send what it may")
	}
	if took := time.Since(began); took < 450*time.Millisecond {
		t.Errorf("%d bytes were let through within %s", most, took)
	}
	if gateway.IsClosed() {
		t.Error("the gateway's connection has ended")
	}
}

// deaf is a connection that reads nothing once it is stopped.
type deaf struct {
	net.Conn
	stopped atomic.Bool
	release chan struct{}
}

func (d *deaf) Read(b []byte) (int, error) {
	if d.stopped.Load() {
		<-d.release
	}
	return d.Conn.Read(b)
}

func (d *deaf) Dial(network, address string) (_ net.Conn, err error) {
	d.Conn, err = net.Dial(network, address)
	return d, err
}

// TestHostThatReadsNothing: what it doesn't read is in the NATS server's memory.
func TestHostThatReadsNothing(t *testing.T) {
	f := newFleet(t)
	gateway := f.gateway(t)
	_, login := f.host(t, "box2")
	d := &deaf{release: make(chan struct{})}
	box2 := f.connect(t, login, nats.SetCustomDialer(d))
	t.Cleanup(func() { close(d.release) })
	if _, err := box2.Subscribe("berth.to.box2.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := box2.Flush(); err != nil {
		t.Fatal(err)
	}
	d.stopped.Store(true)
	data := make([]byte, 1<<20)
	for range 2 * hostPending / len(data) {
		if err := gateway.Publish("berth.to.box2.x", data); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the end of its connection", func() bool {
		ended, err := f.server.Connz(&natsd.ConnzOptions{State: natsd.ConnClosed})
		return err == nil && slices.ContainsFunc(ended.Conns, func(c *natsd.ConnInfo) bool { return c.Reason == natsd.Kicked.String() })
	})
}
