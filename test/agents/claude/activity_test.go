//go:build agents

package claude

import (
	"fmt"
	"testing"
	"time"
)

// TestActivityEvents: a watcher sees tools and retries, at most one each second.
func TestActivityEvents(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.start("busy", map[string]string{"CLAUDE_CODE_MAX_RETRIES": "3"}, nil, "--allowedTools", "Bash(sleep:*)")
	l.Is("idle")
	l.ready()
	l.send("MOCK: bash sleep 2")
	l.See("● The command finished.")
	l.Is("idle")
	l.send("MOCK: error 500")
	l.Is("error")
	seen := map[string]int{}
	var last time.Time
	for _, e := range l.events("activity") {
		a, _ := e["activity"].(map[string]any)
		seen[fmt.Sprint(a["kind"], " ", a["tool"], " ", a["attempt"])]++
		at, err := time.Parse(time.RFC3339, e["time"].(string))
		check(t, err)
		if at.Sub(last) < 990*time.Millisecond {
			t.Errorf("two within %v", at.Sub(last))
		}
		last = at
	}
	if seen["tool Bash <nil>"] != 1 || seen["retrying <nil> 2"] != 1 || seen["retrying <nil> 3"] != 1 {
		t.Errorf("emitted: %v", seen)
	}
}
