package join

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// deafen has the kernel throw away what arrives for a connection, as if its machine were gone.
func deafen(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
}

func TestGatewaysMachineGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	member, err := dialer(time.Second).Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	gateway, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	deafen(t, gateway)
	if _, err := member.Write([]byte("a beat")); err != nil {
		t.Fatal(err)
	}
	if err := member.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := member.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("the connection to a machine that is gone: %v", err)
	}
}
