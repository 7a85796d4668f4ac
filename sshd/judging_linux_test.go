package sshd

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"berth/keys"
	"berth/sshd/local"
)

// A session's user whose processes are slow to be looked at keeps that from no other's.
func TestSlowCallersOfOneUser(t *testing.T) {
	needsRoot(t)
	var socket string
	var slow atomic.Bool
	var looks atomic.Int64
	answer := make(chan struct{})
	slow.Store(true)
	h := start(t, describe, withSocket(&socket, func() []HolderProcess {
		if slow.Load() {
			looks.Add(1)
			<-answer
		}
		return nil
	}), func(o *Options) { o.Limits.Connections, o.Limits.Share = 64, 4 })
	dir, other := admitOther(t, h, socket)
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	const flood = 40
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // it ends with its thread, which is another user's
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), otherUID, ^uintptr(0))
		if errno != 0 {
			failed <- errno
			return
		}
		for range flood {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				t.Cleanup(func() { unix.Close(fd) })
				err = unix.Connect(fd, &unix.SockaddrUnix{Name: other})
			}
			if err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	defer close(answer)
	eventually(t, "all are looked at or closed", func() bool { return looks.Load()+int64(h.server.counts.full.Load()) == flood })
	slow.Store(false)
	if n := looks.Load(); n != 4 {
		t.Errorf("%d of one user are looked at", n)
	}
	var out bytes.Buffer
	if _, err := local.Run(context.Background(), socket, []string{"x"}, strings.NewReader(""), &out, io.Discard, false); err != nil ||
		(result{out: out.String()}).described(t).Identity.Kind != keys.KindLocal {
		t.Errorf("%s %v", out.String(), err)
	}
}
