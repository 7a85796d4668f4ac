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
	return opened(t, "testdata/reference.zip")
}

// newest is the recordings of 2.1.330 at three sizes, by test/agents/record. Their truth is from
// the keys that the scripts pressed, the times of the requests to the model, and the files that
// commands made; the screen's first sign of a state says by when it must be known.
func newest(t testing.TB) *truth.Reference {
	t.Helper()
	return opened(t, "testdata/2.1.330.zip")
}

func opened(t testing.TB, file string) *truth.Reference {
	t.Helper()
	r := truth.Open(t, file)
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

// newestTolerance is more than the reference's: these recordings were made on a machine with several times
// the work it can do, where the end of a dialog is drawn late.
const newestTolerance = 50 * time.Millisecond

// newestTwice has the dialogs of files: no hook of the recordings waits, and such a dialog doesn't
// show the file's folder. So it is a prompt of its own, beside the one that its hook reported.
var newestTwice = map[string]int{"22_tools_40x20": 2, "22_tools_80x24": 2}

// TestNewestRecordings: every recording of 2.1.330 gives the right states, and every prompt.
func TestNewestRecordings(t *testing.T) {
	newest(t).Check(t, claude.Driver{}, truth.Bar{Order: wanted, Wrong: 0.001, Tolerance: func(string) time.Duration { return newestTolerance }, Twice: newestTwice})
}

// TestNewestLate: late sources, and sources that are missing, leave every state within seconds and
// every prompt that the others show.
func TestNewestLate(t *testing.T) {
	ref := newest(t)
	for name, c := range map[string]struct {
		options replay.Options
		wrong   float64
		missed  int
	}{
		"hooks late":    {replay.Options{Late: map[agent.Source]time.Duration{agent.SourceHook: 150 * time.Millisecond}}, 0.005, 0},
		"log late":      {replay.Options{Late: map[agent.Source]time.Duration{agent.SourceLog: time.Second}}, 0.005, 0},
		"screen late":   {replay.Options{Pace: 100 * time.Millisecond}, 0.01, 0},
		"without hooks": {replay.Options{Without: map[agent.Source]bool{agent.SourceHook: true}}, 0.02, 2},
		"without title": {replay.Options{Without: map[agent.Source]bool{agent.SourceTitle: true}}, 0.02, 0},
		"without log":   {replay.Options{Without: map[agent.Source]bool{agent.SourceLog: true}}, 0.02, 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			var sum truth.Sum
			for _, name := range ref.Names(t) {
				rec := ref.Recording(t, name)
				v := ref.Judge(replay.Run(rec, claude.Driver{}, c.options), ref.Truth(t, name), rec.End.Seconds())
				sum.Add(v, rec.End)
				if v.Missed > 0 || v.Longest > 2*time.Second {
					t.Logf("%s: %s", name, strings.Join(v.At, "; "))
				}
			}
			t.Log(sum.String())
			if sum.Share() > c.wrong || sum.Missed > c.missed {
				t.Errorf("wrong for %.3f %%, missed %d", 100*sum.Share(), sum.Missed)
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
