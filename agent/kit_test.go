package agent_test

import (
	"testing"

	"berth/agent"
)

// TestClassIn: the first phrases with a word in the text count, in any letter case.
func TestClassIn(t *testing.T) {
	full, network := agent.Phrases{Class: agent.ContextFull, Words: []string{"too long"}}, agent.Phrases{Class: agent.Network, Words: []string{"econn", "socket"}}
	for text, want := range map[string]agent.Class{"Socket closed": agent.Network, "a socket; it is TOO LONG": agent.ContextFull, "no": "", "": ""} {
		if got := agent.ClassIn(text, full, network); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTitleFact: only a title's first character shows a level.
func TestTitleFact(t *testing.T) {
	levels := map[string]agent.Level{"✳": agent.LevelWaiting}
	for title, want := range map[string]agent.Level{"✳ a": agent.LevelWaiting, " ✳\ufe0e a ": agent.LevelWaiting, "✳": agent.LevelWaiting, "a ✳": "", "✳a": "", "": ""} {
		if f := agent.TitleFact(title, levels); f.Level != want || (f.Kind == agent.LevelIs) != (want != "") {
			t.Errorf("%q: %+v", title, f)
		}
	}
}
