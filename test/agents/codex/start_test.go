//go:build agents

package codex

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSettings: settings, servers of tools and hooks of the session's.
func TestSettings(t *testing.T) {
	t.Parallel()
	l := newHost(t, Ready(), func(*lab) string {
		return fmt.Sprintf("profiles:\n  own:\n    agent: codex\n    command: [%s]\n    mcp: {lab: {command: /bin/false}}\n", programs.Agent) +
			"    settings: {model: another-model, hooks: {UserPromptSubmit: [{hooks: [{type: command, command: touch hook-ran}]}]}}\n"
	})
	l.begin("--profile", "own")
	l.Is("idle")
	l.See("another-model default")
	l.Confirmed("MOCK: text hello", "MOCK: text hello")
	if !l.Made("hook-ran") {
		t.Error("the session's own hook did not run")
	}
}

// TestReport: what Codex runs in its sandbox reports, and the gate lets go.
func TestReport(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Call("gate", name, "gate", "Say what is done.")
	links, err := filepath.Glob(filepath.Join(l.home.Dir, "..", "state", "sessions", "*", "berth"))
	if err != nil || len(links) != 1 {
		t.Fatalf("%v, %v", links, err)
	}
	n := l.Nudge("MOCK: run "+links[0]+" report complete all is done", "--wait", "--timeout", patient.String())
	if n.Status != 0 {
		t.Errorf("%+v %+v", n, n.Error)
	}
	var kinds []string
	for _, e := range l.Events("report", "gate") {
		kinds = append(kinds, e.Type+":"+e.Kind+e.Why)
	}
	t.Log(kinds)
	if got := strings.Join(kinds, " "); !strings.Contains(got, "report:complete") || !strings.Contains(got, "gate:let_goreport") {
		t.Errorf("the events are %s", got)
	}
}

// TestServerAway: a hook doesn't wait for a server that is away. The prompt is there again
// afterwards, and is answered once, at the dialog.
func TestServerAway(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	one := l.asks("MOCK: bash mkdir made")
	check(t, l.Host.Kill())
	time.Sleep(3 * time.Second) // a hook waits for less without a server
	check(t, l.Host.Start())
	if two := l.Is("prompt"); two.Prompt.ID != one.Prompt.ID {
		t.Errorf("it was %s, and is %s", one.Prompt.ID, two.Prompt.ID)
	}
	l.Respond("keys", "accepted", "--prompt", one.Prompt.ID, "accept")
	l.Refuses("STALE_PROMPT", "--prompt", one.Prompt.ID, "accept")
	l.Is("idle")
	if !l.Made("made") {
		t.Error("accepted, and it did not run")
	}
}
