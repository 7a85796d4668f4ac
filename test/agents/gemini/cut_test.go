//go:build agents

package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestCutCall: the report of a call is longer than Berth takes, by a field that no dialog draws. No key answers its dialog, which doesn't draw
// the call's folder either.
func TestCutCall(t *testing.T) {
	l := begin(t, Ready(), nil, "--size", "100x30")
	l.Is("idle")
	check(t, os.Mkdir(filepath.Join(l.Workspace, "sub"), 0o700))
	call := modelapi.Tool("run_shell_command", map[string]any{"command": "touch made.txt", "dir_path": "sub", "description": strings.Repeat("word ", 1_000_000)})
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("Finished."))}})
	l.Takes("please run it")
	p := l.PromptUntil("contested", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "none" })
	if _, status := l.Answer("--prompt", p.ID, "accept"); status == 0 {
		t.Errorf("a key answered %+v", p)
	}
	l.Verb(&struct{}{}, "", "keys", "lab", "Escape", "--takeover")
}
