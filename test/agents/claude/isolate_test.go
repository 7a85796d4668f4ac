//go:build agents

package claude

import (
	"encoding/json"
	"slices"
	"testing"
)

// unhooked starts a session that never had hooks.
func unhooked(t *testing.T, seed Seed, flags ...string) *lab {
	t.Helper()
	l := newStartLab(t, seed, nil)
	l.start("none", nil, append([]string{"--isolate", "none"}, flags...))
	return l
}

// TestMessagesWithoutHooks sends a message in each way but the plain one, which
// TestMessagesByLog has, to a session without hooks. The log says what arrived.
func TestMessagesWithoutHooks(t *testing.T) {
	l := unhooked(t, Ready())
	l.Is("idle")
	l.ready()

	check(t, l.Type(l.Ctx, "a person's draft"))
	l.See(prompt + "a person's draft")
	if n := l.Nudge("not now"); n.Status != 5 || n.Error == nil || n.Error.Code != "DRAFT_PRESENT" {
		t.Errorf("%+v %+v", n, n.Error)
	}
	n := l.Nudge("MOCK: text beside a draft", "--stash", "--wait", "--timeout", patient.String())
	if n.Status != 0 || !n.Confirmed || n.Evidence != "log:user" || n.LastMessage == nil {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if got := *n.LastMessage; got != "beside a draft" {
		if got != "" || l.endsWith("beside a draft") {
			t.Errorf("the turn's last message is %q", got)
		}
		t.Log("Claude wrote the answer before its question") // see turn
	}
	l.See(prompt + "a person's draft$")
	if n := l.Nudge("MOCK: slow 30 100", "--clear"); n.Status != 0 || !n.Confirmed {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if n := l.Nudge("not while it works"); n.Status != 5 || n.Error == nil || n.Error.Code != "AGENT_BUSY" {
		t.Errorf("%+v %+v", n, n.Error)
	}
	if n := l.Nudge("MOCK: text after that", "--queue"); n.Status != 0 || !n.Queued {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("● after that")
	l.Is("idle")
	l.once("MOCK: text after that")
	l.order("MOCK: text beside a draft", "MOCK: slow 30 100", "MOCK: text after that")

	if n := l.Nudge("MOCK: slow 50 200"); n.Status != 0 || !n.Confirmed {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("line 002")
	var done struct {
		Delivered, Confirmed bool
		State                string
	}
	check(t, json.Unmarshal(l.Call("interrupt", l.Name), &done))
	if !done.Delivered || !done.Confirmed || done.State != "idle" {
		t.Errorf("interrupted: %+v", done)
	}
	if events := l.events("hook"); len(events) > 0 {
		t.Errorf("hooks ran: %v", events)
	}
}

// TestGroomWithoutHooks: keys answer the startup prompts, also without hooks.
func TestGroomWithoutHooks(t *testing.T) {
	l := unhooked(t, Seed{}, "--trust", "--env", "ANTHROPIC_API_KEY=", "--env", "ANTHROPIC_AUTH_TOKEN=sk-ant-lab-token")
	l.ReachesOut = true
	l.Is("idle")
	l.ready()
	if got, want := l.groomed(), []string{"theme_picker accept accepted", "security_notes accept accepted", "trust accept accepted"}; !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	l.send("MOCK: text untouched")
	l.See("● untouched")
	if events := l.events("hook"); len(events) > 0 {
		t.Errorf("hooks ran: %v", events)
	}
}
