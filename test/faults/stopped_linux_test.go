package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pane is a tmux server with one pane of 200x50 that runs ssh.
type pane struct {
	t      *testing.T
	socket string
	ssh    int // pid
}

// tmux runs a command in a new tmux server's pane.
func (h *host) tmux(words ...string) *pane {
	h.t.Helper()
	p := &pane{t: h.t, socket: filepath.Join(h.dir, "tmux")}
	conf := filepath.Join(h.dir, "tmux.conf")
	must(h.t, os.WriteFile(conf, []byte("set -g status off\nset -g remain-on-exit on\nset -g default-terminal tmux-256color\n"), 0o600))
	cmd := exec.Command("tmux", append([]string{"-S", p.socket, "-f", conf, "new-session", "-d", "-x", "200", "-y", "50"}, words...)...)
	cmd.Env = h.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("tmux: %v\n%s", err, out)
	}
	h.t.Cleanup(p.close)
	return p
}

// close ends the tmux server. A second call does nothing.
func (p *pane) close() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() }

// attach attaches to a session in a tmux pane, view only: a client with control gets messages about other
// clients on the screen that is compared. tmux wakes its own stopped children, so ssh is the child of a
// shell.
func (h *host) attach(session string) *pane {
	h.t.Helper()
	script, pidFile := filepath.Join(h.dir, "attach"), filepath.Join(h.dir, "ssh.pid")
	text := fmt.Sprintf("#!/bin/sh\nsh -c 'echo $$ > %s.new; mv %s.new %s; exec ssh -t %s attach %s --read-only'\ntrue\n",
		pidFile, pidFile, pidFile, strings.Join(h.sshArgs(), " "), session)
	must(h.t, os.WriteFile(script, []byte(text), 0o700))
	p := h.tmux(script)
	waitFor(h.t, "ssh to run", func() bool {
		data, err := os.ReadFile(pidFile)
		if err != nil {
			return false
		}
		p.ssh, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	return p
}

// lines is what the pane shows.
func (p *pane) lines() []string {
	p.t.Helper()
	out, err := exec.Command("tmux", "-S", p.socket, "capture-pane", "-p").Output()
	must(p.t, err)
	return trimmed(strings.Split(string(out), "\n"))
}

// trimmed removes blanks at the ends of lines, and empty lines at the end.
func trimmed(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l, " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func (p *pane) keys(names ...string) {
	p.t.Helper()
	must(p.t, exec.Command("tmux", append([]string{"-S", p.socket, "send-keys"}, names...)...).Run())
}

// TestClientStopped stops a client that decides the session's size while the session prints.
func TestClientStopped(t *testing.T) {
	size := int64(80 << 20) // ten times what the server's memory may grow by
	if testing.Short() {
		size = 40 << 20
		t.Log("40 MiB instead of 80 MiB, for -short")
	}
	h := newHost(t, fast)
	h.start()
	h.create("log", "--size", "200x50", "--", program, "print", h.dir, fmt.Sprint(size))
	prints := 0
	print := func() time.Duration {
		t.Helper()
		h.run("input", "log", "--enter", fmt.Sprint(prints))
		prints++
		return h.printed(prints)
	}
	shown := func() []string {
		t.Helper()
		var lines []string
		done := fmt.Sprintf("done %d", prints-1)
		waitFor(t, "the session's screen to be up to date", func() bool {
			lines = trimmed(answer[screen](h, "screen", "log").Lines)
			return slices.Contains(lines, done)
		})
		return lines
	}
	print() // fill scrollback and heap once
	shown()
	p := h.attach("log")
	waitFor(t, "the first picture", func() bool { return slices.Equal(p.lines(), shown()) })

	alone, stopped := time.Duration(1<<62), time.Duration(1<<62)
	var grown int64
	var back time.Duration
	// Other processes slow some prints, so the best of each kind are compared. While those differ, the test
	// makes more prints: another package's tests kept a processor for longer than 8 of them.
	const enough = 0.8
	ratio, rounds := 0.0, 0
	for ; rounds < 2 || ratio < enough && rounds < 20; rounds++ {
		p.keys("C-]", "d")
		waitFor(t, "the client to have gone", func() bool { return !alive(p.ssh) })
		p.close()
		alone = min(alone, print())
		shown()
		must(t, os.Remove(filepath.Join(h.dir, "ssh.pid")))
		p = h.attach("log")
		waitFor(t, "the picture", func() bool { return slices.Equal(p.lines(), shown()) })

		before := anonymous(t, h.pid())
		must(t, syscall.Kill(p.ssh, syscall.SIGSTOP))
		most := h.mostMemory(func() { stopped = min(stopped, print()) })
		want := shown()
		grown = max(grown, most-before, anonymous(t, h.pid())-before)
		must(t, syscall.Kill(p.ssh, syscall.SIGCONT))
		back = max(back, waitWithin(t, 5*time.Second, "the client to show the present screen", func() bool { return slices.Equal(p.lines(), want) }))
		ratio = alone.Seconds() / stopped.Seconds()
	}
	mbs := func(d time.Duration) float64 { return float64(size) / 1e6 / d.Seconds() }
	t.Logf("best of %d, %d MiB: %.0f MB/s alone, %.0f MB/s with a stopped client: ratio %.2f", rounds, size>>20, mbs(alone), mbs(stopped), ratio)
	t.Logf("the server's anonymous memory grew by at most %s; the client was back after %v", mib(grown), back.Round(time.Millisecond))
	if ratio < enough {
		t.Errorf("a stopped client slows the session: ratio %.2f", ratio)
	}
	if grown >= 8<<20 {
		t.Errorf("the server's memory grew by %s", mib(grown))
	}
	if back > time.Second {
		t.Errorf("the client was back after %v", back)
	}
}

// printed waits for the program's n-th print and returns how long it took.
func (h *host) printed(n int) time.Duration {
	h.t.Helper()
	var took time.Duration
	waitFor(h.t, "the print to end", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.dir, "took"))
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(lines) < n || lines[0] == "" {
			return false
		}
		ns, err := strconv.ParseInt(lines[n-1], 10, 64)
		must(h.t, err)
		took = time.Duration(ns)
		return true
	})
	return took
}

// mostMemory is the maximum of the server's anonymous memory while do runs.
func (h *host) mostMemory(do func()) int64 {
	h.t.Helper()
	done, most := make(chan struct{}), make(chan int64, 1)
	pid := h.pid()
	go func() {
		var seen int64
		for {
			seen = max(seen, anonymous(h.t, pid))
			select {
			case <-done:
				most <- seen
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	func() {
		defer close(done)
		do()
	}()
	return <-most
}
