package codex_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect/replay"
)

// TestLate: sources that come late, as on a loaded machine, still give the
// right state within the half second, and every prompt.
func TestLate(t *testing.T) {
	ref := reference(t)
	for name, o := range map[string]struct{ hook, log, pace time.Duration }{
		"hooks by 60 ms":       {hook: 60 * time.Millisecond},
		"hooks by 150 ms":      {hook: 150 * time.Millisecond},
		"the log by 250 ms":    {log: 250 * time.Millisecond},
		"the log by 1 s":       {log: time.Second},
		"the screen by 100 ms": {pace: 100 * time.Millisecond},
		"all":                  {hook: 100 * time.Millisecond, log: 200 * time.Millisecond, pace: 80 * time.Millisecond},
	} {
		late := map[agent.Source]time.Duration{agent.SourceHook: o.hook, agent.SourceLog: o.log}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for _, name := range ref.Names(t) {
				if strings.HasPrefix(name, "14_") && o.log > 0 {
					continue // its log is late by itself, and only the log reports what is asked
				}
				rec := ref.Recording(t, name)
				v := ref.Judge(replay.Run(rec, codex.Driver{}, replay.Options{Pace: o.pace, Late: late}), ref.Truth(t, name), rec.End.Seconds())
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Errorf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong, v.Longest, v.Missed, v.Prompts, strings.Join(v.At, "; "))
				} else if v.Wrong > 100*time.Millisecond {
					t.Logf("%s: wrong for %v, longest %v: %s", name, v.Wrong, v.Longest, strings.Join(v.At, "; "))
				}
			}
		})
	}
}

// TestWithoutSources takes sources away and has a looser bar for the others: the share of
// the judged time that must be right, and the share of the prompts that must be seen.
func TestWithoutSources(t *testing.T) {
	ref := reference(t)
	const hook, osc, title, log, screen = agent.SourceHook, agent.SourceOSC, agent.SourceTitle, agent.SourceLog, agent.SourceScreen
	for _, c := range []struct {
		name    string
		without []agent.Source
		right   float64
		prompts int
		longest time.Duration
	}{
		{"nothing", nil, 0.998, 17, 250 * time.Millisecond},
		{"hooks", []agent.Source{hook}, 0.998, 17, 250 * time.Millisecond},
		{"osc", []agent.Source{osc}, 0.997, 17, 400 * time.Millisecond},
		{"title", []agent.Source{title}, 0.998, 17, 250 * time.Millisecond},
		{"log", []agent.Source{log}, 0.985, 15, 2 * time.Second},
		{"screen", []agent.Source{screen}, 0.945, 9, 3500 * time.Millisecond},
		{"hooks and osc", []agent.Source{hook, osc}, 0.997, 17, 400 * time.Millisecond},
		{"hooks and log", []agent.Source{hook, log}, 0.985, 15, 2 * time.Second},
		{"osc and title", []agent.Source{osc, title}, 0.945, 17, 3400 * time.Millisecond},
		{"hooks, log and title", []agent.Source{hook, log, title}, 0.985, 15, 2 * time.Second},
		{"hooks, log and osc", []agent.Source{hook, log, osc}, 0.985, 15, 2 * time.Second},
		{"all but osc", []agent.Source{hook, log, title, screen}, 0.91, 2, 3700 * time.Millisecond},
		{"all but the hooks", []agent.Source{osc, log, title, screen}, 0.70, 7, 50 * time.Second},
		{"all but the log", []agent.Source{osc, hook, title, screen}, 0.76, 0, 7100 * time.Millisecond},
		{"all but the screen", []agent.Source{osc, hook, title, log}, 0.42, 15, 50 * time.Second},
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
				v := ref.Judge(replay.Run(rec, codex.Driver{}, replay.Options{Without: without}), ref.Truth(t, name), rec.End.Seconds())
				wrong, longest, total = wrong+v.Wrong, max(longest, v.Longest), total+rec.End
				prompts, missed = prompts+v.Prompts, missed+v.Missed
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Logf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong.Round(time.Millisecond), v.Longest.Round(time.Millisecond), v.Missed, v.Prompts, strings.Join(v.At[:min(len(v.At), 6)], "; "))
				}
			}
			right := 1 - wrong.Seconds()/total.Seconds()
			t.Logf("right for %.2f %% of %v, longest wrong %v, prompts seen %d of %d", 100*right, total.Round(time.Second), longest.Round(time.Millisecond), prompts-missed, prompts)
			if right < c.right || prompts-missed < c.prompts || longest > c.longest {
				t.Errorf("below the bar: right %.4f (%.4f), prompts %d (%d), longest %v (%v)", right, c.right, prompts-missed, c.prompts, longest, c.longest)
			}
		})
	}
}

// TestNoMismatch: no source contradicts another.
func TestNoMismatch(t *testing.T) { reference(t).NoMismatch(t, codex.Driver{}) }
