package sessions

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions/track"
)

// TestStreamAfterACrash: lines that a program prints tell of it, between others
// and torn as they come; of each there has been one event, however old the
// checkpoint is that the next server goes on from, and also if that lies within a
// line.
func TestStreamAfterACrash(t *testing.T) {
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"diary": diary{dir: t.TempDir(), prints: true}}
	p.open()
	k := &keeper{place: p}
	k.s = p.sh("one", "stty raw -echo; echo ready; exec cat", func(s *Spec) { s.Agent = "diary" })
	shows(t, k.s, "ready")
	print := func(text string) {
		t.Helper()
		if err := k.s.Deliver(t.Context(), Claim{Actor: tester, Verb: "input"}, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(kind agent.Kind, turn string) string { return entry(kind, turn, time.Time{}) }
	end := line(agent.TurnEnded, "1")
	print("no JSON at all\n\x1b[0m" + line(agent.TurnStarted, "1") + end[:10])
	k.is(agent.Working)
	within(t, k.s, "the half of a line", func(st *Status) bool {
		return st.Offset > 0 && strings.HasSuffix(screenText(t, k.s), strings.TrimSpace(end[:10]))
	})
	k.crash(k.s, checkpointOf(t, k.s)) // closing wrote one in the midst of the line
	k.s = k.find("one")
	kept := checkpointOf(t, k.s)
	print(end[10:] + line(agent.TurnStarted, "2"))
	want := "working idle working"
	within(t, k.s, "the second turn", func(*Status) bool { return k.states() == want })
	for range 3 {
		k.crash(k.s, kept)
		k.s = k.find("one")
		k.is(agent.Working)
	}
	print(strings.Repeat("x", track.StreamLimit+10) + "\n" + line(agent.TurnEnded, "2"))
	k.is(agent.Idle)
	if got := k.states(); got != want+" idle" {
		t.Errorf("reported %s", got)
	}
}
