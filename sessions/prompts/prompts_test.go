package prompts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/loop"
)

// TestAnswerHasOneEvent: an answer was on its way when the checkpoint was written, and got its
// event after that. The next server follows it no more. An event of an older answer to the same
// prompt ends nothing.
func TestAnswerHasOneEvent(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC)
	const kept = `{"answers":[{"prompt":"p-1","verb":"respond","outcome":"accepted","at":"2026-01-01T00:00:05Z"}]}`
	for after, followed := range map[time.Duration]bool{-time.Second: true, time.Second: false} {
		for _, kind := range []string{verbRespond, verbGroom} {
			ps := New(Env{Env: loop.Env{Now: time.Now}})
			if err := ps.Restore([]byte(kept), true); err != nil {
				t.Fatal(err)
			}
			ps.Recall(events.Line{Type: kind, Time: begun.Add(after), Raw: []byte(`{"prompt":"p-1"}`)})
			saved, err := ps.Save()
			if err != nil || strings.Contains(string(saved), "p-1") != followed {
				t.Errorf("an event %s after it began: %s, %v", after, saved, err)
			}
		}
	}
}

// asker is an agent that asks by a hook.
type asker struct {
	hooked
	agent.PromptAnswerer
}

func (asker) Table() agent.Table {
	table := hooked{}.Table()
	table[agent.MoveAsk] = table[agent.MoveWork]
	return table
}

// TestPromptThatShowsMore: between the look at a prompt and the answer the prompt may come to show
// something else under its id. Then no answer begins.
func TestPromptThatShowsMore(t *testing.T) {
	now := time.Unix(100, 0)
	fold := detect.New(asker{}, detect.Options{PromptID: func(n uint64, _ bool) string { return fmt.Sprint("p-", n) }})
	asked := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Channel: agent.ChannelHook}
	asked.SetInput("make test")
	fold.Apply(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Request: asked, Hook: "7", Time: now})
	ps := New(Env{Env: loop.Env{
		Now: func() time.Time { return now }, Driver: func() agent.Driver { return asker{} },
		Program: func() loop.Program { return loop.Program{Reaches: true} },
	}, Fold: func() *detect.Fold { return fold }, Read: func() {}})
	ps.followed = true
	p, err := ps.pendingPrompt(loop.Claim{}, "")
	if err != nil || p.Request == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	before := p
	before.Request = p.Request.Clone()
	before.Request.Digest = "of what it showed before"
	if a, err := ps.beginAnswer(loop.Claim{}, before, agent.ChannelHook, agent.OutcomeAccepted); !errors.Is(err, errHookGone) {
		t.Errorf("an answer to what it showed before: %+v, %v", a, err)
	}
	ps.follow(&answering{Prompt: "of a server before"})
	if a, err := ps.beginAnswer(loop.Claim{}, p, agent.ChannelKeys, agent.OutcomeAccepted); !errors.Is(err, errEarlier) {
		t.Errorf("an answer by keys after those of a server before: %+v, %v", a, err)
	}
	if a, err := ps.beginAnswer(loop.Claim{}, p, agent.ChannelHook, agent.OutcomeAccepted); a == nil || err != nil {
		t.Errorf("an answer to what it shows: %v", err)
	}
}

// TestEarlierKeys: a key of an earlier server's answer may still have its effect, also at a prompt that has another id now.
// Until that answer is judged no other answer begins by keys.
func TestEarlierKeys(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC)
	ps := New(Env{Env: loop.Env{Now: func() time.Time { return now }}})
	const kept = `{"answers":[{"prompt":"of before","outcome":"accepted","at":"2026-01-01T01:00:05Z"},{"prompt":"by a hook","hook":"7"}]}`
	if err := ps.Restore([]byte(kept), true); err != nil {
		t.Fatal(err)
	}
	if by := ps.answers["of before"].settleBy; by.Sub(now) > answerSettles { // the clock was set back since
		t.Errorf("it is judged at %v", by)
	}
	if !ps.earlierKeys() {
		t.Error("an earlier server's keys are not known")
	}
	ps.answers["of before"].judged = true
	if ps.earlierKeys() {
		t.Error("a judged answer still counts")
	}
	ps.follow(&answering{Prompt: "own", done: make(chan struct{})})
	if ps.earlierKeys() {
		t.Error("an answer of this server counts")
	}
}

// TestProofBeforeAKey: before a key the program reads a report. One that it has read late proves nothing.
func TestProofBeforeAKey(t *testing.T) {
	var m moment
	begun := time.Unix(100, 0)
	for _, c := range []struct {
		after time.Duration
		types bool
	}{{0, true}, {2 * time.Millisecond, false}, {proofLasts, false}, {proofLasts + time.Millisecond, true}, {proofLasts + 3*time.Millisecond, false}} {
		if types := m.unproved(begun.Add(c.after), proofLasts); types != c.types {
			t.Errorf("after %s it is to read a report first: %v", c.after, types)
		}
	}
}

// TestLate: a key that the holder couldn't type in time was not pressed, and a report proves nothing then.
func TestLate(t *testing.T) {
	at := time.Unix(100, 0)
	for _, m := range []moment{{first: true, reported: at}, {reported: at}, {proving: true, reported: at}} {
		a, now := answering{pressed: true, Given: at, settleBy: at}, m
		if (*Prompts)(nil).late(&a, &now); a.pressed == m.first || a.Given.IsZero() == m.proving || !now.unproved(at, proofLasts) {
			t.Errorf("%+v: the answer is %+v", m, a)
		}
	}
}

// TestShownFor: a level that reports an open dialog reports no place among parallel calls.
func TestShownFor(t *testing.T) {
	step := agent.Step{ShownFor: time.Second, LevelSuffices: true}
	for _, c := range []struct {
		of   detect.Pending
		want time.Duration
	}{
		{detect.Pending{}, time.Second}, {detect.Pending{Waits: true}, 0}, {detect.Pending{Busy: true}, levelWithin},
		{detect.Pending{GivesWay: true, Waits: true}, detect.EarlierWithin},
	} {
		if got := shownFor(step, c.of); got != c.want {
			t.Errorf("%+v: %v, want %v", c.of, got, c.want)
		}
	}
}

// Verdict denies or allows, as the answer says.
func (asker) Verdict(_ *agent.Request, a agent.Answer, _ []byte) (agent.Verdict, error) {
	return agent.Verdict{Outcome: map[agent.AnswerKind]string{agent.Accept: agent.OutcomeAccepted, agent.Deny: agent.OutcomeDenied}[a.Kind]}, nil
}

// TestPartByHook: what a prompt shows only a part of is allowed through its hook only if the caller says so, and denied in any case.
func TestPartByHook(t *testing.T) {
	dir, begins := t.TempDir(), errors.New("it begins")
	record := []byte(`{"n":7,"time":"2026-11-29T06:00:00.000Z","kind":"hook","data":{"event":"PermissionRequest","payload":{}}}` + "\n")
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "control"), 0o700), os.WriteFile(filepath.Join(dir, "control", "00000000000000000007.jsonl"), record, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ps := New(Env{Env: loop.Env{
		Dir: dir, Standing: func() loop.Standing { return loop.Standing{Driver: asker{}} }, Do: func(context.Context, func()) error { return begins },
	}})
	for _, c := range []struct {
		kind         agent.AnswerKind
		part, unseen bool
		refused      bool
	}{{agent.Accept, true, false, true}, {agent.Accept, true, true, false}, {agent.Accept, false, false, false}, {agent.Deny, true, false, false}} {
		p := drawnPrompt()
		if c.part {
			p.SetInPart()
		}
		_, err := ps.give(t.Context(), loop.Claim{Unseen: c.unseen}, detect.Pending{Request: p, Hook: "7"}, agent.Answer{Kind: c.kind})
		if refused := err != nil && strings.Contains(err.Error(), "--unseen"); refused != c.refused || !refused && !errors.Is(err, begins) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
