//go:build agents

package qwen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestSedEdit: Qwen Code draws a command of sed as an edit. Its prompt has the command and the edit, and takes keys.
func TestSedEdit(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.Attach()
	file := filepath.Join(l.Workspace, "sample.txt")
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
		say(modelapi.Tool("read_file", map[string]any{"file_path": file})), say(runs("sed -i 's/hello/goodbye/' sample.txt")), say(text("It is edited.")),
	}})
	l.Nudge("edit it", "--takeover")
	p := l.PromptUntil("the edit's", func(p testbed.Shown) bool {
		return p.OnScreen && p.Ready && strings.Contains(p.Text, `command: "sed -i`)
	})
	if !strings.Contains(p.Input, "+ goodbye") || !strings.HasPrefix(p.Text, "Shell sed -i 's/hello/goodbye/' sample.txt (") {
		t.Errorf("it asks %s: %s", p.Input, p.Text)
	}
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
	l.Is("idle")
	if data, err := os.ReadFile(file); err != nil || string(data) != "goodbye\n" {
		t.Errorf("the file has %q %v", data, err)
	}
}
