package outbox

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions/deliver"
	"berth/sessions/loop"
)

// limited is the outbox of an agent that rests at a limit.
type limited struct {
	*box
	now     time.Time
	limit   Limit
	program loop.Program
}

func newLimited(t *testing.T, dir string) *limited {
	t.Helper()
	l := &limited{box: newOutbox(t, dir), now: time.Now()}
	l.program = loop.Program{State: agent.Parked, Follows: true, Reaches: true, Live: true}
	l.limit = Limit{Seq: 10, Since: l.now, End: l.now.Add(time.Hour), Message: "continue"}
	l.env.Now = func() time.Time { return l.now }
	l.env.Program = func() loop.Program { return l.program }
	l.env.Limit = func() Limit { return l.limit }
	l.env.SaveSoon, l.env.Freshen = func() {}, func() {}
	l.env.Cured = func(string) {}
	return l
}

// waits checks which messages are in the queue after a tick.
func (l *limited) waits(t *testing.T, when string, want ...string) {
	t.Helper()
	l.Tick(l.now)
	if got := l.texts(t); !slices.Equal(got, want) {
		t.Errorf("%s: %q wait, want %q", when, got, want)
	}
}

// TestMessageOfTheServerBefore: a server that has yet to read the agent's sources doesn't know the limit. It
// keeps the message.
func TestMessageOfTheServerBefore(t *testing.T) {
	dir := t.TempDir()
	l := newLimited(t, dir)
	l.waits(t, "at a limit", "continue")
	data, err := l.Save()
	if err != nil {
		t.Fatal(err)
	}
	l = newLimited(t, t.TempDir())
	l.env.Dir = dir
	if err := l.Load(); err != nil {
		t.Fatal(err)
	}
	if err := l.Restore(data, true); err != nil {
		t.Fatal(err)
	}
	known := l.limit
	l.limit, l.program.Live = Limit{Message: "continue"}, false
	l.waits(t, "before all is read", "continue")
	l.limit, l.program.Live = known, true
	l.waits(t, "when all is read", "continue")
	l.limit = Limit{Message: "continue"}
	l.waits(t, "when the limit is over")
}

// TestMessageOfACallerGoesFirst: the message after a limit may wait for days. One that a caller queues later
// doesn't wait for it, also at the next server; a message that may be in the composer does go first.
func TestMessageOfACallerGoesFirst(t *testing.T) {
	dir := t.TempDir()
	l := newLimited(t, dir)
	l.waits(t, "at a limit", "continue")
	for _, text := range []string{"stop", "do something else"} {
		if _, err := l.Enqueue(t.Context(), tester, Nudge{Text: text}, 0); err != nil {
			t.Fatal(err)
		}
	}
	l.waits(t, "with others", "stop", "do something else", "continue")
	if next := newOutbox(t, dir).texts(t); !slices.Equal(next, []string{"stop", "do something else", "continue"}) {
		t.Errorf("after a restart %q wait", next)
	}
	if err := l.stage(l.queue[2], stageTyped); err != nil {
		t.Fatal(err)
	}
	if next := newOutbox(t, dir).texts(t); !slices.Equal(next, []string{"continue", "stop", "do something else"}) {
		t.Errorf("with one in the composer %q wait", next)
	}
}

// TestTypedMessageIsTakenBack: the delivery of the message was refused with its text left in the composer. When a
// person types, or the limit is over, it is taken back and not sent.
func TestTypedMessageIsTakenBack(t *testing.T) {
	for why, over := range map[string]func(*limited){
		"a person has typed": func(l *limited) { l.program.PersonAt = l.now.Add(time.Second) },
		"the limit is over":  func(l *limited) { l.limit, l.program.State = Limit{Message: "continue"}, agent.Idle },
	} {
		l := newLimited(t, t.TempDir())
		l.waits(t, "at a limit", "continue")
		q := l.queue[0]
		if err := l.stage(q, stageTyped); err != nil {
			t.Fatal(err)
		}
		if o, err := l.options(q.Nudge, q, typist{}); err != nil || o.Withdraw {
			t.Errorf("at the limit: %+v, %v", o, err)
		}
		over(l)
		l.waits(t, why, "continue")
		if o, err := l.options(q.Nudge, q, typist{}); err != nil || !o.Withdraw || !o.Cut || o.Own != "continue" {
			t.Errorf("%s: %+v, %v", why, o, err)
		}
		next := newOutbox(t, l.env.Dir)
		if o, err := next.options(q.Nudge, next.queue[0], typist{}); err != nil || !o.Withdraw {
			t.Errorf("%s: at the next server %+v, %v", why, o, err)
		}
		l.env.Seen = func() deliver.Seen {
			return deliver.Seen{State: agent.Idle, Reading: &agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Text: "a draft"}}}
		}
		l.env.Gather = func() {}
		d, err := l.beginNudge(tester, q.Nudge, q, typist{})
		if err != nil {
			t.Fatal(err)
		}
		for step := (deliver.Step{}); step.Done == nil; l.now = l.now.Add(50 * time.Millisecond) {
			if step, err = l.stepNudge(d); err != nil || len(step.Write) > 0 {
				t.Fatalf("%s: it writes %q, %v", why, step.Write, err)
			}
			if step.Done != nil {
				l.endNudge(d, tester, *step.Done, false)
			}
		}
		l.waits(t, why+", and the text is gone")
		var last messageEvent
		if err := json.Unmarshal(l.noted[len(l.noted)-1].Raw, &last); err != nil || last.What != "removed" || last.Why != why {
			t.Errorf("%s: the last event is %+v, %v", why, last, err)
		}
	}
}

// fails is a turn after the message that ends at another limit, 2 s away. It returns how long after that the next
// message is due; 0: there is none.
func (l *limited) fails(t *testing.T) time.Duration {
	t.Helper()
	l.now = l.now.Add(time.Minute)
	for _, q := range slices.Clone(l.queue) {
		l.forgetQueued(q) // it was sent
	}
	seq := l.limit.Seq + 1
	l.limit, l.program.State = Limit{Message: "continue"}, agent.Working
	l.waits(t, "in a turn")
	l.now = l.now.Add(time.Second)
	l.completes() // some agents report the turn's end before the limit
	l.limit, l.program.State = Limit{Seq: seq, Since: l.now, End: l.now.Add(2 * time.Second), Message: "continue"}, agent.Parked
	l.Tick(l.now)
	if len(l.queue) == 0 {
		return 0
	}
	return l.queue[0].NotBefore.Sub(l.limit.End).Round(time.Second)
}

func (l *limited) completes() {
	l.Fact(agent.Fact{Kind: agent.TurnEnded, How: agent.Completed, Time: l.now})
}

// TestLimitsInARow: an agent whose every turn ends at a limit gets a few messages, each later than the one before.
// The row begins anew once the agent has completed a turn or worked for a while, or a person has typed.
func TestLimitsInARow(t *testing.T) {
	l := newLimited(t, t.TempDir())
	inARow := func(when string) {
		t.Helper()
		for i, want := range []time.Duration{5, 10, 20, 40, 50, 0, 0} {
			if got := l.fails(t); got != want*time.Second {
				t.Errorf("%s: message %d is due after %s, want %d s", when, i+1, got, want)
			}
			if i == 2 { // also over a restart
				data, err := l.Save()
				if err != nil {
					t.Fatal(err)
				}
				l.row.N = 0
				if l.Restore(data, true) != nil {
					t.Fatal("it isn't restored")
				}
			}
		}
	}
	inARow("at first")
	l.now = l.now.Add(time.Minute)
	l.completes()
	inARow("after a completed turn")
	l.now = l.now.Add(workedFor)
	inARow("after a long turn")
	l.now = l.now.Add(2 * time.Minute)
	l.program.PersonAt = l.now
	inARow("after a person")
}

// TestMessageThatWasNotSent doesn't count among those in a row.
func TestMessageThatWasNotSent(t *testing.T) {
	l := newLimited(t, t.TempDir())
	for range 2 * mostResumed {
		l.waits(t, "at a limit", "continue")
		l.limit = Limit{Message: "continue"} // the turn of a caller's message
		l.waits(t, "in a turn")
		l.now = l.now.Add(time.Second)
		l.limit = Limit{Seq: l.resumed + 1, Since: l.now, End: l.now.Add(time.Hour), Message: "continue"}
	}
}
