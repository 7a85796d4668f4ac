package detect

import (
	"slices"
	"testing"

	"berth/agent"
)

// eager is an agent that says by its hook and its title that it has started up, before it draws anything.
type eager struct{ lab }

func (eager) Table() agent.Table {
	t := lab{}.Table()
	t[agent.MoveReady] = []agent.Witness{{Source: agent.SourceHook, Drawn: true}, {Source: agent.SourceTitle, Drawn: true}, {Source: agent.SourceScreen}}
	return t
}

// TestReadyOnceDrawn: a report of a start ends it once the agent has drawn its composer or a prompt. A prompt that comes
// instead of a composer is never preceded by idle, and no repeated report closes it.
func TestReadyOnceDrawn(t *testing.T) {
	page := agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptSetup, Subtype: agent.SubtypeLogin, Title: "who"}}
	for name, c := range map[string]struct {
		o    Options
		run  func(b *bench)
		want []string
	}{
		"a composer follows": {run: func(b *bench) {
			b.at(100).screen(agent.Reading{})
			b.at(200).title(agent.LevelNotBusy)
			b.at(700).screen(composer(""))
		}, want: []string{"700 idle"}},
		"a composer is there": {run: func(b *bench) {
			b.at(100).screen(composer("spinner"))
			b.at(200).title(agent.LevelNotBusy)
		}, want: []string{"200 idle"}},
		"a page follows": {run: func(b *bench) {
			b.at(100).screen(agent.Reading{})
			b.at(200).title(agent.LevelNotBusy)
			b.at(400).screen(page)
			b.at(500).title(agent.LevelIdle)
			b.at(900).title(agent.LevelNotBusy)
			b.at(9000)
		}, want: []string{"550 prompt/1"}},
		"a start-up page was there": {run: func(b *bench) {
			b.at(100).screen(page)
			b.at(1000).screen(agent.Reading{})
			b.at(1100).title(agent.LevelNotBusy)
			b.at(1200).screen(composer(""))
		}, want: []string{"250 prompt/1", "1200 idle"}},
		"nothing that can be read follows": {run: func(b *bench) {
			b.at(100).screen(agent.Reading{})
			b.at(200).title(agent.LevelNotBusy)
			b.at(1200).title(agent.LevelIdle)
			b.at(9000)
		}, want: []string{"5200 idle"}},
		"a turn follows": {run: func(b *bench) {
			b.at(100).screen(agent.Reading{})
			b.at(200).title(agent.LevelNotBusy)
			b.at(300).hook(agent.TurnStarted, "t")
		}, want: []string{"300 working"}},
		"it has no screen that is read": {run: func(b *bench) {
			b.at(200).title(agent.LevelNotBusy)
		}, want: []string{"200 idle"}},
		"it takes no messages": {o: Options{Headless: true}, run: func(b *bench) {
			b.at(100).screen(agent.Reading{})
			b.at(200).title(agent.LevelNotBusy)
		}, want: []string{"200 working"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Start = t0
			b := &bench{t: t, fold: New(eager{}, c.o)}
			c.run(b)
			if !slices.Equal(b.log, c.want) {
				t.Errorf("it was %q, want %q", b.log, c.want)
			}
		})
	}
}

// TestReportedStartIsKept: the next server ends a start that was reported to the one before.
func TestReportedStartIsKept(t *testing.T) {
	b := &bench{t: t, fold: New(eager{}, Options{Start: t0})}
	b.at(100).screen(agent.Reading{})
	b.at(200).title(agent.LevelNotBusy)
	saved, err := b.fold.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if b.fold, err = Restore(eager{}, Options{Start: t0}, saved, t0); err != nil {
		t.Fatal(err)
	}
	b.at(700).screen(composer("spinner"))
	if want := []string{"700 idle"}; !slices.Equal(b.log, want) {
		t.Errorf("it was %q, want %q", b.log, want)
	}
}
