package outbox

import (
	"berth/api"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/keys"
	"berth/sessions/deliver"
	"berth/sessions/events"
	"berth/sessions/loop"
)

// listener is an agent that takes messages as they are.
type listener struct {
	agent.Driver
	agent.MessageTyper
}

func (listener) Message(text string) string   { return text }
func (listener) Same(typed, told string) bool { return typed == told }
func (listener) Table() agent.Table           { return agent.Table{} }

// box is an outbox and the events that it wrote. Its agent is never at rest, so that nothing is
// delivered. The loop is the test.
type box struct {
	*Outbox
	noted     []events.Line
	interrupt bool       // a client waits to interrupt the turn
	visitor   *Recipient // the agent in the session's shell
	lives     map[Recipient]bool
}

var tester = loop.Claim{Actor: loop.Actor{Identity: keys.Identity{Name: "tester"}, Client: "c1"}}

func newOutbox(t *testing.T, dir string) *box {
	b := &box{}
	b.Outbox = New(Env{
		Env: loop.Env{
			Dir: dir, Now: time.Now,
			Note: func(kind string, data any) uint64 {
				raw, err := json.Marshal(data)
				if err != nil {
					t.Error(err)
				}
				b.noted = append(b.noted, events.Line{Type: kind, Raw: raw})
				return uint64(len(b.noted))
			},
			Do:         func(_ context.Context, fn func()) error { fn(); return nil },
			Background: func(func(context.Context)) {},
			Trouble:    func(what string, err error) { t.Errorf("%s: %v", what, err) },
			Name:       func() string { return "one" },
			Driver:     func() agent.Driver { return listener{} },
			Program:    func() loop.Program { return loop.Program{State: agent.Working} },
			Standing:   func() loop.Standing { return loop.Standing{Name: "one", Agent: "listener", Driver: listener{}} },
		},
		Interrupt: func() bool { return b.interrupt },
		Removed:   func() bool { return false },
		Recipient: func() *Recipient { return b.visitor }, Lives: func(r Recipient) bool { return b.lives[r] },
		Next:   func() uint64 { return uint64(len(b.noted)) + 1 },
		Write:  func(file string, data []byte) error { return os.WriteFile(file, data, 0o600) },
		Change: func(_ context.Context, fn func() error) error { return fn() },
	})
	if err := b.Load(); err != nil {
		t.Fatal(err)
	}
	b.Begin(time.Now())
	return b
}

// texts are the messages that the queue lists.
func (b *box) texts(t *testing.T) (list []string) {
	t.Helper()
	rows, err := b.Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		list = append(list, row.Text)
	}
	return list
}

func (b *box) nudges() (n int) {
	for _, e := range b.noted {
		if e.Type == eventNudge {
			n++
		}
	}
	return n
}

// TestEnterThatWorkedLate: the composer still held the message long after Enter,
// so that it is to be typed again; then the agent says that it has it. It is not
// delivered twice, by whichever server.
func TestEnterThatWorkedLate(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		b := newOutbox(t, dir)
		ticket, err := b.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		says := func(text string, at time.Time) {
			b.Fact(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Cause: "hook:late", Turn: "late", Text: text, Time: at})
			for _, e := range b.Taken() { // in one step with the report of it
				b.SettleTaken(b.env.Note(e.Type, e.Data))
			}
		}
		early := time.Now().Add(-time.Minute)
		says("hello", time.Now()) // another client's: nothing was typed yet
		for _, stage := range []stage{stageTyped, stageEntered, stageTyped, stageWaiting} {
			if err := b.stage(b.queue[0], stage); err != nil {
				t.Error(err)
			}
		}
		if killed {
			b = newOutbox(t, dir)
		}
		says("hello", early)
		says("hello you", time.Now())
		if got := b.texts(t); len(got) != 1 {
			t.Fatalf("killed %v: %q wait", killed, got)
		}
		says("hello", time.Now())
		if got := b.texts(t); len(got) != 0 {
			t.Errorf("killed %v: %q wait", killed, got)
		}
		if b.nudges() != 1 {
			t.Errorf("killed %v: %d events", killed, b.nudges())
		}
		if killed {
			continue // no caller follows it any more
		}
		select {
		case got := <-ticket.Done:
			if got.Err != nil || got.Verdict != deliver.Confirmed || got.Seq == 0 || got.turn == nil || got.turn.id != "late" {
				t.Errorf("the waiting caller got %+v", got)
			}
			b.Forget(t.Context(), got.Nudged)
		default:
			t.Error("the waiting caller got nothing")
		}
	}
}

// TestNudgeCutOff: a delivery that a kill has cut off goes before the queue and
// is not listed in it; one whose end was reported is over.
func TestNudgeCutOff(t *testing.T) {
	dir := t.TempDir()
	b := newOutbox(t, dir)
	if _, err := b.Enqueue(t.Context(), tester, Nudge{Text: "queued"}, 0); err != nil {
		t.Fatal(err)
	}
	half := b.direct(tester, Nudge{Text: "half"})
	if err := b.stage(half, stageTyped); err != nil { // as stepNudge does before the bytes
		t.Fatal(err)
	}
	b = newOutbox(t, dir)
	if got := b.queue[0].Nudge.Text; got != "half" {
		t.Errorf("first is %q", got)
	}
	if got := b.texts(t); !slices.Equal(got, []string{"queued"}) {
		t.Errorf("the queue lists %q", got)
	}
	if err := b.Unqueue(t.Context(), tester.Actor, half.ID, func(loop.By) error { return nil }); err == nil {
		t.Error("it can be taken out of the queue")
	}
	b.env.Note(eventNudge, nudgeEvent{By: tester.By(), Nudge: half.ID, Verdict: string(deliver.Lost)})
	told := b.noted[len(b.noted)-1]
	b = newOutbox(t, dir)
	b.Recall(told)
	if got := b.queue[0].Nudge.Text; got != "queued" {
		t.Errorf("after its end was reported, first is %q", got)
	}
	if files, err := os.ReadDir(filepath.Join(dir, queueDir)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
}

// TestQueueIsBounded, by number and by size, keeps its order over a server's
// end, and gives its files back.
func TestQueueIsBounded(t *testing.T) {
	dir := t.TempDir()
	b := newOutbox(t, dir)
	enqueue := func(text string) error {
		_, err := b.Enqueue(t.Context(), tester, Nudge{Text: text}, 0)
		return err
	}
	refused := func(text string) {
		t.Helper()
		if err := enqueue(text); err == nil || api.AsError(err).Code != api.CodeLimit {
			t.Errorf("%v, not LIMIT", err)
		}
	}
	var want []string
	for i := range queueMost {
		want = append(want, fmt.Sprintf("message %d", i))
		if err := enqueue(want[i]); err != nil {
			t.Fatal(err)
		}
	}
	refused("one too many")
	b = newOutbox(t, dir)
	if got := b.texts(t); !slices.Equal(got, want) {
		t.Errorf("after a restart %q", got)
	}
	for _, q := range slices.Clone(b.queue) {
		err := b.Unqueue(t.Context(), tester.Actor, q.ID, func(by loop.By) error {
			if by.Identity != "tester" {
				t.Errorf("it is %s's", by.Identity)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, queueDir)); err != nil || len(files) > 0 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
	for range queueBytes / (1 << 20) {
		if err := enqueue(strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	refused("x")
}

// plain is an agent that takes no messages.
type plain struct{ agent.Driver }

// TestTakenWhenTheRulesHaveGone: the event of a message that the agent has could not be written
// at once, and the rules that typed it were removed before it could. The caller that
// waits gets its answer.
func TestTakenWhenTheRulesHaveGone(t *testing.T) {
	b := newOutbox(t, t.TempDir())
	ticket, err := b.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.taken, b.takenBy = b.queue[0], agent.Fact{Kind: agent.TurnStarted, Turn: "t1", Text: "hello"}
	b.env.Driver = func() agent.Driver { return plain{} }
	b.SettleTaken(3)
	if len(ticket.done) != 1 || len(b.queue) != 0 {
		t.Errorf("%d answers, %d messages wait", len(ticket.done), len(b.queue))
	}
}

// TestDeliveryIsForOneProgram: a program ended and was started again between two steps of a
// delivery. Nothing more of it is typed.
func TestDeliveryIsForOneProgram(t *testing.T) {
	b := newOutbox(t, t.TempDir())
	b.env.Program = func() loop.Program { return loop.Program{State: agent.Idle, Follows: true, Reaches: true} }
	b.env.Freshen = func() {}
	b.env.Seen = func() deliver.Seen { return deliver.Seen{State: agent.Idle} }
	d, err := b.beginNudge(tester, Nudge{Text: "hello"}, nil, listener{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.stepNudge(d); err != nil {
		t.Fatal(err)
	}
	b.End()
	b.Begin(time.Now())
	if step, err := b.stepNudge(d); err == nil || api.AsError(err).Code != api.CodeExited {
		t.Errorf("%+v, %v", step, err)
	}
}

// typist is an agent whose composer shows what was typed.
type typist struct{ listener }

func (typist) Paste(typed string, _ bool) ([]byte, bool) { return []byte(typed), true }
func (typist) Pause() time.Duration                      { return 0 }
func (typist) Holds(typed string, c *agent.Composer) bool {
	return c != nil && c.Text == typed
}

// TestDeliveryEndsForAnInterrupt: a client waits to interrupt the turn, so the delivery ends once
// the agent is seen to have the message.
func TestDeliveryEndsForAnInterrupt(t *testing.T) {
	b := newOutbox(t, t.TempDir())
	now := time.Now()
	seen := deliver.Seen{State: agent.Idle, Reading: &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Empty: true}}}
	b.env.Now = func() time.Time { return now }
	b.env.Program = func() loop.Program { return loop.Program{State: agent.Idle, Follows: true, Reaches: true} }
	b.env.Freshen, b.env.SaveNow = func() {}, func() {}
	b.env.Seen = func() deliver.Seen { return seen }
	d, err := b.beginNudge(tester, Nudge{Text: "hello"}, nil, typist{})
	if err != nil {
		t.Fatal(err)
	}
	step := func() deliver.Step {
		t.Helper()
		now = now.Add(50 * time.Millisecond)
		step, err := b.stepNudge(d)
		if err != nil {
			t.Fatal(err)
		}
		return step
	}
	step()
	seen.Reading = &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Text: "hello"}}
	for range 10 {
		step()
	}
	if !d.machine.Entered() {
		t.Fatal("Enter was not pressed")
	}
	seen.State, seen.Reading = agent.Working, &agent.Reading{Clear: true, Busy: "working"}
	if last := step(); last.Done != nil {
		t.Fatalf("it ended with %+v", last.Done)
	}
	b.interrupt = true
	if last := step(); last.Done == nil || last.Done.Verdict != deliver.Confirmed {
		t.Errorf("it goes on: %+v", last)
	}
}

// TestProven: a composer that has shown a random word is reported, so that the next message needs none. A word that the terminal
// has drawn by itself isn't.
func TestProven(t *testing.T) {
	for mark, want := range map[string]bool{"❯ ": true, "\x1b[200~": false} {
		b := newOutbox(t, t.TempDir())
		now, proven := time.Now(), []time.Time(nil)
		seen := deliver.Seen{State: agent.Idle, Paste: true, Covered: true}
		printed := func() string { return strings.Repeat(mark+b.own, min(len(b.own), 1)) }
		b.env.Now = func() time.Time { return now }
		b.env.Program = func() loop.Program { return loop.Program{State: agent.Idle, Follows: true, Reaches: true} }
		kept := "" // by the checkpoint
		b.env.Freshen, b.env.SaveNow, b.env.Proven = func() {}, func() { kept = b.own }, func(typed time.Time) { proven = append(proven, typed) }
		b.env.Printed = func() int64 { return int64(len(printed())) }
		b.env.ReadOutput = func(buf []byte, at int64) (int, error) { return copy(buf, printed()[at:]), nil }
		b.env.Seen = func() deliver.Seen {
			seen.Reading = &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Text: b.own, Empty: b.own == ""}}
			return seen
		}
		d, err := b.beginNudge(tester, Nudge{Text: "hello"}, nil, typist{})
		if err != nil {
			t.Fatal(err)
		}
		begun := now
		for n := range 3 { // it types the word, sees it, and goes on
			if n < 2 && proven != nil {
				t.Fatal("reported before it was shown")
			}
			now = now.Add(50 * time.Millisecond)
			step, err := b.stepNudge(d)
			if err != nil {
				t.Fatal(err)
			}
			if b.own != "" && strings.Contains(string(step.Write), b.own) && kept != b.own {
				t.Errorf("%q is to be typed, and the checkpoint has %q: the next server takes it for a person's draft", b.own, kept)
			}
		}
		if b.own == "" || len(proven) != map[bool]int{true: 1}[want] || want && !proven[0].Equal(begun.Add(50*time.Millisecond)) {
			t.Errorf("%q: typed %q, reported for %v", mark, b.own, proven)
		}
	}
}
