//go:build agents

package gemini

import "testing"

// TestErrorsThatPass: what is asked for once more is work, and no error.
func TestErrorsThatPass(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	for _, message := range []string{"MOCK: error 429 1", "MOCK: error 500 1", "MOCK: no-end 1"} {
		if n := l.Nudge(message, "--wait", "--timeout", "90s"); n.Status != 0 {
			t.Fatalf("%s: %+v %+v", message, n, n.Error)
		}
	}
	if states := l.states(); states != "starting idle working idle working idle working idle" {
		t.Errorf("states %s", states)
	}
}
