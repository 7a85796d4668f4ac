package acp

import (
	"testing"
	"time"

	"berth/agent"
)

// TestGrows: the log of an agent that works is looked at all the time, that of another one only for a moment after
// something has changed.
func TestGrows(t *testing.T) {
	for _, c := range []struct {
		state agent.State
		ago   time.Duration
		want  bool
	}{
		{agent.Working, time.Hour, true}, {agent.Starting, time.Hour, true},
		{agent.Idle, lateFor - 1, true}, {agent.Idle, lateFor, false},
		{agent.Prompt, lateFor - 1, true}, {agent.Prompt, lateFor, false},
		{agent.Exited, 0, false},
	} {
		if got := grows(c.state, c.ago); got != c.want {
			t.Errorf("%s, %v after a change: %v", c.state, c.ago, got)
		}
	}
}
