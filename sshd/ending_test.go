package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// background starts the real client and gives what it comes to.
func (h *harness) background(words ...string) (*exec.Cmd, <-chan result) {
	cmd := h.command(words...)
	done := make(chan result, 1)
	if _, err := cmd.StdinPipe(); err != nil { // open until the end
		h.t.Fatal(err)
	}
	var out, errOut lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		done <- result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
	}()
	h.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, done
}

// A key that is taken away ends what it has open, and says so, within a second.
func TestRevocation(t *testing.T) {
	for name, stubborn := range map[string]bool{"a call that returns": false, "a call that does not": true} {
		t.Run(name, func(t *testing.T) {
			o := newHolding()
			release := make(chan struct{})
			h := start(t, func(ctx context.Context, c *Session) int {
				status := o.serve(ctx, c)
				if stubborn {
					<-release
				}
				return status
			})
			t.Cleanup(func() { close(release) })
			other := newKey(t, h.dir, "other")
			h.keys.set(other.public(), keys.Identity{Name: "other", Role: keys.Viewer})
			_, done := h.background("a@127.0.0.1", "hold")
			o.call(t)
			shared := h.master() // with no channel: ended as well
			h.keys.set(other.public(), keys.Identity{Name: "other", Role: keys.Admin})
			begin := time.Now()
			h.keys.remove(h.admin.public())
			r := receive(t, "the client's end", done)
			if took := time.Since(begin); took > time.Second {
				t.Errorf("ended after %v", took)
			}
			if !strings.Contains(r.err, "berth: your access has ended: not in the key file\n") || !stubborn && r.status != 4 {
				t.Errorf("%+v", r)
			}
			if cause := receive(t, "the cause", o.ends); !errors.Is(cause, ErrRevoked) {
				t.Errorf("cause %v", cause)
			}
			if r := run(t, shared("a@127.0.0.1", "say"), ""); r.status != 255 {
				t.Errorf("over the shared connection: %+v", r)
			}
		})
	}
}

// A lower role holds for what is open; rights that run out end it.
func TestLowerRoleAndExpiry(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	_, done := h.background("a@127.0.0.1", "hold")
	call := o.call(t)
	if id := call.Identity(); id.Role != keys.Admin || id.Kind != keys.KindKey || id.Fingerprint != gossh.FingerprintSHA256(h.admin.public()) {
		t.Errorf("%+v", id)
	}
	h.keys.set(h.admin.public(), keys.Identity{Name: "admin", Role: keys.Viewer})
	eventually(t, "the rights are narrowed", func() bool { return call.Identity().Role == keys.Viewer })
	h.keys.set(h.admin.public(), keys.Identity{Name: "admin", Role: keys.Viewer, Expires: time.Now().Add(400 * time.Millisecond)})
	r := receive(t, "the client's end", done)
	if !strings.Contains(r.err, "berth: your access has ended: it expired at ") || r.status != 4 {
		t.Errorf("%+v", r)
	}
}

// What is looked at when something is opened, and taken away later, ends what is
// open: an attachment to a session, a verb, a terminal.
func TestNarrowing(t *testing.T) {
	for name, narrow := range map[string]func(*keys.Identity){
		"sessions": func(id *keys.Identity) { id.Sessions = []string{"a*"} },
		"verbs":    func(id *keys.Identity) { id.Verbs = []string{"ls"} },
		"command":  func(id *keys.Identity) { id.Command = "ls" },
		"no-pty":   func(id *keys.Identity) { id.NoPTY = true },
	} {
		t.Run(name, func(t *testing.T) {
			o := newHolding()
			h := start(t, o.serve)
			_, done := h.background("a@127.0.0.1", "hold")
			o.call(t)
			id := keys.Identity{Name: "admin", Role: keys.Admin}
			narrow(&id)
			h.keys.set(h.admin.public(), id)
			if r := receive(t, "the client's end", done); !strings.Contains(r.err, "berth: your access has ended: the key has fewer rights") || r.status != 4 {
				t.Errorf("%+v", r)
			}
			if cause := receive(t, "the cause", o.ends); !errors.Is(cause, ErrRevoked) {
				t.Errorf("cause %v", cause)
			}
		})
	}
}

// A client that reads nothing does not keep its connection by that.
func TestRevocationOfAStoppedClient(t *testing.T) {
	h := start(t, func(ctx context.Context, c *Session) int {
		for ctx.Err() == nil {
			if _, err := c.Write(make([]byte, 64<<10)); err != nil {
				return 1
			}
		}
		return 0
	})
	cmd, _ := h.background("a@127.0.0.1", "x")
	eventually(t, "it runs", func() bool { return h.server.Stats().Calls == 1 })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.keys.remove(h.admin.public())
	eventually(t, "the connection is closed", func() bool { return h.server.Stats().Connections == 0 })
}

// Traps 13 and 14: idle connections, handshakes that hang and calls that do
// not listen hold no shutdown up.
func TestShutdown(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	h.silent("")
	h.silent("SSH-2.0-x\r\n")
	h.client()
	_, done := h.background("a@127.0.0.1", "hold")
	o.call(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := time.Now()
	if err := h.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if cause := receive(t, "the cause", o.ends); !errors.Is(cause, ErrShutdown) {
		t.Errorf("cause %v", cause)
	}
	if r := receive(t, "the client's end", done); !strings.Contains(r.err, "berth: the server is shutting down\n") || r.status != 0 {
		t.Errorf("%+v", r)
	}
	if err := <-h.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	h.served <- nil // for the harness
	if r := h.ssh("", "a@127.0.0.1", "say"); r.status != 255 {
		t.Errorf("after it: %+v", r)
	}
}

// What is nearly done when the server is stopped, is done.
func TestShutdownLetsCallsFinish(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	h := start(t, func(ctx context.Context, c *Session) int {
		close(started)
		<-finish
		if ctx.Err() != nil {
			return 1
		}
		io.WriteString(c, "done")
		return 0
	})
	_, done := h.background("a@127.0.0.1", "x")
	receive(t, "the call", started)
	stopped := make(chan error, 1)
	go func() { stopped <- h.server.Shutdown(context.Background()) }()
	eventually(t, "it listens no more", func() bool {
		conn, err := net.Dial("tcp", h.server.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	close(finish)
	if r := receive(t, "the client's end", done); r.out != "done" || r.status != 0 {
		t.Errorf("%+v", r)
	}
	if err := receive(t, "the shutdown", stopped); err != nil {
		t.Error(err)
	}
}

// Trap 15: a quiet client that answers stays; one that does not is cut.
func TestKeepAlive(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, func(op *Options) {
		op.Limits.KeepAlive = 50 * time.Millisecond
		op.Limits.KeepAliveMissed = 3
	})
	cmd, done := h.background("a@127.0.0.1", "hold")
	call := o.call(t)
	heard := func() int64 { return call.conn.wire.heard.Load() }
	for range 10 { // each is an answer to a keepalive: the client says nothing else
		before := heard()
		eventually(t, "the quiet client answers", func() bool { return heard() > before })
	}
	if call.ctx.Err() != nil {
		t.Fatalf("the quiet client was cut: %v", context.Cause(call.ctx))
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, "the stopped client is cut", o.ends); !errors.Is(cause, ErrConnectionLost) {
		t.Errorf("cause %v", cause)
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
	if r := receive(t, "the client's end", done); r.status != 255 {
		t.Errorf("%+v", r)
	}
}
