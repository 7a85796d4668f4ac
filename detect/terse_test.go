package detect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// terse is a driver of an agent that names neither turns nor calls, asks
// without saying about what, and reports errors only on its screen.
type terse struct{ lab }

func (terse) Table() agent.Table {
	t := lab{}.Table()
	t[agent.MoveReady] = []agent.Witness{{Source: agent.SourceScreen, After: 200 * time.Millisecond}}
	t[agent.MoveFail] = append(t[agent.MoveFail], agent.Witness{Source: agent.SourceScreen})
	t[agent.MoveAnswer] = []agent.Witness{
		{Source: agent.SourceHook}, {Source: agent.SourceTitle, After: 200 * time.Millisecond}, {Source: agent.SourceScreen, After: 200 * time.Millisecond}}
	return t
}

func (terse) Names(asked, call *agent.Fact) *agent.Request {
	if !strings.Contains(string(call.Input), *asked.Request.Title) {
		return nil
	}
	r := asked.Request.Clone()
	r.Tool = agent.Pointer(call.Tool)
	return r
}

func (terse) DialogNames(string) bool { return true }

// terseAt is one of its hooks' events, that happened at so many milliseconds.
func terseAt(ms int, k agent.Kind) agent.Fact {
	return agent.Fact{Kind: k, Source: agent.SourceHook, How: agent.Completed, Conversation: "c", At: t0.Add(time.Duration(ms) * time.Millisecond)}
}

func terseCall(ms int, k agent.Kind, tool, input string) agent.Fact {
	f := terseAt(ms, k)
	f.Tool, f.Input = tool, []byte(`"`+input+`"`)
	return f
}

func terseAsk(ms int, about string) agent.Fact {
	f := terseAt(ms, agent.Asked)
	f.Request = &agent.Request{Type: agent.PromptPermission, Title: &about, Channel: agent.ChannelKeys}
	return f
}

func failed(text string) agent.Reading {
	r := composer("")
	r.Failed = &agent.Failure{Class: agent.Invalid, Text: text}
	return r
}

func TestTerse(t *testing.T) {
	trust := agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Subtype: agent.SubtypeTrust, Title: "trust"}}
	for name, c := range map[string]struct {
		run  func(b *bench)
		want []string
	}{
		"it starts up twice": {func(b *bench) {
			b.at(100).title(agent.LevelIdle)
			b.at(500).screen(trust)
			b.at(1500).screen(agent.Reading{})
			b.at(4000).screen(composer(""))
			b.at(5000)
		}, []string{"650 prompt/1", "2000 starting", "4200 idle"}},
		"the next dialog comes soon": {func(b *bench) {
			b.at(500).screen(trust)
			b.at(1500).screen(agent.Reading{})
			b.at(1900).screen(agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptSetup, Title: "who"}})
			b.at(5000)
		}, []string{"650 prompt/1", "2050 prompt/2"}},
		"a denial that the log reports first": {func(b *bench) {
			b.at(100).say(terseAt(100, agent.TurnStarted))
			b.at(110).title(agent.LevelBusy)
			b.at(200).say(terseAsk(200, "ls"))
			b.at(210).title(agent.LevelWaiting)
			b.at(900).title(agent.LevelIdle)
			b.at(910).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, How: agent.Interrupted})
			b.at(5000)
		}, []string{"100 working", "200 prompt/1", "1000 idle"}},
		"its hooks are late, the turn is over": {func(b *bench) {
			b.at(100).title(agent.LevelBusy)
			b.at(600).title(agent.LevelIdle)
			b.at(1000).say(terseAt(90, agent.TurnStarted))
			b.at(1100).say(terseAsk(300, "ls"))
			b.at(1200).say(terseAt(590, agent.TurnEnded))
			b.at(5000)
		}, []string{"180 working", "800 idle"}},
		"its hooks are late, the turn is not over": {func(b *bench) {
			b.at(100).title(agent.LevelBusy)
			b.at(400).say(terseAt(90, agent.TurnStarted))
			b.at(600).title(agent.LevelIdle)
			b.at(650).say(terseAt(580, agent.TurnEnded))
			b.at(5000)
		}, []string{"180 working", "700 idle"}},
		"a turn that is reported twice asks once": {func(b *bench) {
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(150).say(terseAsk(140, "ls"))
			b.at(160).say(terseAt(90, agent.TurnStarted))
			b.at(5000)
		}, []string{"100 working", "150 prompt/1"}},
		"a step that ended before it was asked, reported after it": {func(b *bench) {
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(300).say(terseAsk(300, "ls"))
			b.at(600).say(terseAt(250, agent.StepEnded))
			b.at(5000).say(terseAt(5000, agent.StepEnded))
		}, []string{"100 working", "300 prompt/1", "5000 working"}},
		"an error that the screen shows before the end": {func(b *bench) {
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(900).screen(failed("400"))
			b.at(1000).say(terseAt(1000, agent.TurnEnded))
			b.at(5000).screen(composer(""))
			b.at(9000).say(terseAt(9000, agent.TurnStarted))
		}, []string{"100 working", "1000 error/invalid", "9000 working"}},
		"an error that is drawn after the end": {func(b *bench) {
			b.at(90).screen(composer(""))
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(110).title(agent.LevelBusy)
			b.at(1000).title(agent.LevelIdle)
			b.at(1250).screen(failed("400"))
			b.at(5000)
		}, []string{"100 working", "1200 idle", "1250 error/invalid"}},
		"an error of the turn before": {func(b *bench) {
			b.at(90).screen(failed("400"))
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(1000).say(terseAt(1000, agent.TurnEnded))
			b.at(5000)
		}, []string{"100 working", "1000 idle"}},
		"an error that turns up by itself": {func(b *bench) {
			b.at(100).say(terseAt(90, agent.TurnStarted))
			b.at(1000).say(terseAt(1000, agent.TurnEnded))
			b.at(4000).screen(failed("400"))
			b.at(5000)
		}, []string{"100 working", "1000 idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			b.fold = New(terse{}, Options{Start: t0})
			c.run(b)
			b.want(c.want...)
		})
	}
}

// TestTerseCalls: of the calls that have not come back, what is asked is about
// the one that it names, and one that comes back takes no other with it.
func TestTerseCalls(t *testing.T) {
	b := newBench(t, Options{})
	b.fold = New(terse{}, Options{Start: t0})
	b.at(100).say(terseAt(90, agent.TurnStarted))
	for i, input := range []string{"ls", "pwd", "ls", "id"} {
		b.at(200 + i).say(terseCall(200+i, agent.ToolStarted, fmt.Sprint("shell", i), input))
	}
	b.at(300).say(terseCall(300, agent.ToolEnded, "shell3", "id"))
	b.at(310).say(terseAsk(310, "pwd"))
	p := b.fold.Status().Request
	if p == nil || p.Tool == nil || *p.Tool != "shell1" || len(b.fold.m.Calls) != 3 {
		t.Fatalf("asked %+v with the calls %+v", p, b.fold.m.Calls)
	}
	b.at(400).say(terseCall(400, agent.ToolEnded, "shell0", "ls"))
	b.at(500).say(terseCall(500, agent.ToolEnded, "shell1", "pwd"))
	b.at(600).say(terseAsk(600, "rm"))
	if p := b.fold.Status().Request; p == nil || p.Tool != nil {
		t.Errorf("a prompt without a call: %+v", p)
	}
	b.at(700).say(terseAt(700, agent.StepEnded))
	b.want("100 working", "310 prompt/1", "500 working", "600 prompt/2", "700 working")
}
