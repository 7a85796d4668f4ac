package sessions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/keys"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// listener is an agent that takes messages, and is never said to be at rest.
type listener struct{ diary }

func (listener) Message(text string) string                { return strings.TrimSpace(text) }
func (listener) Slash(text string) (string, bool)          { return text, true }
func (listener) Paste(typed string, _ bool) ([]byte, bool) { return []byte(typed), true }
func (listener) Pause() time.Duration                      { return 0 }
func (listener) Same(typed, told string) bool              { return typed == told }
func (listener) Holds(string, *agent.Composer) bool        { return false }
func (listener) Displays(string, *agent.Composer) bool     { return false }
func (listener) Clear(*agent.Composer, int) []byte         { return nil }
func (listener) Interrupt() []byte                         { return nil }

func newListener(t *testing.T) (*place, *Session) {
	t.Helper()
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"listener": listener{diary{dir: t.TempDir()}}}
	p.options.Rights = func(id keys.Identity, _ string) (keys.Identity, error) { return id, nil }
	p.open()
	return p, p.sh("one", "sleep 600", func(s *Spec) { s.Agent = "listener" })
}

func enqueue(t *testing.T, s *Session, text string, expires time.Duration) (*Ticket, error) {
	t.Helper()
	ticket, err := s.Enqueue(t.Context(), Claim{Actor: tester, Verb: "nudge"}, Nudge{Text: text}, expires)
	if err == nil {
		ticket.Close()
	}
	return ticket, err
}

func texts(t *testing.T, s *Session) (list []string) {
	t.Helper()
	queue, err := s.Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queue {
		list = append(list, q.Text)
	}
	return list
}

// TestQueueExpires drops what waited too long, also while no server ran, and no
// other.
func TestQueueExpires(t *testing.T) {
	p, s := newListener(t)
	for text, expires := range map[string]time.Duration{"soon": 50 * time.Millisecond, "late": time.Hour} {
		if _, err := enqueue(t, s, text, expires); err != nil {
			t.Fatal(err)
		}
	}
	left := func() {
		t.Helper()
		for deadline := time.Now().Add(patience); strings.Join(texts(t, s), "|") != "late"; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q wait", texts(t, s))
			}
		}
	}
	left()
	if _, err := enqueue(t, s, "while no client looks", 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	p.close()
	p.options.Now = func() time.Time { return time.Now().Add(time.Minute) }
	p.open()
	s = p.find("one")
	left()
	p.counts(s.ID(), map[string]int{"message": 5})
}

// TestQueueFileDamaged: what cannot be read of a queue is logged, and the rest
// waits on.
func TestQueueFileDamaged(t *testing.T) {
	p, s := newListener(t)
	for _, text := range []string{"first", "second"} {
		if _, err := enqueue(t, s, text, 0); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(filepath.Join(s.dir, "queue"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	p.close()
	if err := os.WriteFile(filepath.Join(s.dir, "queue", files[0].Name()), []byte(`{"queue_id":"q`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.open()
	s = p.find("one")
	if got := texts(t, s); len(got) != 1 || got[0] != "second" {
		t.Errorf("%q wait", got)
	}
	if problem := s.Status().Problem; !strings.Contains(problem, files[0].Name()) {
		t.Errorf("the problem is %q", problem)
	}
}

// TestTypingWaitsForADelivery: what a person types while a delivery is under way
// is not lost and not mixed in: it arrives after it, in order.
func TestTypingWaitsForADelivery(t *testing.T) {
	p := open(t)
	s := p.sh("one", "stty raw -echo; echo ready; exec cat")
	shows := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			snap, err := s.Snapshot(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.Join(snap.Text(), "\n"), want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q is not shown: %q", want, snap.Text())
			}
		}
	}
	shows("ready")
	person := join(t, s, visitor("a", 40, 6))
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	claim := Claim{Actor: tester, Verb: "nudge", Takeover: true}
	link, err := ask(t.Context(), s, func(c *core) (*hold.Link, error) { return c.link(), nil })
	if err != nil {
		t.Fatal(err)
	}
	send := func(text string) func() (<-chan error, error) {
		return func() (<-chan error, error) { return link.InputLater([]byte(text), nil) }
	}
	go func() {
		ended <- s.clients.Delivery(t.Context(), claim, func(write loop.Write) error {
			if err := write(send("<one")); err != nil {
				return err
			}
			close(begun)
			<-goOn
			return write(send("two>"))
		})
	}()
	<-begun
	typed := make(chan error, 1)
	go func() {
		for _, key := range "abc" {
			if err := person.Type(t.Context(), []byte(string(key))); err != nil {
				typed <- err
				return
			}
		}
		typed <- nil
	}()
	shows("<one")
	waiting, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	select {
	case err := <-typed:
		t.Fatalf("typed in the middle of a delivery: %v", err)
	case <-waiting.Done():
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := <-typed; err != nil {
		t.Fatal(err)
	}
	shows("<onetwo>abc")
}

// TestInterruptIsAwaited: the clients report an interrupt that waits for a delivery, until it has the lease.
func TestInterruptIsAwaited(t *testing.T) {
	p := open(t)
	s := p.sh("one", "sleep 600")
	deliver := func(claim Claim, work func(loop.Write) error) <-chan error {
		ended := make(chan error, 1)
		go func() { ended <- s.clients.Delivery(t.Context(), claim, work) }()
		return ended
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	nudge := deliver(Claim{Actor: tester, Verb: "nudge"}, func(loop.Write) error {
		close(begun)
		<-goOn
		return nil
	})
	<-begun
	if s.clients.Interrupt() {
		t.Error("an interrupt is reported that doesn't wait")
	}
	waits := false
	interrupt := deliver(Claim{Actor: tester, Verb: "interrupt", AfterDelivery: true}, func(loop.Write) error {
		waits = s.clients.Interrupt()
		return nil
	})
	for deadline := time.Now().Add(patience); !s.clients.Interrupt(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an interrupt that waits is not reported")
		}
	}
	close(goOn)
	if err := errors.Join(<-nudge, <-interrupt); err != nil || waits {
		t.Errorf("it waits %v after it began, %v", waits, err)
	}
}

// TestDeliveryWithItsEventIsOver: a kill came between the event of a delivery's end and the end
// of the delivery's file. The next server drops the file.
func TestDeliveryWithItsEventIsOver(t *testing.T) {
	p, s := newListener(t)
	dir := filepath.Join(s.dir, "queue")
	file := filepath.Join(dir, "00000000000000000077.direct.json")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"queue_id":"n77","direct":true,"stage":"typed","nudge":{"text":"half"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := checkpointOf(t, s)
	if err := s.do(t.Context(), func(c *core) { c.kernel.Emit.Note("nudge", map[string]string{"nudge": "n77", "verdict": "lost"}) }); err != nil {
		t.Fatal(err)
	}
	p.crash(s, kept)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("its file is still there: %v", err)
	}
}
