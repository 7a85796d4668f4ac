package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/agent"
	"berth/sessions"
	"berth/sessions/events"
	"berth/terminal"
	"berth/terminal/paint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring puts a signal into a channel that holds one.
func ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// typist is the input of a client, which a test types.
type typist struct {
	mu    sync.Mutex
	data  []byte
	err   error
	fresh chan struct{}
}

func newTypist() *typist { return &typist{fresh: make(chan struct{}, 1)} }

func (k *typist) Ready() <-chan struct{} { return k.fresh }

func (k *typist) TryRead(p []byte) (int, error, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.data) == 0 {
		return 0, k.err, k.err != nil
	}
	n := copy(p, k.data)
	if k.data = k.data[n:]; len(k.data) > 0 || k.err != nil {
		ring(k.fresh)
	}
	return n, nil, true
}

func (k *typist) Unread(p []byte) {
	k.mu.Lock()
	k.data = append(append([]byte{}, p...), k.data...)
	k.mu.Unlock()
	ring(k.fresh)
}

func (k *typist) press(s string) {
	k.mu.Lock()
	k.data = append(k.data, s...)
	k.mu.Unlock()
	ring(k.fresh)
}

func (k *typist) left() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.data)
}

// drained waits until the dashboard has read all input.
func (k *typist) drained(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); k.left() != ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the dashboard doesn't read %q", k.left())
		}
	}
}

// glass is a client's terminal.
type glass struct {
	mu   sync.Mutex
	slow atomic.Bool // delays its replies
	late []byte
	term *terminal.Terminal
	took atomic.Int64  // number of writes
	wait chan struct{} // writes block until it is closed; nil: they don't block
	seen chan struct{}
}

func (g *glass) Write(p []byte) (int, error) {
	if g.wait != nil {
		<-g.wait
		return 0, io.ErrClosedPipe
	}
	g.took.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	n, err := g.term.Write(p)
	ring(g.seen)
	return n, err
}

// shows waits until the terminal shows a text.
func (g *glass) shows(t testing.TB, want string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		g.mu.Lock()
		shown := strings.Join(g.term.Snapshot(0).Text(), "\n")
		g.mu.Unlock()
		if strings.Contains(shown, want) {
			return
		}
		select {
		case <-g.seen:
		case <-deadline:
			t.Fatalf("%q never came:\n%s", want, shown)
		}
	}
}

// server is a Host without real sessions.
type server struct {
	mu       sync.Mutex
	list     []*sessions.Status
	log      *events.Log
	attached chan string
	keys     *typist
	ran      chan Act
	begun    atomic.Bool   // an act has begun
	finds    atomic.Int64  // number of calls of Find
	panics   atomic.Bool   // World panics
	gone     atomic.Bool   // Attach returns ErrGone
	chosen   Choices       // of Run's goroutine while it runs
	looked   func()        // called after each World; may be nil
	let      chan struct{} // acts end when it is closed
}

func (h *server) World() World {
	if h.panics.Load() {
		panic("the world ends")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looked != nil {
		defer h.looked()
	}
	return World{Sessions: h.list, May: Rights{"attach": true, "respond": true, "screen": true}}
}
func (h *server) Find(string) (*sessions.Session, bool) { h.finds.Add(1); return nil, false }
func (h *server) File(context.Context, string, string) (string, bool, error) {
	return "", false, errors.New("no files here")
}
func (h *server) Fill(context.Context, string)                         {}
func (h *server) Installed(context.Context, bool) []sessions.Installed { return nil }
func (h *server) Folders(context.Context, string, string) (sessions.Folders, error) {
	return sessions.Folders{}, errors.New("no folders here")
}
func (h *server) Complete(string) (int, []string) { return 0, nil }
func (h *server) Attach(_ context.Context, id string) error {
	if h.gone.Load() {
		return ErrGone
	}
	h.attached <- id + " " + h.keys.left()
	h.keys.mu.Lock()
	h.keys.data = nil
	h.keys.mu.Unlock()
	return errors.New("sent away")
}
func (h *server) Run(ctx context.Context, a Act) Done {
	h.ran <- a
	h.begun.Store(true)
	<-h.let
	return Done{Act: a, Out: `{"outcome":"accepted","confirmed":true}`}
}
func (h *server) Events() *events.Log         { return h.log }
func (h *server) Seen() map[string]uint64     { return nil }
func (h *server) SetSeen(map[string]uint64)   {}
func (h *server) Choices() Choices            { return h.chosen }
func (h *server) SetChoices(was, now Choices) { h.chosen.Change(was, now) }

// play runs a dashboard, and sends what Run returns.
func play(t testing.TB, ctx context.Context, blocked bool) (*server, *typist, *glass, chan error) {
	t.Helper()
	return playAt(t, ctx, blocked, time.Now)
}

func playAt(t testing.TB, ctx context.Context, blocked bool, clock func() time.Time, others ...*sessions.Status) (*server, *typist, *glass, chan error) {
	t.Helper()
	log, err := events.Open(t.TempDir(), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	k := newTypist()
	h := &server{log: log, keys: k, attached: make(chan string, 1), ran: make(chan Act, 1000), let: make(chan struct{})}
	a := at("alpha", agent.Prompt, 1)
	r := permission()
	r.ID = "p1"
	a.Request = r
	h.list = append([]*sessions.Status{a}, others...)
	g := &glass{seen: make(chan struct{}, 1)}
	hangup := func() {}
	if blocked {
		g.wait = make(chan struct{})
		hangup = sync.OnceFunc(func() { close(g.wait) })
	}
	// The terminal answers queries.
	g.term = terminal.New(terminal.Options{Cols: 80, Rows: 24, Handlers: terminal.Handlers{Reply: func(reply []byte, _ int64) {
		if g.slow.Load() {
			g.late = append(g.late, reply...)
			return
		}
		k.press(string(reply))
	}}})
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if why := recover(); why != nil {
				ended <- fmt.Errorf("%v", why)
			}
		}()
		ended <- Run(ctx, Options{
			Host: h, In: k, Out: g, Hangup: hangup, Window: func() (int, int) { return 80, 24 }, Resized: make(chan struct{}),
			Term: "xterm-256color", Person: Person{Name: "ann"}, Address: "agents@host", Now: clock,
		})
	}()
	return h, k, g, ended
}

func end(t testing.TB, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		buf := make([]byte, 1<<16)
		t.Fatalf("the dashboard doesn't end:\n%s", buf[:runtime.Stack(buf, true)])
		return nil
	}
}

// TestHandOver: input after the key that attaches goes to the session. When the attachment ends by an
// error, the dashboard shows the error.
func TestHandOver(t *testing.T) {
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	h, k, g, ended := playAt(t, context.Background(), false, clock)
	g.shows(t, "alpha")
	k.press("oecho hello\r\x1b[A")
	if got := <-h.attached; got != "id-alpha echo hello\r\x1b[A" {
		t.Errorf("the session gets %q", got)
	}
	g.shows(t, "sent away")
	ahead.Store(int64(time.Minute))
	k.press("qls\r")
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
	if k.left() != "ls\r" {
		t.Errorf("after q the input has %q, want %q", k.left(), "ls\r")
	}
	if m := g.term.Modes(); m.AltScreen || m.BracketedPaste || !m.AutoWrap || !g.term.Cursor().Visible {
		t.Errorf("the terminal is left with %+v", m)
	}
}

// TestReplyAfterAKey: leave doesn't wait for a reply that came together with the last key, and doesn't
// pass it on as typed text.
func TestReplyAfterAKey(t *testing.T) {
	h, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "alpha")
	k.press("\x03")
	if err := end(t, ended); err != nil {
		t.Fatal(err)
	}
	g.slow.Store(true)
	d := newDashboard(context.Background(), Options{Host: h, In: k, Out: g, Window: func() (int, int) { return 80, 24 }, Now: time.Now, Term: "xterm"})
	_ = d.enter()()
	d.decoder.Feed([]byte("\rls\x1b[?62;22c\x1b[200~half"))
	if key, _ := d.decoder.Next(); key.Name != "enter" {
		t.Fatal(key)
	}
	begin := time.Now()
	if err := d.leave(nil); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took >= replyTime || k.left() != "ls\x1b[200~half" {
		t.Errorf("after %v the input has %q", took, k.left())
	}
}

// TestAnswerAndGo: q after an answer waits for its result.
func TestAnswerAndGo(t *testing.T) {
	h, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "y allow")
	for !h.begun.Load() { // a card takes no key before settleTime
		k.press("y")
		time.Sleep(10 * time.Millisecond)
	}
	k.press("q")
	k.drained(t)
	close(h.let)
	if a := <-h.ran; strings.Join(a.Words, " ") != "respond id-alpha --prompt p1 accept" {
		t.Errorf("runs %q", a.Words)
	}
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
	g.shows(t, "alpha: accepted, confirmed")
}

// TestKeyForTheCardBefore: over a slow connection a key for one prompt arrives when the next prompt's
// card was sent long ago. It answers neither.
func TestKeyForTheCardBefore(t *testing.T) {
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	h, k, g, ended := playAt(t, context.Background(), false, clock)
	g.shows(t, "y allow")
	g.slow.Store(true)
	h.mu.Lock()
	s := *h.list[0]
	next := *s.Request
	next.ID = "p2"
	next.SetInput("rm -r build")
	s.Request = &next
	h.list = []*sessions.Status{&s}
	h.mu.Unlock()
	if _, err := h.log.Append(events.Event{Type: "state_change", Session: "alpha", ID: s.ID, Time: clock()}); err != nil {
		t.Fatal(err)
	}
	g.shows(t, "rm -r build") // drawn, but the terminal's reply hasn't arrived
	ahead.Store(int64(5 * time.Second))
	k.press("y")
	g.shows(t, "press again")
	g.mu.Lock()
	k.press(string(g.late))
	g.mu.Unlock()
	k.drained(t)
	for !h.begun.Load() {
		k.press("y")
		time.Sleep(10 * time.Millisecond)
	}
	if a := <-h.ran; strings.Join(a.Words, " ") != "respond id-alpha --prompt p2 accept" {
		t.Errorf("runs %q", a.Words)
	}
	g.slow.Store(false)
	close(h.let)
	k.press("qq")
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
}

// TestServerGoes: when the server stops, the last line says so and how to come back.
func TestServerGoes(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	_, _, g, ended := play(t, ctx, false)
	g.shows(t, "alpha")
	why := errors.New("the server is shutting down")
	cancel(why)
	if err := end(t, ended); !errors.Is(err, why) {
		t.Error(err)
	}
	g.shows(t, "come back with: ssh -t agents@host")
	if g.term.Modes().AltScreen {
		t.Error("the alternate screen is left on")
	}
}

// TestDeadClient: a client that reads nothing, and one that is gone, leave no goroutine running; goleak
// checks.
func TestDeadClient(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	_, k, _, ended := play(t, ctx, true)
	k.press("jjj")
	cancel(errors.New("the connection is gone"))
	if err := end(t, ended); err == nil {
		t.Error("Run returns no error")
	}
	_, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "alpha")
	k.mu.Lock()
	k.err = io.EOF
	k.mu.Unlock()
	ring(k.fresh)
	if err := end(t, ended); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// TestTypedAtOnce: keys that arrive together, such as a paste without marks, are drawn once, and the
// dashboard follows no screen between them.
func TestTypedAtOnce(t *testing.T) {
	h, k, g, ended := playAt(t, context.Background(), false, time.Now, at("beta", agent.Idle, 1))
	g.shows(t, "beta")
	finds := h.finds.Load()
	k.press(strings.Repeat("jk", 2000))
	k.drained(t)
	before := g.took.Load()
	k.press("/" + strings.Repeat("x\x7f", 2000) + "y")
	g.shows(t, " /y")
	if n := g.took.Load() - before; n > 20 {
		t.Errorf("4000 keys are drawn %d times", n)
	}
	if n := h.finds.Load() - finds; n > 20 {
		t.Errorf("with 4000 keys %d screens are followed", n)
	}
	k.press("\x03")
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
}

// TestGoneWhileAttached: the client disconnects while it is attached. A late message that the last
// picture was written does nothing.
func TestGoneWhileAttached(t *testing.T) {
	h, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "alpha")
	h.gone.Store(true)
	k.press("o")
	if err := end(t, ended); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	d := newDashboard(context.Background(), Options{Host: h, Out: g, Window: func() (int, int) { return 80, 24 }, Now: time.Now})
	word := d.enter()()
	d.out.close()
	d.out = nil
	d.end(ErrGone)
	if _, cmd := d.Update(word); cmd != nil || !d.over {
		t.Error("the dashboard goes on")
	}
}

// TestLateShot: a stopped follower of a screen sends no more pictures, even if its session is chosen again.
func TestLateShot(t *testing.T) {
	h, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "alpha")
	k.press("\x03")
	if err := end(t, ended); err != nil {
		t.Fatal(err)
	}
	d := newDashboard(context.Background(), Options{Host: h, Window: func() (int, int) { return 80, 24 }, Now: time.Now})
	left, leave := context.WithCancel(context.Background())
	leave()
	shown := shot{id: "id", pic: new(terminal.Snapshot), of: context.Background(), drawn: make(chan struct{})}
	d.take(shown)
	d.take(shot{id: "id", pic: new(terminal.Snapshot), of: left, drawn: make(chan struct{})})
	if d.model.pictures["id"].screen != shown.pic || len(d.shots) != 1 || d.shots[0] != shown.drawn {
		t.Error("the late picture is shown, and the new one is never drawn")
	}
}

// TestEventAtTheFirstLook: the dashboard doesn't miss an event right after it first reads the sessions.
func TestEventAtTheFirstLook(t *testing.T) {
	h, k, g, ended := play(t, context.Background(), false)
	g.shows(t, "alpha")
	k.press("\x03")
	if err := end(t, ended); err != nil {
		t.Fatal(err)
	}
	h.looked = sync.OnceFunc(func() {
		h.list = []*sessions.Status{at("beta", agent.Idle, 1)}
		if _, err := h.log.Append(events.Event{Type: "session_created", Session: "beta", Time: time.Now()}); err != nil {
			t.Error(err)
		}
	})
	go func() {
		ended <- Run(context.Background(), Options{Host: h, In: k, Out: g, Window: func() (int, int) { return 80, 24 }, Now: time.Now, Term: "xterm"})
	}()
	g.shows(t, "beta")
	k.press("\x03")
	if err := end(t, ended); err != nil {
		t.Error(err)
	}
}

// TestPanic: a panic reaches the caller, which records it. The client's terminal is restored, and no
// goroutine is left; goleak checks.
func TestPanic(t *testing.T) {
	for name, cause := range map[string]func(*server, *typist){
		"on the way back": func(h *server, k *typist) { k.press("o"); <-h.attached },
		"on the screen": func(h *server, _ *typist) {
			if _, err := h.log.Append(events.Event{Type: "state_change", Session: "alpha", Time: time.Now()}); err != nil {
				t.Error(err)
			}
		},
	} {
		h, k, g, ended := play(t, context.Background(), false)
		g.shows(t, "alpha")
		h.panics.Store(true)
		cause(h, k)
		if err := end(t, ended); err == nil || err.Error() != "the world ends" {
			t.Errorf("%s: %v", name, err)
		}
		if m := g.term.Modes(); m.AltScreen || m.BracketedPaste || !m.AutoWrap || !g.term.Cursor().Visible {
			t.Errorf("%s: the terminal is left with %+v", name, m)
		}
	}
}

// BenchmarkFrame draws a dashboard of 100 sessions after another one is chosen.
func BenchmarkFrame(b *testing.B) {
	var list []*sessions.Status
	for i := range 100 {
		s := at(strings.Repeat("s", i%20+1)+string(rune('a'+i%26)), agent.States[i%len(agent.States)], i)
		s.ID += string(rune('0' + i))
		list = append(list, s)
	}
	m := started(200, 60, world(list...))
	sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
	sc.resize(200, 60)
	b.ReportAllocs()
	for i := range b.N {
		press(m, noon, []string{"j", "k"}[i/50%2])
		m.SetWorld(m.world, noon)
		sc.draw(m)
	}
}

// BenchmarkMemory measures the heap of a dashboard of 200x60, in bytes.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for range b.N {
		runtime.GC()
		runtime.ReadMemStats(&before)
		var all []any
		for range 50 {
			m := started(200, 60, world(at("a", agent.Idle, 1)))
			sc := newScreen(paint.Look{Depth: paint.DepthTrue, UTF8: true})
			sc.resize(200, 60)
			sc.draw(m)
			all = append(all, m, sc)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/50, "bytes/dashboard")
		runtime.KeepAlive(all)
	}
}
