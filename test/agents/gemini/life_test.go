//go:build agents

package gemini

import (
	"strings"
	"testing"
)

// TestEnds: it runs as one process, and ends by its own command.
func TestEnds(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	itself := 0 // what it runs for a moment at its start, a ps, is another
	for _, command := range l.Processes() {
		if strings.Contains(command, "/gemini ") {
			itself++
		}
	}
	if itself != 1 {
		t.Errorf("it runs as %d processes: %v", itself, l.Processes())
	}
	if n := l.Nudge("/quit", "--command"); n.Status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if code, err := l.Exited(l.Ctx, patient); err != nil || code != 0 {
		t.Errorf("it ended with %d, %v", code, err)
	}
}
