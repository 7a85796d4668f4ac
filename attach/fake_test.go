package attach

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSession is a session over a real emulator. A mutex stands for the
// session's goroutine.
type fakeSession struct {
	mu      sync.Mutex
	t       *terminal.Terminal
	queues  map[*Queue]bool
	members []*fakeMember
	writer  *fakeMember
	typed   []byte
	end     string
	mode    string
	strict  bool
	follow  bool // the writer's window becomes the session's
	count   int
}

func newFakeSession(cols, rows int) *fakeSession {
	s := &fakeSession{
		t:      terminal.New(terminal.Options{Cols: cols, Rows: rows, Scrollback: 2000}),
		queues: map[*Queue]bool{},
	}
	s.t.SetPass(true)
	return s
}

func (s *fakeSession) Name() string { return "alpha" }
func (s *fakeSession) ID() string   { return "01J0000000000000000000ALPHA" }

func (s *fakeSession) Join(_ context.Context, c Client) (Member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	m := &fakeMember{
		s: s, c: c, id: fmt.Sprintf("c%d", s.count),
		changed: make(chan struct{}, 1), notices: make(chan Notice, 8), clip: make(chan string, 1),
	}
	s.members = append(s.members, m)
	if s.writer == nil && c.MayWrite && s.follow {
		s.resizeLocked(c.Cols, c.Rows)
	}
	return m, nil
}

// written makes the first who joined the writer, as a key of theirs would.
func (s *fakeSession) written() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setWriter(s.members[0])
}

// write is the program's output.
func (s *fakeSession) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Write(p)
	s.fanOut()
	s.ring()
}

func (s *fakeSession) fanOut() {
	p := s.t.TakePass()
	for q := range s.queues {
		q.Push(p)
	}
}

func (s *fakeSession) ring() {
	for _, m := range s.members {
		select {
		case m.changed <- struct{}{}:
		default:
		}
	}
}

func (s *fakeSession) resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resizeLocked(cols, rows)
}

func (s *fakeSession) resizeLocked(cols, rows int) {
	if c, r := s.t.Size(); c == cols && r == rows {
		return
	}
	s.fanOut()
	for q := range s.queues {
		q.Lag()
	}
	clear(s.queues)
	s.t.Resize(cols, rows)
	s.t.TakePass()
	s.ring()
}

func (s *fakeSession) finish(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = how
	s.ring()
}

func (s *fakeSession) setMode(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
	s.ring()
}

func (s *fakeSession) setWriter(m *fakeMember) {
	if old := s.writer; old != nil && m != nil && old != m {
		old.notices <- Notice{Kind: NoticeLeaseLost, By: m.c.Identity}
	}
	s.writer = m
	if m != nil && s.follow {
		s.resizeLocked(m.c.Cols, m.c.Rows)
	}
	s.ring()
}

func (s *fakeSession) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.typed)
}

func (s *fakeSession) snapshot() *terminal.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t.Snapshot(2000)
}

type fakeMember struct {
	s       *fakeSession
	c       Client
	id      string
	changed chan struct{}
	notices chan Notice
	clip    chan string
}

func (m *fakeMember) ID() string               { return m.id }
func (m *fakeMember) Changed() <-chan struct{} { return m.changed }
func (m *fakeMember) Notices() <-chan Notice   { return m.notices }
func (m *fakeMember) Clipboard() <-chan string { return m.clip }

func (m *fakeMember) Status() Status {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	st := Status{State: "idle", Mode: m.s.mode, Modes: m.s.t.Modes(), Strict: m.s.strict, Title: m.s.t.Title(), Ended: m.s.end != "", End: m.s.end}
	st.Cols, st.Rows = m.s.t.Size()
	if w := m.s.writer; w != nil {
		st.Writer = Person{Client: w.id, Name: w.c.Identity, Writer: true}
	}
	return st
}

func (m *fakeMember) Snapshot(_ context.Context, history int) (*terminal.Snapshot, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.t.Snapshot(history), nil
}

func (m *fakeMember) Resync(_ context.Context, q *Queue, o terminal.RepaintOptions) (Paint, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.fanOut()
	p := Paint{Bytes: m.s.t.Repaint(o)}
	p.Cols, p.Rows = m.s.t.Size()
	q.Start()
	m.s.queues[q] = true
	return p, nil
}

func (m *fakeMember) Unfollow(q *Queue) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	delete(m.s.queues, q)
}

// TryType is what a session that is busy answers: all goes by Type.
func (m *fakeMember) TryType([]byte, func(error)) bool { return false }

func (m *fakeMember) Type(_ context.Context, data []byte) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	switch w := m.s.writer; {
	case !m.c.MayWrite:
		return ErrReadOnly
	case w == nil:
		m.s.setWriter(m)
	case w != m:
		return &BusyError{Writer: Person{Client: w.id, Name: w.c.Identity}, MayTake: true}
	}
	m.s.typed = append(m.s.typed, data...)
	return nil
}

func (m *fakeMember) Window(cols, rows int) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.c.Cols, m.c.Rows = cols, rows
	if (m.s.writer == m || m.s.writer == nil) && m.s.follow {
		m.s.resizeLocked(cols, rows)
	}
}

func (m *fakeMember) Take(context.Context) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.setWriter(m)
	return nil
}

func (m *fakeMember) Release(context.Context) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if m.s.writer == m {
		m.s.setWriter(nil)
	}
	return nil
}

func (m *fakeMember) Who(context.Context) ([]Person, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	var people []Person
	for _, o := range m.s.members {
		people = append(people, Person{Client: o.id, Name: o.c.Identity, Writer: o == m.s.writer})
	}
	return people, nil
}

func (m *fakeMember) Leave() {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.members = slices.DeleteFunc(m.s.members, func(o *fakeMember) bool { return o == m })
	if m.s.writer == m {
		m.s.setWriter(nil)
	}
}

// person is a user at a terminal: what the client gets is drawn by an
// emulator, what is typed goes in through a pipe.
type person struct {
	t       *testing.T
	keys    *io.PipeWriter
	pump    *Pump
	resized chan struct{}
	result  chan error
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	screen *terminal.Terminal
	raw    []byte
	shut   chan struct{} // not nil: writes wait for it
	hung   chan struct{}
}

func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	shut := p.shut
	p.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-p.hung:
			return 0, io.ErrClosedPipe
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raw = append(p.raw, b...)
	p.screen.Write(b)
	return len(b), nil
}

// stall makes the terminal take nothing until the function is called.
func (p *person) stall() (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shut := make(chan struct{})
	p.shut = shut
	return func() {
		p.mu.Lock()
		p.shut = nil
		p.mu.Unlock()
		close(shut)
	}
}

func (p *person) resize(cols, rows int) {
	p.mu.Lock()
	p.screen.Resize(cols, rows)
	p.mu.Unlock()
	select {
	case p.resized <- struct{}{}:
	default:
	}
}

func (p *person) window() (int, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Size()
}

func (p *person) sees() *terminal.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Snapshot(5000)
}

func (p *person) press(s string) {
	p.t.Helper()
	if _, err := p.keys.Write([]byte(s)); err != nil {
		p.t.Errorf("type %q: %v", s, err)
	}
}

// attach starts Run for a new person. change may set options.
func attach(t *testing.T, s *fakeSession, cols, rows int, change func(*Options)) *person {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &person{
		t: t, keys: w, pump: NewPump(r), resized: make(chan struct{}, 1), result: make(chan error, 1), cancel: cancel,
		screen: terminal.New(terminal.Options{Cols: cols, Rows: rows, Scrollback: 5000}), hung: make(chan struct{}),
	}
	p.screen.Write([]byte("$ ssh -t host attach alpha\r\n"))
	o := Options{
		Session: s, In: p.pump, Out: p, Hangup: sync.OnceFunc(func() { close(p.hung) }),
		Window: p.window, Resized: p.resized, Term: "xterm-256color",
		Env:      map[string]string{"COLORTERM": "truecolor", "LANG": "en_US.UTF-8"},
		MayWrite: true, Identity: "ann", Host: "agents@host",
	}
	if change != nil {
		change(&o)
	}
	if sc, sr := s.t.Size(); s.follow || sc == cols && sr == rows { // else the size is explained first
		if o.Clock == nil {
			o.Clock = SystemClock{}
		}
		o.Clock = &greetedClock{Clock: o.Clock}
	}
	go func() { p.result <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel(context.Canceled)
		w.Close()
		r.Close()
		p.pump.Close()
	})
	return p
}

// left waits for Run to return.
func (p *person) left() error {
	p.t.Helper()
	select {
	case err := <-p.result:
		p.result <- err
		return err
	case <-time.After(10 * time.Second):
		p.t.Fatal("Run did not return")
		return nil
	}
}

// eventually polls for up to 10 s until check returns "", and fails with its last text. It polls
// because no single event announces every condition.
func eventually(t testing.TB, check func() string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		why := check()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(why)
		}
		time.Sleep(time.Millisecond)
	}
}

// greetedClock is for a client that is greeted when it attaches: the greeting, its first message, is gone
// at once, so that tests see the session.
type greetedClock struct {
	Clock
	greeted bool
}

func (c *greetedClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	if d != noticeTime || c.greeted {
		return c.Clock.Timer(d)
	}
	c.greeted = true
	return SystemClock{}.Timer(1)
}

// fakeClock moves only by advance.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*fakeTimer]bool
}

type fakeTimer struct {
	at time.Time
	c  chan time.Time
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Unix(1_800_000_000, 0), timers: map[*fakeTimer]bool{}}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{at: c.now.Add(d), c: make(chan time.Time, 1)}
	c.timers[t] = true
	return t.c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, t)
	}
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for t := range c.timers {
		if !t.at.After(c.now) {
			t.c <- c.now
			delete(c.timers, t)
		}
	}
}
