package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/keys"
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
	p.options.Rights = func(id keys.Identity) (keys.Identity, error) { return id, nil }
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

// TestQueueIsBounded, by number and by size, keeps its order over a server's
// end, and gives its files back.
func TestQueueIsBounded(t *testing.T) {
	p, s := newListener(t)
	var want []string
	for i := range queueMost {
		want = append(want, fmt.Sprintf("message %d", i))
		if _, err := enqueue(t, s, want[i], 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := enqueue(t, s, "one too many", 0); codeOf(err) != api.CodeLimit {
		t.Errorf("%v, not LIMIT", err)
	}
	p.reopen()
	s = p.find("one")
	if got := texts(t, s); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("after a restart %q", got)
	}
	queue, err := s.Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queue {
		err := s.Unqueue(t.Context(), tester, q.QueueID, func(by By) error {
			if by.Identity != "tester" {
				t.Errorf("it is %s's", by.Identity)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(filepath.Join(s.dir, queueDir)); err != nil || len(files) > 0 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
	for range queueBytes / (1 << 20) {
		if _, err := enqueue(t, s, strings.Repeat("x", 1<<20), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := enqueue(t, s, "x", 0); codeOf(err) != api.CodeLimit {
		t.Errorf("%v, not LIMIT", err)
	}
	p.counts(s.ID(), map[string]int{"message": 2*queueMost + queueBytes/(1<<20), "nudge": 0})
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
	if _, err := enqueue(t, s, "while nobody looks", 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	p.close()
	p.options.Now = func() time.Time { return time.Now().Add(time.Minute) }
	p.open()
	s = p.find("one")
	left()
	p.counts(s.ID(), map[string]int{"message": 5})
}

// TestQueueFileDamaged: what cannot be read of a queue is told, and the rest
// waits on.
func TestQueueFileDamaged(t *testing.T) {
	p, s := newListener(t)
	for _, text := range []string{"first", "second"} {
		if _, err := enqueue(t, s, text, 0); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(filepath.Join(s.dir, queueDir))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	p.close()
	if err := os.WriteFile(filepath.Join(s.dir, queueDir, files[0].Name()), []byte(`{"queue_id":"q`), 0o600); err != nil {
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
// is not lost and not mixed in: it arrives behind it, in order.
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
	send := func(text string) func(*core) (<-chan error, error) {
		return func(c *core) (<-chan error, error) { return c.link.InputLater([]byte(text), nil) }
	}
	go func() {
		ended <- s.delivery(t.Context(), claim, func(write writing) error {
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
