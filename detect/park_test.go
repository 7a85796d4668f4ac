package detect

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

func (b *bench) fails(class agent.Class, text string) {
	b.say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "p", How: agent.Failed, Conversation: "c", Failure: &agent.Failure{Class: class, Text: text}})
}

// parkBench is an agent that works on a turn, in UTC.
func parkBench(t *testing.T) *bench {
	b := newBench(t, Options{Conversation: "c", Zone: time.UTC})
	b.hook(agent.ConversationStarted, "")
	b.hook(agent.TurnStarted, "p")
	b.at(1000)
	b.log = nil
	return b
}

func TestParked(t *testing.T) {
	b := parkBench(t)
	b.fails(agent.RateLimited, "You've hit your limit · try again in 10 minutes")
	s := b.fold.Status()
	if s.Failure == nil || s.Failure.ResumeAt == nil || !s.Failure.ResumeAt.Equal(t0.Add(10*time.Minute+time.Second)) || s.Failure.ResumeAt.Location() != time.UTC {
		t.Fatalf("%+v", s.Failure)
	}
	// It is kept in a checkpoint, and moves by the clock alone. Old facts that are applied again move nothing.
	saved, err := b.fold.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	b.at(20 * 60 * 1000)
	if got := strings.Join(b.log, ", "); got != "1000 parked/rate_limited, 661000 error/rate_limited" {
		t.Errorf("states: %s", got)
	}
	f, err := Restore(lab{}, Options{Start: t0, Conversation: "c"}, saved, t0.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Tick(t0.Add(time.Hour)); len(r.Transitions) != 1 || r.Transitions[0].Next != agent.InError {
		t.Errorf("an hour later: %+v", r.Transitions)
	}

	// The next turn ends it.
	b = parkBench(t)
	b.fails(agent.Overloaded, "try again in 10 minutes")
	b.at(2000).hook(agent.TurnStarted, "q")
	if got := strings.Join(b.log, ", "); got != "1000 parked/overloaded, 2000 working" {
		t.Errorf("states: %s", got)
	}
}

// TestNotParked: only limits and overloads end by themselves, and only with a time.
func TestNotParked(t *testing.T) {
	for text, class := range map[string]agent.Class{
		"please try again in 10 minutes": agent.Unauthorized, "slow down": agent.RateLimited, "try again in 900 days": agent.OutOfCredits,
	} {
		b := parkBench(t)
		b.fails(class, text)
		if got := strings.Join(b.log, ", "); got != "1000 error/"+string(class) || b.fold.Status().Failure.ResumeAt != nil {
			t.Errorf("%s: %s, %+v", text, got, b.fold.Status().Failure)
		}
	}
}
