package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
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

// twice has recordings of dialogs that are not found to be their hooks' at once: each is a prompt
// of its own until then.
var twice = map[string]int{"10_plan": 1, "19_focus_resize": 1, "22_hook_coverage": 1}

// TestRecordings: every recording gives the right state, and every prompt.
func TestRecordings(t *testing.T) {
	reference(t).Check(t, claude.Driver{}, truth.Bar{Order: wanted, Wrong: 0.001, Tolerance: func(string) time.Duration { return tolerance }, Twice: twice})
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
