//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/test/agents/testbed"
)

// groomed are the groom events so far, as subtype, answer and outcome.
func (l *lab) groomed() []string {
	l.T.Helper()
	var list []string
	for _, e := range l.events("groom") {
		if e["by"] != "groom" || e["prompt"] == "" {
			l.T.Errorf("an answer without its author or its prompt: %v", e)
		}
		list = append(list, fmt.Sprintf("%v %v %v", e["subtype"], e["answer"], e["outcome"]))
	}
	return list
}

// asksFor waits for a prompt of that subtype.
func (l *lab) asksFor(subtype string) {
	l.T.Helper()
	var s testbed.Said
	l.Poll(func() bool {
		s = l.Said()
		return s.State == "prompt" && s.Prompt != nil && s.Prompt.Subtype == subtype
	}, func() string { return fmt.Sprintf("it does not lead to %s: %+v", subtype, s) })
}

// TestGroomEmptyHome answers all but whether the folder is trusted.
func TestGroomEmptyHome(t *testing.T) {
	l := newStartLab(t, Seed{KeyApproved: true}, nil)
	l.start("empty", nil, nil)
	l.asksFor("trust")
	if got, want := l.groomed(), []string{"theme_picker accept accepted", "security_notes accept accepted"}; !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	for _, e := range l.events("prompt_resolved") {
		if by, _ := e["by"].(map[string]any); by == nil || by["identity"] != "groom" {
			t.Errorf("answered by %v", e["by"])
		}
	}
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
	if n := len(l.groomed()); n != 2 {
		t.Errorf("%d answers", n)
	}
}

// TestGroomAll goes to the composer by itself where the session says yes to all.
func TestGroomAll(t *testing.T) {
	l := newStartLab(t, Seed{}, nil)
	l.ReachesOut = true
	// A token in place of a key: an empty home wants the network otherwise.
	l.start("every", map[string]string{"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "sk-ant-lab-token"}, []string{"--trust", "--accept-bypass"}, "--dangerously-skip-permissions")
	l.Is("idle")
	l.See("bypass permissions on")
	want := []string{"theme_picker accept accepted", "security_notes accept accepted", "trust accept accepted", "bypass accept accepted"}
	if got := l.groomed(); !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
}

// TestGroomKey says yes to the key of the session's own environment, and to no
// other.
func TestGroomKey(t *testing.T) {
	l := newStartLab(t, Seed{Onboarded: true, Trusted: true}, nil)
	l.start("own", nil, nil)
	l.Is("idle")
	if got := l.groomed(); !slices.Equal(got, []string{"api_key accept accepted"}) {
		t.Errorf("answered %q", got)
	}
	l.send("MOCK: text with the key")
	l.See("● with the key")
}

// TestGroomForeignKey: the same key, which the login shell gives.
func TestGroomForeignKey(t *testing.T) {
	l := newStartLab(t, Seed{Onboarded: true, Trusted: true}, nil)
	check(t, l.Host.Kill())
	profile := filepath.Join(filepath.Dir(l.home.Dir), ".profile")
	check(t, os.WriteFile(profile, fmt.Appendf(nil, "export ANTHROPIC_API_KEY=%s\n", l.home.Key), 0o600))
	check(t, l.Host.Start())
	l.start("foreign", map[string]string{"ANTHROPIC_API_KEY": ""}, nil)
	l.asksFor("api_key")
	if got := l.groomed(); len(got) > 0 {
		t.Errorf("answered %q", got)
	}
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
}

// TestGroomManual reports each dialog and answers none.
func TestGroomManual(t *testing.T) {
	l := newStartLab(t, Seed{KeyApproved: true}, nil)
	l.start("manual", nil, []string{"--groom", "manual", "--trust"})
	for _, subtype := range []string{"theme_picker", "security_notes", "trust"} {
		l.asksFor(subtype)
		l.Respond("keys", "accepted", "accept")
	}
	l.Is("idle")
	if got := l.groomed(); len(got) > 0 {
		t.Errorf("answered %q", got)
	}
}

// TestGroomPristine: no hooks, nothing answered, and still followed.
func TestGroomPristine(t *testing.T) {
	l := newStartLab(t, Seed{Onboarded: true, KeyApproved: true}, nil)
	l.start("pristine", nil, []string{"--groom", "pristine"})
	l.asksFor("trust")
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
	l.send("MOCK: text untouched")
	l.See("● untouched")
	if n := len(l.events("hook")); n > 0 || len(l.groomed()) > 0 {
		t.Errorf("%d hooks ran", n)
	}
}

// TestGroomYieldsToAWriter: Berth answers no startup prompt while a client has control. It
// does after that client has gone.
func TestGroomYieldsToAWriter(t *testing.T) {
	l := newStartLab(t, Seed{Onboarded: true, KeyApproved: true}, nil)
	gate := filepath.Join(l.home.Dir, "go")
	l.wrapper = filepath.Join(l.home.Dir, "wait")
	check(t, os.WriteFile(l.wrapper, fmt.Appendf(nil, "#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.02; done\nexec %s \"$@\"\n", gate, programs.Agent), 0o700))
	l.start("held", nil, []string{"--trust"})
	v, err := l.Host.Attach(l.Ctx, "held")
	check(t, err)
	check(t, os.WriteFile(gate, nil, 0o600))
	l.asksFor("trust")
	l.See("Yes, I trust this folder")
	if got := l.groomed(); len(got) > 0 {
		t.Errorf("answered %q while a client has control", got)
	}
	v.Close()
	l.Is("idle")
	left, answered := l.events("client_detached"), l.events("groom")
	if len(left) != 1 || len(answered) != 1 || answered[0]["seq"].(float64) < left[0]["seq"].(float64) {
		t.Errorf("left %v, answered %v", left, answered)
	}
}

// TestGroomServerKilled kills the server between the startup prompts. No prompt is answered
// twice, and the next server answers the others.
func TestGroomServerKilled(t *testing.T) {
	l := newStartLab(t, Seed{KeyApproved: true}, nil)
	for i, subtype := range []string{"theme_picker", "security_notes", "trust"} {
		name := "k" + fmt.Sprint(i)
		if i > 0 {
			check(t, l.home.Reset(Seed{KeyApproved: true}))
		}
		l.start(name, nil, []string{"--trust"})
		s := l.with(name)
		s.Poll(func() bool {
			return slices.ContainsFunc(s.events("prompt"), func(e map[string]any) bool { return strings.Contains(fmt.Sprint(e["prompt"]), subtype) })
		}, func() string { return "it does not come to " + subtype })
		check(t, l.Host.Kill())
		check(t, l.Host.Start())
		s.Is("idle")
		keys := 0
		for _, e := range s.events("input") {
			if e["verb"] == "groom" {
				keys++
			}
		}
		want := 3
		if newer(330) { // its trust question takes an arrow and Enter
			want = 4
		}
		if keys != want {
			t.Errorf("%s: %d keys for three dialogs: %v", subtype, keys, s.groomed())
		}
		l.Call("kill", name)
	}
}

// TestTerminalSetup: Claude asks about key bindings only in some terminals, which the
// environment names. Berth answers no; a person may answer either.
func TestTerminalSetup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ terminal, way, outcome string }{
		{"vscode", "groom", ""}, {"zed", "deny", "denied"}, {"alacritty", "option 2", "denied"}, {"vscode", "accept", "accepted"}, {"zed", "option 1", "accepted"},
	} {
		t.Run(c.terminal+" "+c.way, func(t *testing.T) {
			l := newStartLab(t, Seed{}, nil)
			l.ReachesOut = true
			flags := []string{"--groom", "manual"}
			if c.way == "groom" {
				flags = nil
			}
			l.start("terminal", map[string]string{"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "sk-ant-lab-token", "TERM_PROGRAM": c.terminal}, flags)
			if c.way != "groom" {
				for _, subtype := range []string{"theme_picker", "security_notes"} {
					l.asksFor(subtype)
					l.Respond("keys", "accepted", "accept")
				}
				l.asksFor("terminal_setup")
				l.Respond("keys", c.outcome, strings.Fields(c.way)...)
				if c.outcome == "accepted" && newer(330) { // it says what it has written
					l.asksFor("terminal_setup_done")
					l.Respond("keys", "accepted", "accept")
				}
			}
			l.asksFor("trust")
			if c.way == "groom" && !slices.Contains(l.groomed(), "terminal_setup deny denied") {
				t.Errorf("answered %q", l.groomed())
			}
		})
	}
}
