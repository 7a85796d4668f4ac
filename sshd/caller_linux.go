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
	"time"

	"golang.org/x/sys/unix"

	"berth/sessions/hold"
)

// callerOverTCP finds the processes of this machine that have the client's end
// of a connection open. It gives the holder that one of them descends from, or
// nil when all are outside of every session, or the client is on another
// machine. A client on this machine with no known process is an error.
func callerOverTCP(client, server net.Addr, holders []HolderProcess) (*HolderProcess, int, error) {
	c, ok1 := addrPort(client)
	s, ok2 := addrPort(server)
	if !ok1 || !ok2 {
		return nil, 0, errors.New("it is no TCP connection")
	}
	sock, err := findSocket(c, s)
	if err != nil {
		return nil, 0, err
	}
	if sock == nil {
		here, err := ownAddress(c.Addr())
		if err != nil || !here {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("%s is an address of this machine, and no socket of it has this connection (a container, or a translated address): "+
			"connect from the machine itself, or from another one", c.Addr())
	}
	if sock.inode == 0 {
		return nil, 0, errProcessGone
	}
	search := &search{sock: *sock, holders: holders, holds: map[int]bool{}, until: time.Now().Add(searchWithin)}
	for _, h := range holders {
		search.holds[h.PID] = !h.Command
	}
	// A client that forks and leaves between our looks is found in the next.
	for range 3 {
		h, pid, err := search.owners()
		switch {
		case err != nil || h != nil:
			return h, pid, err
		case pid == 0:
			continue
		}
		// Processes of one user can have each other connect for them.
		for _, h := range holders {
			if h.UID != os.Geteuid() && h.UID == int(sock.uid) {
				return nil, 0, fmt.Errorf("process %d is of uid %d, as the session %s is: connect as another user, or from another machine", pid, sock.uid, h.Name)
			}
		}
		return nil, pid, nil
	}
	if int(sock.uid) != os.Geteuid() && os.Geteuid() != 0 {
		return unreadable(*sock, holders)
	}
	return nil, 0, errors.New("no process that this server can see has the connection open: connect without hiding the client's open files, not from a container, or from another machine")
}

// ownAddress reports whether packets from an address come from this machine.
func ownAddress(a netip.Addr) (bool, error) {
	if a.IsLoopback() {
		return true, nil
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return false, fmt.Errorf("list the addresses of this machine: %w", err)
	}
	return slices.ContainsFunc(list, func(own net.Addr) bool {
		n, ok := own.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	}), nil
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port()), true
}

// searchWithin bounds a search: a program that opens files without end must not
// hold up the logins of others for longer.
const searchWithin = 3 * time.Second

// search looks for the processes that have a socket open.
type search struct {
	sock    socket
	holders []HolderProcess
	holds   map[int]bool // their pids: a holder has no connection of a program's
	until   time.Time
}

// owners gives the first one that descends from a holder, with that, or else one
// that is outside of all sessions; 0 is none. The processes of the socket's own
// user come first, the newest first: an ssh client has hardly ever connected long
// after it was started. Once one outside is found, only those inside sessions are
// looked at, of that user and of root: no other was given a socket of theirs.
func (s *search) owners() (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	var others []int
	outside := 0
	for _, pid := range pids {
		if outside != 0 && (s.holds[pid] || !hold.Inside(pid)) {
			continue
		}
		uid, ok := userOf(pid)
		if ok && uid != s.sock.uid && uid != 0 {
			others = append(others, pid)
			continue
		}
		h, own, err := s.look(pid)
		if err != nil || h != nil {
			return h, own, err
		}
		outside = cmp.Or(outside, own)
	}
	for _, pid := range others {
		if outside != 0 {
			break
		}
		h, own, err := s.look(pid)
		if err != nil || h != nil {
			return h, own, err
		}
		outside = own
	}
	return nil, outside, nil
}

// look gives pid if it has the socket open, and the holder that it descends from.
func (s *search) look(pid int) (*HolderProcess, int, error) {
	if time.Now().After(s.until) {
		return nil, 0, fmt.Errorf("the processes of this machine have more files open than are looked through in %s: try again", searchWithin)
	}
	want := "socket:[" + strconv.FormatUint(uint64(s.sock.inode), 10) + "]"
	if !hasOpen(pid, want) {
		return nil, 0, nil
	}
	h, err := origin(pid, s.holders, func() bool { return hasOpen(pid, want) })
	if errors.Is(err, errProcessGone) {
		return nil, 0, nil // it may have left the socket to another
	}
	return h, pid, err
}

// userOf is the uid whose a process is; root's for one that must not be traced.
func userOf(pid int) (uint32, bool) {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return st.Uid, ok
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

// hasOpen reports whether one of pid's file descriptors is target: of any thread,
// for a thread may have left the table that the others share (unshare), and the
// main thread may have ended.
func hasOpen(pid int, target string) bool {
	process := "/proc/" + strconv.Itoa(pid)
	if tableHas(process+"/fd", target) {
		return true
	}
	info, err := os.Stat(process + "/task")
	if err != nil {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink == 3 { // ".", "..", and one thread
		return false
	}
	threads, err := os.ReadDir(process + "/task")
	if err != nil {
		return false
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil || tid == pid || sameFiles(pid, tid) {
			continue
		}
		if tableHas(process+"/task/"+thread.Name()+"/fd", target) {
			return true
		}
	}
	return false
}

// kcmpFiles is KCMP_FILES of linux/kcmp.h.
const kcmpFiles = 2

// sameFiles reports whether two threads share one table of open files; false
// where the kernel does not tell.
func sameFiles(a, b int) bool {
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpFiles, 0, 0, 0)
	return errno == 0 && order == 0
}

// tableHas reports whether one of the links in a folder of descriptors is target.
func tableHas(path, target string) bool {
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
// whose open files we may not read. If anything of that uid is inside a session,
// the client is taken for that: better a person refused than an agent let in.
func unreadable(sock socket, holders []HolderProcess) (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	seen := false
	for _, pid := range pids {
		if uid, ok := userOf(pid); !ok || uid != sock.uid {
			continue
		}
		h, err := origin(pid, holders, func() bool { return true })
		if err != nil && !errors.Is(err, errProcessGone) {
			return nil, 0, err
		}
		if h != nil {
			return h, pid, nil
		}
		seen = true
	}
	if !seen {
		return nil, 0, fmt.Errorf("no process of uid %d can be seen, whose connection it is: connect from another machine", sock.uid)
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
