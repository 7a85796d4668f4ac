package opencode_test

import (
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
