package detect

import (
	"testing"
	"time"

	"berth/agent"
)

// teller is a driver whose agent reports its state itself, the ends of turns included, and asks about
// a turn when it is over.
type teller struct{ lab }

func (teller) Table() agent.Table {
	t := lab{}.Table()
	for move, ms := range map[agent.Move]int{
		agent.MoveReady: 0, agent.MoveWork: 250, agent.MoveDone: 0, agent.MoveFail: 0, agent.MoveRest: 100, agent.MoveAsk: 1000, agent.MoveAnswer: 0,
	} {
		t[move] = append(t[move], agent.Witness{Source: agent.SourceOSC, After: time.Duration(ms) * time.Millisecond})
	}
	t[agent.MoveAsk] = append(t[agent.MoveAsk], agent.Witness{Source: agent.SourceLog, After: 300 * time.Millisecond})
	t[agent.MoveReplace] = []agent.Witness{{Source: agent.SourceHook}}
	return t
}

func (b *bench) osc(l agent.Level) Result {
	return b.say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceOSC, Level: l})
}

// done is the agent's word that a turn is over.
func (b *bench) done(how agent.How) {
	b.say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceOSC, How: how})
	b.osc(agent.LevelNotBusy)
}

// plan is a dialog about the turn that was.
func plan() agent.Reading {
	return agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPlan, Title: "Do it?", AfterTurn: true, Options: []agent.Option{{Number: 1, Label: "Yes"}}}}
}

func TestStatesInItsOwnWords(t *testing.T) {
	failed := &agent.Failure{Class: agent.Unauthorized, Text: "401"}
	for name, c := range map[string]struct {
		run  func(b *bench)
		want []string
	}{
		"busy while it starts isn't a turn": {func(b *bench) {
			b.osc(agent.LevelBusy)
			b.at(1100).osc(agent.LevelIdle)
			b.at(9000)
		}, []string{"1000 idle"}},
		"a turn too short for busy is known by its end": {func(b *bench) {
			b.osc(agent.LevelIdle)
			b.at(2000).osc(agent.LevelBusy)
			b.at(2060).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 idle", "2060 working", "2160 idle"}},
		"idle of a draft, and then the turn that it became, read late": {func(b *bench) {
			b.osc(agent.LevelNotBusy)
			b.screen(composer(""))
			b.at(2000).osc(agent.LevelIdle)
			b.at(2200).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "b", At: t0.Add(2080 * time.Millisecond)})
			b.at(2210).osc(agent.LevelBusy)
			b.at(2500).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 idle", "2200 working", "2600 idle"}},
		"an end of nothing": {func(b *bench) {
			b.osc(agent.LevelIdle)
			b.at(2060).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 idle"}},
		"a turn that failed at once, and the reason after it": {func(b *bench) {
			b.osc(agent.LevelIdle)
			b.at(2000).osc(agent.LevelBusy)
			b.at(2060).done(agent.Failed)
			b.at(2100).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceHook, Failure: failed})
			if got := b.fold.Status().Failure; got == nil || got.Class != agent.Unauthorized || !got.Since.Equal(t0.Add(2060*time.Millisecond)) {
				b.t.Errorf("failed by %+v", got)
			}
			b.at(3000).osc(agent.LevelIdle) // a person types
			b.at(9000)
		}, []string{"1000 idle", "2060 error/other"}},
		"a subagent's failure is not the turn's": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.osc(agent.LevelBusy)
			b.at(2000).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceHook, Agent: "sub", Failure: failed})
			b.at(3000).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 working", "3100 idle"}},
		"a failure that was overcome": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.osc(agent.LevelBusy)
			b.at(2000).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceHook, Failure: failed})
			b.at(2500).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceHook})
			b.at(3000).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 working", "3100 idle"}},
		"blocked says that it was at work": {func(b *bench) {
			b.osc(agent.LevelIdle)
			b.at(2000).osc(agent.LevelBusy)
			b.at(2200).osc(agent.LevelWaiting)
			b.at(9000)
		}, []string{"1000 idle", "2200 working", "3200 prompt/1"}},
		"a plan is asked about after its turn, and answered by the next": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.at(2000).osc(agent.LevelBusy)
			b.at(3000).done(agent.Completed)
			b.at(3020).screen(plan())
			b.at(5000).osc(agent.LevelBusy)
			b.screen(composer(""))
			b.at(5050).hook(agent.TurnStarted, "b")
			b.at(6000).done(agent.Completed)
			b.at(9000)
		}, []string{"1000 working", "3170 prompt/1", "5000 working", "6100 idle"}},
		"a plan that is refused": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.osc(agent.LevelBusy)
			b.at(3000).done(agent.Completed)
			b.at(3020).screen(plan())
			b.at(5000).screen(composer(""))
			b.at(9000)
		}, []string{"1000 working", "3170 prompt/1", "5200 idle"}},
		"a call that another hook holds": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.at(2000).call("k", agent.SourceLog)
			b.at(2400).screen(hooked(true))
			b.at(5000).screen(hooked(false))
			b.say(agent.Fact{Kind: agent.ToolEnded, Source: agent.SourceLog, Call: "k"})
			b.at(9000)
		}, []string{"1000 working", "2700 prompt/1", "5000 working"}},
		"asked after the end of another turn, of two at once": {func(b *bench) {
			b.hook(agent.TurnStarted, "")
			b.osc(agent.LevelBusy)
			b.at(2000).hook(agent.TurnEnded, "")
			b.at(3000).ask("", "", "Bash", "ls")
			b.at(3100).osc(agent.LevelWaiting)
			b.at(5000).osc(agent.LevelBusy)
			b.at(6000).osc(agent.LevelIdle)
			b.at(9000)
		}, []string{"1000 working", "3000 prompt/1", "5000 working", "6100 idle"}},
		"our own hooks would have reported it": {func(b *bench) {
			b.hook(agent.TurnStarted, "a")
			b.at(2000).call("k", agent.SourceLog)
			b.at(2010).call("k", agent.SourceHook)
			b.at(2400).screen(hooked(true))
			b.at(9000)
		}, []string{"1000 working"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			b.fold = New(teller{}, Options{Start: t0})
			c.run(b.at(1000))
			b.want(c.want...)
		})
	}
}

// TestStartedAgain: if the agent may exit after a startup answer, to be started again, its composer
// doesn't count as started up for a while.
func TestStartedAgain(t *testing.T) {
	for again, want := range map[bool]string{false: "2000 idle", true: "3000 idle"} {
		b := newBench(t, Options{})
		b.fold = New(shower{}, Options{Start: t0, Again: again})
		trust := agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Subtype: agent.SubtypeTrust, Title: "Trust?", Options: []agent.Option{{Number: 1, Label: "Yes"}}}}
		b.at(500).screen(trust)
		b.at(1000).screen(composer(""))
		b.at(9000)
		b.want("650 prompt/1", "1200 starting", want)
		b = newBench(t, Options{}) // nothing was asked
		b.fold = New(shower{}, Options{Start: t0, Again: again})
		b.at(1000).screen(composer(""))
		b.at(9000)
		b.want("2000 idle")
	}
}

// TestUnseenTurn: the start of a turn that only a delivery has seen, after the turn's end, reports the turn and its end.
// An error that the screen shows since the start is the turn's.
func TestUnseenTurn(t *testing.T) {
	began := func() agent.Fact {
		return agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceScreen, Cause: "screen:message", At: t0.Add(4 * time.Second)}
	}
	b := newBench(t, Options{})
	b.at(1000).screen(composer(""))
	b.at(6500).say(began())
	b.at(9000)
	b.want("3000 idle", "6500 working", "6500 idle")

	b = newBench(t, Options{})
	b.at(1000).screen(composer(""))
	b.at(5500).screen(agent.Reading{})
	b.at(6000).screen(composer("")) // not for as long as rest takes
	b.at(6500).say(began())
	b.at(9000)
	b.want("3000 idle", "6500 working", "8000 idle")

	b = newBench(t, Options{})
	b.fold = New(unhooked{}, Options{Start: t0})
	red := composer("")
	red.Failed = &agent.Failure{Class: agent.Invalid, Text: "400"}
	b.at(1000).screen(composer(""))
	b.at(4200).screen(red)
	b.at(6500).say(began())
	b.at(9000)
	b.want("3000 idle", "6500 working", "6500 error/invalid")
}

// unhooked is a driver whose agent shows errors on the screen alone.
type unhooked struct{ lab }

func (unhooked) Table() agent.Table {
	t := lab{}.Table()
	t[agent.MoveFail] = []agent.Witness{{Source: agent.SourceScreen}}
	return t
}

// shower is a driver whose agent's composer says that it has started up.
type shower struct{ lab }

func (shower) Table() agent.Table {
	t := lab{}.Table()
	t[agent.MoveReady] = []agent.Witness{{Source: agent.SourceScreen, After: time.Second}}
	t[agent.MoveAnswer] = []agent.Witness{{Source: agent.SourceScreen, After: 200 * time.Millisecond}}
	return t
}

// call is a call that will be asked about.
func (b *bench) call(id string, s agent.Source) {
	f := agent.Fact{Kind: agent.ToolStarted, Source: s, Turn: "a", Tool: "Bash", Call: id, Input: []byte(`"ls"`)}
	if s == agent.SourceLog {
		f.Request = &agent.Request{Type: agent.PromptPermission, Tool: &f.Tool}
	}
	b.say(f)
}

// hooked is a screen that shows work, and a hook that runs or none.
func hooked(runs bool) agent.Reading {
	return agent.Reading{Composer: &agent.Composer{Empty: true}, Busy: "Working", Hook: runs}
}

// TestReplaced: a conversation that begins between turns takes the place of the
// one followed, and gives it back; one that begins in a turn does not.
func TestReplaced(t *testing.T) {
	b := newBench(t, Options{})
	b.fold = New(teller{}, Options{Start: t0})
	say := func(ms int, k agent.Kind, conversation, turn string) bool {
		return b.at(ms).say(agent.Fact{Kind: k, Source: agent.SourceHook, Conversation: conversation, Turn: turn, Text: "startup", How: agent.Completed}).Foreign
	}
	if say(1000, agent.ConversationStarted, "one", "") || say(1010, agent.TurnStarted, "one", "a") {
		t.Error("the first conversation is foreign")
	}
	if !say(1500, agent.ConversationStarted, "tool's", "") || !say(1600, agent.TurnStarted, "tool's", "x") {
		t.Error("a conversation that a tool began is followed")
	}
	say(2000, agent.TurnEnded, "one", "a")
	b.at(3000).osc(agent.LevelBusy)
	b.at(3400) // by now this is work, of no conversation yet
	if say(3400, agent.ConversationStarted, "two", "") || say(3410, agent.TurnStarted, "two", "b") {
		t.Error("a new conversation is foreign")
	}
	say(4000, agent.TurnEnded, "two", "b")
	b.osc(agent.LevelIdle)
	if say(5000, agent.TurnEnded, "one", "c") == false || say(6000, agent.TurnStarted, "one", "d") {
		t.Error("the conversation before is not taken up again")
	}
	if got := b.fold.Status().Conversation; got != "one" {
		t.Errorf("follows %s", got)
	}
	b.want("1000 idle", "1010 working", "2000 idle", "3250 working", "4100 idle", "6000 working")
}
