//go:build agents

package claude

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// response is what respond says.
type response struct {
	Delivered, Confirmed         bool
	Prompt, Type, Channel, State string
	Outcome                      string
	Error                        *struct{ Code, Message string }
}

// try responds and gives what is said, with the status.
func (l *lab) try(stdin string, words ...string) (response, int) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, []byte(stdin), append([]string{"respond", l.Name}, words...)...)
	status := 0
	var failure *host.Failure
	if errors.As(err, &failure) {
		status = failure.Status
	} else {
		check(l.T, err)
	}
	var r response
	check(l.T, json.Unmarshal(out, &r))
	return r, status
}

// respond answers and checks that the answer is told to be taken, by that way.
func (l *lab) respond(channel, outcome string, words ...string) response {
	l.T.Helper()
	r, status := l.try("", words...)
	if status != 0 || !r.Delivered || !r.Confirmed || r.Channel != channel || r.Outcome != outcome {
		l.T.Fatalf("respond %q: status %d, %+v; error %+v", words, status, r, r.Error)
	}
	return r
}

// asks sends a message and waits for the prompt it leads to.
func (l *lab) asks(message string) testbed.Said {
	l.T.Helper()
	l.send(message)
	return l.Is("prompt")
}

// TestRespondPermission answers a command's permission in each way, by hook.
func TestRespondPermission(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")

	s := l.asks("MOCK: bash touch one.txt")
	r := l.respond("hook", "accepted", "accept")
	if r.Prompt != s.Prompt.ID || r.Type != "permission" {
		t.Errorf("answered %+v, asked %+v", r, s.Prompt)
	}
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("accepted, and it did not run")
	}
	if r, status := l.try("", "--prompt", s.Prompt.ID, "accept"); status != 6 || r.Error == nil || r.Error.Code != "STALE_PROMPT" {
		t.Errorf("the same prompt again: status %d, %+v", status, r)
	}
	if r, status := l.try("", "accept"); status != 6 || r.Error == nil || r.Error.Code != "NO_PROMPT" {
		t.Errorf("no prompt: status %d, %+v", status, r)
	}

	l.asks("MOCK: bash touch denied.txt")
	l.respond("hook", "denied", "deny")
	l.Is("idle")

	message := "MOCK: bash touch reason.txt"
	l.asks(message)
	l.respond("hook", "denied", "deny", "use another file, don't touch this")
	if r := l.Asked(message, 1); !strings.Contains(string(r.Body), "use another file, don't touch this") {
		t.Error("the reason did not reach the model")
	}
	l.Is("idle")

	l.asks("MOCK: bash touch three.txt")
	l.respond("hook", "denied", "option", l.option("No"))
	l.Is("idle")
	for _, name := range []string{"denied.txt", "reason.txt", "three.txt"} {
		if l.Made(name) {
			t.Error(name, "was refused, and it ran")
		}
	}

	l.asks("MOCK: bash touch always.txt")
	channel := "hook"
	if newer(330) {
		channel = "keys" // it has several that last
	}
	l.respond(channel, "accepted", "option", "2")
	l.Is("idle")
	if !l.Made("always.txt") {
		t.Error("accepted, and it did not run")
	}
	if newer(330) {
		return // its option is about the folder, and not the command
	}
	l.send("MOCK: bash touch again.txt") // allowed now
	l.See("● The command finished.")
	l.Is("idle")
	l.until(func() bool { return l.Made("again.txt") }, func() string { return "always allowed, and it asks again" })
}

// TestRespondTwoInARow: one answer never answers two dialogs.
func TestRespondTwoInARow(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for _, way := range []struct{ message, first, second string }{
		{"MOCK: bash2", "first.txt", "second.txt"}, {"MOCK: parallel", "p1.txt", "p2.txt"},
	} {
		one := l.asks(way.message)
		l.respond("hook", "accepted", "--prompt", one.Prompt.ID, "accept")
		l.See(`^ +touch `+way.second, proceed, cancel)
		two := l.Is("prompt")
		if !l.Made(way.first) || l.Made(way.second) {
			t.Errorf("%s: first %v, second %v after one answer", way.message, l.Made(way.first), l.Made(way.second))
		}
		if two.Prompt == nil || two.Prompt.ID == one.Prompt.ID {
			t.Fatalf("the second prompt is %+v", two.Prompt)
		}
		if r, status := l.try("", "--prompt", one.Prompt.ID, "accept"); status != 6 {
			t.Errorf("the first again: status %d, %+v", status, r)
		}
		if l.Made(way.second) {
			t.Error("an answer to the first allowed the second")
		}
		l.respond("hook", "denied", "deny")
		l.Is("idle")
		if l.Made(way.second) {
			t.Error(way.message, "ran a command that was refused")
		}
	}
}

// TestRespondServerKilled: the prompt is the same one afterwards, and is
// answered by its hook, once.
func TestRespondServerKilled(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	s := l.asks("MOCK: bash touch after.txt")
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	again := l.Is("prompt")
	if again.Prompt == nil || again.Prompt.ID != s.Prompt.ID {
		t.Fatalf("the prompt was %s and is %+v", s.Prompt.ID, again.Prompt)
	}
	l.respond("hook", "accepted", "--prompt", s.Prompt.ID, "accept")
	l.Is("idle")
	if !l.Made("after.txt") {
		t.Error("accepted, and it did not run")
	}
	if r, status := l.try("", "--prompt", s.Prompt.ID, "accept"); status != 6 {
		t.Errorf("answered twice: status %d, %+v", status, r)
	}
}

// TestRespondAfterAPerson: somebody pressed the key first.
func TestRespondAfterAPerson(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for range 5 {
		s := l.asks("MOCK: bash2")
		l.See("touch first.txt", proceed, cancel)
		l.key("1")
		r, status := l.try("", "--prompt", s.Prompt.ID, "accept")
		if status != 6 || r.Confirmed {
			t.Errorf("after a person's key: status %d, %+v", status, r)
		}
		t.Logf("outcome %q, error %+v", r.Outcome, r.Error)
		l.See(`^ +touch second.txt`, proceed, cancel)
		if l.Made("second.txt") {
			t.Fatal("an answer to the first allowed the second")
		}
		l.Is("prompt")
		l.respond("hook", "denied", "deny")
		l.Is("idle")
	}
}
