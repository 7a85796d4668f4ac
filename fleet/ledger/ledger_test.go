package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"berth/fleet/broker"
	"berth/fleet/realm"
	"berth/sessions/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// site is a gateway's NATS server, which can be stopped and started on the same folder.
type site struct {
	t     *testing.T
	dir   string
	realm *realm.Realm
	pin   realm.Pin
	b     *broker.Broker
	nc    *nats.Conn
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	var err error
	if s.realm, err = realm.Open(realm.KeysFile(s.dir)); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.end)
	return s
}

func (s *site) start() {
	s.t.Helper()
	certificate, pin, err := realm.Certificate(realm.CertificateFile(s.dir), time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	if s.b, err = broker.Start(realm.StreamDir(s.dir), "127.0.0.1:0", certificate, s.realm); err != nil {
		s.t.Fatal(err)
	}
	pair, _ := nkeys.CreateUser()
	seed, _ := pair.Seed()
	public, _ := pair.PublicKey()
	text, err := s.realm.Gateway(public)
	if err != nil {
		s.t.Fatal(err)
	}
	s.nc, err = nats.Connect("tls://"+s.b.Addr().String(), nats.Secure(realm.Pinned(pin)), nats.TLSHandshakeFirst(), nats.UserJWTAndSeed(text, string(seed)), nats.ReconnectBufSize(-1))
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) end() {
	s.nc.Close()
	s.b.Close()
}

func (s *site) open(marks map[string]Mark) *Ledger {
	s.t.Helper()
	l, err := Open(s.t.Context(), s.nc, marks, quiet, time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

func openLog(t *testing.T) *events.Log {
	t.Helper()
	l, err := events.Open(filepath.Join(t.TempDir(), "events"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func event(t *testing.T, l *events.Log, session string) {
	t.Helper()
	if _, err := l.Append(events.Event{Type: "state_change", Session: session, ID: "id-" + session}); err != nil {
		t.Error(err)
	}
}

// must is Append with the host's turn, as a batch gets it.
func (l *Ledger) must(ctx context.Context, host string, b Batch) (Answer, error) {
	l.host(host).turn <- struct{}{} // another test's publisher may have it
	defer l.End(host)
	return l.Append(ctx, host, b)
}

// TestEachOnce: many logs are published while answers are lost, publishers end in the middle and the gateway's process
// is another one. Each event is in the stream once, and each log's are in order.
func TestEachOnce(t *testing.T) {
	const hosts, each = 5, 300
	s := newSite(t)
	var mu sync.Mutex
	now, another := s.open(nil), s.open(nil) // two gateways
	defer another.Close()
	follower := another.Follow(0)
	fault := 0
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for n := range hosts {
		name, log := fmt.Sprint("box", n), openLog(t)
		send := func(ctx context.Context, b Batch) (Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			fault++
			if fault%7 == 0 {
				return Answer{}, errors.New("lost on the way there")
			}
			if fault%23 == 0 { // a gateway that was killed, and its next process, which knows nothing
				now.Close()
				now = s.open(nil)
			}
			a, err := now.must(ctx, name, b)
			if fault%5 == 0 {
				return Answer{}, errors.New("lost on the way back")
			}
			return a, err
		}
		running.Go(func() {
			for i := range each {
				event(t, log, fmt.Sprint("s", i%3))
			}
		})
		running.Go(func() {
			for ctx.Err() == nil { // a host that is killed, again and again
				life, end := context.WithTimeout(ctx, 40*time.Millisecond)
				p := &Publisher{Member: "key of " + name, Log: log, Send: send, Report: quiet}
				_ = p.run(life) // the pause of Run is what a killed host hasn't
				end()
			}
		})
	}
	seen := map[string]int{}
	for total := range hosts * each {
		line, host, err := follower.Next(t.Context())
		if err != nil {
			t.Fatalf("after %d: %v", total, err)
		}
		if seen[host]++; !strings.Contains(string(line.Raw), fmt.Sprintf(`"host_cursor":"e%d"`, seen[host])) {
			t.Fatalf("the event %d of %s is %s", seen[host], host, line.Raw)
		}
	}
	stop()
	running.Wait()
	now.Close()
	now = s.open(nil)
	defer now.Close()
	if now.Head() != hosts*each {
		t.Errorf("the stream has %d events", now.Head())
	}
}

// TestStreamSurvives: the NATS server is stopped and started again. Followers of both processes get the same lines.
func TestStreamSurvives(t *testing.T) {
	s := newSite(t)
	l := s.open(nil)
	log := openLog(t)
	event(t, log, "a")
	event(t, log, "a")
	p := &Publisher{Member: "k", Since: 1, Log: log, Report: quiet, Send: func(ctx context.Context, b Batch) (Answer, error) { return l.must(ctx, "box2", b) }}
	life, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(life) }()
	first, host, err := l.Follow(0).Next(t.Context())
	if err != nil || host != "box2" || first.Session != "box2/a" || !strings.Contains(string(first.Raw), `"cursor":"f1"`) || !strings.Contains(string(first.Raw), `"host_cursor":"e2"`) {
		t.Fatalf("%s, %v", first.Raw, err)
	}
	end()
	<-ended
	marks := l.Marks()
	l.Close()
	s.end()
	s.start()
	l = s.open(marks)
	defer l.Close()
	again, _, err := l.Follow(0).Next(t.Context()) // out of the stream
	if err != nil || string(again.Raw) != string(first.Raw) {
		t.Fatalf("%s, %v", again.Raw, err)
	}
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k"}); err != nil || a.Cursor != 2 {
		t.Errorf("the host's log was appended up to %d, %v", a.Cursor, err)
	}
	// Another membership of that name begins anew; a log that was replaced goes on where it says.
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k2"}); err != nil || a.Cursor != 0 {
		t.Errorf("another membership: %d, %v", a.Cursor, err)
	}
	one := uint64(1)
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k", Restart: &one}); err != nil || a.Cursor != 1 {
		t.Errorf("a replaced log: %d, %v", a.Cursor, err)
	}
	// Until ends a follower.
	past := l.Follow(0)
	past.Until(l.Head())
	if _, _, err := past.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := past.Next(t.Context()); !errors.Is(err, events.ErrEnd) {
		t.Errorf("after the end: %v", err)
	}
}

// TestGaps: a follower of removed messages gets a gap in their place, and the mark of a host whose messages are all
// gone comes from the last process.
func TestGaps(t *testing.T) {
	s := newSite(t)
	l := s.open(nil)
	lines := []json.RawMessage{}
	for i := range 20 {
		lines = append(lines, json.RawMessage(strings.Replace(good, "e7", fmt.Sprint("e", i+1), 1)))
	}
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k", Lines: lines}); err != nil || a.Cursor != 20 {
		t.Fatal(a, err)
	}
	if err := l.stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.must(t.Context(), "box3", Batch{Member: "k", Lines: lines[:1]}); err != nil {
		t.Fatal(err)
	}
	marks := l.Marks()
	l.Close()
	l = s.open(marks)
	defer l.Close()
	f := l.Follow(4)
	line, host, err := f.Next(t.Context())
	if err != nil || line.Type != events.TypeGap || host != "" || line.From != 5 || line.Cursor != 20 || !strings.Contains(string(line.Raw), `"from":"f5","to":"f20"`) || !json.Valid(line.Raw) {
		t.Errorf("%s, %v", line.Raw, err)
	}
	if line, host, err = f.Next(t.Context()); err != nil || host != "box3" || line.Cursor != 21 {
		t.Errorf("after the gap: %s, %v", line.Raw, err)
	}
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k"}); err != nil || a.Cursor != 20 {
		t.Errorf("a host without messages: %d, %v", a.Cursor, err)
	}
	if a, err := l.must(t.Context(), "box2", Batch{Member: "k", Lines: lines[18:]}); err != nil || a.Cursor != 20 || l.Head() != 21 {
		t.Errorf("what was removed is appended again: %d, %v", l.Head(), err)
	}
}

// TestHostileBatches: what a host sends is bounded.
func TestHostileBatches(t *testing.T) {
	s := newSite(t)
	l := s.open(nil)
	defer l.Close()
	many := Batch{Member: "k", Lines: make([]json.RawMessage, batchLines+1)}
	for name, b := range map[string]Batch{"no member": {}, "a long member": {Member: strings.Repeat("x", 101)}, "many lines": many, "no cursor": {Member: "k", Lines: []json.RawMessage{[]byte("{}")}}} {
		if _, err := l.must(t.Context(), "box2", b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, data := range []string{"", "[]", `{"member":1}`, `{"member":"k","lines":"x"}`} {
		if a := string(l.Answer(t.Context(), "box2", []byte(data))); !strings.Contains(a, `"error":"`) {
			t.Errorf("%s: %s", data, a)
		}
	}
	if !l.Begin("box2") || l.Begin("box2") || !l.Begin("box3") {
		t.Error("a host has two turns, or another host's")
	}
	l.End("box2")
	l.End("box3")
	if l.Head() != 0 {
		t.Errorf("the stream has %d events", l.Head())
	}
}

// TestTwoGateways: a gateway that doesn't know what another has appended learns it with its first try.
func TestTwoGateways(t *testing.T) {
	s := newSite(t)
	a, b := s.open(nil), s.open(nil)
	defer a.Close()
	defer b.Close()
	for i := range 6 {
		l := a
		if i%2 == 1 {
			l = b
		}
		batch := Batch{Member: "k", Lines: []json.RawMessage{json.RawMessage(strings.Replace(good, "e7", fmt.Sprint("e", i+1), 1))}}
		_, err := l.must(t.Context(), "box2", batch)
		if (err != nil) != (i > 1) {
			t.Errorf("the event %d: %v", i+1, err)
		}
		if err == nil {
			continue
		}
		if answer, err := l.must(t.Context(), "box2", batch); err != nil || answer.Cursor != uint64(i+1) {
			t.Errorf("the event %d again: %+v, %v", i+1, answer, err)
		}
	}
	f := a.Follow(0)
	for i := range 6 {
		if line, _, err := f.Next(t.Context()); err != nil || !strings.Contains(string(line.Raw), fmt.Sprintf(`"host_cursor":"e%d"`, i+1)) {
			t.Errorf("%s, %v", line.Raw, err)
		}
	}
}

// TestTail: what is kept in memory is bounded by lines and by bytes.
func TestTail(t *testing.T) {
	tl := &tail{wake: make(chan struct{})}
	for i := range 2 * tailLines {
		tl.add(Line{Line: events.Line{Cursor: uint64(i + 1)}})
	}
	if _, ok, _ := tl.look(tailLines - 1); ok || len(tl.lines) != tailLines {
		t.Errorf("%d lines", len(tl.lines))
	}
	if line, ok, _ := tl.look(tailLines); !ok || line.Cursor != tailLines+1 {
		t.Errorf("after those that are gone: %d", line.Cursor)
	}
	large := make([]byte, tailBytes/4)
	for range 20 {
		tl.add(Line{Line: events.Line{Cursor: tl.head + 1, Raw: large}})
	}
	if tl.bytes > tailBytes || len(tl.lines) != 4 {
		t.Errorf("%d lines of %d bytes", len(tl.lines), tl.bytes)
	}
	if _, ok, wake := tl.look(tl.head); ok || wake == nil {
		t.Error("there is a line after the last")
	}
}
