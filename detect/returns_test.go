package detect

import (
	"testing"

	"berth/agent"
)

// startTold is an agent whose start only its hooks report.
type startTold struct{ lab }

func (startTold) Table() agent.Table {
	t := lab{}.Table()
	t[agent.MoveReady] = []agent.Witness{{Source: agent.SourceHook}}
	return t
}

// TestReturns: an agent that is back in the foreground is idle once a source shows that it rests, and not before. One
// that is in the middle of a turn is never said to be idle. The next server decides the same.
func TestReturns(t *testing.T) {
	composer := &agent.Composer{Empty: true}
	busy, idle := &agent.Reading{Composer: composer, Busy: "Thinking"}, &agent.Reading{Composer: composer}
	shows := func(r *agent.Reading) agent.Fact {
		return agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r}
	}
	level := func(l agent.Level) agent.Fact {
		return agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: l}
	}
	for _, c := range []struct {
		name   string
		fact   agent.Fact
		at, to agent.State // at once, and later
	}{
		{"nothing is drawn", shows(&agent.Reading{}), agent.Starting, agent.Starting},
		{"a composer", shows(idle), agent.Idle, agent.Idle},
		{"a spinner", shows(busy), agent.Starting, agent.Working},
		{"a title of rest", level(agent.LevelNotBusy), agent.Idle, agent.Idle},
		{"a title of work", level(agent.LevelBusy), agent.Starting, agent.Working},
		{"a dialog", shows(&agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Options: []agent.Option{{Label: "Yes"}}}}), agent.Starting, agent.Prompt},
	} {
		b := &bench{t: t, fold: New(startTold{}, Options{Start: t0, Returns: true})}
		if got := b.at(0).fold.Status().State; got != agent.Starting {
			t.Errorf("%s: before it, the state is %s", c.name, got)
		}
		saved, err := b.fold.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		if b.fold, err = Restore(startTold{}, Options{Start: t0}, saved, t0); err != nil {
			t.Fatal(err)
		}
		b.at(10).say(c.fact)
		if got := b.fold.Status().State; got != c.at {
			t.Errorf("%s: the state is %s, want %s", c.name, got, c.at)
		}
		if got := b.at(5000).fold.Status().State; got != c.to {
			t.Errorf("%s: later the state is %s, want %s", c.name, got, c.to)
		}
	}
}
