//go:build agents

package claude

import "testing"

// TestText is the simplest turn: a message there, a text back.
func TestText(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: text the lab answers")
	l.see("● the lab answers")
	l.ready()
	l.once("MOCK: text the lab answers")
}
