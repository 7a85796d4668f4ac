package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// master starts a connection of the real client that others share; what it
// returns makes commands that do.
func (h *harness) master() func(words ...string) *exec.Cmd {
	h.t.Helper()
	socket := filepath.Join(h.dir, "mux")
	cmd := h.command("-M", "-S", socket, "-N", "agents@127.0.0.1")
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(h.t, "the shared connection is there", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	return func(words ...string) *exec.Cmd {
		return h.command(append([]string{"-S", socket}, words...)...)
	}
}

// holding serves "hold": it passes its sessions to the test and waits for their end.
type holding struct {
	calls chan *Session
	ends  chan error
}

func newHolding() *holding {
	return &holding{calls: make(chan *Session, 100), ends: make(chan error, 100)}
}

func (o *holding) serve(ctx context.Context, c *Session) int {
	if c.RawCommand() != "hold" {
		return echo(ctx, c)
	}
	o.calls <- c
	<-ctx.Done()
	o.ends <- context.Cause(ctx)
	return 0
}

func (o *holding) call(t testing.TB) *Session {
	t.Helper()
	return receive(t, "a call", o.calls)
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("not within 10 s: %s", what)
		panic("unreachable")
	}
}

// inPTY starts cmd in a terminal.
func inPTY(t testing.TB, cmd *exec.Cmd, cols, rows uint16) *os.File {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		f.Close()
	})
	return f
}

// sleepyMaster makes the server speak up often: OpenSSH's master notes a
// signal, or the death of one that shares its connection, but may sleep on it
// until something arrives, if only a keepalive.
func sleepyMaster(o *Options) {
	o.Limits.KeepAlive = 100 * time.Millisecond
	o.Limits.KeepAliveMissed = 100
}

// Trap 1: unread window changes stalled the whole connection.
func TestWindowChangesDoNotStallTheConnection(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, sleepyMaster)
	shared := h.master()
	terminal := inPTY(t, shared("-tt", "agents@127.0.0.1", "hold"), 80, 24)
	go io.Copy(io.Discard, terminal)
	call := o.call(t)
	if call.Terminal == nil || call.Terminal.Cols != 80 || call.Terminal.Rows != 24 {
		t.Fatalf("terminal %+v", call.Terminal)
	}
	// A client that shares a connection passes signals on only some time after
	// its command has begun; those before are lost.
	cols := uint16(200)
	eventually(t, "a first change arrives", func() bool {
		cols++
		_ = pty.Setsize(terminal, &pty.Winsize{Cols: cols, Rows: 40})
		now, _ := call.Window()
		return now > 200
	})
	for i := range 60 {
		size := &pty.Winsize{Cols: uint16(100 + i), Rows: 40}
		if err := pty.Setsize(terminal, size); err != nil {
			t.Fatal(err)
		}
		// The client sends one for each signal it sees; give it the time to.
		eventually(t, "the change arrives", func() bool {
			cols, _ := call.Window()
			return cols == int(size.Cols)
		})
	}
	if r := run(t, shared("agents@127.0.0.1", "say", "alive"), ""); r.out != "[agents|say|alive]" {
		t.Errorf("the connection has stalled: %+v", r)
	}
	receive(t, "one value for all changes", call.Resized())
	select {
	case <-call.Resized():
		t.Error("a second value")
	default:
	}
	if cols, rows := call.Window(); cols != 159 || rows != 40 {
		t.Errorf("window %dx%d, want the last, 159x40", cols, rows)
	}
}

// Traps 2 and 3: a client that dies while others share its connection ends
// its own call, leaves nothing running, and the others alone.
func TestDeadSharedClient(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, sleepyMaster)
	shared := h.master()
	if r := run(t, shared("agents@127.0.0.1", "say"), ""); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	other := inPTY(t, shared("-tt", "agents@127.0.0.1", "hold"), 80, 24)
	go io.Copy(io.Discard, other)
	survivor := o.call(t)
	before := runtime.NumGoroutine()

	for range 5 {
		cmd := shared("-tt", "agents@127.0.0.1", "hold")
		terminal := inPTY(t, cmd, 80, 24)
		o.call(t)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		terminal.Close()
		if cause := receive(t, "the dead client's context ends", o.ends); !errors.Is(cause, ErrChannelClosed) {
			t.Errorf("cause %v", cause)
		}
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+1 }) // a keepalive may be under way
	if survivor.ctx.Err() != nil {
		t.Errorf("the other call ended too: %v", context.Cause(survivor.ctx))
	}
	var a, b syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &a)
	time.Sleep(300 * time.Millisecond) // the span measured
	syscall.Getrusage(syscall.RUSAGE_SELF, &b)
	if used := time.Duration(b.Utime.Nano() - a.Utime.Nano() + b.Stime.Nano() - a.Stime.Nano()); used > 60*time.Millisecond {
		t.Errorf("%v of CPU in 300 ms of nothing", used)
	}
}

// Trap 2: the context of a call ends with its connection.
func TestLostConnectionEndsTheContext(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	cmd := h.command("agents@127.0.0.1", "hold")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	call := o.call(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	cause := receive(t, "the context ends", o.ends)
	if !errors.Is(cause, ErrConnectionLost) {
		t.Errorf("cause %v", cause)
	}
	// What is written now goes nowhere and says so.
	if _, err := fmt.Fprint(call, "x"); err == nil {
		err = call.Flush()
		if err == nil {
			t.Error("a write to a client that is gone succeeds")
		}
	}
}

// Trap 4: a terminal's output is not rewritten.
func TestLineEndsAreLeftAlone(t *testing.T) {
	h := start(t, func(_ context.Context, c *Session) int {
		io.WriteString(c, "a\nb\r\nc\x1b[1md\n")
		return 0
	})
	terminal := inPTY(t, h.command("-tt", "agents@127.0.0.1", "x"), 80, 24)
	out, _ := io.ReadAll(terminal) // EIO is the end
	if !strings.HasPrefix(string(out), "a\nb\r\nc\x1b[1md\n") {
		t.Errorf("%q", out)
	}
}

// Trap 5: the key typed after one reader has gone is the next reader's.
func TestInputIsHandedOver(t *testing.T) {
	ready, hand := make(chan struct{}), make(chan struct{})
	got := make(chan string, 100)
	h := start(t, func(ctx context.Context, c *Session) int {
		for i := range 20 {
			reading, cancel := context.WithCancel(ctx)
			done := make(chan error)
			go func() {
				_, err := io.Copy(io.Discard, c.Input.Reader(reading))
				done <- err
			}()
			ready <- struct{}{}
			<-hand
			cancel()
			if err := <-done; err != nil {
				t.Errorf("a reader that was called off: %v", err)
			}
			ready <- struct{}{}
			p := make([]byte, 10)
			n, err := c.Input.Read(p)
			got <- fmt.Sprintf("%d %s %v", i, p[:n], err)
		}
		return 0
	})
	terminal := inPTY(t, h.command("-tt", "agents@127.0.0.1", "x"), 80, 24)
	go io.Copy(io.Discard, terminal)
	for i := range 20 {
		receive(t, "the first reader", ready)
		hand <- struct{}{}
		receive(t, "its end", ready)
		key := string(rune('a' + i))
		terminal.WriteString(key)
		if v := receive(t, "the key", got); v != fmt.Sprintf("%d %s <nil>", i, key) {
			t.Fatalf("key %s: %q", key, v)
		}
	}
}
