package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/keys"
	"berth/sessions/hold"
	"berth/sshd/local"
)

// server is the uid that a test runs as which wants no rights.
const serverUID = "65534"

// apart runs the test that calls it once more: as a user without rights, among
// processes of its own, with /proc mounted so, and with root's script beside it. It
// is true in that run, in whose folder the script is too.
func apart(t *testing.T, proc, beside string) bool {
	t.Helper()
	if os.Getenv("SSHD_TEST_APART") != "" {
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can mount /proc and become another user")
	}
	dir, err := os.MkdirTemp("", "apart")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(os.Args[0])
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "test"), b, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	// Three shells of root: the first one of all processes ends a walk anyhow.
	cmd := exec.Command("unshare", "-m", "-p", "-f", "sh", "-c", `
		mount -t proc -o "$0" proc /proc || exit 1
		sh -c "$1" &
		sh -c 'env SSHD_TEST_APART=1 TMPDIR="$PWD" HOME="$PWD" setpriv --reuid `+serverUID+` --regid `+serverUID+` --clear-groups ./test -test.run "$0"; exit $?' "$2"
		exit $?`, proc, beside, "^"+t.Name()+"$")
	cmd.Dir = dir
	if r := run(t, cmd, ""); r.status != 0 || !strings.Contains(r.out, "PASS") || strings.Contains(r.out, "no tests to run") {
		t.Errorf("%+v", r)
	}
	return false
}

// listenApart listens and passes the address to root's script.
func listenApart(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := os.WriteFile("address", []byte(l.Addr().String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return l
}

// A server that does not see the processes of others takes its own user's for persons,
// whose parents are login programs of root's. What is inside a session has its mark.
func TestHiddenProcesses(t *testing.T) {
	for _, option := range []string{"hidepid=1", "hidepid=2"} {
		if apart(t, option, "") {
			break
		}
	}
	if os.Getuid() == 0 {
		return
	}
	if _, err := hold.StartOf(os.Getppid()); err == nil {
		t.Fatal("the parent is seen")
	}
	var socket string
	h := start(t, describe, withSocket(&socket, func() []HolderProcess { return elsewhere }))
	var out bytes.Buffer
	if _, err := local.Run(context.Background(), socket, []string{"x"}, strings.NewReader(""), &out, io.Discard, false); err != nil ||
		(result{out: out.String()}).described(t).Identity.Kind != keys.KindLocal {
		t.Errorf("by the socket: %s %v", out.String(), err)
	}
	if _, err := h.dial(h.admin); err != nil {
		t.Errorf("over TCP: %v", err)
	}
	cmd := exec.Command("prlimit", "--locks=1000:1000", os.Args[0], socket, "x")
	cmd.Env = append(os.Environ(), "SSHD_TEST_PROCESS=local", "GORACE=atexit_sleep_ms=0")
	if r := run(t, cmd, ""); r.status != 98 || !strings.Contains(r.err, "has its mark") {
		t.Errorf("with a mark: %+v", r)
	}
}

// A server without rights cannot tell who has another user's socket open. It lets that
// user in, unless a process inside a session could have it.
func TestOwnerThatCannotBeRead(t *testing.T) {
	if !apart(t, "rw", `
		until [ -s address ]; do sleep 0.02; done
		sleep 1000 | setpriv --reuid 12345 --regid 12345 --clear-groups env SSHD_TEST_PROCESS=relay ./test $(cat address) &
		until [ -e hides ]; do sleep 0.02; done
		prlimit --locks=1000:1000 setpriv --reuid 12346 --regid 12346 --clear-groups sleep 1000 &
		until [ -e inside ]; do sleep 0.02; done
		prlimit --locks=1000:1000 setpriv --reuid 12345 --regid 12345 --clear-groups sleep 1000 &
		until [ -e takes ]; do sleep 0.02; done
		echo `+serverUID+`:12000:1000 > table
		mount --bind table /etc/subuid
		wait`) {
		return
	}
	l := listenApart(t)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	e := ends{server: server}
	far, near := e.addresses()
	if sock, err := findSocket(far, near); err != nil || sock == nil || sock.uid != 12345 {
		t.Fatalf("%+v %v", sock, err)
	}
	if h, _, err := e.caller(elsewhere...); h != nil || err != nil {
		t.Errorf("a person of another uid: %v %v", h, err)
	}
	steps := []struct{ name, want string }{{"hides", "hides its open files"}, {"inside", "has its mark"}}
	if _, err := os.Stat("/etc/subuid"); err == nil { // without the file no user can take a uid
		steps = append(steps, struct{ name, want string }{"takes", "which uid " + serverUID + " can take"})
	}
	for _, step := range steps {
		if err := os.WriteFile(step.name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		eventually(t, step.name, func() bool {
			h, _, err := e.caller(elsewhere...)
			return h == nil && err != nil && strings.Contains(err.Error(), step.want)
		})
	}
}

// A connection that a process has which may not be looked into, such as sshd's for
// ssh -J, is a person's where no other process of that uid is inside a session. Of the
// server's own uid it can be any process's that has hidden it: it is refused.
func TestOwnerThatHides(t *testing.T) {
	if !apart(t, "rw", `
		cp test relay
		chmod 711 relay # what a program's user may not read is not shown to others
		until [ -s address ]; do sleep 0.02; done
		for uid in 12345 `+serverUID+`; do
			sleep 1000 | setpriv --reuid $uid --regid $uid --clear-groups env SSHD_TEST_PROCESS=relay ./relay $(cat address) &
		done
		wait`) {
		return
	}
	l := listenApart(t)
	for range 2 {
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		e := ends{server: server}
		sock, err := findSocket(e.addresses())
		if err != nil || sock == nil {
			t.Fatal(sock, err)
		}
		var want error
		if int(sock.uid) == os.Getuid() {
			want = errNoOwner
		}
		if h, _, err := e.caller(elsewhere...); h != nil || !errors.Is(err, want) {
			t.Errorf("of uid %d: %v %v", sock.uid, h, err)
		}
	}
}

// A process of a session's user that shares the socket makes it that user's, also
// where one of a person's is found first.
func TestSharedSocketOfASessionsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become another user")
	}
	e := connect(t, "127.0.0.1:0", "127.0.0.1", nil)
	users := HolderProcess{PID: 1 << 30, UID: 12345, Name: "alpha"}
	if _, pid, err := e.caller(users); err != nil || pid != os.Getpid() {
		t.Errorf("a person's: %d %v", pid, err)
	}
	file, err := e.client.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command("setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", "sleep", "60")
	cmd.ExtraFiles = []*os.File{file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	eventually(t, "it is refused", func() bool {
		h, _, err := e.caller(users)
		return h == nil && err != nil && strings.Contains(err.Error(), "the session alpha")
	})
}

// A client that binds to an anycast address of this machine is of this machine, also
// when its socket is gone: no interface has that address.
func TestClientOfAnAnycastAddress(t *testing.T) {
	if os.Getenv("SSHD_TEST_APART") == "" {
		if os.Getuid() != 0 {
			t.Skip("SKIPPED: only root can have a network of its own")
		}
		if _, err := exec.LookPath("ip"); err != nil {
			t.Skip("SKIPPED: iproute2 is not there, which sets the network up")
		}
		cmd := exec.Command("unshare", "-n", "sh", "-c", `ip link set lo up && ip link add v0 type veth peer name v1 && ip link set v1 up &&
			ip addr add 2001:db8:5::1/64 dev v0 nodad && ip link set v0 up && echo 1 > /proc/sys/net/ipv6/conf/all/forwarding &&
			SSHD_TEST_APART=1 exec "$0" -test.run '^TestClientOfAnAnycastAddress$'`, os.Args[0])
		if r := run(t, cmd, ""); r.status != 0 || !strings.Contains(r.out, "PASS") {
			t.Errorf("%+v", r)
		}
		return
	}
	const ipv6FreeBind = 78 // IPV6_FREEBIND of linux/in6.h
	e := connect(t, "[::]:0", "2001:db8:5::1", func(fd int) error {
		address := unix.SockaddrInet6{Addr: netip.MustParseAddr("2001:db8:5::").As16()}
		return errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, ipv6FreeBind, 1), unix.Bind(fd, &address))
	})
	if far, _ := e.addresses(); far.Addr() != netip.MustParseAddr("2001:db8:5::") {
		t.Fatalf("the client is at %s", far)
	}
	if _, pid, err := e.caller(); err != nil || pid != os.Getpid() {
		t.Errorf("process %d, %v", pid, err)
	}
	nowhere := &net.TCPAddr{IP: net.ParseIP("2001:db8:5::"), Port: 1}
	if _, _, err := callerOverTCP(nowhere, e.server.LocalAddr(), nil); err == nil || !strings.Contains(err.Error(), "is an address of this machine") {
		t.Errorf("with no socket: %v", err)
	}
}
