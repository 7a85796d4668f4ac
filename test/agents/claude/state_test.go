//go:build agents

package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/test/agents/host"
)

func newStateLab(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	return newLabAs(t, "claude", seed, nil)
}

// TestStates follows a session through its states.
func TestStates(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")

	l.send("MOCK: slow 20 100")
	l.Is("working")
	l.Is("idle")

	l.send("MOCK: bash touch one.txt")
	s := l.Is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "permission" || s.Prompt.Tool != "Bash" || s.Prompt.Input != "touch one.txt" {
		t.Fatalf("the prompt is %+v", s.Prompt)
	}
	l.See(proceed)
	l.Poll(func() bool { s = l.Said(); return s.Prompt != nil && len(s.Prompt.Options) >= 3 }, func() string { return fmt.Sprintf("the prompt is %+v", s.Prompt) })
	if n := len(s.Prompt.Options); n < 3 || s.Prompt.Options[0] != "Yes" || !strings.HasPrefix(s.Prompt.Options[n-1], "No") {
		t.Errorf("options %q", s.Prompt.Options)
	}

	l.key("1")
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("allowed, and it did not run")
	}

	// Esc while it works. No hook reports that.
	l.send("MOCK: slow 50 200")
	l.Is("working")
	l.See("line 002")
	l.key("Escape")
	l.Is("idle")
}

// TestEventsOfATurn watches a turn: each hook once, and the states in order.
func TestEventsOfATurn(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.send("MOCK: text done")
	l.See("● done")
	l.Is("idle")
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", "e1", "--timeout", "1s")
	if err == nil {
		t.Fatal("watch ended before its timeout")
	}
	hooks := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var e struct{ Type, Event string }
		check(t, json.Unmarshal([]byte(line), &e))
		if e.Type == "hook" {
			hooks[e.Event]++
		}
	}
	for _, name := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
		if hooks[name] != 1 {
			t.Errorf("%s was emitted %d times: %v", name, hooks[name], hooks)
		}
	}
}

// TestDialogStates reports the dialogs before the first prompt.
func TestDialogStates(t *testing.T) {
	l := newStateLab(t, Seed{Onboarded: true, KeyApproved: true})
	s := l.Is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "permission" || len(s.Prompt.Options) != 2 {
		t.Errorf("trust is asked as %+v", s.Prompt)
	}
	l.choose("Yes, I trust this folder")
	l.Is("idle")
}

// TestLastMessage: the last message is the same after a restart, and is gone after /clear.
func TestLastMessage(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.send("MOCK: text remember the lab")
	l.See("● remember the lab")
	l.Is("idle")
	l.Call("restart", l.Name)
	l.Is("idle")
	var last struct{ Text, Conversation string }
	check(t, json.Unmarshal(l.Call("last", l.Name, "--json"), &last))
	if last.Text != "remember the lab" || last.Conversation != l.info().Conversation {
		t.Errorf("the last message is %+v", last)
	}
	l.send("/clear")
	l.Poll(func() bool { _, err := l.Host.Call(l.Ctx, nil, "last", l.Name); return err != nil }, func() string { return "a conversation that was cleared has a last message" })
	_, err := l.Host.Call(l.Ctx, nil, "last", l.Name)
	var failure *host.Failure
	if !errors.As(err, &failure) || failure.Status != 3 {
		t.Errorf("after a clear: %v", err)
	}
	l.send("MOCK: text anew")
	l.See("● anew")
	l.Is("idle")
	check(t, json.Unmarshal(l.Call("last", l.Name, "--json"), &last))
	if last.Text != "anew" || last.Conversation != l.info().Conversation {
		t.Errorf("the last message is %+v", last)
	}
}
