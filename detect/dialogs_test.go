package detect

import (
	"testing"
	"time"

	"berth/agent"
)

// TestGivesWay: of parallel calls the first may ask after the second, and its dialog then takes the place of the second's
// under a key. So the second's waits, except right after the first's.
func TestGivesWay(t *testing.T) {
	place := func(n int, what string) agent.Reading {
		d := dialog("Bash")
		d.Dialog.Place, d.Dialog.Body = n, what
		return d
	}
	b := newBench(t, Options{})
	b.hook(agent.TurnStarted, "a")
	is := func(ms int, id string, ready, gives bool) {
		t.Helper()
		b.at(ms)
		p, ok := b.fold.Pending("")
		if !ok || p.Request.ID != id || p.Request.Ready != ready || p.GivesWay != gives {
			t.Errorf("at %d: %s, ready %v, gives way %v", ms, p.Request.ID, p.Request.Ready, p.GivesWay)
		}
	}
	b.at(1000).ask("a", "", "Bash", "second")
	b.at(1010).screen(place(2, "second"))
	is(1020, "1", false, true)
	is(3009, "1", false, true)
	is(3010, "1", true, true) // nothing came before it
	b.at(3100).ask("a", "", "Bash", "first")
	b.at(3110).screen(place(1, "first"))
	is(3120, "2", true, false)
	b.at(4000).screen(place(2, "second")) // the first is answered
	is(4010, "1", true, false)
	b.at(4100).screen(agent.Reading{})
	b.at(4900).ask("a", "", "Bash", "other")
	b.at(6000).screen(place(2, "other")) // of other calls
	is(6010, "3", false, true)
}

// TestHookOfACutDialog: a hook that waits takes the answer of a dialog that shows the end of its call, whichever came
// first.
func TestHookOfACutDialog(t *testing.T) {
	for _, hookFirst := range []bool{true, false} {
		b := newBench(t, Options{})
		b.hook(agent.TurnStarted, "a")
		d := dialog("Bash")
		d.Dialog.Body = "…command"
		tool, input := "Bash", "a long command"
		ask := func() {
			b.say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: tool, Input: []byte(`"` + input + `"`), Hook: "h1",
				Conversation: "c", Request: &agent.Request{Type: agent.PromptPermission, Tool: &tool, Input: &input, FullInput: input, Channel: agent.ChannelHook}})
		}
		b.at(1000)
		if hookFirst {
			ask()
		}
		b.at(1100).screen(d)
		b.at(1300)
		if !hookFirst {
			ask()
		}
		b.at(3000)
		p, ok := b.fold.Pending("")
		if !ok || len(b.fold.m.Requests) != 1 || p.Hook != "h1" || !p.Request.OnScreen || p.Request.FullInput != input || p.Whole {
			t.Errorf("hook first: %v: %d prompts, %+v", hookFirst, len(b.fold.m.Requests), p)
		}
	}
}

// TestFormOverAPermission: a server's form is drawn over a dialog whose hook waits. Both prompts stay, the hook keeps its own, and the
// form's prompt names it: a key for a form that its server withdraws would reach that dialog.
func TestFormOverAPermission(t *testing.T) {
	b := newBench(t, Options{})
	b.hook(agent.TurnStarted, "a")
	tool, input := "Bash", "first"
	b.at(1000).say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: tool, Input: []byte(`"` + input + `"`), Hook: "h1",
		Conversation: "c", Request: &agent.Request{Type: agent.PromptPermission, Tool: &tool, Input: &input, FullInput: input, Channel: agent.ChannelHook}})
	permission, form := dialog("Bash"), agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptForm, Title: "A server asks", Body: "Continue?"}}
	permission.Dialog.Body = "first"
	b.at(1100).screen(permission)
	b.at(2000).screen(form)
	b.at(3000)
	if p, ok := b.fold.HeldBy("h1"); !ok || p.ID != "1" || p.OnScreen {
		t.Errorf("below the form the hook has %+v", p)
	}
	if p, ok := b.fold.Pending(""); !ok || p.Request.Type != agent.PromptForm || p.Hook != "" || p.Next != "1" {
		t.Errorf("the form is %+v", p)
	}
	b.at(4000).screen(permission)
	b.at(5000)
	if p, ok := b.fold.Pending(""); !ok || p.Request.ID != "1" || p.Hook != "h1" || !p.Request.OnScreen || p.Request.Contested || p.Next != "" {
		t.Errorf("after the form it is %+v", p)
	}
}

// forgetful never knows a dialog again.
type forgetful struct{ lab }

func (forgetful) Match(*agent.Dialog, *agent.Request) agent.Match { return agent.NoMatch }

// TestDialogThatIsNotKnownAgain: such a dialog is one prompt and not one for each look, until it is drawn otherwise.
func TestDialogThatIsNotKnownAgain(t *testing.T) {
	d := dialog("Ask")
	d.Dialog.Type, d.Dialog.Body, d.Dialog.Key = agent.PromptQuestion, "Which one?", "k"
	f := New(forgetful{}, Options{Start: t0})
	looks := func() (opened int) {
		for range 50 {
			at := f.now.Add(100 * time.Millisecond)
			opened += len(f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &d, Time: at}).Opened)
		}
		return opened
	}
	if n := looks(); n != 1 {
		t.Errorf("%d prompts", n)
	}
	other := *d.Dialog
	other.Lines = []string{"Which one now?"}
	d.Dialog = &other
	if n := looks(); n != 1 {
		t.Errorf("drawn otherwise: %d prompts", n)
	}
}

// TestOtherOptionsOfAPage: a page of the start that offers other options under the same title and text, such as a scrolled list, is
// another prompt, because a number answers the options that were shown. A theme's options say which one is chosen.
func TestOtherOptionsOfAPage(t *testing.T) {
	for subtype, same := range map[string]bool{agent.SubtypeAuth: false, agent.SubtypeLoginMethod: false, agent.SubtypeTheme: true} {
		b := newBench(t, Options{})
		page := func(labels ...string) agent.Reading {
			d := &agent.Dialog{Type: agent.PromptSetup, Subtype: subtype, Title: "How?", Body: "Choose"}
			for _, l := range labels {
				d.Options = append(d.Options, agent.Option{Label: l})
			}
			return agent.Reading{Dialog: d}
		}
		b.at(1000).screen(page("Sign in", "Use a key", "Ask a person"))
		b.at(2000)
		id := b.fold.Status().Request.ID
		b.at(3000).screen(page("Use a key", "Ask a person", "Go on without"))
		b.at(4000)
		if p := b.fold.Status().Request; p == nil || (p.ID == id) != same || p.Options[0] != "Use a key" {
			t.Errorf("%s: %s is now %+v", subtype, id, p)
		}
	}
}
