package outbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
)

// TestMessageIsForOneAgent: a message that was queued for an agent in a shell waits while that is suspended, also for
// the next server. No other agent gets it, and it goes with the agent.
func TestMessageIsForOneAgent(t *testing.T) {
	dir := t.TempDir()
	claude, codex := Recipient{Agent: "claude", PID: 7, Start: "70"}, Recipient{Agent: "codex", PID: 8, Start: "80"}
	b := newOutbox(t, dir)
	enqueue := func(text string) {
		t.Helper()
		if _, err := b.Enqueue(t.Context(), tester, Nudge{Text: text}, 0); err != nil {
			t.Fatal(err)
		}
	}
	b.visitor = &claude
	enqueue("delete the branch")
	b.visitor = &codex
	enqueue("hello")
	b = newOutbox(t, dir)
	b.visitor, b.lives = &codex, map[Recipient]bool{claude: true}
	b.task()
	if got := b.texts(t); !slices.Equal(got, []string{"delete the branch", "hello"}) || b.next() != b.queue[1] {
		t.Fatalf("%q wait, the next of them is %+v", got, b.next())
	}
	if why := b.queue[0].why; !strings.Contains(why, "for claude") {
		t.Errorf("it waits because %s", why)
	}
	b.env.Program = func() loop.Program { return loop.Program{State: agent.Idle, Follows: true} }
	if _, err := b.beginNudge(tester, b.queue[0].Nudge, b.queue[0], listener{}); err == nil {
		t.Error("another agent gets it")
	}
	npm := Recipient{Agent: "claude", PID: 9, Start: "90"}
	b.Moved(claude, npm)
	b = newOutbox(t, dir)
	b.visitor, b.lives = &npm, map[Recipient]bool{codex: true}
	if b.task(); b.next() != b.queue[0] {
		t.Error("the agent that is followed as another process doesn't get its message")
	}
	b.visitor = nil
	b.task()
	if got := b.texts(t); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("%q wait", got)
	}
	var e messageEvent
	if err := json.Unmarshal(b.noted[len(b.noted)-1].Raw, &e); err != nil || e.What != "removed" || !strings.Contains(e.Why, "claude") {
		t.Errorf("the last event is %s", b.noted[len(b.noted)-1].Raw)
	}
}

// TestQueuedForAnAgentThatLeft: the agent leaves its shell just before its message is queued. The message isn't kept for
// the next agent.
func TestQueuedForAnAgentThatLeft(t *testing.T) {
	b := newOutbox(t, t.TempDir())
	b.env.Program = func() loop.Program { return loop.Program{State: agent.Idle, Follows: true} }
	b.env.Driver = func() agent.Driver { return plain{} }
	_, err := b.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0)
	if err == nil || api.AsError(err).Code != api.CodeNoDriver || len(b.queue) != 0 {
		t.Errorf("%v, %d messages wait", err, len(b.queue))
	}
}

// TestEnteredWhenTheAgentEnds: Enter was pressed, and the agent ended without a report. The message may have arrived.
func TestEnteredWhenTheAgentEnds(t *testing.T) {
	b := newOutbox(t, t.TempDir())
	b.visitor = &Recipient{Agent: "claude", PID: 7, Start: "70"}
	if _, err := b.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.stage(b.queue[0], stageEntered); err != nil {
		t.Fatal(err)
	}
	b.visitor = nil
	b.task()
	if len(b.queue) != 0 || b.nudges() != 1 {
		t.Errorf("%d messages wait, %d events", len(b.queue), b.nudges())
	}
}
