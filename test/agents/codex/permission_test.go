//go:build agents

package codex

import (
	"testing"
	"time"
)

// Lines of the dialogs.
const (
	asksRun = "Would you like to run the following command"
	foot    = "Press enter to confirm or esc to cancel"
)

// TestPermissionByKeys answers it at the dialog, which comes when the hook is let
// go: by what only the dialog offers, or for a person who looks on.
func TestPermissionByKeys(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
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
		l.Refuses("NOT_READY", append([]string{"--prompt", s.Prompt.ID}, c.words...)...) // makes Codex draw the dialog, whose options were unknown before
		if r := l.Respond("keys", c.outcome, append([]string{"--prompt", s.Prompt.ID}, c.words...)...); r.Prompt != s.Prompt.ID {
			t.Errorf("%v: answered %s, asked %s", c.words, r.Prompt, s.Prompt.ID)
		}
		l.Is("idle")
		if l.Made(c.file) != c.made {
			t.Errorf("%v: made is %v", c.words, l.Made(c.file))
		}
	}
	l.Takes("MOCK: bash touch two.txt again.txt") // commands that start so are allowed now
	l.Is("idle")

	l.Attach()
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
		l.Respond("keys", c.outcome, append([]string{"--takeover"}, c.words...)...)
		l.Is("idle")
		if l.Made(c.file) != c.made {
			t.Errorf("%v: made is %v", c.words, l.Made(c.file))
		}
	}
	s := l.asks("MOCK: bash mkdir reason.txt")
	if r, status := l.Try("", "--takeover", "--prompt", s.Prompt.ID, "deny", "for a reason"); status != 8 {
		t.Errorf("a reason at the dialog: status %d, %+v", status, r)
	}
	l.Respond("keys", "denied", "--takeover", "deny")
}

// TestAttachGuard: a person who attaches while the hook waits sees the dialog
// within a second; one who may not write changes nothing.
func TestAttachGuard(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	s := l.asks("MOCK: bash touch one.txt")
	viewer := l.Attach("--read-only")
	if now := l.Said(); now.Prompt == nil || now.Prompt.Channel != "hook" {
		t.Errorf("a viewer looks on: %+v", now.Prompt)
	}
	viewer.Close()
	began := time.Now()
	person := l.Attach()
	l.See(asksRun, foot)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the dialog came after %v", took)
	} else {
		t.Logf("the dialog came after %v", took)
	}
	now := l.Is("prompt")
	if now.Prompt.ID != s.Prompt.ID || now.Prompt.Channel != "keys" {
		t.Errorf("asked %+v, now %+v", s.Prompt, now.Prompt)
	}
	check(t, person.Type("y"))
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("it was allowed, and did not run")
	}
}
