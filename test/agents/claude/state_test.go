//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/test/agents/host"
)

// said is what state says, as far as it is looked at here.
type said struct {
	State  string
	Tier   int
	Cause  string
	Prompt *struct {
		ID, Type, Subtype, Tool, Title, Input string
		Options                               []string
	}
	Failure *struct{ Class, Text string }
}

func (l *lab) state() said {
	l.t.Helper()
	out, err := l.host.Call(l.ctx, nil, "state", l.Name)
	check(l.t, err)
	var s said
	check(l.t, json.Unmarshal(out, &s))
	return s
}

// is waits for a state and gives all that is said with it.
func (l *lab) is(state string) said {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, patient)
	defer cancel()
	out, err := l.host.Call(ctx, nil, "wait", l.Name, "--until", state, "--timeout", patient.String())
	if err != nil {
		l.t.Fatalf("wait for %s: %v; it is %+v", state, err, l.state())
	}
	var s said
	check(l.t, json.Unmarshal(out, &s))
	return s
}

func newStateLab(t *testing.T, seed Seed) *lab {
	t.Helper()
	t.Parallel()
	return newLabAs(t, "claude", seed, nil)
}

// TestStates follows a session through what it does.
func TestStates(t *testing.T) {
	l := newStateLab(t, Ready())
	l.is("idle")

	l.send("MOCK: slow 20 100")
	l.is("working")
	l.is("idle")

	l.send("MOCK: bash touch one.txt")
	s := l.is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "permission" || s.Prompt.Tool != "Bash" || s.Prompt.Input != "touch one.txt" {
		t.Fatalf("the prompt is %+v", s.Prompt)
	}
	l.see(proceed)
	l.until(func() bool { s = l.state(); return s.Prompt != nil && len(s.Prompt.Options) >= 3 }, func() string { return fmt.Sprintf("the prompt is %+v", s.Prompt) })
	if len(s.Prompt.Options) != 3 || s.Prompt.Options[0] != "Yes" || !strings.HasPrefix(s.Prompt.Options[2], "No") {
		t.Errorf("options %q", s.Prompt.Options)
	}

	// The server is killed: the same prompt is there afterwards, by the same id.
	check(t, l.host.Kill())
	check(t, l.host.Start())
	again := l.is("prompt")
	if again.Prompt == nil || again.Prompt.ID != s.Prompt.ID {
		t.Errorf("the prompt was %s and is %+v", s.Prompt.ID, again.Prompt)
	}
	l.key("1")
	l.is("idle")
	if !l.made("one.txt") {
		t.Error("allowed, and it did not run")
	}

	// Esc while it works, which no hook tells.
	l.send("MOCK: slow 50 200")
	l.is("working")
	l.see("line 002")
	l.key("Escape")
	l.is("idle")
}

// TestErrorState tells an error from an end.
func TestErrorState(t *testing.T) {
	l := newStateLab(t, Ready())
	l.is("idle")
	l.send("MOCK: error 403")
	if s := l.is("error"); s.Failure == nil || s.Failure.Class != "unauthorized" {
		t.Errorf("the failure is %+v", s.Failure)
	}
	l.send("MOCK: text better")
	l.is("idle")
}

// TestEventsOfATurn watches a turn: each hook once, and the states in order.
func TestEventsOfATurn(t *testing.T) {
	l := newStateLab(t, Ready())
	l.is("idle")
	l.send("MOCK: text done")
	l.see("● done")
	l.is("idle")
	out, err := l.host.Call(l.ctx, nil, "watch", l.Name, "--since", "e1", "--timeout", "1s")
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
			t.Errorf("%s was told %d times: %v", name, hooks[name], hooks)
		}
	}
}

// TestDialogStates reports the dialogs before the first prompt.
func TestDialogStates(t *testing.T) {
	l := newStateLab(t, Seed{Onboarded: true, KeyApproved: true})
	s := l.is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "permission" || len(s.Prompt.Options) != 2 {
		t.Errorf("trust is asked as %+v", s.Prompt)
	}
	l.key("1")
	l.is("idle")
}

// TestRestartTakesUpTheConversation ends the program and starts it again: what
// was said is still known, and states go on.
func TestRestartTakesUpTheConversation(t *testing.T) {
	l := newStateLab(t, Ready())
	l.is("idle")
	_, err := l.host.Call(l.ctx, nil, "restart", l.Name) // nothing was said yet
	check(t, err)
	l.is("idle")
	l.send("MOCK: text remember the lab")
	l.see("● remember the lab")
	l.is("idle")
	_, err = l.host.Call(l.ctx, nil, "restart", l.Name)
	check(t, err)
	l.is("idle")
	var last struct{ Text, Conversation string }
	check(t, json.Unmarshal(l.call("last", l.Name, "--json"), &last)) // the same conversation, so its last message
	if last.Text != "remember the lab" || last.Conversation != l.info().Conversation {
		t.Errorf("the last message is %+v", last)
	}
	message := "MOCK: text and now"
	l.send(message)
	l.see("● and now")
	if r := l.asked(message, 0); !strings.Contains(string(r.Body), "remember the lab") {
		t.Error("the conversation was not taken up")
	}
	l.is("idle")
	l.send("/clear")
	l.until(func() bool { _, err := l.host.Call(l.ctx, nil, "last", l.Name); return err != nil }, func() string { return "a conversation that was cleared has a last message" })
	_, err = l.host.Call(l.ctx, nil, "last", l.Name)
	var failure *host.Failure
	if !errors.As(err, &failure) || failure.Status != 3 {
		t.Errorf("after a clear: %v", err)
	}
	l.send("MOCK: text anew")
	l.see("● anew")
	l.is("idle")
	check(t, json.Unmarshal(l.call("last", l.Name, "--json"), &last))
	if last.Text != "anew" || last.Conversation != l.info().Conversation {
		t.Errorf("the last message is %+v", last)
	}
}
