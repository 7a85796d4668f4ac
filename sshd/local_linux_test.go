package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"berth/keys"
	"berth/sessions/hold"
	"berth/sshd/local"
)

// testProcess is what this test binary does when started as another process.
func testProcess(mode string) int {
	switch mode {
	case "holder":
		return holderProcess()
	case "local": // run the words at the socket
		status, err := local.Run(context.Background(), os.Args[1], os.Args[2:], os.Stdin, os.Stdout, os.Stderr, false)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 98
		}
		return status
	case "terminal": // the same with a terminal
		status, err := local.Run(context.Background(), os.Args[1], os.Args[2:], os.Stdin, os.Stdout, os.Stderr, true)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 98
		}
		return status
	case "relay": // what nc does
		c, err := net.Dial("tcp", os.Args[1])
		if err != nil {
			return 95
		}
		go io.Copy(c, os.Stdin)
		_, _ = io.Copy(os.Stdout, c)
		return 0
	case "leave": // connect and be gone
		if _, err := net.Dial("unix", os.Args[1]); err != nil {
			return 97
		}
		return 0
	}
	return 99
}

// holderProcess runs a shell command as a session's holder would: as a child
// subreaper that outlives it until its standard input ends.
func holderProcess() int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 96
	}
	cmd := exec.Command("sh", "-c", os.Args[1])
	cmd.Env = append(os.Environ(), "SSHD_TEST_PROCESS=local", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// holder is a process as Options.Holders returns it.
func holder(t testing.TB, script string, args ...any) (HolderProcess, *lockedBuffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], fmt.Sprintf(script, args...))
	cmd.Env = append(os.Environ(), "SSHD_TEST_PROCESS=holder", "GORACE=atexit_sleep_ms=0")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	return holderProcessOf(t, cmd.Process.Pid), out
}

// holderProcessOf is a process as the holder of the session alpha.
func holderProcessOf(t testing.TB, pid int) HolderProcess {
	t.Helper()
	start, err := hold.StartOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return HolderProcess{PID: pid, Start: start, Session: "01ALPHA", Name: "alpha"}
}

// withSocket has the server listen on a Unix socket too, and know the holders.
func withSocket(path *string, holders func() []HolderProcess) func(*Options) {
	return func(o *Options) {
		dir, err := os.MkdirTemp("", "sock")
		if err != nil {
			panic(err)
		}
		*path = filepath.Join(dir, "s")
		o.Socket, o.Holders, o.Local = *path, holders, keys.Admin
	}
}

func TestLocalCaller(t *testing.T) {
	var socket string
	start(t, describe, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	var out, errOut bytes.Buffer
	words := []string{"nudge", "alpha", "it's  \"two\" <spaces>\n$HOME", ""}
	status, err := local.Run(context.Background(), socket, words, strings.NewReader(""), &out, &errOut, false)
	if err != nil || status != 0 {
		t.Fatalf("%d %v %s", status, err, errOut.String())
	}
	d := result{out: out.String()}.described(t)
	if fmt.Sprint(d.Args) != fmt.Sprint(words) || len(d.Args) != len(words) || d.Shell {
		t.Errorf("args %q", d.Args)
	}
	if d.Identity.Kind != keys.KindLocal || d.Identity.Role != keys.Admin || d.Identity.PID != os.Getpid() || !strings.HasPrefix(d.Identity.Name, "local:") {
		t.Errorf("identity %+v", d.Identity)
	}
	out.Reset()
	if _, err := local.Run(context.Background(), socket, nil, strings.NewReader(""), &out, &errOut, false); err != nil || !(result{out: out.String()}).described(t).Shell {
		t.Errorf("a shell: %s %v", out.String(), err)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v %v", info, err)
	}
}

func TestLocalStatusAndInput(t *testing.T) {
	var socket string
	start(t, func(ctx context.Context, c *Session) int {
		if c.Command()[0] == "fail" {
			fmt.Fprintln(c.Stderr(), "no")
			return 7
		}
		_, _ = io.Copy(c, c.Stdin)
		return 0
	}, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	var out, errOut bytes.Buffer
	if status, err := local.Run(context.Background(), socket, []string{"fail"}, strings.NewReader(""), &out, &errOut, false); status != 7 || err != nil || errOut.String() != "no\n" {
		t.Errorf("%d %v %q", status, err, errOut.String())
	}
	big := strings.Repeat("0123456789abcdef", 1<<16)
	if status, err := local.Run(context.Background(), socket, []string{"cat"}, strings.NewReader(big), &out, &errOut, false); status != 0 || err != nil || out.String() != big {
		t.Errorf("%d %v, %d bytes", status, err, out.Len())
	}
}

// Anything that descends from a holder is its session's agent, also when it
// has daemonised, whichever way it comes and whatever key it has.
func TestAgentIsKnownByDescent(t *testing.T) {
	var socket string
	var mu lockedHolders
	h := start(t, describe, withSocket(&socket, mu.list))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	ssh := "ssh " + strings.Join(h.args(h.admin.file), " ") + " a@127.0.0.1 x"
	me := os.Args[0] + " " + socket + " x"
	for name, script := range map[string]string{
		"local":              me,
		"local, deep":        "sh -c 'sh -c \"" + me + "; true\"; true'",
		"local, a daemon":    "setsid sh -c '(sleep 0.2; " + me + ") &' ",
		"ssh":                ssh,
		"ssh, deep":          "sh -c '" + ssh + "; true'",
		"ssh, a daemon":      "setsid sh -c '(sleep 0.2; " + ssh + ") &' ",
		"ssh, over a helper": "ssh -o ProxyCommand='env SSHD_TEST_PROCESS=relay " + os.Args[0] + " " + h.server.Addr().String() + "' " + strings.TrimPrefix(ssh, "ssh "),
	} {
		t.Run(name, func(t *testing.T) {
			p, out := holder(t, "read go < %s; %s", mu.gate(t), script)
			mu.set(p)
			mu.open(t)
			eventually(t, "an answer", func() bool { return strings.HasSuffix(out.String(), "\n") })
			d := result{out: out.String()}.described(t)
			if id := d.Identity; id.Kind != keys.KindAgent || id.Name != "agent:alpha" || id.Session != "01ALPHA" || id.Role >= keys.Responder || id.PID == 0 ||
				strings.HasPrefix(name, "ssh") && !strings.HasPrefix(id.Fingerprint, "SHA256:") {
				t.Errorf("%+v", id)
			}
		})
	}
	// Others on this machine are who they were.
	if d := h.ssh("", "a@127.0.0.1", "x").described(t); d.Identity.Name != "admin" || d.Identity.Kind != keys.KindKey {
		t.Errorf("%+v", d.Identity)
	}
	var out bytes.Buffer
	if _, err := local.Run(context.Background(), socket, []string{"x"}, strings.NewReader(""), &out, io.Discard, false); err != nil ||
		(result{out: out.String()}).described(t).Identity.Kind != keys.KindLocal {
		t.Errorf("%s %v", out.String(), err)
	}
}

// lockedHolders is what Holders lists, and a FIFO on which holders wait until
// the list has them.
type lockedHolders struct {
	mu      sync.Mutex
	holders []HolderProcess
	fifo    string
}

func (l *lockedHolders) list() []HolderProcess {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]HolderProcess(nil), l.holders...)
}

func (l *lockedHolders) set(h ...HolderProcess) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holders = h
}

func (l *lockedHolders) gate(t testing.TB) string {
	t.Helper()
	l.fifo = filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(l.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return l.fifo
}

func (l *lockedHolders) open(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(l.fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
}

// A holder's number that another process has now is not a holder.
func TestReusedHolderNumber(t *testing.T) {
	p, out := holder(t, "echo")
	eventually(t, "it runs", func() bool { return out.String() != "" })
	p.Start = "0" + p.Start
	if h, err := holderOf(p.PID, []HolderProcess{p}, hold.Walk); h != nil || err != nil {
		t.Errorf("%v %v", h, err)
	}
}

// With a terminal: raw while it lasts, its size passed on, and given back at
// the end and before a signal ends the client.
func TestLocalTerminal(t *testing.T) {
	var socket string
	o := newHolding()
	start(t, func(ctx context.Context, c *Session) int {
		o.calls <- c
		buf := make([]byte, 1)
		for {
			if _, err := c.Input.ReadContext(ctx, buf); err != nil || buf[0] == 'q' {
				return 5
			}
			fmt.Fprintf(c, "<%x>\n", buf[0])
		}
	}, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	modes := func(f *os.File) unix.Termios {
		m, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *m
	}
	for _, end := range []string{"status", "signal", "server"} {
		t.Run(end, func(t *testing.T) {
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer slave.Close()
			if err := pty.Setsize(master, &pty.Winsize{Cols: 91, Rows: 31}); err != nil {
				t.Fatal(err)
			}
			before := modes(slave)
			cmd := exec.Command(os.Args[0], socket, "attach", "alpha")
			cmd.Env = append(os.Environ(), "SSHD_TEST_PROCESS=terminal", "GORACE=atexit_sleep_ms=0", "TERM=tmux-256color", "LANG=C.UTF-8")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out := &lockedBuffer{}
			go io.Copy(out, master)
			call := o.call(t)
			if *call.Terminal != (Terminal{"tmux-256color", 91, 31}) || call.Env()["LANG"] != "C.UTF-8" {
				t.Errorf("%+v %v", call.Terminal, call.Env())
			}
			if err := pty.Setsize(master, &pty.Winsize{Cols: 77, Rows: 22}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the size", func() bool { c, r := call.Window(); return c == 77 && r == 22 })
			if _, err := master.Write([]byte{3}); err != nil { // Ctrl-C is a byte
				t.Fatal(err)
			}
			eventually(t, "an answer, its line end left alone", func() bool { return strings.Contains(out.String(), "<3>\n") && !strings.Contains(out.String(), "\r") })
			want := 5
			switch end {
			case "status":
				_, _ = master.Write([]byte("q"))
			case "signal":
				want = -1
				_ = cmd.Process.Signal(syscall.SIGTERM)
			case "server":
				want = 98
				_ = call.conn.wire.Close()
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("status %d, want %d: %s", got, want, out)
			}
			if modes(slave) != before {
				t.Error("the terminal is not as it was")
			}
		})
	}
}

func TestNoTerminal(t *testing.T) {
	var socket string
	start(t, describe, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	_, err := local.Run(context.Background(), socket, []string{"attach"}, strings.NewReader(""), io.Discard, io.Discard, true)
	if !errors.Is(err, local.ErrNoTerminal) {
		t.Errorf("%v", err)
	}
}

// The end of its context ends a client that waits.
func TestLocalCancel(t *testing.T) {
	var socket string
	o := newHolding()
	start(t, func(ctx context.Context, c *Session) int {
		o.calls <- c
		<-ctx.Done()
		return 0
	}, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := local.Run(ctx, socket, []string{"watch"}, strings.NewReader(""), io.Discard, io.Discard, false)
		done <- err
	}()
	o.call(t)
	cancel()
	if err := receive(t, "its return", done); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNoServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for range 2 {
		_, err := local.Run(context.Background(), path, []string{"ls"}, strings.NewReader(""), io.Discard, io.Discard, false)
		if !errors.Is(err, local.ErrNoServer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "berth up") {
			t.Errorf("%v", err)
		}
		// Once more with a socket that a killed server left.
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err == nil {
			l.SetUnlinkOnClose(false)
			l.Close()
		}
	}
}

func TestListenUnix(t *testing.T) {
	dir := t.TempDir() // 0755
	if _, err := listenUnix(filepath.Join(dir, "s")); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a folder open to others: %v", err)
	}
	path := filepath.Join(dir, "made", "s")
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(path); err == nil || !strings.Contains(err.Error(), "another server is running") {
		t.Errorf("a second server: %v", err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if l, err = listenUnix(path); err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	l.Close()
	if _, err := listenUnix(filepath.Join(dir, "made", strings.Repeat("x", 100))); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a long path: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(path); err != nil {
		t.Logf("a plain file in the way: %v", err)
	}
}
