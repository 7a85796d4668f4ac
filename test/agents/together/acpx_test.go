//go:build agents

package together

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/testbed"
)

// editor runs acpx. It keeps what it knows of its sessions in a home of its own.
type editor struct {
	l     *testbed.Lab
	home  home
	agent string // how it starts its agent
}

// run runs acpx with these words, and returns its output and its exit status.
func (e editor) run(words ...string) (string, int) {
	e.l.T.Helper()
	ctx, cancel := context.WithTimeout(e.l.Ctx, 2*patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, acpxExe, append([]string{"--agent", e.agent, "--cwd", e.home.workspace, "--ttl", "5"}, words...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(e.l.Dir, "acpx"), "LANG=C.UTF-8", "TMPDIR=" + e.l.Dir}
	cmd.Dir, cmd.WaitDelay = e.home.workspace, 2*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		e.l.T.Errorf("acpx %q: %v", words, err)
		status = -1
	}
	e.l.T.Logf("acpx %s: status %d\n%s", strings.Join(words, " "), status, out.String())
	return out.String(), status
}

// must is run for what has to succeed with a text in its output.
func (e editor) must(text string, words ...string) string {
	e.l.T.Helper()
	out, status := e.run(words...)
	if status != 0 || !strings.Contains(out, text) {
		e.l.T.Errorf("acpx %q ended with %d, without %q", words, status, text)
	}
	return out
}

// TestACPX: acpx starts a session of each agent, prompts it, answers a permission, cancels a turn, and
// finds the session again.
func TestACPX(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "gemini"} {
		t.Run(agent, func(t *testing.T) { testACPX(t, agent) })
	}
}

// asks is the model's scenario that runs a command with permission.
var asks = map[string]string{"claude": "bash", "codex": "bash", "gemini": "shell"}

func testACPX(t *testing.T, agent string) {
	l := testbed.New(t, programs.Berth, patient, apis[agent])
	l.Refused = refused[agent]
	h := newHome(l, agent, "agent", l.API)
	l.Configure("profiles:\n  work:\n" + h.profile())
	check(t, l.Host.Start())
	check(t, os.Mkdir(filepath.Join(l.Dir, "acpx"), 0o700))
	e := editor{l, h, "ssh -F " + filepath.Join(l.Dir, "ssh_config") + " -Snone berth acp --profile work"}
	made := func(name string) bool { _, err := os.Stat(filepath.Join(h.workspace, name)); return err == nil }

	e.must("", "sessions", "new")
	var rows []struct{ Session, ID, State string }
	l.Verb(&rows, "", "ls")
	if len(rows) != 1 {
		t.Fatalf("sessions: %+v", rows)
	}
	l.Session, l.Workspace = l.Host.Known(rows[0].Session), h.workspace
	e.must("The answer is 42.", "prompt", "MOCK: text The answer is 42.")
	e.must(rows[0].ID, "sessions", "list")
	if l.Text("last", l.Name) != "The answer is 42.\n" {
		t.Errorf("last: %q", l.Text("last", l.Name))
	}

	e.must("", "--approve-all", "prompt", "MOCK: "+asks[agent]+" touch allowed.txt")
	if !made("allowed.txt") {
		t.Error("the command that was allowed did not run")
	}
	e.run("--deny-all", "prompt", "MOCK: "+asks[agent]+" touch denied.txt")
	l.Is("idle")
	if made("denied.txt") {
		t.Error("the command that was denied ran")
	}

	ended := make(chan string, 1)
	go func() {
		out, _ := e.run("--format", "json", "prompt", "MOCK: slow 200 200")
		ended <- out
	}()
	l.Asked("MOCK: slow 200 200", 0)
	l.Is("working")
	e.must("", "cancel")
	select {
	case out := <-ended:
		if !strings.Contains(out, `"cancelled"`) {
			t.Errorf("the cancelled prompt ended as: %s", out)
		}
	case <-l.Ctx.Done():
		t.Fatal("the prompt has no end")
	}
	l.Is("idle")

	// A turn that a person began at the terminal is in the conversation that is loaded again.
	l.Nudge("MOCK: text Said at the terminal.", "--wait")
	e.must("", "sessions", "close")
	e.must("", "sessions", "new", "--resume-session", rows[0].ID)
	e.must("Loaded again.", "prompt", "MOCK: text Loaded again.")
	if l.Verb(&rows, "", "ls"); len(rows) != 1 {
		t.Errorf("loading started another session: %+v", rows)
	}
	if n := l.API.Arrivals("MOCK: text Loaded again."); n != 1 {
		t.Errorf("the prompt arrived %d times", n)
	}
	e.must("", "sessions", "close")
}
