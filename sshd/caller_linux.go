package sshd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// callerOverTCP finds the process of this machine that owns the client's end
// of a connection, and the holder it descends from; nil when the client is on
// another machine or descends from none.
func callerOverTCP(client, server net.Addr, holders []HolderProcess) (*HolderProcess, int, error) {
	c, ok1 := addrPort(client)
	s, ok2 := addrPort(server)
	if !ok1 || !ok2 {
		return nil, 0, errors.New("it is no TCP connection")
	}
	sock, err := findSocket(c, s)
	if err != nil || sock == nil {
		return nil, 0, err
	}
	if sock.inode == 0 {
		return nil, 0, errProcessGone
	}
	// A client that forks and leaves between our looks is found in the next.
	for range 3 {
		h, pid, err := ownerOf(*sock, holders)
		if err != nil || pid != 0 {
			return h, pid, err
		}
	}
	if int(sock.uid) != os.Geteuid() && os.Geteuid() != 0 {
		return unreadable(*sock, holders)
	}
	// Of a process that we cannot see, in a container that shares the network:
	// all that descend from a holder, we can.
	return nil, 0, nil
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port()), true
}

// ownerOf looks for a process that has the socket open. The newest come first:
// an ssh client has hardly ever connected long after it was started, so that
// the first few are enough.
func ownerOf(sock socket, holders []HolderProcess) (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	want := "socket:[" + strconv.FormatUint(uint64(sock.inode), 10) + "]"
	for _, pid := range pids {
		if !hasOpen(pid, want) {
			continue
		}
		h, err := holderOf(pid, holders, func() bool { return hasOpen(pid, want) })
		if errors.Is(err, errProcessGone) {
			continue // it may have left the socket to another
		}
		return h, pid, err
	}
	return nil, 0, nil
}

// processes lists all process ids, the newest first.
func processes() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	// Numbers begin anew behind the highest: those above the last one given
	// out are the oldest.
	last := lastPID()
	slices.SortFunc(pids, func(a, b int) int {
		if (a > last) != (b > last) {
			if a > last {
				return 1
			}
			return -1
		}
		return cmp.Compare(b, a)
	})
	return pids, nil
}

// lastPID is the process id given out last; the highest there can be when the
// kernel does not tell.
func lastPID() int {
	b, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		if fields := strings.Fields(string(b)); len(fields) == 5 {
			if pid, err := strconv.Atoi(fields[4]); err == nil {
				return pid
			}
		}
	}
	return math.MaxInt
}

// hasOpen reports whether one of pid's file descriptors is target.
func hasOpen(pid int, target string) bool {
	path := "/proc/" + strconv.Itoa(pid) + "/fd"
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	buf := make([]byte, 64)
	for _, name := range names {
		if n, err := unix.Readlinkat(int(dir.Fd()), name, buf); err == nil && string(buf[:n]) == target {
			return true
		}
	}
	return false
}

// unreadable is for a client of another uid, such as one started with sudo,
// whose open files we may not read. If anything of that uid descends from a
// holder, the client is taken for that: better a person refused than an agent
// let in.
func unreadable(sock socket, holders []HolderProcess) (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	for _, pid := range pids {
		info, err := os.Stat("/proc/" + strconv.Itoa(pid))
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != sock.uid {
			continue
		}
		h, err := holderOf(pid, holders, func() bool { return true })
		if err != nil && !errors.Is(err, errProcessGone) {
			return nil, 0, err
		}
		if h != nil {
			return h, pid, nil
		}
	}
	return nil, 0, nil
}

// socket is the kernel's socket at one end of a TCP connection.
type socket struct{ inode, uid uint32 }

// findSocket finds the socket of this machine whose own address is local and
// whose peer's is remote; nil when there is none.
func findSocket(local, remote netip.AddrPort) (*socket, error) {
	sock, err := askKernel(local, remote)
	if err == nil && sock == nil {
		// The answer is the same for no such socket and for a kernel that
		// cannot tell. Our own end exists for sure.
		var own *socket
		if own, err = askKernel(remote, local); err == nil && own != nil {
			return nil, nil
		}
	}
	if err != nil || sock == nil {
		return searchTable(local, remote)
	}
	return sock, nil
}

// searchTable reads /proc/net/tcp and tcp6, for kernels without sock_diag.
func searchTable(local, remote netip.AddrPort) (*socket, error) {
	var firstErr error
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			firstErr = cmp.Or(firstErr, err)
		}
		if sock := searchLines(string(b), local, remote); sock != nil {
			return sock, nil
		}
	}
	return nil, firstErr
}

func searchLines(table string, local, remote netip.AddrPort) *socket {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] == "0A" { // a listener
			continue
		}
		if parseHexAddr(f[1]) != local || parseHexAddr(f[2]) != remote {
			continue
		}
		uid, err1 := strconv.ParseUint(f[7], 10, 32)
		inode, err2 := strconv.ParseUint(f[9], 10, 32)
		if err1 == nil && err2 == nil {
			return &socket{inode: uint32(inode), uid: uint32(uid)}
		}
	}
	return nil
}
