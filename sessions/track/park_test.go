package track

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
)

// limited is a track whose agent has stopped at a limit.
func limited(t *testing.T) *bench {
	t.Helper()
	b := newBench()
	b.d.driver, b.d.waking.live = drawer{}, true
	b.d.fold = detect.New(drawer{}, b.options(b.d, time.Now()))
	b.env.Note = func(kind string, data any) uint64 {
		return b.env.Append([]events.Event{{Type: kind, Data: data}})[0].Seq
	}
	b.fails(t, 1)
	return b
}

// fails is a turn that ends at a limit.
func (b *bench) fails(t *testing.T, n uint64) {
	t.Helper()
	turn := fmt.Sprint(n)
	b.says(t, n, agent.Fact{Kind: agent.TurnStarted, Turn: turn})
	b.says(t, n+1, agent.Fact{Kind: agent.TurnEnded, Turn: turn, How: agent.Failed, Failure: &agent.Failure{Class: agent.RateLimited, Text: "try again in 1 hour"}})
	if b.state != agent.Parked {
		t.Fatalf("the state is %s", b.state)
	}
}

func (b *bench) says(t *testing.T, n uint64, f agent.Fact) {
	t.Helper()
	told := b.record(t, n, f)
	b.Emit(told.Results, told.Events...)
}

func (b *bench) seq() uint64 {
	seq, _, _ := b.Parked()
	return seq
}

// TestLimitOutlastsOtherStates: a dialog and a holder that doesn't answer hide a limit, and don't end it. It
// keeps its number, so that the message after it is sent once.
func TestLimitOutlastsOtherStates(t *testing.T) {
	b := limited(t)
	first := b.seq()
	if first == 0 || first != b.stateSeq {
		t.Fatalf("the limit is %d, the state's event %d", first, b.stateSeq)
	}
	b.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptSetup, Title: "which model?"}}}})
	if b.state != agent.Prompt || b.seq() != first {
		t.Errorf("with a dialog: %s, limit %d, want %d", b.state, b.seq(), first)
	}
	b.SetState(agent.Unknown, agent.TierProcess, "process:no-answer")
	if b.seq() != first {
		t.Errorf("without an answer of the holder: limit %d, want %d", b.seq(), first)
	}
	b.SetState(agent.Parked, agent.TierProcess, "process:again")
	if b.seq() != first || b.stateSeq == first {
		t.Errorf("parked again: limit %d, want %d; the state's event is %d", b.seq(), first, b.stateSeq)
	}

	b = limited(t)
	first = b.seq()
	b.fails(t, 4)
	if second := b.seq(); second != b.stateSeq || second == first {
		t.Errorf("the next limit is %d, after %d", second, first)
	}
	b.says(t, 6, agent.Fact{Kind: agent.TurnStarted, Turn: "6"})
	if b.seq() != 0 {
		t.Errorf("in a turn the limit is %d", b.seq())
	}
}

// TestLimitOfTheServerBefore: a checkpoint and the events after it keep the limit's number. A fold that reads the
// error again may give it another time.
func TestLimitOfTheServerBefore(t *testing.T) {
	moves := func(b *bench, seq uint64, prev, next agent.State) {
		raw, err := json.Marshal(StateEvent{Prev: string(prev), Next: string(next)})
		if err != nil {
			t.Fatal(err)
		}
		b.Recall(events.Line{Type: eventState, Seq: seq, Time: time.Now(), Raw: raw})
	}
	b := newBench()
	b.record(t, 1, agent.Fact{Kind: agent.TurnStarted, Turn: "1"})
	told := b.record(t, 2, agent.Fact{Kind: agent.TurnEnded, Turn: "1", How: agent.Failed, Failure: &agent.Failure{Class: agent.RateLimited, Text: "try again in 1 hour"}})
	b.Reapply(told.Results)
	moves(b, 20, agent.Working, agent.Parked)
	moves(b, 21, agent.Parked, agent.Unknown)
	moves(b, 22, agent.Unknown, agent.Parked)
	if b.seq() != 0 {
		t.Errorf("before all is read the limit is %d", b.seq())
	}
	b.d.waking.live = true
	if b.seq() != 20 {
		t.Errorf("the limit is %d, want 20", b.seq())
	}
	data, err := b.Save()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Restore(data, true); err != nil {
		t.Fatal(err)
	}
	if b.seq() != 20 {
		t.Errorf("from the checkpoint the limit is %d, want 20", b.seq())
	}
	moves(b, 23, agent.Parked, agent.Working)
	moves(b, 24, agent.Working, agent.Parked)
	if b.park.Seq != 24 {
		t.Errorf("the next limit is %d, want 24", b.park.Seq)
	}
}
