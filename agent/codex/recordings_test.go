package codex_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/test/agents/truth"
)

// reference is the recordings, and for each of them the true states, which a person read
// from it.
func reference(t testing.TB) *truth.Reference {
	t.Helper()
	return truth.Open(t, "testdata/reference.zip")
}

// tolerance is far below the half second that detection may take. It isn't zero: the log
// reports a queued message up to 63 ms before the screen shows it, and the truth was read
// from the screen.
const tolerance = 80 * time.Millisecond

// mostWrong is the share of the time with a wrong state.
const mostWrong = 0.001

// TestRecordings: every recording gives the right state in the right order,
// and every prompt.
func TestRecordings(t *testing.T) {
	reference(t).Check(t, codex.Driver{}, truth.Bar{Order: wanted, Wrong: mostWrong, Tolerance: func(string) time.Duration { return tolerance }})
}

// wanted is the true order. Codex that was killed from outside says nothing of
// its end; a replay ends every recording with one.
func wanted(all []truth.Stretch) string {
	var out []string
	for _, w := range all {
		if n := len(out); n == 0 || out[n-1] != w.State {
			out = append(out, w.State)
		}
	}
	if out[len(out)-1] != string(agent.Exited) {
		out = append(out, string(agent.Exited))
	}
	return strings.Join(out, " ")
}
