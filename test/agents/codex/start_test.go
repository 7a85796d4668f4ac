//go:build agents

package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestGate: an agent that would rest is told to go on, and rests when it has
// reported.
func TestGate(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	l.call("gate", name, "gate", "Say what is done.")
	if n := l.give("MOCK: text first"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	deadline := time.Now().Add(patient)
	for blocks := 0; ; blocks = 0 {
		for _, e := range l.told("gate") {
			if e.Kind == "blocked" {
				blocks++
			}
		}
		if blocks >= 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the gate holds nothing back: %+v", l.told("gate"))
		}
	}
	l.call("gate", name, "open")
	l.await("idle")
	found := false
	for _, r := range l.API.Requests() {
		found = found || strings.Contains(string(r.Body), "Say what is done.")
	}
	if !found {
		t.Error("the model was never told the gate's text")
	}
	for i, s := range l.states() {
		if s == "idle" && i > 0 && i < len(l.states())-1 {
			t.Errorf("it was said to rest while the gate held it: %v", l.states())
		}
	}
}

// TestStartContext: a conversation begins with what it is given.
func TestStartContext(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	l.call("start-context", name, "any", "The lab's context is 4711.")
	l.confirmed("MOCK: text hello", "MOCK: text hello")
	if r := l.Asked("MOCK: text hello", 0); !strings.Contains(string(r.Body), "The lab's context is 4711.") {
		t.Error("the model is not told the context")
	}
	if told := l.told("start_context"); len(told) != 2 || told[1].Kind != "given" {
		t.Errorf("%+v", told)
	}
}

// TestSettings: settings, servers of tools and hooks of the session's.
func TestSettings(t *testing.T) {
	t.Parallel()
	l := newHost(t, Ready(), func(*lab) string {
		return fmt.Sprintf("profiles:\n  own:\n    agent: codex\n    command: [%s]\n    mcp: {lab: {command: /bin/false}}\n", programs.Agent) +
			"    settings: {model: another-model, hooks: {UserPromptSubmit: [{hooks: [{type: command, command: touch hook-ran}]}]}}\n"
	})
	l.begin("--profile", "own")
	l.await("idle")
	l.See("another-model default")
	l.confirmed("MOCK: text hello", "MOCK: text hello")
	if !l.Made("hook-ran") {
		t.Error("the session's own hook did not run")
	}
}

// TestReport: what Codex runs in its sandbox reports, and the gate lets go.
func TestReport(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	l.call("gate", name, "gate", "Say what is done.")
	links, err := filepath.Glob(filepath.Join(l.home.Dir, "..", "state", "sessions", "*", "berth"))
	if err != nil || len(links) != 1 {
		t.Fatalf("%v, %v", links, err)
	}
	n := l.give("MOCK: run "+links[0]+" report complete all is done", "--wait", "--timeout", patient.String())
	if n.status != 0 {
		t.Errorf("%+v %+v", n, n.Error)
	}
	var kinds []string
	for _, e := range l.told("report", "gate") {
		kinds = append(kinds, e.Type+":"+e.Kind+e.Why)
	}
	t.Log(kinds)
	if got := strings.Join(kinds, " "); !strings.Contains(got, "report:complete") || !strings.Contains(got, "gate:let_goreport") {
		t.Errorf("told %s", got)
	}
}

// TestServerKilled: a prompt that a hook waits for is there again, and is
// answered once; one that was let go meanwhile is answered at the dialog.
func TestServerKilled(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	for i, away := range []time.Duration{0, 3 * time.Second} {
		file := "made-" + strconv.Itoa(i)
		one := l.asks("MOCK: bash mkdir " + file)
		check(t, l.Host.Kill())
		time.Sleep(away) // for longer than a hook waits without a server, or not at all
		check(t, l.Host.Start())
		two := l.await("prompt")
		if two.Prompt.ID != one.Prompt.ID {
			t.Errorf("away for %v: it was %s, and is %s", away, one.Prompt.ID, two.Prompt.ID)
		}
		r, status := l.try("--prompt", one.Prompt.ID, "accept")
		if status != 0 || !r.Confirmed {
			t.Errorf("away for %v: status %d, %+v %+v", away, status, r, r.Error)
		}
		t.Logf("away for %v: answered by %s", away, r.Channel)
		if away > time.Second && r.Channel != "keys" {
			t.Errorf("without a server the hook waited for %v", away)
		}
		if r, status := l.try("--prompt", one.Prompt.ID, "accept"); status != 6 {
			t.Errorf("a second answer: status %d, %+v", status, r)
		}
		l.await("idle")
		if !l.Made(file) {
			t.Error("accepted, and it did not run")
		}
	}
}

// TestKilled: nothing of Codex is left 5 s after kill, also when it runs a
// command.
func TestKilled(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	if n := l.give("MOCK: run sleep 300"); n.status != 0 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("sleep 300")
	if left := l.processes(); len(left) == 0 {
		t.Fatal("its processes are not found by its home")
	}
	began := time.Now()
	l.call("kill", name)
	for left := l.processes(); len(left) > 0; left = l.processes() {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("5 s after kill there is %v", left)
		}
	}
	t.Logf("all were gone after %v", time.Since(began))
}

// processes are those with the session's home in their environment.
func (l *lab) processes() []string {
	l.T.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	check(l.T, err)
	var list []string
	for _, file := range all {
		env, _ := os.ReadFile(file) // one that has ended has none
		if strings.Contains(string(env), "HOME="+l.home.Dir) && !strings.Contains(string(env), "BERTH_RUNTIME_DIR=") {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			list = append(list, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return list
}
