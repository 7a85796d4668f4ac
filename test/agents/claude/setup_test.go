//go:build agents

package claude

import (
	"fmt"
	"strings"
	"testing"
)

// TestRespondEachSetup answers the dialogs before the first prompt, and those
// that end the program by it.
func TestRespondEachSetup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seed    Seed
		args    []string
		see     string
		way     string
		outcome string
		exit    int    // the code, -1 for going on
		then    string // what is on the screen then
	}{
		{"theme accepted", Seed{KeyApproved: true}, nil, "Choose the text style", "accept", "accepted", -1, "Security notes"},
		{"trust by option", Seed{Onboarded: true, KeyApproved: true}, nil, "Quick safety check", "option Yes", "accepted", -1, prompt},
		{"trust refused by option", Seed{Onboarded: true, KeyApproved: true}, nil, "Quick safety check", "option No", "denied", 1, ""},
		{"key refused", Seed{Onboarded: true, Trusted: true}, nil, "Detected a custom API key", "deny", "denied", -1, "Not logged in"},
		{"key by option", Seed{Onboarded: true, Trusted: true}, nil, "Detected a custom API key", "option 1", "accepted", -1, prompt},
		{"bypass refused", Seed{Onboarded: true, KeyApproved: true, Trusted: true}, []string{"--dangerously-skip-permissions"}, "WARNING: Claude Code running in Bypass", "deny", "denied", 1, ""},
		{"bypass by option", Seed{Onboarded: true, KeyApproved: true, Trusted: true}, []string{"--dangerously-skip-permissions"}, "WARNING: Claude Code running in Bypass", "option 2", "accepted", -1, "bypass permissions on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newManualLab(t, c.seed, c.args...)
			l.See(c.see)
			l.Is("prompt")
			if r, status := l.way("text hello"); status != 2 {
				t.Errorf("text: status %d, %+v", status, r)
			}
			r, status := l.way(c.way)
			if status != 0 || !r.Confirmed || r.Outcome != c.outcome || r.Channel != "keys" {
				t.Fatalf("%s: status %d, %+v, error %+v", c.way, status, r, r.Error)
			}
			if c.exit >= 0 {
				l.exits(c.exit)
				return
			}
			l.See(c.then)
		})
	}
}

// newManualLab is a lab where Berth leaves all startup prompts to the test.
func newManualLab(t *testing.T, seed Seed, args ...string) *lab {
	t.Helper()
	l := newStartLab(t, seed, nil)
	l.start("manual", nil, []string{"--groom", "manual"}, args...)
	return l
}

// saidBusy reports whether Claude's title or state file caused the last "working". Claude
// is busy for a moment while it opens or closes a dialog. A state that a dialog interrupted
// comes back when the dialog has gone; what caused it is older than the dialog.
func (l *lab) saidBusy() bool {
	l.T.Helper()
	last := ""
	for _, e := range l.events("state_change") {
		if e["next"] == "working" && e["prev"] != "prompt" {
			last = fmt.Sprint(e["cause"])
		}
	}
	return strings.HasPrefix(last, "title:") || strings.HasPrefix(last, "registry:")
}

// TestRespondNotices closes the dialogs that ask nothing about the work.
func TestRespondNotices(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for _, c := range []struct{ command, title string }{
		{"/help", "Help"}, {"/model", "Select model"}, {"/status", "Settings"}, {"/config", "Settings"}, {"/resume", "Resume session"},
		{"/hooks", "Hooks"}, {"/agents", "Agents"}, {"/memory", "Memory"}, {"/login", "Select login method"},
	} {
		if c.command == "/agents" && newer(330) {
			continue // it has no such dialog any more
		}
		check(t, l.Type(l.Ctx, c.command))
		l.See(prompt + c.command)
		l.key("Enter")
		p := l.promptShown(map[bool]string{true: "setup", false: "notice"}[c.command == "/login"])
		if c.title != "" && p.Title != c.title {
			t.Fatalf("%s: %+v", c.command, p)
		}
		if c.command == "/memory" { // it shows no options while it loads, and is another prompt with them
			l.See("1. User memory|❯ User instructions")
			l.promptShown("notice")
		}
		if r, status := l.Try("", "accept"); status == 0 {
			t.Errorf("%s accepted: %+v", c.command, r)
		}
		r := l.Respond("keys", "denied", "deny")
		if s := l.Is("idle"); r.State != "idle" && !l.saidBusy() {
			t.Errorf("%s: closed, and the state was %s, then %s", c.command, r.State, s.Cause)
		}
		l.ready()
	}
	// The list of earlier messages.
	l.send("MOCK: text one")
	l.See("● one")
	l.Is("idle")
	l.key("Escape")
	check(t, l.Press(l.Ctx, "Escape")) // within a second of the first
	l.See("Rewind")
	l.promptShown("notice")
	l.Respond("keys", "denied", "deny")
	l.Is("idle")
	l.ready()
}
