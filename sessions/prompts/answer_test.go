package prompts

import (
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
)

// TestNobodyKnows: a dialog of which the screen alone says that it is gone, and
// somebody else's key not long before.
func TestNobodyKnows(t *testing.T) {
	opened := time.Unix(100, 0)
	begun, given := opened.Add(4*time.Second), opened.Add(4050*time.Millisecond)
	for _, c := range []struct {
		name      string
		how       string
		outcome   string
		typed     time.Duration // against begun
		hook      string
		confirmed bool
		elsewhere bool
	}{
		{"an agent that says what was answered", "answered", agent.OutcomeAccepted, -1700 * time.Millisecond, "7", true, false},
		{"a key that may have lain unread", "gone", agent.OutcomeAccepted, -1700 * time.Millisecond, "7", false, false},
		{"a key that has not", "gone", agent.OutcomeAccepted, -2600 * time.Millisecond, "7", true, false},
		{"a key that was the answer", "gone", agent.OutcomeAccepted, -500 * time.Millisecond, "7", false, true},
		{"a key behind ours", "gone", agent.OutcomeAccepted, 100 * time.Millisecond, "7", true, false},
		{"of two refusals the same comes", "gone", agent.OutcomeDenied, -1700 * time.Millisecond, "7", true, false},
		{"nobody typed for this prompt", "gone", agent.OutcomeAccepted, -5 * time.Second, "7", true, false},
		{"keys, of a dialog that was there when they were pressed", "gone", agent.OutcomeAccepted, -1700 * time.Millisecond, "", true, false},
	} {
		ps := &Prompts{asked: asked{othersAt: begun.Add(c.typed)}, env: Env{GoesOn: func() bool { return true }}}
		a := &answering{Hook: c.hook, Outcome: c.outcome, Opened: opened, At: begun, Given: given, closed: &detect.Resolution{How: c.how}}
		e := ps.judgeAnswer(a)
		if elsewhere := e.Outcome == agent.OutcomeElsewhere; e.Confirmed != c.confirmed || elsewhere != c.elsewhere {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// TestOthersTyped: whose answer it was, by when somebody else's key came and
// what became of the work.
func TestOthersTyped(t *testing.T) {
	opened := time.Unix(100, 0)
	begun, given := opened.Add(2*time.Second), opened.Add(2050*time.Millisecond)
	for _, c := range []struct {
		name    string
		hook    string
		outcome string
		typed   time.Duration // against given
		stopped bool
		theirs  bool
	}{
		{"nobody typed for this prompt", "7", agent.OutcomeAccepted, -3 * time.Second, false, false},
		{"a key just before the hook's bytes, and it works on", "7", agent.OutcomeAccepted, -time.Millisecond, false, false},
		{"a key just before the hook's bytes, and it stopped", "7", agent.OutcomeAccepted, -time.Millisecond, true, true},
		{"a key just before it was begun", "7", agent.OutcomeAccepted, -51 * time.Millisecond, false, true},
		{"a key just behind them, and it works on", "7", agent.OutcomeAccepted, time.Millisecond, false, false},
		{"a key just behind them, and it stopped", "7", agent.OutcomeAccepted, time.Millisecond, true, true},
		{"a key just behind a refusal", "7", agent.OutcomeDenied, time.Millisecond, true, true},
		{"a key later than could be ahead", "7", agent.OutcomeAccepted, 10 * time.Millisecond, true, false},
		{"a key that would have shown", "7", agent.OutcomeAccepted, -1500 * time.Millisecond, false, false},
		{"a key that would have shown, and it stopped", "7", agent.OutcomeAccepted, -1500 * time.Millisecond, true, true},
		{"a key before ours", "", agent.OutcomeAccepted, -time.Millisecond, false, true},
		{"a key behind ours", "", agent.OutcomeAccepted, time.Millisecond, true, false},
	} {
		ps := &Prompts{asked: asked{othersAt: given.Add(c.typed)}}
		a := &answering{Hook: c.hook, Outcome: c.outcome, Opened: opened, At: begun, Given: given, closed: &detect.Resolution{Stopped: c.stopped}}
		if theirs := ps.othersTyped(a); theirs != c.theirs {
			t.Errorf("%s: theirs is %v", c.name, theirs)
		}
	}
}
