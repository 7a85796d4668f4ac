//go:build agents

package claude

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// TestExample runs the script of docs/orchestration.md without changes.
func TestExample(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/orchestration.md")
	check(t, err)
	_, script, ok := strings.Cut(string(doc), "```sh\n")
	script, _, also := strings.Cut(script, "```\n")
	if !ok || !also {
		t.Fatal("docs/orchestration.md has no script")
	}
	l := newStateLab(t, Ready())
	l.Is("idle")
	dir := filepath.Dir(l.home.Dir)
	file := filepath.Join(dir, "work.sh")
	check(t, os.WriteFile(file, []byte(script), 0o700))
	check(t, os.WriteFile(filepath.Join(l.home.Dir, ".npmrc"), []byte("update-notifier=false\n"), 0o600)) // npm would ask its registry
	berth := filepath.Join(dir, "state", "sessions", l.info().ID, "berth")
	l.API.Queue(modelapi.Scenario{Name: "report", Steps: []modelapi.Step{
		modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": berth + " report complete all of it", "description": "report"})),
		modelapi.Say(modelapi.Text("Reported.")),
	}})
	ctx, cancel := context.WithTimeout(l.Ctx, 2*patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", file, l.Name)
	cmd.Env = append(os.Environ(), "BERTH_CALL=ssh -F "+filepath.Join(dir, "ssh_config")+" berth")
	cmd.Stdin = strings.NewReader("MOCK: bash npm test")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	if strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), `"kind":"complete","message":"all of it"`) {
		t.Errorf("it printed %s", out)
	}
	if got := l.Text("gate", l.Name); !strings.Contains(got, `"gate":"allow"`) {
		t.Errorf("afterwards the gate is %s", got)
	}
	if n := l.feedbacks("report complete"); n != 1 {
		t.Errorf("the model was asked %d times to report", n)
	}
}
