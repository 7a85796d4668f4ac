//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// relayIn builds the program that gives another one a terminal, as FOLDER/relay.
func relayIn(t *testing.T, folder string) string {
	t.Helper()
	exe := filepath.Join(folder, "relay")
	if out, err := exec.Command("go", "build", "-o", exe, "berth/test/agents/relay").CombinedOutput(); err != nil {
		t.Fatalf("build the relay: %v\n%s", err, out)
	}
	return exe
}

// TestKeptMessage: on a slow line, Enter arrives after a turn has started by itself. Claude
// queues the message until the turn's end, and says so in its log; 2.1.330 says so by its hook as well. That
// confirms the delivery, and the answer is of the message's own turn.
func TestKeptMessage(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	l.wrapper = filepath.Join(l.home.Dir, "slow")
	check(t, os.WriteFile(l.wrapper, fmt.Appendf(nil, "#!/bin/sh\nexec %s -enter 800ms %s \"$@\"\n", relayIn(t, l.home.Dir), programs.Agent), 0o700))
	l.start("slow", nil, nil, "--dangerously-skip-permissions")
	l.Is("idle")
	l.ready()
	evidence := map[string]int{}                   // of messages that were queued
	for i := 0; i < 6 && len(evidence) == 0; i++ { // on a busy machine Enter may be there before the turn
		gate := filepath.Join(l.home.Workspace, fmt.Sprint("go", i))
		if n := l.Nudge(fmt.Sprintf("MOCK: shell while [ ! -e %s ]; do sleep 0.02; done", gate), "--wait", "--timeout", patient.String()); n.Status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		word := fmt.Sprint("kept ", i)
		l.API.Queue(modelapi.Scenario{Name: "slow", Steps: modelapi.Common()["slow"]("8 250", modelapi.Scene{})}) // the next turn starts by itself, and Enter comes during it
		told := make(chan testbed.Nudged, 1)
		go func() { told <- l.Nudge("MOCK: text "+word, "--wait", "--timeout", patient.String()) }()
		l.See(prompt + "MOCK: text " + word)
		check(t, os.WriteFile(gate, nil, 0o600))
		n := <-told
		if n.Status != 0 || !n.Confirmed || n.LastMessage == nil || *n.LastMessage != word {
			t.Errorf("%+v %+v", n, n.Error)
		}
		if l.enqueued("MOCK: text " + word) {
			evidence[n.Evidence]++
		}
		l.noticed(i + 1)
		l.Is("idle")
		l.once("MOCK: text " + word)
	}
	if evidence["log:enqueue"] == 0 && (!newer(330) || evidence["hook:UserPromptSubmit"] == 0) {
		t.Errorf("queued messages were confirmed by %v", evidence)
	}
	t.Log(evidence)
}

// enqueued reports whether Claude's session log says that it queued the message.
func (l *lab) enqueued(message string) bool {
	l.T.Helper()
	logs, err := filepath.Glob(filepath.Join(l.home.Config, "projects", "*", "*.jsonl"))
	check(l.T, err)
	for _, file := range logs {
		data, err := os.ReadFile(file)
		check(l.T, err)
		for line := range strings.Lines(string(data)) {
			var e struct {
				Operation string
				Content   any
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Operation == "enqueue" && e.Content == message {
				return true
			}
		}
	}
	return false
}

// TestForeignDialog: another Claude, with a terminal of its own inside a tool,
// asks with the hooks that it inherited. Berth releases its hook at once, without an
// answer. Its dialog stays, and the session's state doesn't change.
func TestForeignDialog(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	settings, err := filepath.Glob(filepath.Join(l.home.Dir, "..", "state", "sessions", "*", "claude-settings.json"))
	if err != nil || len(settings) != 1 {
		t.Fatalf("the settings with our hooks: %v, %v", settings, err)
	}
	relayIn(t, l.home.Workspace)
	check(t, os.Symlink(settings[0], filepath.Join(l.home.Workspace, "s.json")))
	check(t, os.Symlink(programs.Agent, filepath.Join(l.home.Workspace, "nested")))
	l.send("MOCK: bash ./relay ./nested --permission-mode default --settings s.json 'MOCK: bash touch foreign.txt' > out.txt")
	l.Is("prompt")
	l.Respond("hook", "accepted", "accept")
	l.Is("working")
	foreign := func(kind string) (n int) {
		for _, e := range l.events("hook") {
			if e["event"] == kind && e["foreign"] == true {
				n++
			}
		}
		return n
	}
	l.Poll(func() bool { return foreign("PermissionRequest") == 1 }, func() string {
		out, _ := os.ReadFile(filepath.Join(l.home.Workspace, "out.txt"))
		return fmt.Sprintf("the other one asked %d times; it shows\n%q", foreign("PermissionRequest"), out)
	})
	l.untilFile(filepath.Join(l.home.Workspace, "out.txt"), "proceed?")
	l.Poll(func() bool { return len(l.hooksWaiting()) == 0 }, func() string { return "its hook waits" })
	if s := l.Said(); s.State != "working" || s.Prompt != nil {
		t.Errorf("the session is %+v", s)
	}
	if r, status := l.Try("", "accept"); status != 6 {
		t.Errorf("the other one's prompt was answered: %+v", r)
	}
	l.endNested()
	l.Is("idle")
	if l.Made("foreign.txt") {
		t.Error("what the other one asked was allowed")
	}
}

// endNested ends the Claude that runs in the tool.
func (l *lab) endNested() {
	l.T.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(l.T, err)
	for _, name := range all {
		line, err := os.ReadFile(name)
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(name), "cwd"))
		if err != nil || cwd != l.home.Workspace || !strings.HasPrefix(string(line), "./nested\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		check(l.T, err)
		check(l.T, syscall.Kill(pid, syscall.SIGTERM))
		return
	}
	l.T.Fatal("the other one is not there")
}
