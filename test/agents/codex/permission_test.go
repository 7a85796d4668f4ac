//go:build agents

package codex

import (
	"strings"
	"testing"
	"time"
)

// Lines of the dialogs.
const (
	asksRun = "Would you like to run the following command"
	foot    = "Press enter to confirm or esc to cancel"
)

// TestPermissionByHook answers a command's permission in each way that a waiting
// hook takes. No dialog is drawn for it.
func TestPermissionByHook(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")

	s := l.asks("MOCK: bash touch one.txt")
	p := s.Prompt
	if p.Channel != "hook" || p.OnScreen || p.Type != "permission" || p.Input == nil || *p.Input != "touch one.txt" {
		t.Errorf("it asks %+v", p)
	}
	r := l.respond("hook", "accepted", "accept")
	if r.Prompt != p.ID {
		t.Errorf("answered %s, asked %s", r.Prompt, p.ID)
	}
	l.await("idle")
	if !l.Made("one.txt") {
		t.Error("accepted, and it did not run")
	}
	if r, status := l.try("--prompt", p.ID, "accept"); status != 6 || r.Error == nil || r.Error.Code != "STALE_PROMPT" {
		t.Errorf("the same prompt again: status %d, %+v", status, r)
	}
	if r, status := l.try("accept"); status != 6 || r.Error == nil || r.Error.Code != "NO_PROMPT" {
		t.Errorf("no prompt: status %d, %+v", status, r)
	}

	for _, c := range []struct {
		file, reason string
		words        []string
	}{
		{"denied.txt", "The user does not want this", []string{"deny"}},
		{"reason.txt", "use another file, don't touch this", []string{"deny", "use another file, don't touch this"}},
	} {
		message := "MOCK: bash touch " + c.file
		l.asks(message)
		l.respond("hook", "denied", c.words...)
		if r := l.Asked(message, 1); !strings.Contains(string(r.Body), c.reason) {
			t.Errorf("the model is not told %q", c.reason)
		}
		l.await("idle")
		if l.Made(c.file) {
			t.Error(c.file, "was refused, and made")
		}
	}
}

// TestPermissionByKeys answers it at the dialog, which comes when the hook is let
// go: by what only the dialog offers, or for a person who looks on.
func TestPermissionByKeys(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	for _, c := range []struct {
		file, outcome string
		words         []string
		made          bool
	}{
		{"one.txt", "accepted", []string{"option", "1"}, true},
		{"three.txt", "denied", []string{"option", "3"}, false},
		{"two.txt", "accepted", []string{"option", "2"}, true},
	} {
		s := l.asks("MOCK: bash touch " + c.file)
		if r := l.respond("keys", c.outcome, append([]string{"--prompt", s.Prompt.ID}, c.words...)...); r.Prompt != s.Prompt.ID {
			t.Errorf("%v: answered %s, asked %s", c.words, r.Prompt, s.Prompt.ID)
		}
		l.await("idle")
		if l.Made(c.file) != c.made {
			t.Errorf("%v: made is %v", c.words, l.Made(c.file))
		}
	}
	l.nudge("MOCK: bash touch two.txt again.txt") // commands that start so are allowed now
	l.await("idle")

	l.attach()
	for _, c := range []struct {
		file, outcome string
		words         []string
		made          bool
	}{
		{"yes.txt", "accepted", []string{"accept"}, true},
		{"no.txt", "denied", []string{"deny"}, false},
	} {
		s := l.asks("MOCK: bash mkdir " + c.file)
		if s.Prompt.Channel != "keys" {
			t.Errorf("with a person attached it asks %+v", s.Prompt)
		}
		l.See(asksRun, foot)
		l.respond("keys", c.outcome, append([]string{"--takeover"}, c.words...)...)
		l.await("idle")
		if l.Made(c.file) != c.made {
			t.Errorf("%v: made is %v", c.words, l.Made(c.file))
		}
	}
	s := l.asks("MOCK: bash mkdir reason.txt")
	if r, status := l.try("--takeover", "--prompt", s.Prompt.ID, "deny", "for a reason"); status != 8 {
		t.Errorf("a reason at the dialog: status %d, %+v", status, r)
	}
	l.respond("keys", "denied", "--takeover", "deny")
}

// TestAttachGuard: a person who attaches while the hook waits sees the dialog
// within a second; one who may not write changes nothing.
func TestAttachGuard(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	s := l.asks("MOCK: bash touch one.txt")
	viewer := l.attach("--read-only")
	if now := l.state(); now.Prompt == nil || now.Prompt.Channel != "hook" {
		t.Errorf("a viewer looks on: %+v", now.Prompt)
	}
	viewer.Close()
	began := time.Now()
	person := l.attach()
	l.See(asksRun, foot)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the dialog came after %v", took)
	} else {
		t.Logf("the dialog came after %v", took)
	}
	now := l.await("prompt")
	if now.Prompt.ID != s.Prompt.ID || now.Prompt.Channel != "keys" {
		t.Errorf("asked %+v, now %+v", s.Prompt, now.Prompt)
	}
	check(t, person.Type("y"))
	l.await("idle")
	if !l.Made("one.txt") {
		t.Error("it was allowed, and did not run")
	}
}
