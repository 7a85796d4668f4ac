package sshd

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The walk up the process tree, on tables that no kernel can be made to show.
func TestWalkUp(t *testing.T) {
	table := map[int]process{
		1: {1, 0, 0}, 10: {10, 1, 100}, 20: {20, 10, 200}, 30: {30, 20, 200},
		40: {40, 10, 300}, 50: {50, 40, 250}, // 40 has been reused since 50 started
		60: {60, 70, 10}, // 70 is gone
		80: {80, 80, 5},  // its own parent
	}
	read := func(pid int) (process, error) {
		p, ok := table[pid]
		if !ok {
			return p, errProcessGone
		}
		return p, nil
	}
	holders := []HolderProcess{{PID: 10, Start: 100, Session: "A"}, {PID: 20, Start: 200, Session: "B"}, {PID: 40, Start: 1, Session: "old"}}
	for pid, want := range map[int]string{30: "B", 20: "B", 10: "A", 40: "A", 1: ""} {
		h, err := walkUp(pid, holders, read)
		if err != nil || (h == nil) != (want == "") || h != nil && h.Session != want {
			t.Errorf("%d: %v %v, want %q", pid, h, err, want)
		}
	}
	for _, pid := range []int{50, 60} {
		if _, err := walkUp(pid, holders, read); !errors.Is(err, errMoved) {
			t.Errorf("%d: %v", pid, err)
		}
	}
	if _, err := walkUp(99, holders, read); !errors.Is(err, errProcessGone) {
		t.Errorf("a process that is gone: %v", err)
	}
	if _, err := walkUp(80, holders, read); err == nil {
		t.Error("a loop ends well")
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2 3"
	if p, err := parseStat(42, []byte(line)); err != nil || p != (process{42, 7, 123456}) {
		t.Errorf("%+v %v", p, err)
	}
	for _, bad := range []string{"", "42 (x", "42 (x) S 1 2", strings.Replace(line, " 7 42", " x 42", 1)} {
		if _, err := parseStat(42, []byte(bad)); err == nil {
			t.Errorf("%q is understood", bad)
		}
	}
}

// Both ways to find the client's socket agree, for IPv4, IPv6 and the one in
// the other, and find nothing for a connection that is not there.
func TestFindSocket(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{{"127.0.0.1:0", ""}, {"[::1]:0", ""}, {"[::]:0", "127.0.0.1"}} {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Logf("%s: %v", c.listen, err) // no IPv6 here
			continue
		}
		defer l.Close()
		address := l.Addr().String()
		if c.dial != "" {
			address = net.JoinHostPort(c.dial, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
		}
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		far, _ := addrPort(server.RemoteAddr())
		near, _ := addrPort(server.LocalAddr())
		asked, err1 := askKernel(far, near)
		found, err2 := searchTable(far, near)
		if err1 != nil || err2 != nil || asked == nil || found == nil || *asked != *found || asked.inode == 0 || int(asked.uid) != os.Getuid() {
			t.Errorf("%s: %+v %v, %+v %v", c.listen, asked, err1, found, err2)
		}
		h, pid, err := callerOverTCP(server.RemoteAddr(), server.LocalAddr(), []HolderProcess{{PID: 1 << 30}})
		if h != nil || pid != os.Getpid() || err != nil {
			t.Errorf("%s: %v, process %d, %v", c.listen, h, pid, err)
		}
		// Half closed it is a client still.
		_ = client.(*net.TCPConn).CloseWrite()
		if sock, err := findSocket(far, near); sock == nil || err != nil || sock.inode != asked.inode {
			t.Errorf("%s half closed: %+v %v", c.listen, sock, err)
		}
		client.Close()
		if h, _, err := callerOverTCP(server.RemoteAddr(), server.LocalAddr(), []HolderProcess{{PID: 1 << 30}}); err == nil || h != nil {
			t.Errorf("%s closed: %v %v", c.listen, h, err)
		}
		elsewhere, _ := addrPort(&net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 4711})
		if sock, err := findSocket(elsewhere, near); sock != nil || err != nil {
			t.Errorf("a client elsewhere: %+v %v", sock, err)
		}
	}
}

// BenchmarkCallerOverTCP is what a login from this machine pays when there
// are sessions.
func BenchmarkCallerOverTCP(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	for b.Loop() {
		if _, _, err := callerOverTCP(server.RemoteAddr(), server.LocalAddr(), []HolderProcess{{PID: 1 << 30}}); err != nil {
			b.Fatal(err)
		}
	}
}
