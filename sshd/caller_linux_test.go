package sshd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// elsewhere is a holder that no process descends from.
var elsewhere = []HolderProcess{{PID: 1 << 30}}

// ends are the two ends of a connection over TCP.
type ends struct{ client, server net.Conn }

func connect(t testing.TB, listen, host string, control func(fd int) error) ends {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if control == nil {
			return nil
		}
		return errors.Join(c.Control(func(fd uintptr) { err = control(int(fd)) }), err)
	}}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	client, err := dialer.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return ends{client, server}
}

// deaf has the server's end drop what comes. It would answer the first packet of a second socket with
// the client's address, and that answer has the second socket end both.
func (e ends) deaf(t testing.TB) {
	t.Helper()
	raw, err := e.server.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	})
	if err := errors.Join(err, set); err != nil {
		t.Fatal(err)
	}
}

func (e ends) caller(holders ...HolderProcess) (*HolderProcess, int, error) {
	return callerOverTCP(e.server.RemoteAddr(), e.server.LocalAddr(), holders)
}

func (e ends) addresses() (far, near netip.AddrPort) {
	far, _ = addrPort(e.server.RemoteAddr())
	near, _ = addrPort(e.server.LocalAddr())
	return far, near
}

// Both ways to find the client's socket agree, for IPv4, IPv6 and the one in
// the other, and find nothing for a connection that is not there.
func TestFindSocket(t *testing.T) {
	for _, c := range []struct{ listen, host string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {"[::]:0", "127.0.0.1"}} {
		e := connect(t, c.listen, c.host, nil)
		far, near := e.addresses()
		asked, err1 := listKernel(far, near)
		found, err2 := searchTable(far, near)
		if err1 != nil || err2 != nil || asked == nil || found == nil || *asked != *found || asked.inode == 0 || int(asked.uid) != os.Getuid() {
			t.Errorf("%s: %+v %v, %+v %v", c.listen, asked, err1, found, err2)
		}
		if h, pid, err := e.caller(elsewhere...); h != nil || pid != os.Getpid() || err != nil {
			t.Errorf("%s: %v, process %d, %v", c.listen, h, pid, err)
		}
		// Half closed it is a client still.
		_ = e.client.(*net.TCPConn).CloseWrite()
		if sock, err := findSocket(far, near); sock == nil || err != nil || sock.inode != asked.inode {
			t.Errorf("%s half closed: %+v %v", c.listen, sock, err)
		}
		e.client.Close()
		if h, _, err := e.caller(elsewhere...); err == nil || h != nil {
			t.Errorf("%s closed: %v %v", c.listen, h, err)
		}
		other, _ := addrPort(&net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 4711})
		if sock, err := findSocket(other, near); sock != nil || err != nil {
			t.Errorf("a client elsewhere: %+v %v", sock, err)
		}
	}
}

// BenchmarkCallerOverTCP is what a login from this machine pays when there
// are sessions.
func BenchmarkCallerOverTCP(b *testing.B) {
	e := connect(b, "127.0.0.1:0", "127.0.0.1", nil)
	for b.Loop() {
		if _, _, err := e.caller(elsewhere...); err != nil {
			b.Fatal(err)
		}
	}
}

// A process inside a session with more files open than are looked through
// refuses by its number and session, soon; the same outside is passed over.
func TestSearchIsBounded(t *testing.T) {
	e := connect(t, "127.0.0.1:0", "127.0.0.1", nil)
	far, near := e.addresses()
	sock, err := findSocket(far, near)
	if err != nil || sock == nil {
		t.Fatal(err)
	}
	want := "socket:[" + strconv.Itoa(int(sock.inode)) + "]"
	work := searchProcess
	place, err := hasOpen(os.Getpid(), want, &work, time.Now().Add(time.Minute))
	if err != nil || place == "" || work == searchProcess {
		t.Errorf("%q %v, %d left", place, err, work)
	}
	work = 1
	if place, err := hasOpen(os.Getpid(), want, &work, time.Now().Add(time.Minute)); !errors.Is(err, errTooMany) {
		t.Errorf("with no work left: %q %v", place, err)
	}
	work = searchProcess
	if _, err := hasOpen(os.Getpid(), want, &work, time.Now().Add(-time.Second)); err == nil || work != searchProcess {
		t.Errorf("past the deadline: %v, %d left", err, work)
	}

	p, out := holder(t, `ulimit -n 20000; exec python3 -c 'import os,time
for i in range(%d): os.dup(2)
print(os.getpid(), "open", flush=True)
time.sleep(60)'`, searchProcess+1)
	eventually(t, "the files are open", func() bool { return strings.Contains(out.String(), "open") })
	var many int
	if _, err := fmt.Sscan(out.String(), &many); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(many, syscall.SIGKILL)
	_, _, err = e.caller(p)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d of the session alpha has too many open files", many)) {
		t.Errorf("a process inside with too many files: %v", err)
	}
	if _, pid, err := e.caller(elsewhere...); err != nil || pid != os.Getpid() {
		t.Errorf("the same outside: process %d, %v", pid, err)
	}
}

// A process inside is looked at whatever its uid, also once one outside has the
// socket: root's can have become another user's.
func TestSharedSocketOfAnotherUid(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become another user")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, out := holder(t, `exec python3 -c 'import os,socket,time
s=socket.create_connection(("127.0.0.1",%d))
os.setresuid(12345,12345,12345)
print(os.getpid(), s.fileno(), "ready", flush=True)
time.sleep(60)'`, l.Addr().(*net.TCPAddr).Port)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	eventually(t, "the process is another user's", func() bool { return strings.Contains(out.String(), "ready") })
	var pid, fd int
	if _, err := fmt.Sscan(out.String(), &pid, &fd); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	// This process is the one outside, with a copy.
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(handle)
	shared, err := unix.PidfdGetfd(handle, fd, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(shared)
	h, found, err := callerOverTCP(server.RemoteAddr(), server.LocalAddr(), []HolderProcess{p})
	if err != nil || h == nil || h.Session != p.Session || found != pid {
		t.Errorf("%v, process %d of %d, %v", h, found, pid, err)
	}
}

// A socket that is bound to a device is found: the kernel says that there is none
// when it is asked for it alone.
func TestFindSocketOfADevice(t *testing.T) {
	e := connect(t, "127.0.0.1:0", "127.0.0.1", func(fd int) error { return unix.BindToDevice(fd, "lo") })
	far, near := e.addresses()
	sock, err := listKernel(far, near)
	if err != nil || sock == nil || int(sock.uid) != os.Getuid() {
		t.Errorf("listed: %v %v", sock, err)
	}
	if _, pid, err := e.caller(elsewhere...); err != nil || pid != os.Getpid() {
		t.Errorf("process %d, %v", pid, err)
	}
}

// A socket bound to a device and one that is not can have the same addresses. The
// second can be given to a process outside of all sessions.
func TestSocketsWithTheSameAddresses(t *testing.T) {
	reuse := func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) }
	e := connect(t, "127.0.0.1:0", "127.0.0.1", func(fd int) error {
		// Bound here and not by its connect, no connect of another process gets the same port.
		return errors.Join(reuse(fd), unix.BindToDevice(fd, "lo"), unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	})
	e.deaf(t)
	far, near := e.addresses()
	decoy, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(decoy)
	if err := errors.Join(reuse(decoy), unix.Bind(decoy, &unix.SockaddrInet4{Port: int(far.Port()), Addr: far.Addr().As4()})); err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(decoy, &unix.SockaddrInet4{Port: int(near.Port()), Addr: near.Addr().As4()}); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		t.Fatal(err)
	}
	if _, pid, err := e.caller(elsewhere...); !errors.Is(err, errSameAddresses) {
		t.Errorf("process %d, %v", pid, err)
	}
	if sock, err := searchTable(far, near); !errors.Is(err, errSameAddresses) {
		t.Errorf("the table's %+v, %v", sock, err)
	}
	decoyed, _ := onlyOne(&socket{inode: 0}, &socket{inode: 5})
	if over, err := onlyOne(&socket{inode: 5}, &socket{inode: 0}); err != nil || *over != *decoyed || over.inode != 5 {
		t.Errorf("one that is over: %+v %v", over, err)
	}
}

// An address that a local route has is this machine's, though no interface has it.
func TestRoutedHere(t *testing.T) {
	for address, want := range map[string]bool{"127.9.8.7": true, "::1": true, "192.0.2.1": false, "2001:db8::1": false} {
		if here, err := routedHere(netip.MustParseAddr(address)); here != want || err != nil {
			t.Errorf("%s: %v %v, want %v", address, here, err, want)
		}
	}
}

// The user of a session is not a person by a uid of its range, nor in a user
// namespace of its own.
func TestSubordinateUsers(t *testing.T) {
	table := "other:100000:65536\nu:165536:65536\n12345:300000:10\nbad\nu:x:1\n"
	for uid, want := range map[int]bool{100004: false, 165535: false, 165536: true, 231071: true, 231072: false, 300009: true, 300010: false} {
		if got := subordinate(table, 12345, "u", uid); got != want {
			t.Errorf("%d: %v, want %v", uid, got, want)
		}
	}
	users := []HolderProcess{{PID: 1 << 30, UID: 12345, Name: "alpha"}}
	if err := usersOf(users).checkProcess(os.Getpid()); err != nil {
		t.Errorf("this process: %v", err)
	}
	if err := usersOf(users).checkUID(12345); err == nil {
		t.Error("a socket of the session's user is a person's")
	}
	if os.Getuid() != 0 {
		return
	}
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 12345, HostID: 54321, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: 12345, HostID: 54321, Size: 1}}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// The owner is who made it: here root.
	owners, err := namespaceOwners(cmd.Process.Pid)
	if err != nil || len(owners) != 1 || owners[0] != os.Geteuid() {
		t.Errorf("owners %v %v", owners, err)
	}
}
