package detect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// lab is a driver with a table like a real one's, fed with facts by hand.
type lab struct{ agent.Driver }

func (lab) Table() agent.Table {
	ms := func(s agent.Source, n int) agent.Witness {
		return agent.Witness{Source: s, After: time.Duration(n) * time.Millisecond}
	}
	return agent.Table{
		agent.MoveReady:  {ms("hook", 0), ms("title", 0), ms("screen", 0)},
		agent.MoveWork:   {ms("hook", 0), ms("log", 0), ms("registry", 0), ms("title", 80), ms("screen", 500)},
		agent.MoveDone:   {ms("hook", 0), ms("log", 0)},
		agent.MoveFail:   {ms("hook", 0), ms("log", 0)},
		agent.MoveRest:   {ms("registry", 100), ms("title", 200), ms("log", 0), ms("screen", 2000)},
		agent.MoveAsk:    {ms("hook", 0), ms("registry", 400), ms("screen", 150)},
		agent.MoveAnswer: {ms("hook", 0), ms("log", 0), ms("registry", 100), ms("title", 80), ms("screen", 200)},
		agent.MoveFollow: {ms("hook", 0), ms("registry", 0)},
	}
}

func (lab) Match(d *agent.Dialog, r *agent.Request) agent.Match {
	if d.Type != r.Type || r.Tool != nil && d.Tool != *r.Tool || r.Subtype != nil && d.Subtype != *r.Subtype {
		return agent.NoMatch
	}
	shown, _, _ := strings.Cut(d.Body, "\nThis command requires approval")
	switch shown = strings.ReplaceAll(shown, "\n", ""); {
	case shown == "" || r.Input == nil || shown == r.FullInput && !d.Cut:
		return agent.WholeMatch
	case d.Cut && strings.Contains(r.FullInput, shown), strings.HasPrefix(shown, "…") && strings.HasSuffix(r.FullInput, shown[len("…"):]):
		return agent.PartMatch
	}
	return agent.NoMatch
}

func (lab) Fill(r *agent.Request, d *agent.Dialog) {
	r.Options, r.OptionsFallback, r.Ready = d.Labels(), false, !d.Partial
}
func (l lab) FromDialog(d *agent.Dialog) *agent.Request {
	r := &agent.Request{Type: d.Type, Subtype: agent.Pointer(d.Subtype), Tool: agent.Pointer(d.Tool), Title: agent.Pointer(d.Title), Channel: agent.ChannelKeys}
	l.Fill(r, d)
	return r
}
func (lab) Waiting(f *agent.Fact) *agent.Request {
	if f.Tool == "Ask" {
		r := &agent.Request{Type: agent.PromptQuestion, Tool: agent.Pointer(f.Tool), Channel: agent.ChannelKeys}
		r.SetInput(string(f.Input))
		return r
	}
	return &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer(f.Tool), Channel: agent.ChannelKeys}
}

var t0 = time.Unix(1_000_000, 0)

// bench runs a fold on a clock of its own, in milliseconds.
type bench struct {
	t    *testing.T
	fold *Fold
	now  int
	log  []string

	mismatches []Mismatch
}

func newBench(t *testing.T, o Options) *bench {
	o.Start = t0
	return &bench{t: t, fold: New(lab{}, o)}
}

// at lets time pass up to ms, waking the fold when it asks to be.
func (b *bench) at(ms int) *bench {
	for {
		d := b.fold.Deadline()
		wake := int(d.Sub(t0).Milliseconds())
		if d.IsZero() || wake > ms {
			break
		}
		b.now = max(wake, b.now)
		b.keep(b.fold.Tick(t0.Add(time.Duration(b.now) * time.Millisecond)))
		if next := b.fold.Deadline(); !next.IsZero() && !next.After(d) {
			b.t.Fatalf("the fold asks again for a moment that has passed: %v", next.Sub(t0))
		}
	}
	b.now = ms
	return b
}

func (b *bench) say(f agent.Fact) Result {
	f.Time = t0.Add(time.Duration(b.now) * time.Millisecond)
	if f.Cause == "" {
		f.Cause = string(f.Source) + ":" + string(f.Kind)
	}
	r := b.fold.Apply(f)
	b.keep(r)
	return r
}

func (b *bench) keep(r Result) {
	b.mismatches = append(b.mismatches, r.Mismatches...)
	for _, t := range r.Transitions {
		line := fmt.Sprintf("%d %s", t.Time.Sub(t0).Milliseconds(), t.Next)
		if t.Request != nil {
			line += "/" + t.Request.ID
		}
		if t.Failure != nil {
			line += "/" + string(t.Failure.Class)
		}
		b.log = append(b.log, line)
	}
}

// hook and friends are facts in short.
func (b *bench) hook(k agent.Kind, turn string) Result {
	return b.say(agent.Fact{Kind: k, Source: agent.SourceHook, Turn: turn, How: agent.Completed, Conversation: "c"})
}

func (b *bench) ask(turn, sub, tool, input string) Result {
	return b.say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: turn, Agent: sub, Tool: tool, Input: []byte(`"` + input + `"`),
		Conversation: "c", Request: &agent.Request{Type: agent.PromptPermission, Tool: &tool, Input: &input, FullInput: input, OptionsFallback: true, Channel: agent.ChannelKeys}})
}

func (b *bench) tool(k agent.Kind, turn, sub, tool, input string) Result {
	return b.say(agent.Fact{Kind: k, Source: agent.SourceHook, Turn: turn, Agent: sub, Tool: tool, Input: []byte(`"` + input + `"`), Conversation: "c"})
}

func (b *bench) title(l agent.Level) Result {
	return b.say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Level: l})
}

func (b *bench) registry(l agent.Level) Result {
	return b.say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Level: l, Conversation: "c"})
}

func (b *bench) screen(r agent.Reading) Result {
	return b.say(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &r})
}

func composer(busy string) agent.Reading {
	return agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Empty: true, Focused: true}, Busy: busy}
}

func dialog(tool string) agent.Reading {
	return agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Tool: tool, Title: tool, Options: []agent.Option{{Label: "Yes"}, {Label: "No"}}}}
}

func (b *bench) want(lines ...string) {
	b.t.Helper()
	if got := strings.Join(b.log, ", "); got != strings.Join(lines, ", ") {
		b.t.Errorf("transitions\n %s, want\n %s", got, strings.Join(lines, ", "))
	}
}

// started is an idle agent that follows conversation c.
func started(t *testing.T) *bench {
	b := newBench(t, Options{})
	b.at(100).title(agent.LevelNotBusy)
	b.at(110).screen(composer(""))
	b.at(150).hook(agent.ConversationStarted, "")
	b.log = nil
	return b
}

// working is one whose turn a runs.
func working(t *testing.T) *bench {
	b := started(t)
	b.at(1000).hook(agent.TurnStarted, "a")
	b.at(1020).title(agent.LevelBusy)
	b.at(1030).screen(composer("✻ Brewing…"))
	b.log = nil
	return b
}

func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(b *bench)
		want []string
	}{
		"ended by its own word, once nothing is busy": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2300).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"2400 idle"}},
		"a turn without an id ends, and its log is read late": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(3000).title(agent.LevelBusy)
			b.at(4000).title(agent.LevelNotBusy)
			b.screen(composer(""))
			b.at(5000).title(agent.LevelBusy)
			b.at(5100).screen(dialog("Bash"))
			b.at(5500).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "b", At: t0.Add(3000 * time.Millisecond), Conversation: "c"})
			b.say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, Turn: "b", How: agent.Completed, At: t0.Add(4000 * time.Millisecond), Conversation: "c"})
			b.at(7000)
		}, []string{"2110 idle", "3080 working", "4200 idle", "5080 working", "5250 prompt/1"}},
		"a queued message's turn asks, and the log has the end of the turn before it": {func(b *bench) {
			b.at(1500).hook(agent.TurnStarted, "b") // reported when it was queued
			b.at(2500).ask("b", "", "Bash", `{"command":"ls"}`)
			b.at(2600).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, How: agent.Completed, At: t0.Add(2000 * time.Millisecond), Conversation: "c"})
			b.at(9000)
		}, []string{"2500 prompt/1"}},
		"a queued message reported with the turn before it asks, and the log is read late": {func(b *bench) {
			b.at(1500).hook(agent.TurnStarted, "a")
			b.at(3000).hook(agent.TurnEnded, "a")
			b.at(4500).tool(agent.ToolStarted, "b", "", "Bash", `{"command":"ls"}`)
			b.at(4600).ask("b", "", "Bash", `{"command":"ls"}`)
			b.say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "a", At: t0.Add(1000 * time.Millisecond), Conversation: "c"})
			b.say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, Turn: "a", How: agent.Completed, At: t0.Add(3100 * time.Millisecond), Conversation: "c"})
			b.say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "b", At: t0.Add(3300 * time.Millisecond), Conversation: "c"})
			b.at(9000)
		}, []string{"4600 prompt/1"}},
		"ended, and the level was quicker": {func(b *bench) {
			b.at(2000).title(agent.LevelNotBusy)
			b.at(2150).hook(agent.TurnEnded, "a")
			b.at(9000)
		}, []string{"2150 idle"}},
		"another one queued after it": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2050).title(agent.LevelNotBusy)
			b.at(2090).title(agent.LevelBusy)
			b.at(2150).hook(agent.TurnStarted, "b")
			b.at(3000).hook(agent.TurnEnded, "b")
			b.at(3010).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"3110 idle"}},
		"another stop hook makes it continue": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2500).tool(agent.ToolStarted, "a", "", "Bash", "ls")
			b.at(2600).title(agent.LevelNotBusy) // a dialog is about to open
			b.at(2700)
		}, nil},
		"a message that arrives after its end": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(2200).say(agent.Fact{Kind: agent.Acting, Source: agent.SourceHook, Turn: "a", Conversation: "c", Activity: &agent.Activity{Kind: agent.Responding}})
			b.tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.hook(agent.TurnStarted, "a")
			b.at(9000)
		}, []string{"2110 idle"}},
		"interrupted": {func(b *bench) {
			b.at(2000).title(agent.LevelNotBusy)
			b.at(2050).screen(composer(""))
			b.at(9000)
		}, []string{"2250 idle"}},
		"interrupted, by the live file; the title says less and later": {func(b *bench) {
			b.registry(agent.LevelBusy)
			b.at(5000).registry(agent.LevelIdle)
			b.at(5050).title(agent.LevelNotBusy)
			b.at(5060).screen(composer(""))
			b.at(9000)
		}, []string{"5100 idle"}},
		"interrupted, by the live file": {func(b *bench) {
			b.at(2000).registry(agent.LevelBusy)
			b.at(3000).registry(agent.LevelIdle)
			b.at(9000)
		}, []string{"3100 idle"}},
		"ended by a hook, and the live file rests: no turn can follow": {func(b *bench) {
			b.registry(agent.LevelBusy)
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2030).registry(agent.LevelIdle)
			b.at(2040).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"2030 idle"}},
		"the live file says late that it works": {func(b *bench) {
			b.say(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Level: agent.LevelIdle, Conversation: "c", At: t0.Add(500 * time.Millisecond)})
			b.at(1040).title(agent.LevelBusy)
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2040).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"2140 idle"}},
		"keys were pressed in it, so a message may be queued; and one was": {func(b *bench) {
			b.registry(agent.LevelBusy)
			b.at(1500).fold.Typed(t0.Add(1500 * time.Millisecond))
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2030).registry(agent.LevelIdle)
			b.at(2100).registry(agent.LevelBusy)
			b.at(2110).hook(agent.TurnStarted, "b")
			b.at(3000).hook(agent.TurnEnded, "b") // maybe another one is
			b.at(3030).registry(agent.LevelIdle)
			b.at(4000).hook(agent.TurnStarted, "c")
			b.registry(agent.LevelBusy)
			b.at(5000).hook(agent.TurnEnded, "c")
			b.at(5030).registry(agent.LevelIdle)
			b.at(9000)
		}, []string{"3130 idle", "4000 working", "5030 idle"}},
		"the log says that a message is queued": {func(b *bench) {
			b.registry(agent.LevelBusy)
			b.at(1500).say(agent.Fact{Kind: agent.Queued, Source: agent.SourceLog, Conversation: "c", Text: "<task-notification>"})
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2030).registry(agent.LevelIdle)
			b.at(2100).registry(agent.LevelBusy)
			b.at(2110).hook(agent.TurnStarted, "b")
			b.at(9000)
		}, nil},
		"not busy, but no composer: a dialog may be about to open": {func(b *bench) {
			b.at(2000).title(agent.LevelNotBusy)
			b.at(2010).screen(agent.Reading{})
			b.at(60000)
		}, nil},
		"failed, and no idle after it": {func(b *bench) {
			b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Failed, Conversation: "c",
				Failure: &agent.Failure{Class: agent.RateLimited}})
			b.at(2050).title(agent.LevelNotBusy)
			b.screen(composer(""))
			b.at(60000)
			b.hook(agent.TurnStarted, "b")
		}, []string{"2000 error/rate_limited", "60000 working"}},
		"failed, reported after the level": {func(b *bench) {
			b.at(2000).title(agent.LevelNotBusy)
			b.screen(composer(""))
			b.at(2300).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Failed, Conversation: "c",
				Failure: &agent.Failure{Class: agent.Overloaded}})
		}, []string{"2200 idle", "2300 error/overloaded"}},
		"failed, by the log alone": {func(b *bench) {
			b.at(2000).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceLog, Conversation: "c", Failure: &agent.Failure{Class: agent.Network}})
			b.at(2010).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, How: agent.Completed, Conversation: "c"})
		}, []string{"2010 error/network"}},
		"a log line of the turn before, read late": {func(b *bench) {
			b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, How: agent.Completed, Conversation: "c", At: t0})
			b.at(2100).title(agent.LevelNotBusy)
			b.at(2200)
		}, nil},
		"a subagent's end is not the turn's": {func(b *bench) {
			b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", Agent: "s", How: agent.Completed, Conversation: "c"})
			b.at(2010).title(agent.LevelNotBusy)
			b.at(2100)
		}, nil},
		"a level that stopped speaking gives way after 5 s of silence": {func(b *bench) {
			b.at(2000).screen(composer(""))
			b.at(4000).say(agent.Fact{Kind: agent.Spoke, Source: agent.SourceProcess})
			b.at(20000)
		}, []string{"9000 idle"}},
		"the gate holds it": {func(b *bench) {
			b.fold.SetGate(true, t0.Add(1900*time.Millisecond))
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(5000)
			b.keep(b.fold.SetGate(false, t0.Add(5*time.Second)))
		}, []string{"5000 idle"}},
		"compacted by hand": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(3000).hook(agent.TurnStarted, "k")
			b.at(3010).title(agent.LevelBusy)
			b.at(4000).hook(agent.ConversationStarted, "")
			b.hook(agent.TurnEnded, "k")
			b.at(4050).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"2110 idle", "3000 working", "4150 idle"}},
		"the holder says it exited": {func(b *bench) {
			b.at(2000).hook(agent.ConversationEnded, "")
			b.at(2100).say(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess})
			b.at(2200).title(agent.LevelBusy)
			b.hook(agent.TurnStarted, "b")
			b.at(9000)
		}, []string{"2100 exited"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := working(t)
			c.run(b)
			b.want(c.want...)
		})
	}
}

func TestWithoutLevels(t *testing.T) {
	b := newBench(t, Options{})
	b.at(100).hook(agent.ConversationStarted, "")
	b.at(1000).hook(agent.TurnStarted, "a")
	b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Completed, Conversation: "c", Background: []string{"s"}})
	b.at(5000).say(agent.Fact{Kind: agent.SubagentEnded, Source: agent.SourceHook, Agent: "s", Conversation: "c"})
	b.at(7000).hook(agent.TurnStarted, "b")
	b.at(7100).screen(composer("✻ Brewing…"))
	b.at(8000).screen(composer(""))
	b.at(20000).hook(agent.TurnStarted, "c") // no source reports the end of b: 5 s, because a hook reported its start
	b.at(60000)                              // and 30 s when the screen didn't show the turn
	b.want("100 idle", "1000 working", "6000 idle", "7000 working", "13000 idle", "20000 working", "50000 idle")

	b = newBench(t, Options{})
	b.at(100).screen(composer(""))
	b.at(4000).screen(composer("✻ Brewing…"))
	b.at(8000).screen(composer(""))
	b.at(20000) // the screen alone: 2 s
	b.want("2100 idle", "4500 working", "10000 idle")

	b = newBench(t, Options{})
	b.at(100).hook(agent.ConversationStarted, "")
	b.at(1000).hook(agent.TurnStarted, "a")
	b.at(1100).screen(dialog("Bash"))
	b.at(2000).hook(agent.TurnEnded, "a")
	b.at(2400).screen(composer("■⬝ esc interrupt")) // in the place of a dialog that was answered
	b.at(3200).screen(composer(""))
	b.at(9000).screen(composer("■⬝ esc interrupt"))
	b.at(20000)
	b.want("100 idle", "1000 working", "1250 prompt/1", "2400 idle", "9500 working")

	for drawn, want := range map[int][]string{ // how long the screen shows the ended turn's spinner
		3900: {"100 idle", "1000 working", "2000 idle"},
		6000: {"100 idle", "1000 working", "2000 idle", "4000 working", "8000 idle"}, // a turn that no hook reported
	} {
		b = newBench(t, Options{})
		b.at(100).hook(agent.ConversationStarted, "")
		b.at(1000).hook(agent.TurnStarted, "a")
		b.at(1100).screen(composer("■⬝ esc interrupt"))
		b.at(2000).hook(agent.TurnEnded, "a")
		b.at(2600).screen(composer("⬝■ esc interrupt"))
		b.at(drawn).screen(composer(""))
		b.at(20000)
		b.want(want...)
	}
}

func TestLevelsAlone(t *testing.T) {
	b := started(t)
	b.at(1000).title(agent.LevelBusy)
	b.at(1040).title(agent.LevelNotBusy) // a command that is not known
	b.at(5000).title(agent.LevelBusy)
	b.at(5500).hook(agent.TurnStarted, "a") // reported late: the same turn
	b.at(6000).hook(agent.TurnEnded, "a")
	b.at(6010).title(agent.LevelNotBusy)
	b.at(9000)
	b.want("5080 working", "6110 idle")
}

func TestCheckpoint(t *testing.T) {
	b := working(t)
	b.at(2000).ask("a", "", "Bash", "ls")
	b.at(2050).screen(dialog("Bash"))
	data, err := b.fold.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(lab{}, Options{Start: t0}, data, t0.Add(2060*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(b.fold.Status())
	two, _ := json.Marshal(again.Status())
	if string(one) != string(two) {
		t.Errorf("restored\n%s\nof\n%s", two, one)
	}
	b.fold = again
	b.log = nil
	b.at(3000).title(agent.LevelNotBusy)
	b.at(3500).screen(composer("✻ Brewing…"))
	b.at(3800)
	b.want("3700 working")
	for _, bad := range []string{"", "{", `{"Requests":[null]}`, `{"Requests":[{}]}`} {
		if _, err := Restore(lab{}, Options{}, []byte(bad), t0); err == nil {
			t.Errorf("restored of %q", bad)
		}
	}
}

// TestActivityOfATurn: the live file reports a turn, and then its hook says what the agent does in it.
func TestActivityOfATurn(t *testing.T) {
	b := started(t)
	b.at(1000).registry(agent.LevelBusy)
	b.at(1008).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Conversation: "c", At: t0.Add(1005 * time.Millisecond), Activity: &agent.Activity{Kind: agent.Compacting}})
	b.want("1000 working")
	if a := b.fold.Status().Activity; a == nil || a.Kind != agent.Compacting {
		t.Errorf("it does %+v", a)
	}
}

// TestTogether: queued messages are delivered at once. The hooks give each an id of its own, the log
// gives all of them the last one's. It is one turn, and a report of its end is right with any id.
func TestTogether(t *testing.T) {
	for _, end := range []string{"1", "2", "3"} {
		b := newBench(t, Options{})
		is := func(state agent.State) {
			t.Helper()
			if got := b.fold.Status().State; got != state {
				t.Fatalf("ended as %s: it is %s, want %s", end, got, state)
			}
		}
		b.at(0).title(agent.LevelNotBusy)
		b.at(10).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "3"})
		for i, id := range []string{"1", "2", "3"} {
			b.at(30 + 20*i).say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: id})
		}
		is(agent.Working)
		b.at(500).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, How: agent.Completed, Turn: end})
		b.at(1000)
		is(agent.Idle)
		b.say(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "3", At: t0.Add(20 * time.Millisecond)})
		is(agent.Idle)
	}
}

// TestQuiet: without a level and without a reading of the screen, a turn without a reported end is
// over after the grace; not while a tool runs, and not while anything is logged or printed.
func TestQuiet(t *testing.T) {
	log := func(k agent.Kind) agent.Fact {
		return agent.Fact{Kind: k, Source: agent.SourceLog, Turn: "1", Call: "c", Tool: "Bash", Activity: &agent.Activity{Kind: agent.Thinking}}
	}
	b := newBench(t, Options{})
	b.at(0).say(log(agent.TurnStarted))
	b.at(59_900).say(log(agent.Acting))
	b.at(119_000).say(agent.Fact{Kind: agent.Spoke, Source: agent.SourceProcess})
	if s := b.at(178_900).fold.Status(); s.State != agent.Working || !s.RestDue.Equal(t0.Add(179*time.Second)) {
		t.Errorf("%s, rest due %v", s.State, s.RestDue.Sub(t0))
	}
	if s := b.at(179_000).fold.Status(); s.State != agent.Idle || s.Tier != agent.TierLog || s.Cause != "log:quiet" {
		t.Errorf("%s by %s", s.State, s.Cause)
	}
	b = newBench(t, Options{IdleGrace: time.Second})
	b.at(0).say(log(agent.TurnStarted))
	b.at(10).say(log(agent.ToolStarted))
	if s := b.at(3_600_000).fold.Status(); s.State != agent.Working {
		t.Errorf("%s while a tool runs", s.State)
	}
	b.say(log(agent.ToolEnded))
	if s := b.at(3_601_000).fold.Status(); s.State != agent.Idle {
		t.Errorf("%s a second after the tool", s.State)
	}
}

// TestFreeze: an old screen opens no prompt while the hooks after it are applied again.
func TestFreeze(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		b := newBench(t, Options{Conversation: "c"})
		b.hook(agent.TurnStarted, "a")
		b.at(100).screen(dialog("Bash"))
		b.at(400)
		if frozen {
			b.fold.Freeze()
		}
		opened := 0
		for i, turn := range []string{"b", "c", "d"} {
			r := b.fold.Apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceHook, Turn: turn, Conversation: "c", Time: t0.Add(time.Duration(5*i+5) * time.Second)})
			opened += len(r.Opened)
		}
		if opened > 0 {
			t.Errorf("frozen %v: %d prompts were opened by a dialog that is a prompt already, or of the past", frozen, opened)
		}
		if !frozen {
			continue
		}
		now := composer("✻ Working…")
		b.fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &now, Time: t0.Add(20 * time.Second)})
		if r := b.fold.Thaw(t0.Add(20 * time.Second)); len(r.Opened) > 0 || b.fold.Status().State != agent.Working {
			t.Errorf("awake: %+v", r)
		}
	}
}

// TestKeptMessage: a message that waits for the turn's end is reported with the id of the turn that runs, also
// when the log was the first to report that turn, and when the turn's own message had waited as well.
func TestKeptMessage(t *testing.T) {
	b := started(t)
	b.at(1000)
	for i, c := range []struct {
		source     agent.Source
		turn, text string
		kept       bool
	}{
		{agent.SourceHook, "a", "one", false}, {agent.SourceHook, "a", "one", false}, {agent.SourceHook, "a", "two", true},
		{agent.SourceHook, "b", "three", false},
		{agent.SourceLog, "c", "four", false}, {agent.SourceHook, "c", "four", false}, {agent.SourceHook, "c", "five", true}, {agent.SourceHook, "c", "six", true},
		{agent.SourceLog, "d", "five", false}, {agent.SourceHook, "d", "seven", true},
		{agent.SourceLog, "e", "six", false}, {agent.SourceHook, "e", "seven", true},
		{agent.SourceLog, "f", "seven", false}, {agent.SourceHook, "g", "seven", false},
		{agent.SourceLog, "h", "<command>go</command>", false}, {agent.SourceHook, "h", "/go", false}, {agent.SourceHook, "h", "eight", true},
	} {
		f := agent.Fact{Kind: agent.TurnStarted, Source: c.source, Turn: c.turn, Text: c.text, Conversation: "c"}
		if kept := b.say(f).Kept; kept != c.kept {
			t.Errorf("%d, %s %s %s: kept is %v", i, c.source, c.turn, c.text, kept)
		}
	}
}
