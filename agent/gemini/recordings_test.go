package gemini_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect/replay"
	"berth/test/agents/truth"
)

// reference is the recordings, and for each of them the true states, which a person read
// from it.
func reference(t testing.TB) *truth.Reference {
	t.Helper()
	r := truth.Open(t, "testdata/reference.zip")
	r.Classes = map[string][]agent.Class{"invalid_request": {agent.Invalid}}
	return r
}

// tolerance is how long the state may be wrong. The truth has Gemini idle from its first
// composer on. Gemini takes messages only after it has read its configuration, up to 80 ms
// later, and Berth waits another 50 ms before it emits idle.
const tolerance = 135 * time.Millisecond

// TestRecordings: every recording gives the right state, and every prompt.
func TestRecordings(t *testing.T) {
	reference(t).Check(t, gemini.Driver{}, truth.Bar{Order: wanted, Wrong: 0.001, Tolerance: func(string) time.Duration { return tolerance }})
}

// wanted is the true order of states. It leaves out the unjudged stretch, a compression
// that was requested while Gemini was idle: Gemini itself doesn't report it as work. A
// recording that is cut ends here like any other.
func wanted(all []truth.Stretch) string {
	var out []string
	for _, w := range append(all, truth.Stretch{State: string(agent.Exited)}) {
		if w.State == truth.Unjudged {
			continue
		}
		if n := len(out); n == 0 || out[n-1] != w.State {
			out = append(out, w.State)
		}
	}
	return strings.Join(out, " ")
}

// TestAfterTheCut: the screen of some recordings is cut, but their titles, hooks and chat
// file go on to the end. Without a screen no source reports that Gemini has started up. All
// else is known: between queued turns Gemini isn't idle, and a command that is allowed for
// the session asks nothing.
func TestAfterTheCut(t *testing.T) {
	ref := reference(t)
	turn, asks, refused := "working idle ", "working prompt working idle ", "working prompt idle "
	for name, want := range map[string]string{
		"02_approval_keys":        strings.Repeat(asks, 2) + strings.Repeat(refused, 6) + strings.Repeat(asks, 2) + turn,
		"05_slow_interrupt_queue": strings.Repeat(turn, 5) + asks,
		"07_nudging":              strings.Repeat(turn, 22),
		"11_long_cjk_resize":      strings.Repeat(turn, 3) + asks + turn,
	} {
		rec, err := replay.Load(ref, "titles/"+name+".cast")
		if err != nil {
			t.Fatal(err)
		}
		steps := replay.Run(rec, gemini.Driver{}, replay.Options{})
		if got := truth.Sequence(steps); got != "starting "+want+"exited" {
			t.Errorf("%s:\n%s\nwant\nstarting %sexited", name, got, want)
		}
		for i, s := range steps[:len(steps)-1] {
			if lasts := steps[i+1].At - s.At; s.Next == agent.Idle && lasts < 200*time.Millisecond {
				t.Errorf("%s: idle for %v at %v", name, lasts, s.At)
			}
		}
	}
}
