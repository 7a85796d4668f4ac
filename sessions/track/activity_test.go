package track

import (
	"testing"
	"time"

	"berth/agent"
)

// TestActivityEvents: a change of the activity makes an event, at most one a second. At the end of that second
// the current activity gets its event.
func TestActivityEvents(t *testing.T) {
	tool := func(name string) *agent.Activity { return &agent.Activity{Kind: agent.UsingTool, Tool: name} }
	retry := func(attempt int, ms int64) *agent.Activity {
		return &agent.Activity{Kind: agent.Retrying, Attempt: attempt, Of: 10, DelayMS: ms}
	}
	thinks := &agent.Activity{Kind: agent.Thinking}
	start := time.Unix(1000, 0)
	var told Activity
	told.Emitted(thinks, start)
	for _, c := range []struct {
		ms    int
		does  *agent.Activity
		tells bool
		again int // ms; 0: at the next change
	}{
		{100, thinks, false, 0},
		{200, tool("Bash"), false, 1000},
		{300, thinks, false, 0}, // back again: no change to emit
		{400, tool("Read"), false, 1000},
		{1000, tool("Read"), true, 0},
		{1001, tool("Read"), false, 0},
		{1500, retry(1, 4000), false, 2000},
		{2000, retry(1, 3500), true, 0},
		{3000, retry(1, 2500), false, 0}, // counted down
		{3100, retry(2, 9000), true, 0},
		{9000, nil, false, 0},
		{9000, tool("Read"), true, 0},
	} {
		now := start.Add(time.Duration(c.ms) * time.Millisecond)
		if got := told.Next(c.does, now); got != c.tells {
			t.Errorf("at %d ms %+v: event %v, want %v", c.ms, c.does, got, c.tells)
		}
		want := time.Time{}
		if c.again > 0 {
			want = start.Add(time.Duration(c.again) * time.Millisecond)
		}
		if !told.Again.Equal(want) {
			t.Errorf("at %d ms the next check is at %v, want %v", c.ms, told.Again, want)
		}
	}
}
