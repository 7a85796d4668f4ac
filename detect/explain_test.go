package detect

import (
	"fmt"
	"testing"
	"time"

	"berth/agent"
)

func TestExplain(t *testing.T) {
	b := working(t)
	b.at(2000).ask("a", "", "Bash", "ls")
	b.at(2100).screen(dialog("Bash"))
	e := b.fold.Explain()
	if e.Status.State != agent.Prompt || e.Status.Tier != 1 || e.Status.Cause != "hook:asked" {
		t.Errorf("status: %+v", e.Status)
	}
	if len(e.Words) != 3 || e.Words[0].Source != agent.SourceHook || e.Words[1].Source != agent.SourceTitle || e.Words[2].Evidence != "permission: Bash" {
		t.Errorf("words: %+v", e.Words)
	}
	if age := b.fold.now.Sub(e.Words[1].Time); age != 1080*time.Millisecond {
		t.Errorf("the title's word is %v old", age)
	}
}

// TestExplainPending: an explanation has the waiting rules, the sources of prompts, and another
// conversation's reports next to the followed one's.
func TestExplainPending(t *testing.T) {
	b := newBench(t, Options{Conversation: "a"})
	b.at(0).title(agent.LevelNotBusy)
	b.at(10).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Conversation: "a", Turn: "1", Cause: "hook:start"})
	b.at(20).title(agent.LevelBusy)
	b.at(500).say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Conversation: "b", Cause: "hook:other"})
	b.at(1000).title(agent.LevelNotBusy)
	b.at(1010).screen(composer(""))
	e := b.fold.Explain()
	if e.Turn == nil || e.Turn.ID != "1" || e.Turn.Phase != "running" || e.Turn.Source != agent.SourceHook {
		t.Errorf("turn: %+v", e.Turn)
	}
	want := Wait{Move: agent.MoveRest, Source: agent.SourceTitle, Since: t0.Add(1010 * time.Millisecond)}
	want.Due = want.Since.Add(b.fold.after(agent.MoveRest, agent.SourceTitle))
	if len(e.Pending) != 1 || e.Pending[0] != want || !e.Status.RestDue.Equal(want.Due) {
		t.Errorf("pending: %+v, rest due %v, want %+v", e.Pending, e.Status.RestDue, want)
	}
	var hooks []string
	for _, w := range e.Words {
		if w.Source == agent.SourceHook {
			hooks = append(hooks, fmt.Sprint(w.Cause, w.Foreign))
		}
	}
	if got := fmt.Sprint(hooks); got != "[hook:startfalse hook:othertrue]" {
		t.Errorf("hooks said %s", got)
	}
	if len(e.Ways) == 0 || e.Ways[0].Move != agent.MoveDone || e.Ways[0].Next != agent.Idle || len(e.Ways[0].By) == 0 {
		t.Errorf("ways: %+v", e.Ways)
	}
	b.at(5000)
	if e := b.fold.Explain(); e.Status.State != agent.Idle || e.Turn != nil || len(e.Pending) != 0 {
		t.Errorf("at rest: %+v", e)
	}
}
