//go:build agents

package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// widening is a call for a command with network and a folder beside it.
func widening(file string) modelapi.Scenario {
	return modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", map[string]any{
		"cmd": "touch " + file, "sandbox_permissions": "with_additional_permissions", "justification": "May it?",
		"additional_permissions": map[string]any{"network": map[string]any{"enabled": true}, "file_system": map[string]any{"write": []any{"/srv/more"}}},
	})), modelapi.Say(modelapi.Text("Finished."))}}
}

// TestMorePermissions: a call can ask for more than its hook reports. Then no answer allows more
// than the prompt showed.
func TestMorePermissions(t *testing.T) {
	seed := Ready()
	seed.Features = "exec_permission_approvals = true\n"
	l := newLab(t, seed)
	l.Is("idle")
	for file, words := range map[string][]string{"yes.txt": {"accept"}, "one.txt": {"option", "1"}, "no.txt": {"deny"}} {
		l.API.Queue(widening(file))
		l.Takes("please make " + file)
		s := l.Is("prompt")
		if s.Prompt.Channel == "hook" {
			t.Fatalf("its hook waits: %+v", s.Prompt)
		}
		if !strings.Contains(s.Prompt.Text, "Permission rule") {
			if r, status := l.Try("", append([]string{"--prompt", s.Prompt.ID}, words...)...); status == 0 {
				t.Fatalf("%+v was answered: %+v", s.Prompt, r)
			}
		}
		p := l.PromptUntil("as its dialog", func(p testbed.Shown) bool { return p.Ready })
		if !strings.HasPrefix(p.Text, "May it?\n\nPermission rule: network; write `/srv/more`\n\nCodex draws no tabs ") || p.Input != "touch "+file {
			t.Fatalf("it asks %+v", p)
		}
		outcome := "accepted"
		if words[0] == "deny" {
			outcome = "denied"
		}
		l.Respond("keys", outcome, append([]string{"--prompt", p.ID}, words...)...)
		l.Is("idle")
		if l.Made(file) != (outcome == "accepted") {
			t.Errorf("%s: %v", file, l.Made(file))
		}
	}
}

// TestNoMorePermissions: the feature is off, and a project can't turn it on. A call that asks for more is refused,
// and hooks wait.
func TestNoMorePermissions(t *testing.T) {
	l := newHost(t, Ready(), nil)
	dir := filepath.Join(l.home.Workspace, ".codex")
	check(t, os.Mkdir(dir, 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[features]\nexec_permission_approvals = true\n"), 0o600))
	l.begin()
	l.Is("idle")
	l.API.Queue(widening("more.txt"))
	l.Takes("please make more.txt")
	l.Is("idle")
	if l.Made("more.txt") || slices.ContainsFunc(l.Events("state_change"), func(e testbed.Event) bool { return e.Next == "prompt" }) {
		t.Error("it was asked for, or made")
	}
	l.Asked("please make more.txt", 1)
	if s := l.asks("MOCK: bash touch one.txt"); s.Prompt.Channel != "hook" {
		t.Errorf("it asks %+v", s.Prompt)
	}
	l.Respond("hook", "accepted", "accept")
}
