//go:build agents

package codex

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestAgain: a program that is started again, or that has crashed, takes its
// conversation up.
func TestAgain(t *testing.T) {
	l := newLab(t, Ready(), "--restart", "on-failure")
	l.await("idle")
	l.confirmed("MOCK: text first", "MOCK: text first")
	l.call("restart", name)
	l.await("idle")
	l.confirmed("MOCK: text second", "MOCK: text second")
	if r := l.Asked("MOCK: text second", 0); strings.Join(r.Texts, "|") != "MOCK: text first|MOCK: text second" {
		t.Errorf("the model has %q", r.Texts)
	}
	before := l.pid()
	process, err := os.FindProcess(before)
	check(t, err)
	check(t, process.Kill())
	deadline := time.Now().Add(patient)
	for l.pid() == before || l.state().State != "idle" {
		if time.Now().After(deadline) {
			t.Fatalf("it is not started again: %+v", l.state())
		}
	}
	l.confirmed("MOCK: text third", "MOCK: text third")
	if r := l.Asked("MOCK: text third", 0); len(r.Texts) != 3 {
		t.Errorf("the model has %q", r.Texts)
	}
}

// pid is the process of the program.
func (l *lab) pid() int {
	l.T.Helper()
	var list []struct{ PID *int }
	check(l.T, json.Unmarshal(l.call("ls", "--json"), &list))
	if len(list) != 1 || list[0].PID == nil {
		return 0
	}
	return *list[0].PID
}

// TestFork begins another conversation from what was said.
func TestFork(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	l.confirmed("MOCK: text first", "MOCK: text first")
	l.call("fork", name, "other")
	if _, err := l.Host.Call(l.Ctx, nil, "wait", "other", "--until", "idle", "--timeout", patient.String()); err != nil {
		t.Fatal(err)
	}
	l.call("nudge", "other", "--wait", "--timeout", patient.String(), "MOCK: text second")
	if r := l.Asked("MOCK: text second", 0); strings.Join(r.Texts, "|") != "MOCK: text first|MOCK: text second" {
		t.Errorf("the model has %q", r.Texts)
	}
	l.confirmed("MOCK: text third", "MOCK: text third")
	if r := l.Asked("MOCK: text third", 0); strings.Join(r.Texts, "|") != "MOCK: text first|MOCK: text third" {
		t.Errorf("the first conversation has %q", r.Texts)
	}
	l.call("kill", "other")
}

// TestWithoutHooks: a Codex that is left untouched is followed by what it draws
// and by its state sequence, answered by keys, and typed to.
func TestWithoutHooks(t *testing.T) {
	l := newLab(t, Ready(), "--isolate", "none", "--", "--no-daemon")
	l.await("idle")
	if n := l.give("MOCK: slow 10 300"); n.status != 0 || !n.Confirmed {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.await("idle")
	l.give("MOCK: bash touch one.txt") // its dialog comes before anything tells that this was taken
	s := l.await("prompt")
	if s.Prompt.Type != "permission" || s.Prompt.Channel != "keys" || s.Prompt.Input == nil || *s.Prompt.Input != "touch one.txt" || !s.Prompt.OnScreen {
		t.Errorf("it asks %+v", s.Prompt)
	}
	l.respond("keys", "accepted", "accept")
	l.await("idle")
	if !l.Made("one.txt") {
		t.Error("accepted, and it did not run")
	}
	if n := l.give("MOCK: error 401", "--wait", "--timeout", patient.String()); n.status != 21 {
		t.Errorf("%+v %+v", n, n.Error)
	}
}

// TestCommandThatQuotesADialog: the prompt starts at the dialog's own head.
func TestCommandThatQuotesADialog(t *testing.T) {
	l := newLab(t, Ready(), "--isolate", "none", "--", "--no-daemon")
	l.await("idle")
	l.give("MOCK: quoting")
	s := l.await("prompt")
	if s.Prompt.Input == nil || !strings.HasPrefix(*s.Prompt.Input, "touch quoting.txt\n") || !strings.HasSuffix(*s.Prompt.Input, "\n$ ls") {
		t.Fatalf("it asks %+v", s.Prompt)
	}
	l.respond("keys", "accepted", "--prompt", s.Prompt.ID, "accept")
	l.await("idle")
	if !l.Made("quoting.txt") {
		t.Error("accepted, and it did not run")
	}
}

// TestExec: a Codex that prints what it does as lines of JSON, and ends.
func TestExec(t *testing.T) {
	l := newLab(t, Ready(), "--", "exec", "--json", "--skip-git-repo-check", "MOCK: slow 10 100")
	l.await("working")
	if _, err := l.Exited(l.Ctx, patient); err != nil {
		t.Fatal(err)
	}
	if last := string(l.call("last", name, "--text")); !strings.HasSuffix(last, "slow end\n") {
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
			l.await("idle")
			l.confirmed("MOCK: text hello", "MOCK: text hello")
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
	l.await("idle")
	l.confirmed("MOCK: text first", "MOCK: text first")
	first := l.conversation()
	if n := l.give("/new", "--command"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("mock-model default")
	l.confirmed("MOCK: text second", "MOCK: text second")
	second := l.conversation()
	if first == "" || second == first {
		t.Errorf("the conversation was %q, and is %q", first, second)
	}
	l.call("restart", name)
	l.await("idle")
	l.confirmed("MOCK: text third", "MOCK: text third")
	if r := l.Asked("MOCK: text third", 0); strings.Join(r.Texts, "|") != "MOCK: text second|MOCK: text third" {
		t.Errorf("the model has %q", r.Texts)
	}
}

func (l *lab) conversation() string {
	l.T.Helper()
	var info struct{ Conversation string }
	check(l.T, json.Unmarshal(l.call("info", name), &info))
	return info.Conversation
}
