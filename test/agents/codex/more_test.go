//go:build agents

package codex

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTranscripts: what was said before a compaction and before a new
// conversation is kept, and each message is in one part.
func TestTranscripts(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Confirmed("MOCK: text one", "MOCK: text one")
	if n := l.Nudge("/compact", "--command"); n.Status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("Context compacted")
	l.Is("idle")
	l.Confirmed("MOCK: text two", "MOCK: text two")
	if n := l.Nudge("/new", "--command"); n.Status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("mock-model default")
	l.Confirmed("MOCK: text three", "MOCK: text three")
	var parts []struct {
		N, Lines int
		Reason   string
		Live     bool
	}
	check(t, json.Unmarshal(l.Call("transcript", name), &parts))
	story := ""
	for _, p := range parts {
		if p.Live {
			p.Reason = "live"
		}
		story += p.Reason + " "
	}
	if story != "compact left live " {
		t.Errorf("parts: %s", story)
	}
	for i, message := range []string{"MOCK: text one", "MOCK: text two", "MOCK: text three"} {
		if i < len(parts) && !strings.Contains(string(l.Call("transcript", name, string(rune('1'+i)))), message) {
			t.Errorf("part %d has no %q", i+1, message)
		}
	}
}

// TestSubagent: while a subagent works so does Codex, and what it asks is a
// prompt of its own.
func TestSubagent(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Takes("MOCK: agent MOCK: bash touch by-agent.txt")
	s := l.Is("prompt")
	if s.Prompt.Input != "touch by-agent.txt" {
		t.Errorf("it asks %+v", s.Prompt)
	}
	l.Respond("hook", "accepted", "accept")
	l.Is("idle")
	if !l.Made("by-agent.txt") {
		t.Error("accepted, and it did not run")
	}
}
