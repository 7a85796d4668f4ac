package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect/replay"
	"berth/test/agents/truth"
)

// reference is the recordings, and for each of them the true states, which a person read
// from it.
func reference(t testing.TB) *truth.Reference {
	t.Helper()
	r := truth.Open(t, "testdata/reference.zip")
	r.Classes = map[string][]agent.Class{
		"authentication_failed": {agent.Unauthorized},
		"rate_limit":            {agent.RateLimited},
		"billing_error":         {agent.OutOfCredits},
		"server_error":          {agent.Overloaded, agent.Network},
		"invalid_request":       {agent.Invalid, agent.ContextFull},
		"unknown":               {agent.Invalid, agent.OtherFailure, agent.Network},
	}
	return r
}

// tolerance is far below the half second that detection may take. It isn't zero: the truth
// is in whole milliseconds, and one unjudged stretch (a refusal by the model in
// 23_errors_retries1) starts 5 ms after the log has reported it.
const tolerance = 10 * time.Millisecond

// TestRecordings: every recording gives the right state, and every prompt.
func TestRecordings(t *testing.T) {
	ref := reference(t)
	for _, name := range ref.Names(t) {
		t.Run(name, func(t *testing.T) {
			rec := ref.Recording(t, name)
			steps := replay.Run(rec, claude.Driver{}, replay.Options{})
			all := ref.Truth(t, name)
			v := ref.Judge(steps, all, rec.End.Seconds())
			t.Logf("wrong for %v, longest %v, %d transitions, %d prompts, %d missed", v.Wrong, v.Longest, len(steps), v.Prompts, v.Missed)
			if got, want := truth.Sequence(steps), wanted(all); got != want {
				t.Errorf("in this order:\n%s\nwant\n%s", got, want)
			}
			if v.Longest > tolerance || v.Missed > 0 {
				t.Errorf("wrong:\n%s", strings.Join(v.At, "\n"))
			}
		})
	}
}

// wanted is the true order. A stretch that was left unjudged is an error here:
// the model refused, and Claude itself says that the turn failed.
func wanted(all []truth.Stretch) string {
	var out []string
	for _, w := range all {
		state := w.State
		if state == truth.Unjudged {
			state = string(agent.InError)
		}
		if n := len(out); n == 0 || out[n-1] != state {
			out = append(out, state)
		}
	}
	return strings.Join(out, " ")
}
