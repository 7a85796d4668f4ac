package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(script string) Command {
	return Command{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Most: 1 << 10, Within: 20 * time.Second}
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		program Command
		output  string
		wrong   string
	}{
		"printed":         {sh("echo hello; echo ignored >&2"), "hello\n", ""},
		"its own status":  {sh("echo half; exit 3"), "half\n", "status 3"},
		"a signal":        {sh("kill -TERM $$"), "", "signal"},
		"not there":       {Command{Path: "/none", Argv: []string{"none"}, Within: time.Second}, "", "could not be started"},
		"reads no input":  {Command{Path: "/bin/true", Argv: []string{"true"}, Stdin: make([]byte, 1<<20), Within: 20 * time.Second}, "", ""},
		"only what it is": {Command{Path: "/bin/sh", Argv: []string{"sh", "-c", "echo $A$B"}, Env: []string{"A=1"}, Most: 9, Within: 20 * time.Second}, "1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("B", "of the caller")
			r, err := Run(t.Context(), c.program)
			if string(r.Output) != c.output {
				t.Errorf("output %q, want %q", r.Output, c.output)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
		})
	}
}

func TestOutputIsBounded(t *testing.T) {
	p := sh("head -c 1000000 /dev/zero | tr '\\0' x")
	r, err := Run(t.Context(), p)
	if err != nil || len(r.Output) != p.Most || !r.Cut {
		t.Errorf("%d bytes, cut %v, %v", len(r.Output), r.Cut, err)
	}
	p = sh("printf 0123456789")
	p.Most = 10
	if r, err := Run(t.Context(), p); err != nil || r.Cut || len(r.Output) != 10 {
		t.Errorf("%q, cut %v, %v", r.Output, r.Cut, err)
	}
}

// TestLast keeps the end of the error stream, or of both streams in their order.
func TestLast(t *testing.T) {
	p := sh("echo out; echo one >&2; echo two >&2; exit 3")
	p.Last = 6
	r, err := Run(t.Context(), p)
	if status := StatusError(0); string(r.Output) != "out\n" || string(r.Said) != "e\ntwo\n" || !errors.As(err, &status) || status != 3 {
		t.Errorf("%q %q %v", r.Output, r.Said, err)
	}
	p = sh("echo one; echo two >&2; echo three")
	p.Last, p.Both = 100, true
	if r, err := Run(t.Context(), p); string(r.Said) != "one\ntwo\nthree\n" || len(r.Output) != 0 || err != nil {
		t.Errorf("%q %q %v", r.Output, r.Said, err)
	}
}

// TestTime kills the program with all that it started.
func TestTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := sh("sleep 100 & echo $! > " + file + "; wait")
	p.Within = 300 * time.Millisecond
	r, err := Run(t.Context(), p)
	if !errors.Is(err, ErrTime) || r.Took < p.Within || r.Took > 10*time.Second {
		t.Errorf("%v after %s", err, r.Took)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; {
		if state, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); strings.Contains(string(state), ") Z ") {
			break // killed, and not reaped yet
		}
		if time.Now().After(deadline) {
			t.Fatal("what it started runs on")
		}
	}
}

// TestLeftBehind ends with the program, whatever still has its output open.
func TestLeftBehind(t *testing.T) {
	r, err := Run(t.Context(), sh("echo done; sleep 3 &"))
	if err != nil || string(r.Output) != "done\n" || r.Took > 2*time.Second {
		t.Errorf("%q after %s, %v", r.Output, r.Took, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Run(ctx, sh("sleep 100")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestNoTerminal: a command of a server that was started in a terminal doesn't have that terminal.
func TestNoTerminal(t *testing.T) {
	const inside = "BERTH_TEST_IN_A_TERMINAL"
	if os.Getenv(inside) == "" {
		self := exec.Command(os.Args[0], "-test.run=^TestNoTerminal$", "-test.timeout=30s")
		self.Env = append(os.Environ(), inside+"=1")
		terminal, err := pty.Start(self)
		if err != nil {
			t.Fatal(err)
		}
		defer terminal.Close()
		said, _ := io.ReadAll(terminal) // its end is an error on Linux
		if err := self.Wait(); err != nil || !strings.Contains(string(said), "PASS") {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	own, err := os.Open("/dev/tty")
	if err != nil {
		t.Fatal("the test's own terminal:", err)
	}
	own.Close()
	if r, err := Run(t.Context(), sh("exec 3</dev/tty && echo opened")); err == nil || len(r.Output) > 0 {
		t.Errorf("the command printed %q, %v", r.Output, err)
	}
}
