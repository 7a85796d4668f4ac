package outbox

import (
	"testing"
	"time"

	"berth/agent"
	"berth/keys"
	"berth/sessions/deliver"
	"berth/sessions/loop"
)

func (typist) Clear(*agent.Composer, int) []byte { return []byte{0x15} }

// cutOff is an outbox that has taken up a message whose Enter an earlier server may have pressed. Its agent
// rests, and its composer shows what shown is.
type cutOff struct {
	*box
	t     *testing.T
	dir   string
	now   time.Time
	shown string
	state agent.State
	ended bool // the program has
}

func newCutOff(t *testing.T, dir string) *cutOff {
	t.Helper()
	c := &cutOff{box: newOutbox(t, dir), t: t, dir: dir, now: time.Now(), state: agent.Idle}
	c.since = c.now
	c.env.Now = func() time.Time { return c.now }
	c.env.Program = func() loop.Program {
		return loop.Program{State: c.state, Ended: c.ended, Follows: !c.ended, Reaches: !c.ended, Live: !c.ended}
	}
	c.env.Rights = func(id keys.Identity, _ string) (keys.Identity, error) { return id, nil }
	c.env.Driver = func() agent.Driver { return typist{} }
	c.env.Freshen, c.env.SaveNow, c.env.Gather = func() {}, func() {}, func() {}
	c.env.Seen = func() deliver.Seen {
		box := &agent.Composer{Mode: agent.ModeMessage, Text: c.shown, Empty: c.shown == "", Focused: true}
		return deliver.Seen{State: c.state, Reading: &agent.Reading{Composer: box}, Paste: true}
	}
	return c
}

// takeUp is the next server's outbox, long after the kill.
func (c *cutOff) takeUp() *cutOff {
	next := newCutOff(c.t, c.dir)
	next.shown, next.now = c.shown, c.now.Add(time.Minute)
	return next
}

// begin begins the delivery that the queue's task asks for.
func (c *cutOff) begin() *nudging {
	c.t.Helper()
	if task := c.task(); task.run == nil {
		c.t.Fatalf("the message isn't delivered again: %d events, %+v", c.nudges(), task)
	}
	d, err := c.beginNudge(tester, c.queue[0].Nudge, c.queue[0], typist{})
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

func (c *cutOff) step(d *nudging) deliver.Step {
	c.t.Helper()
	step, err := c.stepNudge(d)
	if err != nil {
		c.t.Fatal(err)
	}
	return step
}

// entered is a message that a killed server has left in the composer, perhaps with Enter pressed.
func entered(t *testing.T) *cutOff {
	t.Helper()
	c := newCutOff(t, t.TempDir())
	if _, err := c.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.stage(c.queue[0], stageEntered); err != nil {
		t.Fatal(err)
	}
	c.shown = "hello"
	return c.takeUp()
}

// TestKilledWhileCleared: a server clears a message whose Enter had no effect, and is killed before it has typed
// the message again. The composer is empty then, and the message wasn't sent. The next server types it.
func TestKilledWhileCleared(t *testing.T) {
	c := entered(t)
	if step := c.step(c.begin()); string(step.Write) != "\x15" {
		t.Fatalf("it wrote %q", step.Write)
	}
	c.shown = "" // the key works, and the server is gone
	c = c.takeUp()
	if step := c.step(c.begin()); string(step.Write) != "hello" {
		t.Errorf("it wrote %q", step.Write)
	}
}

// TestTakenWhileJudged: the composer held the message when the server looked, and is empty once the delivery begins:
// the first Enter has worked. Nothing is typed again.
func TestTakenWhileJudged(t *testing.T) {
	c := entered(t)
	d := c.begin()
	c.shown = ""
	step := c.step(d)
	if step.Done == nil || len(step.Write) > 0 {
		t.Fatalf("it goes on: %+v", step)
	}
	c.endNudge(d, tester, *step.Done, false)
	c.queue[0].busy = false
	if task := c.task(); task.run != nil || len(c.queue) != 0 || c.nudges() != 1 {
		t.Errorf("%d messages wait after %d events: %+v", len(c.queue), c.nudges(), task)
	}
}

// TestRefusedBeforeTyping: a delivery ends before it has typed anything. The message may still be in the
// composer, as the delivery before left it, and the next one knows that.
func TestRefusedBeforeTyping(t *testing.T) {
	c := entered(t)
	d := c.begin()
	c.state = agent.Working
	step := c.step(d)
	if step.Done == nil || step.Done.Verdict != deliver.Refused {
		t.Fatalf("it goes on: %+v", step)
	}
	c.endNudge(d, tester, *step.Done, false)
	if got := c.queue[0].Stage; got != stageEntered {
		t.Errorf("its stage is %s", got)
	}
	c = c.takeUp()
	if step := c.step(c.begin()); string(step.Write) != "\x15" {
		t.Errorf("it wrote %q", step.Write)
	}
}

// TestProgramEndedBeforeItConfirmed: an agent ends, and doesn't report that it has the message. It gets none of it after a
// restart, and the message has an end. One whose Enter wasn't pressed waits for the next program.
func TestProgramEndedBeforeItConfirmed(t *testing.T) {
	for _, reached := range []stage{stageEntered, stageTyped} {
		c := entered(t)
		if err := c.stage(c.queue[0], reached); err != nil {
			t.Fatal(err)
		}
		c.End()
		c.ended, c.state = true, agent.Exited
		c.now = c.now.Add(evidenceWithin - time.Millisecond)
		c.task()
		if len(c.queue) != 1 {
			t.Fatalf("%s: it is given up at once", reached)
		}
		c.now = c.now.Add(time.Millisecond)
		c.task()
		if left := len(c.queue) == 1; left != (reached == stageTyped) || (c.nudges() == 0) != left {
			t.Errorf("%s: %d messages wait after %d events", reached, len(c.queue), c.nudges())
		}
	}
}
