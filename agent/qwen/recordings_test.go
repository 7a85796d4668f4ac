package qwen_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect/replay"
	"berth/test/agents/truth"
)

// reference is the recordings, and for each of them the true states, which a person read
// from it.
func reference(t testing.TB) *truth.Reference {
	t.Helper()
	r := truth.Open(t, "testdata/reference.zip")
	r.Classes = map[string][]agent.Class{"unauthorized": {agent.Unauthorized}}
	return r
}

// TestRecordings: every recording gives the right state, and every prompt. Without hooks and without titles
// it does too, later.
func TestRecordings(t *testing.T) {
	ref := reference(t)
	for _, c := range []struct {
		name    string
		without []agent.Source
		late    time.Duration // of the hooks
		wrong   time.Duration // at once, at most
	}{
		{name: "all sources", wrong: 50 * time.Millisecond},
		{name: "hooks late by 150 ms", late: 150 * time.Millisecond, wrong: 100 * time.Millisecond},
		{name: "hooks late by 300 ms", late: 300 * time.Millisecond, wrong: 300 * time.Millisecond},
		{name: "no hooks", without: []agent.Source{agent.SourceHook}, wrong: 500 * time.Millisecond},
		{name: "no titles", without: []agent.Source{agent.SourceTitle}, wrong: 2500 * time.Millisecond},
		{name: "the screen alone", without: []agent.Source{agent.SourceTitle, agent.SourceHook}, wrong: 2500 * time.Millisecond},
	} {
		without := map[agent.Source]bool{}
		for _, s := range c.without {
			without[s] = true
		}
		for _, name := range ref.Names(t) {
			t.Run(strings.ReplaceAll(c.name, " ", "_")+"/"+name, func(t *testing.T) {
				rec := ref.Recording(t, name)
				late := map[agent.Source]time.Duration{agent.SourceHook: c.late}
				v := ref.Judge(replay.Run(rec, qwen.Driver{}, replay.Options{Without: without, Late: late}), ref.Truth(t, name), rec.End.Seconds())
				t.Logf("wrong for %v, longest %v, %d prompts, %d missed, %d twice", v.Wrong, v.Longest, v.Prompts, v.Missed, v.Twice)
				// The dialog of a written file shows no more than a part of its hook's report: it is a prompt of its own,
				// as it is drawn.
				if v.Longest > c.wrong || v.Missed > 0 || v.False > 0 || v.Twice > 1 {
					t.Errorf("wrong:\n%s", strings.Join(v.At, "\n"))
				}
			})
		}
	}
}

// TestNoMismatch: no source contradicts another.
func TestNoMismatch(t *testing.T) { reference(t).NoMismatch(t, qwen.Driver{}) }
