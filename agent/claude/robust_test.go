package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect/replay"
)

// TestLate: sources that come late, as on a loaded machine, still give the
// right state within the half second, and every prompt.
func TestLate(t *testing.T) {
	ref := reference(t)
	for name, o := range map[string]struct {
		hook, log, registry, pace time.Duration
	}{
		"hooks by 60 ms":         {hook: 60 * time.Millisecond},
		"hooks by 150 ms":        {hook: 150 * time.Millisecond},
		"the log by 250 ms":      {log: 250 * time.Millisecond},
		"the log by 1 s":         {log: time.Second},
		"the live file by 150ms": {registry: 150 * time.Millisecond},
		"the screen by 100 ms":   {pace: 100 * time.Millisecond},
		"all":                    {hook: 100 * time.Millisecond, log: 200 * time.Millisecond, registry: 120 * time.Millisecond, pace: 80 * time.Millisecond},
	} {
		late := map[agent.Source]time.Duration{agent.SourceHook: o.hook, agent.SourceLog: o.log, agent.SourceRegistry: o.registry}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for _, name := range ref.Names(t) {
				rec := ref.Recording(t, name)
				v := ref.Judge(replay.Run(rec, claude.Driver{}, replay.Options{Pace: o.pace, Late: late}), ref.Truth(t, name), rec.End.Seconds())
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Errorf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong, v.Longest, v.Missed, v.Prompts, strings.Join(v.At, "; "))
				} else if v.Wrong > 50*time.Millisecond {
					t.Logf("%s: wrong for %v, longest %v: %s", name, v.Wrong, v.Longest, strings.Join(v.At, "; "))
				}
			}
		})
	}
}

// TestNoMismatch: of what Claude Code did, no source contradicts another.
func TestNoMismatch(t *testing.T) { reference(t).NoMismatch(t, claude.Driver{}) }

// TestWithoutSources takes sources away and has a looser bar for the others: the share of
// the judged time that must be right, and the share of the prompts that must be seen.
func TestWithoutSources(t *testing.T) {
	ref := reference(t)
	for _, c := range []struct {
		name    string
		without []agent.Source
		right   float64
		prompts float64
		longest time.Duration
	}{
		{"hooks", []agent.Source{agent.SourceHook}, 0.999, 0.9, 20 * time.Millisecond},
		{"registry", []agent.Source{agent.SourceRegistry}, 0.999, 1, 20 * time.Millisecond},
		{"title", []agent.Source{agent.SourceTitle}, 0.985, 1, 3 * time.Second},
		{"log", []agent.Source{agent.SourceLog}, 0.999, 1, 20 * time.Millisecond},
		{"screen", []agent.Source{agent.SourceScreen}, 0.97, 0.85, 5 * time.Second},
		{"hooks and log", []agent.Source{agent.SourceHook, agent.SourceLog}, 0.99, 0.9, 2 * time.Second},
		{"hooks and title", []agent.Source{agent.SourceHook, agent.SourceTitle}, 0.97, 0.9, 3 * time.Second},
		{"title and log", []agent.Source{agent.SourceTitle, agent.SourceLog}, 0.96, 1, 5 * time.Second},
		{"all but the screen", []agent.Source{agent.SourceHook, agent.SourceLog, agent.SourceTitle, agent.SourceOSC, agent.SourceRegistry}, 0.84, 0.9, 15 * time.Second},
		{"all but the hooks", []agent.Source{agent.SourceScreen, agent.SourceLog, agent.SourceTitle, agent.SourceOSC, agent.SourceRegistry}, 0.85, 0.85, 76 * time.Second},
	} {
		t.Run("without "+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			without := map[agent.Source]bool{}
			for _, s := range c.without {
				without[s] = true
			}
			var wrong, longest, total time.Duration
			prompts, missed := 0, 0
			for _, name := range ref.Names(t) {
				rec := ref.Recording(t, name)
				v := ref.Judge(replay.Run(rec, claude.Driver{}, replay.Options{Without: without}), ref.Truth(t, name), rec.End.Seconds())
				wrong, longest, total = wrong+v.Wrong, max(longest, v.Longest), total+rec.End
				prompts, missed = prompts+v.Prompts, missed+v.Missed
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Logf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong.Round(time.Millisecond), v.Longest.Round(time.Millisecond), v.Missed, v.Prompts, strings.Join(v.At[:min(len(v.At), 6)], "; "))
				}
			}
			right := 1 - wrong.Seconds()/total.Seconds()
			seen := 1 - float64(missed)/float64(prompts)
			t.Logf("right for %.2f %% of %v, longest wrong %v, prompts seen %d of %d", 100*right, total.Round(time.Second), longest.Round(time.Millisecond), prompts-missed, prompts)
			if right < c.right || seen < c.prompts || longest > c.longest {
				t.Errorf("below the bar: right %.4f (%.4f), prompts %.3f (%.3f), longest %v (%v)", right, c.right, seen, c.prompts, longest, c.longest)
			}
		})
	}
}
