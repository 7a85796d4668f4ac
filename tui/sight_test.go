package tui

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestKeysAreDrawnWhenTheyWork: a key that does nothing yet isn't drawn, and the picture changes by itself when
// it begins to work.
func TestKeysAreDrawnWhenTheyWork(t *testing.T) {
	m := asking(80, 24, permission())
	works := func(want string) {
		t.Helper()
		due := m.Due()
		if m.Tick(due.Add(-1)); strings.Contains(drawn(m), want) {
			t.Errorf("%q is drawn too early:\n%s", want, drawn(m))
		}
		if m.Tick(due); !strings.Contains(drawn(m), want) {
			t.Errorf("%q isn't drawn at %v:\n%s", want, due.Sub(noon), drawn(m))
		}
		if again := m.Due(); again.Sub(due) < settleTime && again.UnixNano()%1e9 != 0 {
			t.Errorf("it is drawn again at %v", again.Sub(noon))
		}
	}
	shown(m, noon)
	if due := m.Due(); !due.Equal(noon.Add(settleTime)) {
		t.Errorf("a card that was drawn at noon works %v later", due.Sub(noon))
	}
	works("y allow  d deny…")

	// A terminal that doesn't answer.
	m = asking(80, 24, permission())
	drawn(m)
	m.Drawn(1)
	for m.Due().Before(noon.Add(answersWithin)) {
		if m.Tick(m.Due()); m.now.Before(noon.Add(answersWithin)) && strings.Contains(drawn(m), "y allow") {
			t.Fatalf("allow is drawn after %v", m.now.Sub(noon))
		}
	}
	works("y allow")

	// What was scrolled into view is new; the keys that refuse have worked before.
	long := permission()
	long.SetInput(strings.Repeat("echo\n", 25))
	m = asking(80, 24, long)
	for drawn(m); !m.readAll(); drawn(m) {
		press(m, later, "J")
	}
	if strings.Contains(drawn(m), "y allow") || !strings.Contains(drawn(m), "d deny…") {
		t.Errorf("at once after the last lines:\n%s", drawn(m))
	}
	shown(m, m.now)
	works("y allow")

	// A session that took the place of a removed one.
	m = started(80, 24, world(at("a", agent.Idle, 1), at("b", agent.Idle, 2)))
	m.SetWorld(world(at("b", agent.Idle, 2)), noon)
	works("attach")

	// Keys after a session that ended by itself.
	m.Back("a has ended", m.now)
	m.Flash("", plain)
	works("q quit")
}
