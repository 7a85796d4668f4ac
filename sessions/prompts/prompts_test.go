package prompts

import (
	"strings"
	"testing"
	"time"

	"berth/sessions/events"
)

// TestAnswerHasOneEvent: an answer was on its way when the checkpoint was written, and got its
// event after that. The next server follows it no more. An event of an older answer to the same
// prompt ends nothing.
func TestAnswerHasOneEvent(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC)
	const kept = `{"answers":[{"prompt":"p-1","verb":"respond","outcome":"accepted","at":"2026-01-01T00:00:05Z"}]}`
	for after, followed := range map[time.Duration]bool{-time.Second: true, time.Second: false} {
		for _, kind := range []string{verbRespond, verbGroom} {
			ps := New(Env{})
			if err := ps.Restore([]byte(kept), true); err != nil {
				t.Fatal(err)
			}
			ps.Recall(events.Line{Type: kind, Time: begun.Add(after), Raw: []byte(`{"prompt":"p-1"}`)})
			saved, err := ps.Save()
			if err != nil || strings.Contains(string(saved), "p-1") != followed {
				t.Errorf("an event %s after it began: %s, %v", after, saved, err)
			}
		}
	}
}
