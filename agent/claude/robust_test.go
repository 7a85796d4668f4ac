package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect/replay"
)

// TestWithoutSources takes sources away and holds what is left to a looser
// bar: a share of the judged time that must be right, and of the prompts that
// must be seen.
func TestWithoutSources(t *testing.T) {
	fsys := reference(t)
	for _, c := range []struct {
		name    string
		without []agent.Source
		right   float64
		prompts float64
		longest time.Duration
	}{
		{"hooks", []agent.Source{agent.SourceHook}, 0, 0, time.Hour},
		{"registry", []agent.Source{agent.SourceRegistry}, 0, 0, time.Hour},
		{"title", []agent.Source{agent.SourceTitle}, 0, 0, time.Hour},
		{"log", []agent.Source{agent.SourceLog}, 0, 0, time.Hour},
		{"screen", []agent.Source{agent.SourceScreen}, 0, 0, time.Hour},
		{"hooks and log", []agent.Source{agent.SourceHook, agent.SourceLog}, 0, 0, time.Hour},
		{"hooks and title", []agent.Source{agent.SourceHook, agent.SourceTitle}, 0, 0, time.Hour},
		{"title and log", []agent.Source{agent.SourceTitle, agent.SourceLog}, 0, 0, time.Hour},
		{"all but the screen", []agent.Source{agent.SourceHook, agent.SourceLog, agent.SourceTitle, agent.SourceOSC, agent.SourceRegistry}, 0, 0, time.Hour},
		{"all but the hooks", []agent.Source{agent.SourceScreen, agent.SourceLog, agent.SourceTitle, agent.SourceOSC, agent.SourceRegistry}, 0, 0, time.Hour},
	} {
		t.Run("without "+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			without := map[agent.Source]bool{}
			for _, s := range c.without {
				without[s] = true
			}
			var wrong, longest, total time.Duration
			prompts, missed := 0, 0
			for _, name := range names(t, fsys) {
				rec := load(t, fsys, name)
				v := judge(replay.Run(rec, claude.Driver{}, replay.Options{Without: without}), truths(t, fsys, name), rec.End().Seconds())
				wrong, longest, total = wrong+v.wrong, max(longest, v.longest), total+rec.End()
				prompts, missed = prompts+v.prompts, missed+v.missed
				if v.longest > 500*time.Millisecond || v.missed > 0 {
					t.Logf("%s: wrong for %v, longest %v, missed %d of %d: %s", name, v.wrong.Round(time.Millisecond), v.longest.Round(time.Millisecond), v.missed, v.prompts, strings.Join(v.at[:min(len(v.at), 6)], "; "))
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
