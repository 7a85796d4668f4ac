package prompts

import (
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/loop"
)

// told is what is believed of an agent whose turn ends at that moment, refused; with the zero time
// of one that works on.
func told(stopped time.Time) func() *detect.Fold {
	f := detect.New(hooked{}, detect.Options{})
	if !stopped.IsZero() {
		f.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: "t", Time: stopped.Add(-time.Hour)})
		f.Apply(agent.Fact{Kind: agent.TurnEnded, How: agent.Interrupted, Source: agent.SourceHook, Turn: "t", Time: stopped})
	}
	return func() *detect.Fold { return f }
}

// hooked is an agent whose hooks tell of its turns.
type hooked struct{ agent.Driver }

func (hooked) Table() agent.Table {
	hook := []agent.Witness{{Source: agent.SourceHook}}
	return agent.Table{agent.MoveWork: hook, agent.MoveDone: hook, agent.MoveReady: hook}
}

// TestRefusedLater: on a busy machine an agent may read a key before a hook's answer that was there
// first. A refusal by such a key is never reported as the answer's.
func TestRefusedLater(t *testing.T) {
	opened := time.Unix(100, 0)
	begun := opened.Add(2 * time.Second)
	for _, c := range []struct {
		name      string
		how       string
		outcome   string
		typed     time.Duration // against the hook's bytes
		stopped   time.Duration // when the turn ends, against the same; 0: it goes on
		waits     bool          // the judgement waits for the turn's end
		confirmed bool
	}{
		{"nobody typed", "gone", agent.OutcomeAccepted, -time.Hour, 0, false, true},
		{"a key, and the work goes on", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 0, true, true},
		{"a key, and the work stops after the dialog is gone", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 500 * time.Millisecond, true, false},
		{"a key, and the work has stopped", "gone", agent.OutcomeAccepted, 30 * time.Millisecond, 100 * time.Millisecond, false, false},
		{"a key, and the work has its end", "answered", agent.OutcomeAccepted, 30 * time.Millisecond, 0, false, true},
		{"nobody typed, and the work stops", "gone", agent.OutcomeAccepted, -time.Hour, 100 * time.Millisecond, false, true},
		{"a key behind a refusal", "gone", agent.OutcomeDenied, 30 * time.Millisecond, 100 * time.Millisecond, false, true},
	} {
		given := begun.Add(20 * time.Millisecond)
		gone := given.Add(200 * time.Millisecond)
		fold := told(time.Time{})
		ends := given.Add(c.stopped)
		if c.stopped > 0 && !ends.After(gone) {
			fold = told(ends)
		}
		ps := New(Env{Env: loop.Env{Now: func() time.Time { return gone }, Standing: func() loop.Standing { return loop.Standing{} }}, GoesOn: func() bool { return true }, Fold: func() *detect.Fold { return fold() }})
		ps.followed, ps.othersAt = true, given.Add(c.typed)
		a := &answering{Prompt: "p", Hook: "7", Outcome: c.outcome, Opened: opened, At: begun, Given: given, settleBy: begun.Add(answerSettles)}
		ps.follow(a)
		ps.Closes(&detect.Resolution{How: c.how, Request: &agent.Request{ID: "p"}})
		if a.judged == c.waits || c.waits && !a.settleBy.Equal(gone.Add(refusalShows)) {
			t.Errorf("%s: judged %v, by %v", c.name, a.judged, a.settleBy)
		}
		if c.stopped > 0 && ends.After(gone) {
			fold = told(ends)
		}
		if e := ps.judgeAnswer(a); e.Confirmed != c.confirmed {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

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
		ps := &Prompts{asked: asked{othersAt: begun.Add(c.typed)}, env: Env{GoesOn: func() bool { return true }, Fold: told(time.Time{})}}
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
		ps := &Prompts{asked: asked{othersAt: given.Add(c.typed)}, env: Env{Fold: told(time.Time{})}}
		a := &answering{Hook: c.hook, Outcome: c.outcome, Opened: opened, At: begun, Given: given, closed: &detect.Resolution{Stopped: c.stopped}}
		if theirs := ps.othersTyped(a); theirs != c.theirs {
			t.Errorf("%s: theirs is %v", c.name, theirs)
		}
	}
}
