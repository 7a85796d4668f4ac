package detect

import (
	"testing"
	"time"

	"berth/agent"
)

// TestOneLook: of two equal calls the look of one that isn't answered is kept, also if the other one had none.
func TestOneLook(t *testing.T) {
	f := &Fold{}
	f.m.Looks = map[string]*tally{"answered": {Given: 1, Of: 1}, "open": {Given: 1, Of: 2}}
	for _, c := range []struct{ newer, older, want string }{
		{"answered", "open", "open"}, {"open", "answered", "open"}, {"", "open", "open"}, {"", "answered", "answered"},
		{"open", "", "open"}, {"answered", "unseen", "unseen"}, {"", "", ""},
	} {
		if got := f.oneLook(c.newer, c.older); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.newer, c.older, got, c.want)
		}
	}
}

// TestOnlyCallOf: a dialog on the screen is wrapped in another way than before. It is the same one only if the log has one call that it may be
// about, and no call was reported that differs from it in blanks alone.
func TestOnlyCallOf(t *testing.T) {
	const one, spaced, hidden = `{"command":"echo a b"}`, `{"command":"echo a  b"}`, `{"command":"echo a b","hidden":"x"}`
	for name, c := range map[string]struct {
		calls, unasked []call
		worded         string
		want           bool
	}{
		"none":                       {want: false},
		"one":                        {calls: []call{{Look: "k", Logged: one, Input: one}}, want: true},
		"one that isn't logged":      {calls: []call{{Look: "k", Input: one}}, want: false},
		"two that are equal":         {calls: []call{{Look: "k", Logged: one, Input: one}, {Look: "k", Logged: one, Input: one}}, want: true},
		"two of one look":            {calls: []call{{Look: "k", Logged: one, Input: one}, {Look: "k", Logged: hidden, Input: hidden}}, want: false},
		"another look":               {calls: []call{{Look: "k", Logged: one, Input: one}, {Look: "l", Logged: hidden, Input: hidden}}, want: true},
		"blanks, another look":       {calls: []call{{Look: "k", Logged: one, Input: one}, {Look: "l", Input: spaced}}, want: false},
		"blanks, one that is over":   {calls: []call{{Look: "k", Logged: one, Input: one}}, worded: spaced, want: false},
		"another, one that is over":  {calls: []call{{Look: "k", Logged: one, Input: one}}, worded: hidden, want: true},
		"blanks, one that never had": {calls: []call{{Look: "k", Logged: one, Input: one}}, unasked: []call{{Input: spaced}}, want: false},
	} {
		f := &Fold{}
		f.m.Look.Key, f.m.Calls, f.m.Unasked = "k", c.calls, c.unasked
		f.keepWords(one)
		if c.worded != "" {
			f.keepWords(c.worded)
		}
		if got := f.onlyCallOf(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAnswersBeforeACall: answers at a look are no more than its calls, so none counts for a call that comes later.
func TestAnswersBeforeACall(t *testing.T) {
	f := &Fold{}
	f.m.Calls = []call{{Look: "k"}}
	f.gives("k", "a key")
	f.gives("k", "the next key")
	if !f.isAnswered("k") {
		t.Error("the only call isn't answered")
	}
	f.m.Calls = append(f.m.Calls, call{Look: "k"})
	f.recount()
	if f.isAnswered("k") {
		t.Error("the next call is answered")
	}
	f.gives("k", "a third key")
	if !f.isAnswered("k") {
		t.Error("both aren't answered")
	}
}

// TestCovered: a dialog that leaves the screen without an answer may be covered, whatever the hooks say.
func TestCovered(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(b *bench)
		want   bool
	}{
		"nothing": {func(*bench) {}, true},
		"its hook ended": {func(b *bench) {
			b.say(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Hook: "h1", Conversation: "c"})
		}, true},
		"its call ended":   {func(b *bench) { b.tool(agent.ToolEnded, "a", "", "Bash", "x") }, true},
		"a key":            {func(b *bench) { b.fold.Typed(t0.Add(1300 * time.Millisecond)) }, false},
		"a message":        {func(b *bench) { b.fold.TypedMessage(t0.Add(1300 * time.Millisecond)) }, true},
		"its hook refuses": {func(b *bench) { b.fold.Answered("1", false) }, true}, // it may be another process's
	} {
		b := newBench(t, Options{})
		b.hook(agent.TurnStarted, "a")
		b.at(1000).tool(agent.ToolStarted, "a", "", "Bash", "x")
		tool, input := "Bash", "x"
		b.say(agent.Fact{Kind: agent.Asked, Source: agent.SourceHook, Turn: "a", Tool: tool, Input: []byte(`"x"`), Hook: "h1", Conversation: "c",
			Request: &agent.Request{Type: agent.PromptPermission, Tool: &tool, Input: &input, FullInput: input, Channel: agent.ChannelHook}})
		b.at(1100).screen(dialog("Bash"))
		b.at(1300)
		if b.fold.Covered() {
			t.Errorf("%s: covered while it is drawn", name)
		}
		c.answer(b)
		b.at(1400).screen(agent.Reading{Composer: &agent.Composer{Empty: true}})
		b.hook(agent.TurnEnded, "a")
		b.at(9000)
		if got := b.fold.Covered(); got != c.want || b.fold.m.State != agent.Idle {
			t.Errorf("%s: covered %v, and it is %s", name, got, b.fold.m.State)
		}
	}
}

// TestCoveredAside: the dialogs after a turn, and that of trust, may be covered too. Such a one needs no report that the turn is over.
func TestCoveredAside(t *testing.T) {
	for name, d := range map[string]agent.Dialog{
		"a plan": {Type: agent.PromptPlan, Title: "Implement this plan?", AfterTurn: true},
		"trust":  {Type: agent.PromptPermission, Subtype: agent.SubtypeTrust, Title: "Trust?"},
		"notice": {Type: agent.PromptNotice, Title: "Update?"},
		"start":  {Type: agent.PromptSetup, Subtype: agent.SubtypeTheme, Title: "Theme?"},
	} {
		d.Options = []agent.Option{{Label: "Yes"}, {Label: "No"}}
		for what, c := range map[string]struct {
			answer func(b *bench)
			want   bool
		}{
			"nothing":   {func(*bench) {}, true},
			"a key":     {func(b *bench) { b.fold.Typed(t0.Add(4300 * time.Millisecond)) }, false},
			"a message": {func(b *bench) { b.fold.TypedMessage(t0.Add(4300 * time.Millisecond)) }, true},
			"Berth":     {func(b *bench) { b.fold.Answered(b.fold.Status().Requests[0].ID, true) }, false},
		} {
			b := newBench(t, Options{})
			b.hook(agent.TurnStarted, "a")
			b.at(1000).hook(agent.TurnEnded, "a")
			b.at(2000).screen(agent.Reading{Dialog: &d})
			b.at(4300)
			if len(b.fold.Status().Requests) != 1 || b.fold.Covered() {
				t.Fatalf("%s: %d prompts, covered %v", name, len(b.fold.Status().Requests), b.fold.Covered())
			}
			c.answer(b)
			b.at(4400).screen(agent.Reading{Composer: &agent.Composer{Empty: true}})
			b.at(9000)
			if got := b.fold.Covered(); got != c.want || b.fold.m.State != agent.Idle {
				t.Errorf("%s, %s: covered %v, and it is %s", name, what, got, b.fold.m.State)
			}
			b.at(4400 + int(3*pastFor/time.Millisecond)).screen(agent.Reading{Composer: &agent.Composer{Empty: true}})
			if got := b.fold.Covered(); got != c.want {
				t.Errorf("%s, %s: covered hours later: %v", name, what, got)
			}
		}
	}
}

// TestProven: a composer that has shown a word takes no dialog that had left the screen before the word was typed, or that came while
// no server looked. One that left later may be covered all the same.
func TestProven(t *testing.T) {
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	tool := dialog("Bash").Dialog
	for name, d := range map[string]*agent.Dialog{
		"none":     nil,
		"a call":   tool,
		"a notice": {Type: agent.PromptNotice, Title: "Update?", Options: []agent.Option{{Label: "Yes"}, {Label: "No"}}},
		"trust":    {Type: agent.PromptPermission, Subtype: agent.SubtypeTrust, Title: "Trust?", Options: []agent.Option{{Label: "Yes"}, {Label: "No"}}},
	} {
		b := newBench(t, Options{})
		b.hook(agent.TurnStarted, "a")
		b.at(1000).hook(agent.TurnEnded, "a")
		if b.fold.Covered() {
			t.Errorf("%s: covered before it came", name)
		}
		if d == nil {
			b.at(4000).fold.Unseen(at(4000))
		} else {
			b.at(2000).screen(agent.Reading{Dialog: d})
			b.at(4000).screen(agent.Reading{Composer: &agent.Composer{Empty: true}})
		}
		b.at(9000)
		if !b.fold.Covered() || b.fold.Leaves().Covered.IsZero() {
			t.Errorf("%s: not covered", name)
		}
		if b.fold.Proven(at(3900)); !b.fold.Covered() {
			t.Errorf("%s: a word has answered what left the screen later", name)
		}
		if b.fold.Proven(at(5000)); b.fold.Covered() {
			t.Errorf("%s: covered after a word was shown", name)
		}
	}
}

// TestCoveredByAnotherKind: a key at a drawn dialog of another kind doesn't answer the dialog below it.
func TestCoveredByAnotherKind(t *testing.T) {
	options := []agent.Option{{Label: "Yes"}, {Label: "No"}}
	trust := agent.Dialog{Type: agent.PromptPermission, Subtype: agent.SubtypeTrust, Title: "Trust?", Options: options}
	notice := agent.Dialog{Type: agent.PromptNotice, Title: "Update?", Options: options}
	for name, c := range map[string]struct{ below, drawn *agent.Dialog }{
		"a notice over trust": {&trust, &notice},
		"trust over a notice": {&notice, &trust},
	} {
		b := newBench(t, Options{})
		b.hook(agent.TurnStarted, "a")
		b.at(1000).hook(agent.TurnEnded, "a")
		b.at(2000).screen(agent.Reading{Dialog: c.below})
		b.at(4000).screen(agent.Reading{Dialog: c.drawn})
		b.at(8000).fold.Typed(t0.Add(8 * time.Second))
		b.at(8100).screen(agent.Reading{Composer: &agent.Composer{Empty: true}})
		if b.at(12000); !b.fold.Covered() {
			t.Errorf("%s: the dialog below isn't covered", name)
		}
	}
}
