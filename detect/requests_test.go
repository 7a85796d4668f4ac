package detect

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"berth/agent"
)

// held is a request for ls whose hook waits.
func held(hook string) agent.Fact {
	return agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: "Bash", Input: []byte(`"ls"`), Conversation: "c", Hook: hook, Request: &agent.Request{
		Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Input: agent.Pointer("ls"), FullInput: "ls", Channel: agent.ChannelKeys,
	}}
}

// TestTurnGoesOn: a turn whose end was only inferred goes on when a hook of its main agent waits for an answer. Nothing else makes it go on.
func TestTurnGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(b *bench, ask agent.Fact)
		want string
	}{
		"inferred":      {func(b *bench, ask agent.Fact) { b.title(agent.LevelNotBusy); b.at(4000).say(ask) }, "a"},
		"no hook waits": {func(b *bench, ask agent.Fact) { b.title(agent.LevelNotBusy); ask.Hook = ""; b.at(4000).say(ask) }, ""},
		"a subagent's":  {func(b *bench, ask agent.Fact) { b.title(agent.LevelNotBusy); ask.Agent = "s"; b.at(4000).say(ask) }, ""},
		"reported": {func(b *bench, ask agent.Fact) {
			b.title(agent.LevelNotBusy)
			b.hook(agent.TurnEnded, "a")
			b.at(4000).say(ask)
		}, ""},
		"another one runs": {func(b *bench, ask agent.Fact) {
			b.title(agent.LevelNotBusy)
			b.at(4000).hook(agent.TurnStarted, "b")
			b.at(4100).say(ask)
		}, "b"},
	} {
		b := working(t)
		b.at(1900).screen(composer(""))
		if c.run(b, held("7")); b.fold.m.Turn.ID != c.want {
			t.Errorf("%s: the turn is %q, want %q", name, b.fold.m.Turn.ID, c.want)
		}
	}
}

// drafts is a composer with a draft.
func drafts() agent.Reading {
	return agent.Reading{Composer: &agent.Composer{Mode: agent.ModeMessage, Focused: true}}
}

func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(b *bench)
		want []string
	}{
		"answered: the tool ran": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(3000).tool(agent.ToolEnded, "a", "", "Bash", "pwd") // another call
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
		}, []string{"2000 prompt/1", "4000 working"}},
		"answered with another input: the call is named by its id": {func(b *bench) {
			b.at(1900).say(agent.Fact{Kind: agent.ToolStarted, Source: agent.SourceHook, Turn: "a", Tool: "Bash", Call: "k", Input: []byte(`"ls"`), Conversation: "c"})
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(4000).say(agent.Fact{Kind: agent.ToolEnded, Source: agent.SourceHook, Turn: "a", Tool: "Bash", Call: "k", Input: []byte(`"ls -l"`), Conversation: "c"})
		}, []string{"2000 prompt/1", "4000 working"}},
		"answered: the title says busy again": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2020).title(agent.LevelNotBusy)
			b.at(4000).title(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1", "4080 working"}},
		"the title of the turn's start is read after the prompt's report": {func(b *bench) {
			b.title(agent.LevelNotBusy)
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2200).title(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1"}},
		"the title was busy all along": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(3000).title(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1"}},
		"answered: the live file says so": {func(b *bench) {
			b.at(1990).registry(agent.LevelBusy)
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2050).registry(agent.LevelWaiting)
			b.at(4000).registry(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1", "4100 working"}},
		"a live file that is late about the turn's beginning": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2050).registry(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1"}},
		"denied, and the turn with it: no source reports it": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2020).title(agent.LevelNotBusy)
			b.screen(dialog("Bash"))
			b.at(4000).screen(composer(""))
			b.at(9000)
		}, []string{"2000 prompt/1", "4200 idle"}},
		"denied, reported while a frame was half drawn": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2020).screen(dialog("Bash"))
			b.title(agent.LevelWaiting)
			b.at(3000).screen(agent.Reading{})
			b.at(3010).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceLog, Turn: "a", How: agent.Interrupted, Conversation: "c"})
			b.at(3037).screen(dialog("Bash"))
			b.at(3500).screen(composer(""))
			b.at(9000)
		}, []string{"2000 prompt/1", "3500 idle"}},
		"a turn's end was only inferred, and a hook that is ended asks": {func(b *bench) {
			b.at(1900).tool(agent.ToolStarted, "a", "", "Bash", "ls")
			b.screen(composer(""))
			b.title(agent.LevelNotBusy)
			b.at(2600).say(held("7"))
			b.at(2700).say(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Conversation: "c", Hook: "7"})
			b.at(3000).screen(dialog("Bash"))
			b.at(6000)
			if r := b.fold.current(); r == nil || !r.Prompt.OnScreen || r.Prompt.Channel != agent.ChannelKeys {
				b.t.Errorf("the prompt is %+v", r)
			}
		}, []string{"2100 idle", "2600 prompt/1"}},
		"a draft holds the dialog back, and its hook comes late": {func(b *bench) {
			b.at(1900).tool(agent.ToolStarted, "a", "", "Bash", "ls")
			b.screen(drafts())
			b.title(agent.LevelNotBusy)
			b.at(2600).say(held("7"))
			b.at(6000)
		}, []string{"2600 prompt/1"}},
		"a draft, and no call runs": {func(b *bench) {
			b.at(1900).screen(drafts())
			b.title(agent.LevelNotBusy)
			b.at(6000)
		}, []string{"2100 idle"}},
		"interrupted with a draft": {func(b *bench) {
			b.at(1900).tool(agent.ToolStarted, "a", "", "Bash", "ls")
			b.screen(drafts())
			b.title(agent.LevelNotBusy)
			b.at(6000)
		}, []string{"3000 idle"}},
		"answered, and the same asked again at once": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2020).screen(dialog("Bash"))
			b.at(3000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.at(3010).screen(agent.Reading{})
			b.at(3030).ask("a", "", "Bash", "ls")
			b.at(3040).screen(dialog("Bash"))
			b.at(9000)
			if r := b.fold.current(); r == nil || !r.Prompt.OnScreen {
				b.t.Errorf("the second is not on the screen: %+v", r)
			}
		}, []string{"2000 prompt/1", "3040 prompt/2"}},
		"put in front of another that was asked before": {func(b *bench) {
			place := func(n int, what string) agent.Reading {
				d := dialog("Bash")
				d.Dialog.Place, d.Dialog.Body = n, what
				return d
			}
			b.at(2000).ask("a", "", "Bash", "second")
			b.at(2010).screen(place(2, "second"))
			b.at(2020).ask("a", "", "Bash", "first")
			b.at(2030).screen(place(1, "first"))
			b.at(3000).screen(place(2, "second")) // the first is answered
			b.at(3100).tool(agent.ToolEnded, "a", "", "Bash", "first")
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "second")
			b.screen(composer(""))
			b.at(4100).title(agent.LevelNotBusy)
			b.at(4110).hook(agent.TurnEnded, "a")
			b.at(9000)
		}, []string{"2000 prompt/1", "2030 prompt/2", "3000 prompt/1", "4000 working", "4200 idle"}},
		"the dialog is held back while a person types": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2020).title(agent.LevelNotBusy)
			b.screen(composer(""))
			b.at(4000).screen(dialog("Bash"))
			b.at(5000)
		}, []string{"2000 prompt/1"}},
		"a dialog that never comes": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.screen(composer(""))
			b.at(9000)
		}, []string{"2000 prompt/1", "7000 idle"}},
		"two at once, each closed by its own": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2100).ask("a", "sub", "Bash", "ls")
			b.at(3000).tool(agent.ToolEnded, "a", "sub", "Bash", "ls")
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
		}, []string{"2000 prompt/1", "4000 working"}},
		"two of one tool, the first one's dialog up as the second asks": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "git push origin main")
			b.at(2010).screen(about("Bash", "git push origin main"))
			b.at(2100).ask("a", "", "Bash", "git push origin main --force")
			b.at(3000).screen(about("Bash", "git push origin\n main --force"))
			b.at(4000).screen(composer("✻"))
			b.tool(agent.ToolEnded, "a", "", "Bash", "git push origin main --force")
		}, []string{"2000 prompt/1", "3000 prompt/2", "4000 working"}},
		"two of one tool, the second drawn first": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "git push origin main")
			b.at(2010).ask("a", "", "Bash", "git push origin main --force")
			b.at(2050).screen(about("Bash", "git push origin main --force"))
			b.at(3000).screen(about("Bash", "git push origin main"))
			b.at(4000).screen(composer("✻"))
			b.tool(agent.ToolEnded, "a", "", "Bash", "git push origin main")
		}, []string{"2000 prompt/1", "2050 prompt/2", "3000 prompt/1", "4000 working"}},
		"two at once, the second drawn first": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2010).ask("a", "", "Edit", "f")
			b.at(2050).screen(dialog("Edit"))
			b.at(3000).screen(dialog("Bash"))
			b.at(4000).screen(composer("✻"))
			b.tool(agent.ToolEnded, "a", "", "Bash", "ls")
		}, []string{"2000 prompt/1", "2050 prompt/2", "3000 prompt/1", "4000 working"}},
		"reported by two hooks": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2010).ask("a", "", "Bash", "ls")
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
		}, []string{"2000 prompt/1", "4000 working"}},
		"of a turn that is over": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(3000).ask("a", "", "Bash", "ls")
		}, []string{"2110 idle"}},
		"the turn's end closes it": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(3000).hook(agent.TurnEnded, "a")
			b.at(3010).title(agent.LevelNotBusy)
			b.at(9000)
		}, []string{"2000 prompt/1", "3000 working", "3110 idle"}},
		"a background subagent's stays": {func(b *bench) {
			b.at(2000).ask("a", "sub", "Bash", "ls")
			b.at(3000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Completed, Conversation: "c", Background: []string{"sub"}})
			b.at(4000).tool(agent.ToolEnded, "a", "sub", "Bash", "ls")
		}, []string{"2000 prompt/1", "4000 working"}},
		"a background subagent asks after the turn": {func(b *bench) {
			b.at(2000).say(agent.Fact{Kind: agent.TurnEnded, Source: agent.SourceHook, Turn: "a", How: agent.Completed, Conversation: "c", Background: []string{"sub"}})
			b.at(3000).ask("a", "sub", "Bash", "ls")
			b.at(3010).title(agent.LevelNotBusy)
			b.at(4000).title(agent.LevelBusy)
			b.at(9000).title(agent.LevelNotBusy)
			b.at(9010).screen(composer(""))
			b.at(9900)
		}, []string{"3000 prompt/1", "4080 working", "9210 idle"}},
		"seen, and then reported: one prompt": {func(b *bench) {
			b.at(2000).screen(dialog("Bash"))
			b.at(2500).ask("a", "", "Bash", "ls")
			b.at(2600).screen(dialog("Bash"))
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.screen(composer("✻"))
		}, []string{"2150 prompt/1", "4000 working"}},
		"only seen": {func(b *bench) {
			b.at(2000).screen(dialog("Bash"))
			b.at(4000).screen(composer("✻"))
			b.at(5000)
		}, []string{"2150 prompt/1", "4200 working"}},
		"a flicker is none": {func(b *bench) {
			b.at(2000).screen(dialog("Bash"))
			b.at(2100).screen(composer("✻"))
			b.at(5000)
		}, nil},
		"answered, and taken away later": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2050).screen(dialog("Bash"))
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.at(4400).screen(composer("✻"))
			b.at(9000)
		}, []string{"2000 prompt/1", "4400 working"}},
		"answered, it seems, but it stays": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2050).screen(dialog("Bash"))
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.at(9000)
		}, []string{"2000 prompt/1"}},
		"the live file alone": {func(b *bench) {
			b.at(1990).registry(agent.LevelBusy)
			b.at(2000).tool(agent.ToolStarted, "a", "", "Bash", "ls")
			b.at(2050).registry(agent.LevelWaiting)
			b.at(3000).registry(agent.LevelBusy)
			b.at(9000)
		}, []string{"2450 prompt/1", "3100 working"}},
		"the live file alone, the dialog held back by a draft": {func(b *bench) {
			b.at(2000).registry(agent.LevelWaiting)
			b.at(2020).title(agent.LevelNotBusy)
			b.at(2030).screen(composer(""))
			b.at(3000).screen(dialog("Bash"))
			b.at(4000).screen(composer("✻"))
			b.at(4020).title(agent.LevelBusy)
			b.at(9000)
		}, []string{"2400 prompt/1", "4100 working"}},
		"the live file has not noticed the answer yet": {func(b *bench) {
			b.at(2000).ask("a", "", "Bash", "ls")
			b.at(2050).registry(agent.LevelWaiting)
			b.at(4000).tool(agent.ToolEnded, "a", "", "Bash", "ls")
			b.at(4100).registry(agent.LevelBusy)
			b.at(9000)
		}, []string{"2000 prompt/1", "4000 working"}},
		"a notice while idle": {func(b *bench) {
			b.at(2000).hook(agent.TurnEnded, "a")
			b.at(2010).title(agent.LevelNotBusy)
			b.at(2020).screen(composer(""))
			b.at(3000).screen(agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptNotice, Title: "Help"}})
			b.at(5000).screen(composer(""))
			b.at(9000)
		}, []string{"2110 idle", "3150 prompt/1", "5200 idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := working(t)
			c.run(b)
			b.want(c.want...)
		})
	}
}

func TestPromptStatus(t *testing.T) {
	b := working(t)
	f := agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: "Bash", Input: []byte(`{"b":1,"a":2}`), Hook: "h7",
		Conversation: "c", Request: &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Options: []string{"Yes", "No"},
			OptionsFallback: true, Channel: agent.ChannelKeys, FullInput: "all of it"}}
	b.at(2000).say(f)
	p := b.fold.Status().Request
	if p.Ready || p.OnScreen || !p.OptionsFallback || p.Channel != agent.ChannelHook || p.Since.Sub(t0) != 2*time.Second {
		t.Errorf("reported: %+v", p)
	}
	b.at(2100).screen(dialog("Bash"))
	p = b.fold.Status().Request
	if !p.Ready || !p.OnScreen || p.OptionsFallback || p.ID != "1" || p.FullInput != "all of it" {
		t.Errorf("drawn: %+v", p)
	}
	b.at(2200).say(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Hook: "h7", Conversation: "c"})
	if p = b.fold.Status().Request; p.Channel != agent.ChannelKeys {
		t.Errorf("no hook waits: %+v", p)
	}
	if r := b.at(3000).say(agent.Fact{Kind: agent.StepEnded, Source: agent.SourceHook, Turn: "a", Conversation: "c"}); len(r.Closed) > 0 {
		t.Errorf("closed while its dialog is there: %+v", r.Closed)
	}
	r := b.at(3010).screen(composer("✻"))
	if len(r.Closed) != 1 || r.Closed[0].Request.ID != "1" || r.Closed[0].How != "answered" || r.Closed[0].Cause != "hook:step_ended" {
		t.Errorf("closed: %+v", r.Closed)
	}
}

// TestDeliveredInPart: the hook took an answer while the dialog shows a part of what is
// asked. The dialog is the answered one while it is only not yet taken away, and a
// prompt of its own when it stays.
func TestDeliveredInPart(t *testing.T) {
	shown := agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: "Write", Tool: "Write", Body: "…e/name.txt", Options: []agent.Option{{Number: 1, Label: "Yes"}}}}
	asked := func(t *testing.T) *bench {
		b := working(t)
		b.at(2000).say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: "Write", Hook: "h7", Conversation: "c",
			Request: &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Write"), Input: agent.Pointer("a/file/name.txt"), FullInput: "a/fe/name.txt", Channel: agent.ChannelHook}})
		b.at(2100).screen(shown)
		b.at(3000).say(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Hook: "h7", Conversation: "c", Cause: agent.CauseDelivered})
		return b
	}
	b := asked(t)
	b.at(3050).screen(agent.Reading{}) // a frame that is half drawn
	narrow := *shown.Dialog
	narrow.Body, narrow.Cols = "…name.txt", 40
	b.at(3100).screen(agent.Reading{Dialog: &narrow}) // drawn anew for another size
	b.at(3400).screen(shown)
	b.at(3700).say(agent.Fact{Kind: agent.StepEnded, Source: agent.SourceHook, Turn: "a", Conversation: "c"})
	r := b.at(3710).screen(composer("✻"))
	if p := b.fold.Status().Request; p != nil {
		t.Errorf("still asked: %+v", p)
	}
	for _, c := range r.Closed {
		t.Logf("closed %s %s %s", c.Request.ID, c.How, c.Cause)
	}
	b.want("2000 prompt/1", "3700 working")

	b = asked(t)
	b.at(3100).screen(shown)
	b.at(4500)
	if p := b.fold.Status().Request; p == nil || p.ID != "1" {
		t.Errorf("a dialog that is drawn while its answer is on the way: %+v", p)
	}
	b.at(6100)
	if p := b.fold.Status().Request; p == nil || p.ID != "2" || p.Channel != agent.ChannelKeys {
		t.Errorf("a dialog that stayed: %+v", p)
	}
}

func TestStart(t *testing.T) {
	setup := func(subtype string) agent.Reading {
		return agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptSetup, Subtype: subtype, Title: subtype}}
	}
	b := newBench(t, Options{})
	b.at(500).screen(setup("theme"))
	b.at(1500).screen(agent.Reading{}) // between two
	b.at(1600).screen(setup("key"))
	b.at(3000).title(agent.LevelNotBusy)
	b.at(3050).screen(composer(""))
	b.at(9000)
	b.want("650 prompt/1", "1750 prompt/2", "3050 idle")
}

// TestQuestionsToldLate: a log reports the call after its dialog was seen. The questions of pages that
// weren't shown yet go into the same prompt.
func TestQuestionsToldLate(t *testing.T) {
	b := working(t)
	b.at(2000).screen(agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptQuestion, Tool: "Ask", Title: "Color", Options: []agent.Option{{Label: "Red"}}}})
	b.at(2200)
	seen := b.fold.Status().Request
	if seen == nil || seen.Input != nil {
		t.Fatalf("seen as %+v", seen)
	}
	b.at(2500).say(agent.Fact{Kind: agent.ToolStarted, Source: agent.SourceLog, Turn: "a", Tool: "Other", Call: "j", Conversation: "c"})
	b.say(agent.Fact{Kind: agent.ToolStarted, Source: agent.SourceLog, Turn: "a", Tool: "Ask", Call: "k", Input: []byte(`"two"`), Conversation: "c"})
	p := b.fold.Status().Request
	if p.ID != seen.ID || !p.Since.Equal(seen.Since.Time) || p.Input == nil || *p.Input != `"two"` || len(p.Options) != 1 || !p.OnScreen || !p.Ready {
		t.Errorf("reported as %+v", p)
	}
	b.at(4000).say(agent.Fact{Kind: agent.ToolEnded, Source: agent.SourceLog, Turn: "a", Call: "k", Conversation: "c"})
	b.at(4010).screen(composer("✻"))
	b.want("2150 prompt/1", "4010 working")
}

// TestRequestsAreBounded: an agent that asks without end fills no memory. The
// prompt on the screen stays, and so do the newest.
func TestRequestsAreBounded(t *testing.T) {
	b := working(t)
	b.at(2000).ask("a", "", "Bash", "on the screen")
	b.screen(dialog("Bash"))
	var closed []string
	for i := range 5 * requestsKept {
		r := b.at(2010+i).ask("a", "", "Edit", fmt.Sprint(i))
		for _, done := range r.Closed {
			closed = append(closed, done.Request.ID+" "+done.How)
		}
	}
	st := b.fold.Status()
	if len(st.Requests) != requestsKept || st.Request.ID != "1" || !st.Request.OnScreen {
		t.Errorf("%d prompts, the first %+v", len(st.Requests), st.Request)
	}
	if newest := st.Requests[len(st.Requests)-1].ID; newest != fmt.Sprint(5*requestsKept+1) {
		t.Errorf("the newest is %s", newest)
	}
	if len(closed) != 4*requestsKept+1 || closed[0] != "2 too_many" {
		t.Errorf("%d closed, the first %v", len(closed), closed[:min(len(closed), 1)])
	}
}

// about is a dialog that shows what it asks about.
func about(tool, text string) agent.Reading {
	r := dialog(tool)
	r.Dialog.Body = text + "\nThis command requires approval"
	return r
}

// TestRefusedWithoutHooks: rest that closes a prompt waits for no log that might
// tell of an error; rest that comes by itself does.
func TestRefusedWithoutHooks(t *testing.T) {
	begin := func() *bench {
		b := newBench(t, Options{})
		b.say(agent.Fact{Kind: agent.ConversationStarted, Source: agent.SourceHook, Conversation: "c"})
		b.at(500).registry(agent.LevelIdle)
		b.at(1000).screen(composer(""))
		b.at(2000).registry(agent.LevelBusy)
		return b
	}
	b := begin()
	b.at(2100).registry(agent.LevelWaiting)
	b.screen(dialog("Bash"))
	b.at(4000).registry(agent.LevelIdle)
	b.screen(composer(""))
	b.at(9000)
	b.want("0 idle", "2000 working", "2250 prompt/1", "4100 idle")

	b = begin()
	b.at(4000).registry(agent.LevelIdle)
	b.at(4250).say(agent.Fact{Kind: agent.FailureSeen, Source: agent.SourceLog, Conversation: "c", Failure: &agent.Failure{Class: agent.Overloaded}})
	b.at(9000)
	b.want("0 idle", "2000 working", "4300 error/overloaded")
}

// TestCutLabels: an option that is cut off, as on a narrower screen, is the one that the prompt has shown. More of it
// than was shown is another one.
func TestCutLabels(t *testing.T) {
	for _, c := range []struct {
		label, whole string
		want         bool
	}{
		{"Always allow run 'touch *'…", "Always allow run 'touch *' commands in this project", true},
		{"Always allow run 'rm *'…", "Always allow run 'touch *' commands in this project", false},
		{"Always allow run 'touch *' commands in this project", "Always allow run 'touch *'…", false},
		{"…", "Yes", false},
	} {
		if got := shortens(c.label, c.whole); got != c.want {
			t.Errorf("%q for %q: %v", c.label, c.whole, got)
		}
	}
}

// logging is an agent whose session log has each call at its dialog.
type logging struct{ lab }

func (logging) Hides(string, json.RawMessage) bool                { return false }
func (logging) Shortened(string, json.RawMessage) json.RawMessage { return nil }
func (logging) LoggedCall(*agent.Dialog, string, json.RawMessage) (agent.Match, string) {
	return agent.WholeMatch, ""
}
func (logging) Draws(*agent.Dialog, string, json.RawMessage) bool   { return true }
func (logging) MayHide(*agent.Dialog, string, json.RawMessage) bool { return false }

// TestQuestionIsReadyWithItsPages: a dialog of questions that was only seen isn't ready before the session log has had time to
// report the questions of all pages, also if nothing was read of the log before. That is so for an agent whose log has calls at
// their dialogs.
func TestQuestionIsReadyWithItsPages(t *testing.T) {
	for name, c := range map[string]struct {
		driver   agent.Driver
		logs     bool
		reported int // when the log has the call, in milliseconds; 0: never
		ready    int // the first look at which it is ready
	}{
		"the log has it": {logging{}, true, 2400, 2400}, "the log never has it": {logging{}, true, 0, 2900},
		"there is no log yet": {logging{}, false, 2500, 2500}, "its log has no calls": {lab{}, true, 0, 2200},
	} {
		b := &bench{t: t, fold: New(c.driver, Options{Start: t0})}
		source := agent.SourceHook
		if c.logs {
			source = agent.SourceLog
		}
		b.say(agent.Fact{Kind: agent.TurnStarted, Source: source, Turn: "t", Conversation: "c"})
		b.at(2000).screen(agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptQuestion, Tool: "Ask", Title: "Color", Options: []agent.Option{{Label: "Red"}}}})
		for ms := 2200; ms <= 3500; ms += 100 {
			b.at(ms)
			if ms == c.reported {
				b.say(agent.Fact{Kind: agent.ToolStarted, Source: agent.SourceLog, Turn: "t", Conversation: "c", Tool: "Ask", Call: "1", Input: []byte(`"Color"`)})
			}
			if p := b.fold.Status().Request; p == nil || p.Ready != (ms >= c.ready) {
				t.Errorf("%s, at %d ms: %+v", name, ms, p)
			}
		}
	}
}
