package gemini_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect/replay"
)

// TestLate: sources that come late, as on a loaded machine, still give the
// right state within the half second, and every prompt.
func TestLate(t *testing.T) {
	ref := reference(t)
	for name, o := range map[string]struct {
		hook, log, pace time.Duration
	}{
		"hooks by 60 ms":       {hook: 60 * time.Millisecond},
		"hooks by 150 ms":      {hook: 150 * time.Millisecond},
		"hooks by 300 ms":      {hook: 300 * time.Millisecond},
		"the log by 250 ms":    {log: 250 * time.Millisecond},
		"the log by 1 s":       {log: time.Second},
		"the screen by 100 ms": {pace: 100 * time.Millisecond},
		"all":                  {hook: 100 * time.Millisecond, log: 200 * time.Millisecond, pace: 80 * time.Millisecond},
	} {
		late := map[agent.Source]time.Duration{agent.SourceHook: o.hook, agent.SourceLog: o.log}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for _, name := range ref.Names(t) {
				rec := ref.Recording(t, name)
				v := ref.Judge(replay.Run(rec, gemini.Driver{}, replay.Options{Pace: o.pace, Late: late}), ref.Truth(t, name), rec.End.Seconds())
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Errorf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong, v.Longest, v.Missed, v.Prompts, strings.Join(v.At, "; "))
				} else if v.Wrong > 50*time.Millisecond {
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
	const hook, title, log, screen = agent.SourceHook, agent.SourceTitle, agent.SourceLog, agent.SourceScreen
	for _, c := range []struct {
		name    string
		without []agent.Source
		right   float64
		prompts int // missed at most
		longest time.Duration
	}{
		{"nothing", nil, 0.9994, 0, tolerance},
		{"hooks", []agent.Source{hook}, 0.9994, 0, tolerance},
		{"log", []agent.Source{log}, 0.9994, 0, tolerance},
		{"hooks and log", []agent.Source{hook, log}, 0.9994, 0, tolerance},
		{"title", []agent.Source{title}, 0.98, 0, 2 * time.Second},
		{"screen", []agent.Source{screen}, 0.86, 4, 10 * time.Second}, // it is not seen to have started up
		{"hooks and title", []agent.Source{hook, title}, 0.9, 0, 2500 * time.Millisecond},
		{"title and log", []agent.Source{title, log}, 0.94, 0, 2600 * time.Millisecond},
		{"all but the screen", []agent.Source{hook, title, log}, 0.855, 0, 2500 * time.Millisecond},
		{"all but the hooks", []agent.Source{screen, title, log}, 0.78, 4, 10 * time.Second},
		{"all but the title", []agent.Source{hook, log, screen}, 0.75, 22, 10 * time.Second}, // it does not say what is asked
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
				v := ref.Judge(replay.Run(rec, gemini.Driver{}, replay.Options{Without: without}), ref.Truth(t, name), rec.End.Seconds())
				wrong, longest, total = wrong+v.Wrong, max(longest, v.Longest), total+rec.End
				prompts, missed = prompts+v.Prompts, missed+v.Missed
				if v.Longest > 500*time.Millisecond || v.Missed > 0 {
					t.Logf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.Wrong.Round(time.Millisecond), v.Longest.Round(time.Millisecond), v.Missed, v.Prompts, strings.Join(v.At[:min(len(v.At), 6)], "; "))
				}
			}
			right := 1 - wrong.Seconds()/total.Seconds()
			t.Logf("right for %.2f %% of %v, longest wrong %v, prompts seen %d of %d", 100*right, total.Round(time.Second), longest.Round(time.Millisecond), prompts-missed, prompts)
			if right < c.right || missed > c.prompts || longest > c.longest {
				t.Errorf("below the bar: right %.4f (%.4f), missed %d (%d), longest %v (%v)", right, c.right, missed, c.prompts, longest, c.longest)
			}
		})
	}
}

// TestNoMismatch: no source contradicts another.
func TestNoMismatch(t *testing.T) { reference(t).NoMismatch(t, gemini.Driver{}) }
