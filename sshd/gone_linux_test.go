package sshd

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A client that has broken its connection off leaves its address to the next one,
// whose process is not the one that wrote what is still to be read.
func TestBrokenConnectionIsNobodys(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial := func(from net.Addr) (client, server net.Conn) {
		t.Helper()
		d := net.Dialer{LocalAddr: from, Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) })
		}}
		client, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		if server, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		return client, server
	}
	s := &Server{holders: func() []HolderProcess { return nil }}
	client, server := dial(nil)
	if c := s.callerOf(newWire(server)); c.err != nil {
		t.Fatal(c.err)
	}
	_ = client.(*net.TCPConn).SetLinger(0)
	client.Close()
	next, other := dial(server.RemoteAddr())
	if next.LocalAddr().String() != server.RemoteAddr().String() {
		t.Fatal(next.LocalAddr())
	}
	if c := s.callerOf(newWire(server)); c.err == nil {
		t.Errorf("the next one's process %d is taken for the client", c.pid)
	}
	if c := s.callerOf(newWire(other)); c.err != nil {
		t.Error(c.err)
	}
}

// The address of a connection is that of all of it.
func TestNoMultipath(t *testing.T) {
	s := &Server{}
	if err := s.listen(Options{Listen: []string{"127.0.0.1:0"}}); err != nil {
		t.Fatal(err)
	}
	defer s.closeListeners()
	var d net.Dialer
	d.SetMultipathTCP(true)
	client, err := d.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := s.tcp[0].Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if many, err := server.(*net.TCPConn).MultipathTCP(); many || err != nil {
		t.Errorf("%v %v", many, err)
	}
}
