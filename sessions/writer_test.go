package sessions

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"berth/api"
	"berth/keys"
	"berth/sessions/lease"
)

// visitor is a client with a window.
func visitor(client string, cols, rows int) Visitor {
	by := Actor{Identity: keys.Identity{Kind: keys.KindKey, Name: client, Role: keys.Operator}, Client: client}
	return Visitor{Actor: by, Terminal: true, Cols: cols, Rows: rows}
}

func join(t *testing.T, s *Session, v Visitor) *Member {
	t.Helper()
	m, err := s.Join(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Leave)
	return m
}

func size(cols, rows int) func(*Status) bool {
	return func(st *Status) bool { return st.Cols == cols && st.Rows == rows }
}

func TestSizeIsTheWriters(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	a := join(t, s, visitor("a", 50, 10))
	within(t, s, "a's size", size(50, 10))
	if err := a.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := join(t, s, visitor("b", 30, 8))
	b.Window(31, 9)
	if err := b.Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, s, "b's size", size(31, 9))
	select {
	case n := <-a.Notices():
		if n.LostTo != "b" {
			t.Errorf("notice %+v", n)
		}
	case <-time.After(patience):
		t.Fatal("the loss of the lease is not reported")
	}
	for i := range 40 { // a burst ends at its last
		b.Window(60+i, 20)
	}
	within(t, s, "the last of the burst", size(99, 20))
	a.Window(20, 5)
	b.Leave()
	within(t, s, "the release", func(st *Status) bool { return st.Writer == nil })
	if st := s.Status(); !size(99, 20)(st) {
		t.Errorf("without a writer it became %dx%d", st.Cols, st.Rows)
	}
}

// A client that is alone and has typed nothing gives the session its size and
// keeps no call from writing. What a call sets stays until the window changes.
func TestSizeWithoutAWriter(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty -echo; echo ready; cat")
	shows(t, s, "ready")
	onlooker := visitor("v", 90, 30)
	onlooker.ReadOnly = true
	join(t, s, onlooker)
	a := join(t, s, visitor("a", 50, 10))
	within(t, s, "a's size", size(50, 10))
	call := Claim{Actor: visitor("c", 0, 0).Actor, Verb: "input"}
	if err := s.Deliver(t.Context(), call, []byte("from c\r")); err != nil {
		t.Fatalf("a call beside a client that typed nothing: %v", err)
	}
	shows(t, s, "from c")
	if err := s.Resize(t.Context(), call, 44, 9); err != nil {
		t.Fatal(err)
	}
	if err := s.Deliver(t.Context(), call, []byte("again\r")); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); !size(44, 9)(st) || st.Writer != nil || st.Viewers != 2 {
		t.Errorf("after the call %dx%d, writer %+v, %d viewers", st.Cols, st.Rows, st.Writer, st.Viewers)
	}
	a.Window(51, 11)
	within(t, s, "a's new size", size(51, 11))
	b := join(t, s, visitor("b", 60, 20))
	a.Window(52, 12) // two may write, and neither has the lease
	b.Window(61, 21)
	if err := s.do(t.Context(), func(c *core) { c.clients.LookAtWindows() }); err != nil { // before one of them leaves
		t.Fatal(err)
	}
	a.Leave()
	if st := s.Status(); !size(51, 11)(st) {
		t.Errorf("of two that typed nothing one has made it %dx%d", st.Cols, st.Rows)
	}
	if err := b.Type(t.Context(), []byte("from b\r")); err != nil {
		t.Fatal(err)
	}
	within(t, s, "b's size", size(61, 21))
	shows(t, s, "from b")
}

func TestSizeBackAndForth(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	m := join(t, s, visitor("a", 50, 10))
	within(t, s, "its size", size(50, 10))
	for range 20 {
		m.Window(60, 10)
		m.Window(50, 10)
	}
	m.Window(70, 10)
	within(t, s, "the last", size(70, 10))
}

func TestSizePolicies(t *testing.T) {
	p := open(t)
	fixed := p.sh("fixed", "sleep 600", func(s *Spec) { s.SizePolicy = SizeFixed })
	join(t, fixed, visitor("a", 50, 10))
	if err := fixed.Resize(t.Context(), Claim{Actor: visitor("a", 0, 0).Actor, Verb: "resize"}, 45, 9); err != nil {
		t.Fatal(err)
	}
	if st := fixed.Status(); !size(45, 9)(st) {
		t.Errorf("%dx%d", st.Cols, st.Rows)
	}

	least := p.sh("least", "sleep 600", func(s *Spec) { s.SizePolicy = SizeSmallest })
	join(t, least, visitor("a", 50, 10))
	b := join(t, least, visitor("b", 60, 8))
	within(t, least, "the smallest", size(50, 8))
	b.Leave()
	within(t, least, "the smallest of who is left", size(50, 10))
}

// A resize by verb returns though the writer's window takes the size back.
func TestResizeBesideAWriter(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	join(t, s, visitor("a", 50, 10))
	within(t, s, "the writer's size", size(50, 10))
	claim := Claim{Actor: visitor("b", 0, 0).Actor, Verb: "resize", Takeover: true}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Resize(ctx, claim, 33, 7); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][2]int{{0, 0}, {1, 1}, {5000, 5}, {-1, 5}} {
		if err := s.Resize(ctx, claim, bad[0], bad[1]); codeOf(err) != api.CodeBadRequest {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestOneWriter(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty -echo; echo ready; cat")
	shows(t, s, "ready")
	a := join(t, s, visitor("a", 40, 6))
	b := join(t, s, visitor("b", 40, 6))
	if err := a.Type(t.Context(), []byte("from a\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "from a")
	var busy *lease.BusyError
	if err := b.Type(t.Context(), []byte("from b\r")); !errors.As(err, &busy) || busy.Holder.ID != "a" {
		t.Errorf("b types: %v", err)
	}
	exec := Claim{Actor: visitor("c", 0, 0).Actor, Verb: "input"}
	if err := s.Deliver(t.Context(), exec, []byte("x")); codeOf(err) != api.CodeWriterBusy {
		t.Errorf("a call: %v", err)
	}
	exec.Takeover = true
	if err := s.Deliver(t.Context(), exec, []byte("from c\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "from c")
	if w := s.Status().Writer; w == nil || w.Client != "a" {
		t.Errorf("after the call %+v writes", w)
	}
	a.Leave()
	if err := b.Type(t.Context(), []byte("late b\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "late b")
}

func TestRightsAreJudgedAtEachWrite(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty -echo; echo ready; cat")
	shows(t, s, "ready")
	var taken atomic.Bool
	allowed := func() error {
		if taken.Load() {
			return api.Errorf(api.CodeDenied, "no more")
		}
		return nil
	}
	v := visitor("a", 40, 6)
	v.Allowed = allowed
	m := join(t, s, v)
	if err := m.Type(t.Context(), []byte("yes\r")); err != nil {
		t.Fatal(err)
	}
	taken.Store(true)
	if err := m.Type(t.Context(), []byte("no\r")); codeOf(err) != api.CodeDenied {
		t.Errorf("typing: %v", err)
	}
	if err := m.Take(t.Context()); codeOf(err) != api.CodeDenied {
		t.Errorf("taking: %v", err)
	}
	taken.Store(false)
	m.Leave()
	writes := 0
	claim := Claim{Actor: v.Actor, Verb: "input", Allowed: func() error {
		if writes++; writes > 2 { // once to begin, once for the first write
			return api.Errorf(api.CodeDenied, "no more")
		}
		return nil
	}}
	if err := s.Deliver(t.Context(), claim, []byte("one\r"), []byte("two\r")); codeOf(err) != api.CodeDenied {
		t.Errorf("the second write: %v", err)
	}
	if w := s.Status().Writer; w != nil {
		t.Errorf("%+v still writes", w)
	}
	readOnly := visitor("r", 40, 6)
	readOnly.ReadOnly = true
	r := join(t, s, readOnly)
	if err := r.Type(t.Context(), []byte("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a looker-on types: %v", err)
	}
}

// Callers that give up leave no lease, no member and no follower.
func TestCallersThatGiveUp(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Deliver(ctx, Claim{Actor: tester, Verb: "input"}, []byte("x"))
			if m, err := s.Join(ctx, visitor("gone", 40, 6)); err == nil {
				m.Leave()
			}
		}()
		cancel()
		<-done
	}
	within(t, s, "no client writes", func(st *Status) bool { return st.Writer == nil && st.Viewers == 0 })
	if who, err := s.Who(t.Context()); err != nil || len(who) != 0 {
		t.Errorf("%+v are there, %v", who, err)
	}
}

func TestExitFreesTheLease(t *testing.T) {
	p := open(t)
	s := p.sh("one", "read x")
	m := join(t, s, visitor("a", 40, 6))
	if err := m.Type(t.Context(), []byte("\r")); err != nil {
		t.Fatal(err)
	}
	if st := within(t, s, "the end", ended); st.Writer != nil {
		t.Errorf("%+v writes to an ended session", st.Writer)
	}
	if err := m.Type(t.Context(), []byte("x")); codeOf(err) != api.CodeExited {
		t.Errorf("typing: %v", err)
	}
	if _, err := s.Lock(t.Context(), Claim{Actor: tester}, time.Minute); codeOf(err) != api.CodeExited {
		t.Errorf("lock: %v", err)
	}
	if err := s.Deliver(t.Context(), Claim{Actor: tester}, []byte("x")); codeOf(err) != api.CodeExited {
		t.Errorf("input: %v", err)
	}
}
