package codex_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect/replay"
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

// tolerances are for recordings with less precise times. No source of the first one says
// where in the second it started, so its log comes up to 0.9 s late.
var tolerances = map[string]time.Duration{"14_permission_hook_allow": 250 * time.Millisecond}

// TestRecordings: every recording gives the right state in the right order,
// and every prompt.
func TestRecordings(t *testing.T) {
	ref := reference(t)
	for _, name := range ref.Names(t) {
		t.Run(name, func(t *testing.T) {
			rec := ref.Recording(t, name)
			steps := replay.Run(rec, codex.Driver{}, replay.Options{})
			all := ref.Truth(t, name)
			v := ref.Judge(steps, all, rec.End.Seconds())
			t.Logf("wrong for %v, longest %v, %d transitions, %d prompts, %d missed",
				v.Wrong.Round(time.Millisecond), v.Longest.Round(time.Millisecond), len(steps), v.Prompts, v.Missed)
			if got, want := truth.Sequence(steps), wanted(all); got != want {
				t.Errorf("in this order:\n%s\nwant\n%s", got, want)
			}
			if v.Longest > max(tolerance, tolerances[name]) || v.Missed > 0 {
				t.Errorf("wrong:\n%s", strings.Join(v.At, "\n"))
			}
		})
	}
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
