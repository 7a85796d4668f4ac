package faults

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHolderKilled kills a session's holder. Its program ends with the terminal, and the server reports
// at once that the session is lost.
func TestHolderKilled(t *testing.T) {
	h := newHost(t, checked)
	h.start()
	h.create("lost", "--", "sleep", "1000")
	h.create("other", "--", "sleep", "1000")
	i := h.info("lost")
	killed := time.Now()
	must(t, syscall.Kill(i.HolderPID, syscall.SIGKILL))
	waitFor(t, "the session to be lost", func() bool {
		got := h.info("lost")
		return got.State == "exited" && got.Exit != nil && got.Exit.Lost
	})
	waitFor(t, "the program to be gone", func() bool { return !alive(i.PID) })
	ends := 0
	for _, line := range h.events() {
		var e event
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Type != "exited" || !e.Lost {
			continue
		}
		ends++
		took := e.Time.Sub(killed) // by the event: each look is a login
		if t.Logf("reported after %v", took.Round(time.Millisecond)); took > time.Second {
			t.Errorf("the loss was reported after %v", took)
		}
	}
	if ends != 1 {
		t.Errorf("%d events report the loss, want 1", ends)
	}
	if !alive(h.info("other").PID) {
		t.Error("the other session ended too")
	}

	// The same while no server runs.
	i = h.info("other")
	h.kill()
	must(t, syscall.Kill(i.HolderPID, syscall.SIGKILL))
	waitFor(t, "the program to be gone", func() bool { return !alive(i.PID) })
	for range 2 { // only the first server that finds the loss reports it
		h.start()
		if got := h.info("other"); got.State != "exited" || !got.Exit.Lost {
			t.Errorf("after a restart the session is %+v", got)
		}
		h.kill()
	}
	h.start()
	ends = 0
	for _, line := range h.events() {
		if strings.Contains(line, `"type":"exited"`) {
			ends++
		}
	}
	if ends != 2 {
		t.Errorf("%d events report the two ends, want 2", ends)
	}
	judgeOrder(t, h.events())
}

// TestServerStopped ends the server by each signal, and checks that its sessions go on.
func TestServerStopped(t *testing.T) {
	h := newHost(t, checked)
	h.start()
	script := filepath.Join(h.dir, "script")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\nsleep 1000 &\nsetsid sleep 1000 &\nwait\n"), 0o700))
	h.create("sleep", "--", script)
	i := h.info("sleep")
	var tree []int
	waitFor(t, "the program's tree", func() bool { tree = descendants(i.HolderPID); return len(tree) == 3 })
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		state := h.signal(sig)
		if !state.Success() {
			t.Errorf("at %v the server ended with %v", sig, state)
		}
		for _, pid := range append([]int{i.HolderPID}, tree...) {
			if !alive(pid) {
				t.Errorf("%v to the server ended %d", sig, pid)
			}
		}
		h.start()
		if got := h.info("sleep"); got.State == "exited" || got.PID != i.PID {
			t.Errorf("after %v the session is %+v", sig, got)
		}
	}
	must(t, syscall.Kill(-h.pid(), syscall.SIGHUP)) // the server only reads its files again
	waitFor(t, "the reload to be logged", func() bool {
		log, err := os.ReadFile(h.log())
		must(t, err)
		return strings.Contains(string(log), "reloaded")
	})
	for _, pid := range append([]int{h.pid(), i.HolderPID}, tree...) {
		if !alive(pid) {
			t.Errorf("a hangup of the server ended %d", pid)
		}
	}
	h.signal(syscall.SIGTERM)
	h.start("--stop-sessions")
	begun := time.Now()
	h.signal(syscall.SIGTERM)
	t.Logf("--stop-sessions took %v", time.Since(begun).Round(time.Millisecond))
	for _, pid := range append([]int{i.HolderPID}, tree...) { // they end soon
		waitWithin(t, 2*time.Second, "every process of the session to be gone", func() bool { return !alive(pid) })
	}
	h.start()
	if got := h.info("sleep"); got.State != "exited" || got.Exit.Lost {
		t.Errorf("after --stop-sessions the session is %+v", got)
	}
}

// TestMakeRun presses Ctrl-C in a terminal that runs make run.
func TestMakeRun(t *testing.T) {
	h := newHost(t, checked)
	must(t, os.MkdirAll(filepath.Join(h.dir, "run"), 0o700))
	root, err := filepath.Abs("../..")
	must(t, err)
	p := h.tmux("env", "BERTH_LISTEN=127.0.0.1:0", "BERTH_STATE_DIR="+h.state, "BERTH_RUNTIME_DIR="+filepath.Join(h.dir, "run"),
		"BERTH_AUTHORIZE="+h.key+".pub", "GOCACHE="+goEnv(t, "GOCACHE"), "GOPATH="+goEnv(t, "GOPATH"), "GOFLAGS=-buildvcs=false",
		"make", "-C", root, "run", "BIN="+filepath.Join(h.dir, "berth"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the pane:\n%s", strings.Join(p.lines(), "\n"))
		}
	})
	waitWithin(t, 3*time.Minute, "make to build and the server to listen", func() bool {
		for _, line := range p.lines() {
			if found := listening.FindStringSubmatch(line); found != nil {
				h.setAddr(found[1])
				return strings.Contains(strings.Join(p.lines(), "\n"), "Ctrl-C here stops the server")
			}
		}
		return false
	})
	i := h.info("demo")
	server := answer[struct{ PID int }](h, "health").PID
	p.keys("C-c")
	waitFor(t, "the server to end", func() bool { return !alive(server) })
	if !alive(i.PID) || !alive(i.HolderPID) {
		t.Fatal("Ctrl-C reached the session")
	}
	h.start()
	if got := h.info("demo"); got.PID != i.PID || got.State == "exited" {
		t.Errorf("after Ctrl-C the session is %+v", got)
	}
}
