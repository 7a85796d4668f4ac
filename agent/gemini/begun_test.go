package gemini_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// TestOnePromptForADialog: a dialog that no report is about, and whose list is scrolled, is one prompt whatever part of its list is visible.
func TestOnePromptForADialog(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := detect.New(gemini.Driver{}, detect.Options{Start: now})
	opened := 0
	for i := range 30 {
		now = now.Add(500 * time.Millisecond)
		r := boxes(selecting, [][]string{
			{"  3. [ ] F3", "● 4. [ ] F4", "  5. [x] m"}, {"  2. [ ] F2", "● 3. [ ] F3", "  4. [ ] F4"}, {"  3. [ ] F3", "  4. [ ] F4", "● 5. [x] me"},
		}[i%3]...)
		opened += len(f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now}).Opened)
		f.Typed(now)
		opened += len(f.Tick(now.Add(400 * time.Millisecond)).Opened)
	}
	if opened != 1 {
		t.Errorf("%d prompts were opened", opened)
	}
}
