package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/keys"
	"berth/sessions/hold"
	"berth/sshd/local"
)

// otherUID is neither root nor the user of a session.
const otherUID = 65534

// needsRoot skips a test that becomes another user.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can become another user")
	}
}

// admitOther opens a second socket for that user, until the test ends.
func admitOther(t *testing.T, h *harness, socket string) (dir, other string) {
	t.Helper()
	dir = filepath.Dir(socket)
	t.Cleanup(func() { os.RemoveAll(dir) })
	other = filepath.Join(dir, "user-65534.sock")
	if err := h.server.Admit(other, otherUID); err != nil {
		t.Fatal(err)
	}
	return dir, other
}

// callAsOther calls a socket as that user, with a copy of this program in dir.
func callAsOther(t *testing.T, dir, socket string) result {
	t.Helper()
	exe := filepath.Join(dir, "test")
	b, err := os.ReadFile(os.Args[0])
	if err = errors.Join(err, os.WriteFile(exe, b, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, socket, "x")
	cmd.Env = []string{"SSHD_TEST_PROCESS=local", "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}}
	return run(t, cmd, "")
}

func TestOtherUserIsRefused(t *testing.T) {
	needsRoot(t)
	var socket string
	h := start(t, describe, withSocket(&socket, nil))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	// Opened up, as if the protection of the folder had failed.
	for path, mode := range map[string]os.FileMode{filepath.Dir(socket): 0o755, socket: 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	r := callAsOther(t, filepath.Dir(socket), socket)
	if r.status != 98 || !strings.Contains(r.err, "berth: this server belongs to uid 0, and you are uid 65534") || r.out != "" {
		t.Errorf("%+v", r)
	}
	eventually(t, "it is audited", func() bool { return len(h.audited()) == 1 })
	if l := h.audited()[0]; l.Accepted || l.Source != "unix" || l.Reason == "" {
		t.Errorf("%+v", l)
	}
}

// The socket of another user admits no caller that the server's own socket wouldn't; user.txtar has
// the callers that it admits.
func TestSocketOfAnotherUser(t *testing.T) {
	needsRoot(t)
	var socket string
	h := start(t, describe, withSocket(&socket, nil))
	dir, other := admitOther(t, h, socket)
	if err := h.server.Admit(other, otherUID); err != nil { // the socket stays once it exists
		t.Fatal(err)
	}
	info, err := os.Stat(other)
	if err != nil || info.Mode().Perm() != 0o600 || info.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{other: "this server belongs to uid 0, and you are uid 65534", socket: "permission denied"} {
		if r := callAsOther(t, dir, path); r.status != 98 || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// Who has gone before we could look at them might be anybody.
func TestGonePeerIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), "SSHD_TEST_PROCESS=leave", "GORACE=atexit_sleep_ms=0")
	if r := run(t, cmd, ""); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if p, err := hold.PeerOf(conn.(*net.UnixConn)); err == nil {
		t.Errorf("%+v", p)
	}
}

// A caller that takes long to be looked at keeps no other waiting, and is let go when
// its time is over.
func TestSlowCallerHoldsUpNoOther(t *testing.T) {
	var socket string
	slow, first := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	start(t, describe, withSocket(&socket, func() []HolderProcess {
		if calls.Add(1) == 1 {
			close(first)
			<-slow
		}
		return nil
	}), func(o *Options) { o.Limits.LoginGrace = 500 * time.Millisecond })
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(socket)) })
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer close(slow)
	<-first
	var out bytes.Buffer
	if _, err := local.Run(context.Background(), socket, []string{"x"}, strings.NewReader(""), &out, io.Discard, false); err != nil ||
		(result{out: out.String()}).described(t).Identity.Kind != keys.KindLocal {
		t.Errorf("%s %v", out.String(), err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("the slow one: %d %v", n, err)
	}
}

// Of a user who owns neither the server nor a session nothing is read.
func TestForeignUserIsNotLookedAt(t *testing.T) {
	s := &Server{holders: func() []HolderProcess { return nil }}
	_, err := s.peerIdentity(&hold.Peer{PID: math.MaxInt32, UID: os.Geteuid() + 4711})
	if err == nil || !strings.Contains(err.Error(), "this server belongs to uid") {
		t.Error(err)
	}
}
