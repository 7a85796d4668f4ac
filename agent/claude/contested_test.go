package claude_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
	"berth/detect/replay"
)

// moment is how long a prompt was contested at its end, at most: its call was over, and its dialog still drawn.
const moment = 600 * time.Millisecond

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without hooks and with them. Where hooks
// report, a prompt without one counts as contested, and some recordings have other hooks than Berth's. Recorded
// hooks don't wait, so a subagent's prompt is contested; in a session its hook takes the answer.
func TestHonestPromptsAreNotContested(t *testing.T) {
	ref := reference(t)
	for _, hooked := range []bool{false, true} {
		asked, since := map[string]bool{}, map[string]time.Duration{}
		for _, name := range ref.Names(t) {
			replay.Run(ref.Recording(t, name), claude.Driver{}, replay.Options{
				Without: map[agent.Source]bool{agent.SourceHook: !hooked},
				Each: func(at time.Duration, f *detect.Fold) {
					for _, p := range f.Status().Requests {
						if pending, ok := f.Pending(p.ID); !ok || pending.Told != hooked || hooked && p.Agent != nil {
							continue
						}
						asked[p.ID] = true
						if _, ok := since[p.ID]; !ok || !p.Contested {
							since[p.ID] = at
						}
						if at-since[p.ID] > moment {
							t.Errorf("hooks %v: contested for %v: %s %s", hooked, at-since[p.ID], p.ID, p.About())
						}
					}
				},
			})
		}
		t.Logf("hooks %v: %d prompts", hooked, len(asked))
		if len(asked) < 20 {
			t.Errorf("hooks %v: only %d prompts", hooked, len(asked))
		}
	}
}
