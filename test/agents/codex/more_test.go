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
	l.await("idle")
	l.confirmed("MOCK: text one", "MOCK: text one")
	if n := l.give("/compact", "--command"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("Context compacted")
	l.await("idle")
	l.confirmed("MOCK: text two", "MOCK: text two")
	if n := l.give("/new", "--command"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("mock-model default")
	l.confirmed("MOCK: text three", "MOCK: text three")
	var parts []struct {
		N, Lines int
		Reason   string
		Live     bool
	}
	check(t, json.Unmarshal(l.call("transcript", name), &parts))
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
		if i < len(parts) && !strings.Contains(string(l.call("transcript", name, string(rune('1'+i)))), message) {
			t.Errorf("part %d has no %q", i+1, message)
		}
	}
}

// TestSubagent: while a subagent works so does Codex, and what it asks is a
// prompt of its own.
func TestSubagent(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	l.nudge("MOCK: agent MOCK: bash touch by-agent.txt")
	s := l.await("prompt")
	if s.Prompt.Input == nil || *s.Prompt.Input != "touch by-agent.txt" {
		t.Errorf("it asks %+v", s.Prompt)
	}
	l.respond("hook", "accepted", "accept")
	l.await("idle")
	if !l.Made("by-agent.txt") {
		t.Error("accepted, and it did not run")
	}
}
