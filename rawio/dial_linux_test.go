package rawio

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestDialWhileManyWait: a full queue of a socket is waited for, until the context ends.
func TestDialWhileManyWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err = errors.Join(err, unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	for full := false; !full; {
		c, err := net.Dial("unix", path)
		if full = errors.Is(err, syscall.EAGAIN); full {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	short, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if _, err := Dial(short, path); err == nil {
		t.Error("it is connected")
	}
	type result struct {
		conn *net.UnixConn
		err  error
	}
	dialed := make(chan result)
	go func() {
		c, err := Dial(t.Context(), path)
		dialed <- result{c, err}
	}()
	accepted, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC) // makes room for one
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(accepted)
	r := <-dialed
	if r.err != nil {
		t.Fatal(r.err)
	}
	_ = r.conn.Close()
}
