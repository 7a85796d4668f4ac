package detect

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"berth/agent"
)

// FuzzFold applies any facts in any order. The fold stays in a valid state, sets only deadlines in
// the future, comes to rest, and can be saved and restored at any time.
func FuzzFold(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte("turn, ask, dialog, answer, rest"))
	f.Fuzz(func(t *testing.T, script []byte) {
		now := t0
		fold := New(lab{}, Options{Start: now})
		for len(script) >= 3 {
			now = now.Add(time.Duration(script[1]) * 7 * time.Millisecond)
			fold.Apply(anyFact(script[0], script[2], now))
			script = script[3:]
			check(t, fold, now)
		}
		for range 1000 {
			d := fold.Deadline()
			if d.IsZero() {
				return
			}
			if !d.After(now) {
				t.Fatalf("asks for %v at %v", d, now)
			}
			now = d
			fold.Tick(now)
		}
		t.Fatal("does not come to rest")
	})
}

func check(t *testing.T, fold *Fold, now time.Time) {
	t.Helper()
	s := fold.Status()
	if !slices.Contains(agent.States, s.State) || (s.State == agent.Prompt) != (s.Request != nil) && s.Exit == nil {
		t.Fatalf("state %q with prompt %+v", s.State, s.Request)
	}
	data, err := fold.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(lab{}, fold.o, data, now)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(s)
	b, _ := json.Marshal(again.Status())
	if string(a) != string(b) || !again.Deadline().Equal(fold.Deadline()) {
		t.Fatalf("restored as\n%s (%v), was\n%s (%v)", b, again.Deadline(), a, fold.Deadline())
	}
}

var (
	fuzzKinds = []agent.Kind{
		agent.ConversationStarted, agent.ConversationEnded, agent.TurnStarted, agent.TurnEnded, agent.ToolStarted, agent.ToolEnded,
		agent.StepEnded, agent.Acting, agent.Asked, agent.Answered, agent.HookGone, agent.LevelIs, agent.LevelIs, agent.FailureSeen,
		agent.Queued, agent.SubagentEnded, agent.ScreenShows, agent.ScreenShows, agent.ScreenShows, agent.Spoke, agent.Noted,
	}
	fuzzSources  = []agent.Source{agent.SourceHook, agent.SourceHook, agent.SourceTitle, agent.SourceRegistry, agent.SourceLog, agent.SourceScreen}
	fuzzLevels   = []agent.Level{agent.LevelBusy, agent.LevelNotBusy, agent.LevelIdle, agent.LevelWaiting}
	fuzzReadings = []agent.Reading{{}, composer(""), composer("✻ Brewing…"), dialog("Bash"), dialog("Edit"),
		{Dialog: &agent.Dialog{Type: agent.PromptNotice, Title: "Help"}}, {Dialog: &agent.Dialog{Type: agent.PromptSetup, Subtype: "theme_picker"}}}
	fuzzHows = []agent.How{agent.Completed, agent.Failed, agent.Interrupted}
)

// anyFact is a fact of two bytes.
func anyFact(what, which byte, now time.Time) agent.Fact {
	w := int(which)
	tool := []string{"Bash", "Edit"}[w%2]
	reading := fuzzReadings[w%len(fuzzReadings)]
	fact := agent.Fact{
		Kind: fuzzKinds[int(what)%len(fuzzKinds)], Source: fuzzSources[w%len(fuzzSources)], Time: now, Cause: "fuzz",
		Conversation: []string{"c", "c", "c", "", "d"}[w%5], Turn: []string{"a", "b", ""}[w%3], Agent: []string{"", "", "sub"}[w/3%3],
		Text: []string{"startup", "clear", "resume"}[w/5%3], How: fuzzHows[w/7%3], Tool: tool, Call: []string{"", "k", "l"}[w/11%3],
		Input: []byte(`{"x":1}`), Level: fuzzLevels[w/2%4], Hook: []string{"", "h"}[w/13%2], Reading: &reading,
		Activity: &agent.Activity{Kind: agent.Responding}, Request: &agent.Request{Type: agent.PromptPermission, Tool: &tool},
	}
	if fact.How == agent.Failed && w%4 != 0 {
		fact.Failure = &agent.Failure{Class: agent.Network}
	}
	if w/17%3 == 0 {
		fact.Background = []string{"sub"}
	}
	if w/19%4 == 0 {
		fact.At = now.Add(-time.Second)
	}
	return fact
}
