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
	"berth/sessions/deliver"
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

// TestEnterThatWorkedLate: the composer still held the message long after Enter,
// so that it is to be typed again; then the agent says that it has it. It is not
// delivered twice, by whichever server.
func TestEnterThatWorkedLate(t *testing.T) {
	for _, killed := range []bool{false, true} {
		p, s := newListener(t)
		ticket, err := s.Enqueue(t.Context(), Claim{Actor: tester, Verb: "nudge"}, Nudge{Text: "hello"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		do := func(fn func(c *core, q *queued)) {
			t.Helper()
			if err := s.do(t.Context(), func(c *core) { fn(c, c.mail.queue[0]) }); err != nil {
				t.Fatal(err)
			}
		}
		says := func(c *core, text string, at time.Time) {
			c.heedTaken(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Cause: "hook:late", Turn: "late", Text: text, Time: at})
			c.tell(nil)
		}
		var early time.Time
		do(func(c *core, q *queued) {
			early = c.now().Add(-time.Minute)
			says(c, "hello", c.now()) // somebody else's: nothing was typed yet
			for _, stage := range []stage{stageTyped, stageEntered, stageTyped, stageWaiting} {
				if err := c.stage(q, stage); err != nil {
					t.Error(err)
				}
			}
		})
		if killed {
			p.reopen()
			s = p.find("one")
		}
		do(func(c *core, _ *queued) {
			says(c, "hello", early)
			says(c, "hello you", c.now())
		})
		if got := texts(t, s); len(got) != 1 {
			t.Fatalf("killed %v: %q wait", killed, got)
		}
		do(func(c *core, _ *queued) { says(c, "hello", c.now()) })
		if got := texts(t, s); len(got) != 0 {
			t.Errorf("killed %v: %q wait", killed, got)
		}
		p.counts(s.ID(), map[string]int{"nudge": 1})
		if killed {
			continue // nobody follows it any more
		}
		select {
		case got := <-ticket.Done:
			if got.Err != nil || got.Verdict != deliver.Confirmed || got.Seq == 0 || got.turn == nil || got.turn.id != "late" {
				t.Errorf("who waits is told %+v", got)
			}
			s.Forget(t.Context(), got.Nudged)
		default:
			t.Error("who waits is told nothing")
		}
	}
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

// TestAsideOver: a draft is put aside until the screen says for a while that it is
// not; where the key for it was pressed and its effect not seen, it may come late.
func TestAsideOver(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plain := &agent.Reading{Composer: &agent.Composer{Text: "a draft"}}
	stashed := &agent.Reading{Composer: &agent.Composer{Empty: true}, Stashed: true}
	for name, c := range map[string]struct {
		late    bool
		person  time.Duration // after the start; 0: nobody typed
		shows   *agent.Reading
		during  time.Duration
		want    bool
		stashed time.Duration // when it was seen put aside after all
	}{
		"brought back":                         {shows: plain, during: asideGone, want: true},
		"hidden for a moment":                  {shows: plain, during: asideGone - time.Millisecond},
		"no screen":                            {during: time.Minute},
		"the key works late":                   {late: true, shows: plain, during: 10 * time.Second},
		"the key had no effect":                {late: true, shows: plain, during: asideLate, want: true},
		"a person typed since":                 {late: true, person: time.Second, shows: plain, during: asideGone, want: true},
		"it worked late, and was brought back": {late: true, stashed: 5 * time.Second, shows: plain, during: 5*time.Second + asideGone, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &aside{}
			if c.late {
				a.late = start
			}
			person := time.Time{}
			if c.person > 0 {
				person = start.Add(c.person)
			}
			got := a.over(c.shows, person, start)
			if c.stashed > 0 {
				got = a.over(stashed, person, start.Add(c.stashed)) || a.over(c.shows, person, start.Add(c.stashed))
			}
			if got {
				t.Fatal("it is over at once")
			}
			if got = a.over(c.shows, person, start.Add(c.during)); got != c.want {
				t.Errorf("over: %v, want %v", got, c.want)
			}
		})
	}
}

// TestNudgeCutOff: a delivery that a kill has cut off goes before the queue and
// is not listed in it; one whose end was told is over.
func TestNudgeCutOff(t *testing.T) {
	p, s := newListener(t)
	if _, err := enqueue(t, s, "queued", 0); err != nil {
		t.Fatal(err)
	}
	cut := func(text string) (id string) {
		t.Helper()
		err := s.do(t.Context(), func(c *core) {
			q := c.direct(Claim{Actor: tester}, Nudge{Text: text})
			id = q.ID
			if err := c.stage(q, stageTyped); err != nil { // as stepNudge does before the bytes
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := func() (text string) {
		if err := s.do(t.Context(), func(c *core) { text = c.mail.queue[0].Nudge.Text }); err != nil {
			t.Fatal(err)
		}
		return text
	}
	id := cut("half")
	p.reopen()
	s = p.find("one")
	if got := first(); got != "half" {
		t.Errorf("first is %q", got)
	}
	if got := texts(t, s); len(got) != 1 || got[0] != "queued" {
		t.Errorf("the queue lists %q", got)
	}
	if err := s.Unqueue(t.Context(), tester, id, func(By) error { return nil }); codeOf(err) != api.CodeNotFound {
		t.Errorf("it can be taken out of the queue: %v", err)
	}
	kept := checkpointOf(t, s)
	if err := s.do(t.Context(), func(c *core) {
		c.note("nudge", nudgeEvent{By: tester.by(), Nudge: id, Verdict: string(deliver.Lost)})
	}); err != nil {
		t.Fatal(err)
	}
	p.crash(s, kept)
	s = p.find("one")
	if got := first(); got != "queued" {
		t.Errorf("after its end was told, first is %q", got)
	}
	if files, err := os.ReadDir(filepath.Join(s.dir, queueDir)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
}
