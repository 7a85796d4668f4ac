package opencode_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/opencode"
	"berth/detect"
)

// TestEqualCalls: two equal calls of a step ask at once, and their dialogs look the same. Each has a prompt of its own, which is closed by
// the answer to its own dialog, and the second one is answered by its hook, or by keys if that has gone.
func TestEqualCalls(t *testing.T) {
	const call = `"session":"ses_1","tool":"bash","permission":"bash","metadata":{"command":"touch one.txt && echo ran-one"},"input":{"command":"touch one.txt && echo ran-one"},"call":`
	for name, answers := range map[string]struct{ first, second bool }{
		"both hooks wait": {true, true}, "the first has gone": {false, true}, "the second has gone": {true, false}, "both have gone": {false, false},
	} {
		now := time.Unix(0, 0)
		f := detect.New(opencode.Driver{}, detect.Options{Start: now, Dir: "/ws"})
		apply := func(facts ...agent.Fact) {
			for _, fact := range facts {
				now = now.Add(100 * time.Millisecond)
				fact.Time = now
				f.Apply(fact)
			}
		}
		report := func(hook, event, id, more string) {
			facts, err := opencode.Driver{}.Hook([]byte(`{"event":"` + event + `",` + call + `"` + id + `"` + more + `}`))
			if err != nil {
				t.Fatal(err)
			}
			facts[0].Hook = hook
			apply(facts...)
		}
		show := func(r *agent.Reading) (p *agent.Request, keyed bool) {
			for range 16 {
				apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
			}
			if p = f.Status().Request; p == nil {
				return nil, false
			}
			d, _ := f.Pending(p.ID)
			return p, d.Hook == "" && d.Whole && !p.Contested && !d.Over && f.Asks(r.Dialog, p.ID)
		}
		gone := func(hook, cause string) {
			apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: cause, Hook: hook})
		}
		report("", "turn", "", `,"text":"go on"`)
		report("", "tool.before", "c1", "")
		report("h1", "permission.asked", "c1", "")
		report("", "tool.before", "c2", "")
		report("h2", "permission.asked", "c2", "")
		dialog := drawnBash(t)
		show(dialog)
		if !answers.first {
			gone("h1", "hook:gone")
		}
		if !answers.second {
			gone("h2", "hook:gone")
		}
		ids := map[string]bool{}
		for i, byHook := range []bool{answers.first, answers.second} {
			id, screen := "12"[i:i+1], dialog
			p, keyed := show(screen)
			if p == nil || keyed == byHook || !byHook && p.Channel != agent.ChannelKeys || ids[p.ID] {
				t.Fatalf("%s: a key answers dialog %s: %v, prompt %+v", name, id, keyed, p)
			}
			if holds, _ := f.Pending(p.ID); byHook && holds.Hook != "h"+id {
				t.Errorf("%s: the hook %q answers dialog %s", name, holds.Hook, id)
			}
			ids[p.ID] = true
			f.Answered(p.ID, true)
			if byHook {
				gone("h"+id, agent.CauseDelivered)
			}
			report("", "permission.replied", "c"+id, `,"reply":"once"`)
			apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: dialog})
			if d, _ := f.Pending(""); d.Request != nil && d.Hook == "" && f.Asks(dialog.Dialog, d.Request.ID) {
				t.Errorf("%s: a key answers the dialog of call %s, which was answered just now", name, id)
			}
			if i == 1 {
				screen = opencode.Driver{}.Screen(screens(t)["slow"]["80x24"])
			}
			show(screen)
			if _, open := f.Pending(p.ID); open {
				t.Errorf("%s: the prompt of call %s is open after its answer", name, id)
			}
		}
	}
}

// TestDialogStaysAfterItsAnswer: of two calls that are drawn alike the plugin reports only one, because the report of the other got lost. The
// answer to the one doesn't answer the other: its dialog, which stays on the screen, takes no key under that id, and gets one of its own.
func TestDialogStaysAfterItsAnswer(t *testing.T) {
	for name, replied := range map[string]bool{"its reply is reported": true, "its reply is lost too": false} {
		dialog := drawnBash(t)
		f := folded(t, dialog, `{"event":"tool.before","session":"ses_1","tool":"bash","call":"c","input":{"command":"touch one.txt && echo ran-one"}}`, "h1 "+here)
		first, _ := f.HeldBy("h1")
		if first == nil || !first.OnScreen {
			t.Fatalf("%s: %+v", name, first)
		}
		now := time.Unix(100, 0)
		f.Answered(first.ID, true)
		f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "h1", Time: now})
		if replied {
			facts, _ := opencode.Driver{}.Hook([]byte(strings.Replace(here, `"permission.asked"`, `"permission.replied","reply":"once"`, 1)))
			for _, fact := range facts {
				fact.Time = now
				f.Apply(fact)
			}
		}
		for range 100 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: dialog, Time: now})
			if p, open := f.Pending(first.ID); open && (p.Request.Channel != agent.ChannelNone || !p.Over || f.Asks(dialog.Dialog, first.ID)) {
				t.Fatalf("%s: a key answers it after %s: %+v", name, now.Sub(time.Unix(100, 0)), p.Request)
			}
		}
		all := f.Status().Requests
		if len(all) != 1 || all[0].ID == first.ID || !all[0].OnScreen || !all[0].Contested {
			t.Errorf("%s: it asks %+v", name, all)
		}
	}
}
