package detect

import (
	"fmt"
	"testing"
	"time"

	"berth/agent"
)

// measured is a driver that was measured with version 1.
type measured struct{ agent.Driver }

func (measured) MeasuredVersions() []string { return []string{"1"} }

// TestVersionCostsNothing: the sources of an unmeasured version count like those of a measured one.
func TestVersionCostsNothing(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		b := newBench(t, Options{})
		b.fold.driver = measured{b.fold.driver}
		b.at(0).say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Level: agent.LevelIdle, Conversation: "c", Version: version})
		b.at(10).turns(1000, "1", 10)
		if s := b.at(1130).fold.Status(); s.State != agent.Idle || s.Version != version || len(s.Doubts) > 0 {
			t.Errorf("version %s: %+v", version, s)
		}
	}
}

// turns runs a turn until its end is reported. The levels follow after a lag.
func (b *bench) turns(until int, id string, lag int) {
	b.hook(agent.TurnStarted, id)
	b.at(b.now + 10).registry(agent.LevelBusy)
	b.title(agent.LevelBusy)
	b.screen(composer("spinner"))
	b.at(until).hook(agent.TurnEnded, id)
	b.at(until + lag).registry(agent.LevelIdle)
	b.title(agent.LevelNotBusy)
	b.screen(composer(""))
}

// TestMismatch: the slow rule applies to a source that another one contradicts, and only to it, until
// the others have confirmed it three times.
func TestMismatch(t *testing.T) {
	b := newBench(t, Options{})
	b.fold.driver = measured{b.fold.driver}
	b.at(0).registry(agent.LevelIdle)
	b.at(10).turns(1000, "1", 4000) // the end was reported 4 s before all other sources showed it
	d := b.at(4900).fold.Status().Doubts
	if b.fold.Status().State != agent.Working || len(d) != 1 || d[0].Source != agent.SourceHook || d[0].Against != agent.SourceRegistry || d[0].Since != t0.Add(3*time.Second) {
		t.Fatalf("%s %+v", b.fold.Status().State, d)
	}
	wants := func(ms int, want agent.State) {
		t.Helper()
		if got := b.at(ms).fold.Status().State; got != want {
			t.Fatalf("%s at %d, want %s", got, ms, want)
		}
	}
	wants(6990, agent.Working)
	wants(7010, agent.Idle)
	for i := range 3 { // doubted still
		begin := 10_000 * (i + 1)
		b.at(begin).turns(begin+1000, fmt.Sprint("doubted ", i), 10)
		wants(begin+3000, agent.Working)
		if due := b.fold.Status().RestDue; due != t0.Add(time.Duration(begin+3010)*time.Millisecond) {
			t.Errorf("rest due %v", due.Sub(t0))
		}
		wants(begin+3011, agent.Idle)
	}
	if d := b.fold.Status().Doubts; len(d) > 0 {
		t.Errorf("three times confirmed: %+v", d)
	}
	b.at(50_000).turns(51_000, "trusted", 10)
	wants(51_120, agent.Idle)
	if len(b.mismatches) != 2 || b.mismatches[0].Over || !b.mismatches[1].Over {
		t.Errorf("reported %+v", b.mismatches)
	}
}

// TestMismatchOfOne: the doubt of one source doesn't delay the others.
func TestMismatchOfOne(t *testing.T) {
	b := newBench(t, Options{})
	b.fold.driver = measured{b.fold.driver}
	b.at(0).registry(agent.LevelIdle)
	b.at(10).turns(1000, "1", 4000)
	b.at(20_000).hook(agent.TurnStarted, "2")
	b.at(20_010).registry(agent.LevelBusy)
	b.at(21_000).registry(agent.LevelIdle) // an Esc, which no hook reports
	if s := b.at(21_110).fold.Status(); s.State != agent.Idle || len(s.Doubts) != 1 {
		t.Errorf("%s %+v", s.State, s.Doubts)
	}
}

// TestBackground: between a subagent's end and the turn that it starts, the agent doesn't rest, and a
// level that stays busy contradicts no source.
func TestBackground(t *testing.T) {
	ended := func() *bench { // ends a turn and leaves a subagent at work
		b := newBench(t, Options{})
		b.fold.driver = measured{b.fold.driver}
		b.at(0).registry(agent.LevelIdle)
		b.at(10).hook(agent.TurnStarted, "1")
		b.at(20).registry(agent.LevelBusy)
		b.title(agent.LevelBusy)
		b.at(1000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "1", How: agent.Completed, Conversation: "c", Background: []string{"s"}})
		return b
	}
	for _, quicker := range []agent.Source{agent.SourceRegistry, agent.SourceTitle} {
		b := ended()
		for at := 2000; at <= 8000; at += 1000 { // a spinner in the title says so again and again
			b.at(at).title(agent.LevelBusy)
		}
		b.at(8100).say(agent.Fact{Kind: agent.SubagentEnded, Source: agent.SourceHook, Agent: "s", Conversation: "c"})
		b.at(8200).registry(agent.LevelIdle)
		if quicker == agent.SourceTitle {
			b.title(agent.LevelNotBusy)
		}
		b.at(8550).registry(agent.LevelBusy)
		b.title(agent.LevelBusy)
		b.at(8900).hook(agent.TurnStarted, "2")
		b.at(9500).hook(agent.TurnEnded, "2")
		b.at(9550).registry(agent.LevelIdle)
		b.title(agent.LevelNotBusy)
		b.at(15_000)
		b.want("10 working", "9650 idle")
		if d := b.fold.Status().Doubts; len(d) > 0 || len(b.mismatches) > 0 {
			t.Errorf("%s: doubted %+v, reported %+v", quicker, d, b.mismatches)
		}
	}
	// One whose end begins no turn, and a title that goes on until it is redrawn.
	b := ended()
	b.at(8100).say(agent.Fact{Kind: agent.SubagentEnded, Source: agent.SourceHook, Agent: "s", Conversation: "c"})
	b.at(8200).registry(agent.LevelIdle)
	b.at(9200).title(agent.LevelBusy)
	b.at(9300).title(agent.LevelNotBusy)
	b.at(15_000)
	b.want("10 working", "9100 idle")
	if d := b.fold.Status().Doubts; len(d) > 0 {
		t.Errorf("doubted %+v", d)
	}
}

// TestWentOn: a turn isn't over if its tool starts long after its reported end, and the source of
// that report is doubted. If the tool was only reported late, the turn is over.
func TestWentOn(t *testing.T) {
	for after, want := range map[int]agent.State{500: agent.Idle, 3000: agent.Working} {
		b := newBench(t, Options{})
		b.fold.driver = measured{b.fold.driver}
		b.at(0).registry(agent.LevelIdle)
		b.at(10).hook(agent.TurnStarted, "1")
		b.at(20).registry(agent.LevelBusy)
		b.at(1000).registry(agent.LevelIdle) // it says so by mistake
		b.at(1200+after).tool(agent.ToolStarted, "1", "", "Bash", "make")
		s := b.at(1210 + after).fold.Status()
		if doubted := len(s.Doubts) == 1 && s.Doubts[0].Source == agent.SourceRegistry; s.State != want || doubted != (want == agent.Working) {
			t.Errorf("%d ms after: %s %+v", after, s.State, s.Doubts)
		}
		if want != agent.Working {
			continue
		}
		b.at(9000).tool(agent.ToolEnded, "1", "", "Bash", "make")
		b.at(9100).hook(agent.TurnEnded, "1")
		if s := b.at(9210).fold.Status(); s.State != agent.Idle {
			t.Errorf("%s after its true end", s.State)
		}
	}
}

// TestStuckLevel: a level that keeps saying busy while all other sources show rest is doubted.
func TestStuckLevel(t *testing.T) {
	b := newBench(t, Options{})
	b.fold.driver = measured{b.fold.driver}
	b.at(0).registry(agent.LevelIdle)
	b.at(10).hook(agent.TurnStarted, "1")
	b.at(20).registry(agent.LevelBusy)
	b.at(1000).screen(composer(""))
	if s := b.at(7000).fold.Status(); s.State != agent.Idle || len(s.Doubts) != 1 || s.Doubts[0].Source != agent.SourceRegistry || s.Doubts[0].Against != agent.SourceScreen {
		t.Errorf("%s %+v", s.State, s.Doubts)
	}
}
