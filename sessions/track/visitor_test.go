package track

import (
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/loop"
	"berth/terminal"
)

// TestVisitorLeftBetweenServers: a visitor that ended while no server ran doesn't end the session's shell.
func TestVisitorLeftBetweenServers(t *testing.T) {
	b := newBench()
	term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
	b.env.Terminal = func() *terminal.Terminal { return term }
	b.env.Live = func() bool { return true }
	b.env.TakesVisitors = func() bool { return true }
	b.env.FindVisitor = func(int) *Visitor { return nil }
	b.env.Leave, b.env.Enter = func() {}, func(time.Time) {}
	b.env.Note = func(string, any) uint64 { return 0 }
	b.env.Program = func() loop.Program { return loop.Program{} }
	b.visitors.now = &Visitor{Agent: "speaker", Group: 1, PID: 1, Start: "none"}
	b.Printed() // output that this server has read from the holder
	b.detect(time.Now())
	if !slices.ContainsFunc(b.steps, func(types []string) bool { return slices.Contains(types, eventAgent) }) || b.visitors.now != nil {
		t.Errorf("the events are %v, and %+v is followed", b.steps, b.visitors.now)
	}
	if b.State() == agent.Exited {
		t.Error("the shell has the state exited")
	}
}

// TestHooksSearchSeldom: hooks of one foreground group cause no more searches for an agent than polls. Another group is
// searched at once.
func TestHooksSearchSeldom(t *testing.T) {
	b := newBench()
	now := time.Now()
	searches := func(front int) (n int) {
		for range 100 {
			now = now.Add(time.Millisecond)
			seen := agent.Process{Leader: 5, Foreground: front}
			if b.visitors.dueAtHook(front, now) && b.searches(seen, now, true) {
				b.visitors.searched = now
				n++
			}
		}
		return n
	}
	if n := searches(7); n != 1 {
		t.Errorf("100 hooks in 100 ms caused %d searches", n)
	}
	if n := searches(8); n != 1 {
		t.Errorf("100 hooks of another group caused %d searches", n)
	}
	if now = now.Add(visitorEvery); searches(8) != 1 {
		t.Error("later hooks cause no search")
	}
}

// TestVisitorSinceIsKept: the next server knows since when a visitor is followed.
func TestVisitorSinceIsKept(t *testing.T) {
	b := newBench()
	since := time.Now().Add(-time.Minute)
	b.visitors.now = &Visitor{Agent: "speaker", Group: 1, PID: 2, Start: "3", Since: api.At(since)}
	next := b.next(t, since.Add(-time.Hour))
	if got := next.child(); got.PID != 2 || got.Started.Sub(since).Abs() > time.Millisecond {
		t.Errorf("%d is followed since %s, want %s", got.PID, got.Started, since)
	}
}

// TestCoveredWhileAway: a dialog that was on the screen as its agent left the foreground may be covered once the agent is back.
func TestCoveredWhileAway(t *testing.T) {
	for name, d := range map[string]*agent.Dialog{
		"a dialog": {Type: agent.PromptPermission, Tool: "Bash", Options: []agent.Option{{Label: "Yes"}, {Label: "No"}}},
		"a notice": {Type: agent.PromptNotice, Title: "Update?", Options: []agent.Option{{Label: "Yes"}, {Label: "No"}}},
		"none":     nil,
	} {
		b := newBench()
		b.env.Leave, b.env.Enter = func() {}, func(time.Time) {}
		visitor := &Visitor{Agent: "speaker", Group: 2, PID: 2, Start: "none"}
		now := time.Now()
		b.change(visitor, agent.Process{}, now)
		b.d.fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: d}, Time: now})
		b.change(nil, agent.Process{}, now.Add(time.Second))
		b.change(visitor, agent.Process{}, now.Add(2*time.Second))
		if got := b.d.fold.Covered(); got != (d != nil) {
			t.Errorf("%s: covered %v", name, got)
		}
	}
}

// TestCoveredWithoutServer: a dialog may be covered if the program of an earlier server has printed while none ran.
func TestCoveredWithoutServer(t *testing.T) {
	for name, c := range map[string]struct {
		printed string
		age     time.Duration
		want    bool
	}{
		"it printed":                  {"x", time.Hour, true},
		"it did not":                  {"", time.Hour, false},
		"this server's own printed x": {"x", -time.Hour, false},
	} {
		b := newBench()
		next := b.saved(t)
		term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
		next.env.Terminal, next.env.Live = func() *terminal.Terminal { return term }, func() bool { return true }
		next.env.Program, next.env.Waiting = func() loop.Program { return loop.Program{} }, func() []uint64 { return nil }
		started := time.Now().Add(-c.age)
		next.env.Child = func() Child { return Child{PID: 1, Started: started} }
		_, _ = term.Write([]byte("before the checkpoint"))
		if err := next.Resume(started, time.Now()); err != nil {
			t.Fatal(err)
		}
		_, _ = term.Write([]byte(c.printed))
		next.goLive(time.Now())
		if got := next.d.fold.Covered(); got != c.want {
			t.Errorf("%s: covered %v", name, got)
		}
	}
}

// titled is a speaker whose title says that it works.
type titled struct{ speaker }

func (titled) Table() agent.Table {
	both := []agent.Witness{{Source: agent.SourceHook}, {Source: agent.SourceTitle}}
	return agent.Table{agent.MoveReady: both, agent.MoveWork: both, agent.MoveDone: both}
}

func (titled) Title(string) []agent.Fact {
	return []agent.Fact{{Kind: agent.LevelIs, Level: agent.LevelBusy, Source: agent.SourceTitle, Cause: "title"}}
}

// TestTitleBehindAHook: agents draw their title after their hooks. A server that starts between the two, as it was killed, doesn't take
// the title of before for new work, but believes one that stays.
func TestTitleBehindAHook(t *testing.T) {
	for name, ended := range map[string]bool{"a turn has ended since the checkpoint": true, "none has": false} {
		b := newBench()
		next := b.saved(t)
		term := terminal.New(terminal.Options{Cols: 80, Rows: 24})
		_, _ = term.Write([]byte("\x1b]0;working\a"))
		started := time.Now().Add(-time.Hour)
		next.env.Fresh = func() agent.Driver { return titled{} }
		next.env.Terminal, next.env.Live = func() *terminal.Terminal { return term }, func() bool { return true }
		next.env.Program, next.env.Waiting = func() loop.Program { return loop.Program{} }, func() []uint64 { return nil }
		next.env.Child = func() Child { return Child{PID: 1, Started: started} }
		if err := next.Resume(started, time.Now()); err != nil {
			t.Fatal(err)
		}
		if ended {
			next.record(t, 1, agent.Fact{Kind: agent.TurnStarted, Turn: "1"})
			next.record(t, 2, agent.Fact{Kind: agent.TurnEnded, Turn: "1", How: agent.Completed})
		}
		now := time.Now()
		next.goLive(now)
		if got := next.d.fold.Status().State; (got == agent.Working) == ended {
			t.Errorf("%s: it is %s", name, got)
		}
		if due := next.Due(now); ended && due.After(now.Add(WakesWithin)) {
			t.Errorf("%s: the title is read again at %s", name, due)
		}
		next.detect(now.Add(WakesWithin))
		if got := next.d.fold.Status().State; got != agent.Working {
			t.Errorf("%s: a second later it is %s", name, got)
		}
	}
}

// TestStartingAtOnce: the state of an agent that was just started in a shell is never the shell's idle, also not before the
// agent's screen was read. One that returns to the foreground keeps the state until then.
func TestStartingAtOnce(t *testing.T) {
	b := newBench()
	b.env.Leave, b.env.Enter = func() {}, func(time.Time) {}
	b.env.Note = func(string, any) uint64 { return 0 }
	visitor := &Visitor{Agent: "speaker", Group: 2, PID: 2, Start: "none"}
	now := time.Now()
	b.state = agent.Idle
	b.change(visitor, agent.Process{}, now)
	if b.State() != agent.Starting {
		t.Errorf("an agent that was just started has the state %s", b.State())
	}
	b.d.fold.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: agent.LevelIdle, Time: now})
	b.visitors.ready = true
	b.change(nil, agent.Process{}, now.Add(time.Second))
	b.state, b.visitors.ready = agent.Idle, true
	b.change(visitor, agent.Process{}, now.Add(2*time.Second))
	if b.State() != agent.Idle {
		t.Errorf("an agent that returned has the state %s before it was read", b.State())
	}
}
