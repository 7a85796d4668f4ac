//go:build agents

package codex

import (
	"strings"
	"testing"
)

// TestFork begins another conversation from what was said.
func TestFork(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Confirmed("MOCK: text first", "MOCK: text first")
	l.Call("fork", name, "other")
	if _, err := l.Host.Call(l.Ctx, nil, "wait", "other", "--until", "idle", "--timeout", patient.String()); err != nil {
		t.Fatal(err)
	}
	l.Call("nudge", "other", "--wait", "--timeout", patient.String(), "MOCK: text second")
	if r := l.Asked("MOCK: text second", 0); strings.Join(r.Texts, "|") != "MOCK: text first|MOCK: text second" {
		t.Errorf("the model has %q", r.Texts)
	}
	l.Confirmed("MOCK: text third", "MOCK: text third")
	if r := l.Asked("MOCK: text third", 0); strings.Join(r.Texts, "|") != "MOCK: text first|MOCK: text third" {
		t.Errorf("the first conversation has %q", r.Texts)
	}
	l.Call("kill", "other")
}

// TestCommandThatQuotesADialog: the prompt starts at the dialog's own head.
func TestCommandThatQuotesADialog(t *testing.T) {
	l := newLab(t, Ready(), "--isolate", "none", "--", "--no-daemon")
	l.Is("idle")
	l.Nudge("MOCK: quoting")
	s := l.Is("prompt")
	if !strings.HasPrefix(s.Prompt.Input, "touch quoting.txt\n") || !strings.HasSuffix(s.Prompt.Input, "\n$ ls") {
		t.Fatalf("it asks %+v", s.Prompt)
	}
	l.Respond("keys", "accepted", "--prompt", s.Prompt.ID, "accept")
	l.Is("idle")
	if !l.Made("quoting.txt") {
		t.Error("accepted, and it did not run")
	}
}

// TestExec: a Codex that prints what it does as lines of JSON, and ends.
func TestExec(t *testing.T) {
	l := newLab(t, Ready(), "--", "exec", "--json", "--skip-git-repo-check", "MOCK: slow 10 100")
	l.Is("working")
	if _, err := l.Exited(l.Ctx, patient); err != nil {
		t.Fatal(err)
	}
	if last := string(l.Call("last", name, "--text")); !strings.HasSuffix(last, "slow end\n") {
		t.Errorf("last is %q", last)
	}
	for _, s := range l.states() {
		if s == "idle" {
			t.Errorf("it was said to be idle: %v", l.states())
		}
	}
}

// TestEnds: however Codex ends, that is an end with its status.
func TestEnds(t *testing.T) {
	for what, end := range map[string]func(l *lab){
		"/quit": func(l *lab) {
			check(l.T, l.Paste(l.Ctx, "/quit"))
			l.See("› /quit")
			check(l.T, l.Press(l.Ctx, "Enter"))
		},
		"Ctrl-D": func(l *lab) { check(l.T, l.Press(l.Ctx, "Ctrl-d")) },
		"Ctrl-C": func(l *lab) { check(l.T, l.Press(l.Ctx, "Ctrl-c")) },
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			l.Confirmed("MOCK: text hello", "MOCK: text hello")
			end(l)
			if code, err := l.Exited(l.Ctx, patient); err != nil || code != 0 {
				t.Errorf("status %d, %v", code, err)
			}
		})
	}
}

// TestConversations: a new conversation of the same Codex is followed, also over
// a restart.
func TestConversations(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Confirmed("MOCK: text first", "MOCK: text first")
	first := l.Info().Conversation
	if n := l.Nudge("/new", "--command"); n.Status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("mock-model default")
	l.Confirmed("MOCK: text second", "MOCK: text second")
	second := l.Info().Conversation
	if first == "" || second == first {
		t.Errorf("the conversation was %q, and is %q", first, second)
	}
	l.Call("restart", name)
	l.Is("idle")
	l.Confirmed("MOCK: text third", "MOCK: text third")
	if r := l.Asked("MOCK: text third", 0); strings.Join(r.Texts, "|") != "MOCK: text second|MOCK: text third" {
		t.Errorf("the model has %q", r.Texts)
	}
}
