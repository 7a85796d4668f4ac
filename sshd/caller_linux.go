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
		if err := checkUser(int(sock.uid), pid, holders); err != nil {
			return nil, 0, err
		}
		return nil, pid, nil
	}
	if int(sock.uid) != os.Geteuid() && os.Geteuid() != 0 {
		return unreadable(*sock, holders)
	}
	return nil, 0, errors.New("no process that this server can see has the connection open: connect without hiding the client's open files, not from a container, or from another machine")
}

// checkUser refuses a process outside of all sessions whose socket is of a uid
// that a session of another user has, or can take in a user namespace: processes
// of one user can have each other connect for them.
func checkUser(uid, pid int, holders []HolderProcess) error {
	users := map[int]string{}
	for _, h := range holders {
		if h.UID != os.Geteuid() {
			users[h.UID] = h.Name
		}
	}
	if len(users) == 0 {
		return nil
	}
	refuse := func(user int) error {
		return fmt.Errorf("process %d is of uid %d, as the session %s is: connect as another user, or from another machine", pid, user, users[user])
	}
	if _, ok := users[uid]; ok {
		return refuse(uid)
	}
	if uid != os.Geteuid() {
		table, err := os.ReadFile("/etc/subuid")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the uids that users may take: %w", err)
		}
		for user := range users {
			if subordinate(string(table), user, userName(user), uid) {
				return fmt.Errorf("process %d connected as uid %d, which the user of the session %s can take: connect as another user, or from another machine", pid, uid, users[user])
			}
		}
	}
	owners, err := namespaceOwners(pid)
	if err != nil {
		return fmt.Errorf("look at the user namespace of process %d: %w", pid, err)
	}
	for _, owner := range owners {
		if _, ok := users[owner]; ok {
			return refuse(owner)
		}
	}
	return nil
}

// subordinate reports whether a table such as /etc/subuid gives uid to a user.
func subordinate(table string, user int, name string, uid int) bool {
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 || f[0] != name && f[0] != strconv.Itoa(user) {
			continue
		}
		first, err1 := strconv.Atoi(f[1])
		count, err2 := strconv.Atoi(f[2])
		if err1 == nil && err2 == nil && uid >= first && uid-first < count {
			return true
		}
	}
	return false
}

// namespaceOwners lists the uids that made the user namespaces a process is in,
// from its own up to ours.
func namespaceOwners(pid int) ([]int, error) {
	ours, err := os.Stat("/proc/self/ns/user")
	if errors.Is(err, os.ErrNotExist) { // a kernel without them
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/user")
	if err != nil {
		return nil, err
	}
	defer func() { file.Close() }()
	var owners []int
	for {
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		if os.SameFile(info, ours) {
			return owners, nil
		}
		owner, err := unix.IoctlGetUint32(int(file.Fd()), unix.NS_GET_OWNER_UID)
		if err != nil {
			return nil, os.NewSyscallError("ioctl NS_GET_OWNER_UID", err)
		}
		owners = append(owners, int(owner))
		parent, err := unix.IoctlRetInt(int(file.Fd()), unix.NS_GET_PARENT)
		if err != nil {
			return nil, os.NewSyscallError("ioctl NS_GET_PARENT", err)
		}
		file.Close()
		file = os.NewFile(uintptr(parent), "user namespace")
	}
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
	if slices.ContainsFunc(list, func(own net.Addr) bool {
		n, ok := own.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	}) {
		return true, nil
	}
	return routedHere(a)
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port()), true
}

// Bounds of a search: a program that opens files without end must not hold up
// the logins of others. Reading a descriptor takes some microseconds. The time is
// generous, for a machine that is busy.
const (
	searchWithin  = 10 * time.Second
	searchProcess = 1 << 14 // descriptors and threads of one process
	searchInside  = 1 << 18 // those of all processes inside sessions
)

// search looks for the processes that have a socket open.
type search struct {
	sock    socket
	holders []HolderProcess
	holds   map[int]bool // their pids: a holder has no connection of a program's
	until   time.Time
}

// errTooMany is a process with more descriptors than are looked through.
var errTooMany = errors.New("too many files are open")

// owners gives the first process that descends from a holder, with that, or else
// one that is outside of all sessions; 0 is none. The processes outside come
// first, for those inside can make a search long; and the newest first: an ssh
// client has hardly ever connected long after it was started. All that are inside
// are looked at, whatever their user: a socket can be shared, and root's process
// can become another user's.
func (s *search) owners() (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	below := descendants(pids, s.holders)
	var near, inside, others []int
	for _, pid := range pids {
		uid, ok := userOf(pid)
		switch {
		case s.holds[pid]:
		case below[pid] != nil || hold.Inside(pid):
			inside = append(inside, pid)
		case ok && uid != s.sock.uid && uid != 0:
			others = append(others, pid)
		default:
			near = append(near, pid)
		}
	}
	h, outside, err := s.first(near)
	if err != nil || h != nil {
		return h, outside, err
	}
	total, most, mostUsed := searchInside, 0, 0
	for _, pid := range inside {
		work := min(total, searchProcess)
		before := work
		h, own, err := s.look(pid, &work)
		if used := before - work; used > 0 {
			total -= used
			if used > mostUsed {
				most, mostUsed = pid, used
			}
		}
		if errors.Is(err, errTooMany) {
			return nil, 0, fmt.Errorf("process %d of %s has too many files open to be looked through: end it, or connect from another machine", most, sessionName(below[most]))
		}
		if err != nil || h != nil {
			return h, own, err
		}
		outside = cmp.Or(outside, own)
	}
	if outside != 0 {
		return nil, outside, nil
	}
	return s.first(others)
}

// first gives the first of some processes that has the socket open. It leaves
// out those with too many files: none found refuses the client.
func (s *search) first(pids []int) (*HolderProcess, int, error) {
	for _, pid := range pids {
		work := searchProcess
		h, own, err := s.look(pid, &work)
		if errors.Is(err, errTooMany) {
			continue
		}
		if err != nil || own != 0 {
			return h, own, err
		}
	}
	return nil, 0, nil
}

// look gives pid if it has the socket open, and the holder that it descends from.
func (s *search) look(pid int, work *int) (*HolderProcess, int, error) {
	want := "socket:[" + strconv.FormatUint(uint64(s.sock.inode), 10) + "]"
	place, err := hasOpen(pid, want, work, s.until)
	if err != nil || place == "" {
		return nil, 0, err
	}
	h, err := origin(pid, s.holders, func() bool {
		if target, err := os.Readlink(place); err == nil && target == want {
			return true
		}
		again, err := hasOpen(pid, want, work, s.until) // it may have another number now
		return err == nil && again != ""
	})
	if errors.Is(err, errProcessGone) {
		return nil, 0, nil // it may have left the socket to another
	}
	return h, pid, err
}

// descendants gives the holder of each process that descends from one.
func descendants(pids []int, holders []HolderProcess) map[int]*HolderProcess {
	below := map[int]*HolderProcess{}
	if len(holders) == 0 {
		return below
	}
	table := make(map[int]process, len(pids))
	for _, pid := range pids {
		if p, err := readProcess(pid); err == nil {
			table[pid] = p
		}
	}
	read := func(pid int) (process, error) {
		if p, ok := table[pid]; ok {
			return p, nil
		}
		return process{}, errProcessGone
	}
	for _, pid := range pids {
		if h, err := walkUp(pid, holders, read); err == nil && h != nil {
			below[pid] = h
		}
	}
	return below
}

// sessionName is how a message names the session of a holder.
func sessionName(h *HolderProcess) string {
	if h == nil {
		return "a session whose holder is not this server's"
	}
	return "the session " + h.Name
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

// hasOpen gives the link to target among pid's file descriptors, empty for none:
// of any thread, for a thread may have left the table that the others share
// (unshare), and the main thread may have ended. It takes what it reads off work.
func hasOpen(pid int, target string, work *int, until time.Time) (string, error) {
	process := "/proc/" + strconv.Itoa(pid)
	if place, err := tableHas(process+"/fd", target, work, until); place != "" || err != nil {
		return place, err
	}
	info, err := os.Stat(process + "/task")
	if err != nil {
		return "", nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink == 3 { // ".", "..", and one thread
		return "", nil
	}
	var found string
	err = readNames(process+"/task", work, until, func(_ int, name string) (bool, error) {
		tid, err := strconv.Atoi(name)
		if err != nil || tid == pid || sameFiles(pid, tid) {
			return false, nil
		}
		place, err := tableHas(process+"/task/"+name+"/fd", target, work, until)
		found = place
		return place != "", err
	})
	return found, err
}

// kcmpFiles is KCMP_FILES of linux/kcmp.h.
const kcmpFiles = 2

// sameFiles reports whether two threads share one table of open files; false
// where the kernel does not tell.
func sameFiles(a, b int) bool {
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpFiles, 0, 0, 0)
	return errno == 0 && order == 0
}

// tableHas gives the link to target in a folder of descriptors; empty for none.
func tableHas(path, target string, work *int, until time.Time) (string, error) {
	buf := make([]byte, 64)
	var found string
	err := readNames(path, work, until, func(dir int, name string) (bool, error) {
		n, err := unix.Readlinkat(dir, name, buf)
		if err != nil || string(buf[:n]) != target {
			return false, nil
		}
		found = path + "/" + name
		return true, nil
	})
	return found, err
}

// readNames calls look for each name in a folder until that reports true or an
// error. A folder that cannot be read has none.
func readNames(path string, work *int, until time.Time, look func(dir int, name string) (bool, error)) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	for {
		if time.Now().After(until) {
			return fmt.Errorf("the open files of this machine could not be looked through in %s: try again", searchWithin)
		}
		names, err := dir.Readdirnames(256)
		if err != nil {
			return nil // the end, or the process has gone
		}
		if *work -= len(names); *work < 0 {
			return errTooMany
		}
		for _, name := range names {
			if done, err := look(int(dir.Fd()), name); done || err != nil {
				return err
			}
		}
	}
}

// unreadable is for a client of another uid, such as one started with sudo,
// whose open files we may not read. If anything of that uid is inside a session,
// the client is taken for that: better a person refused than an agent let in. A
// process inside of any uid whose files we may not read refuses it: a program can
// make a socket as another uid (setfsuid in a user namespace of its own).
func unreadable(sock socket, holders []HolderProcess) (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	below := descendants(pids, holders)
	holds := map[int]bool{}
	for _, h := range holders {
		holds[h.PID] = !h.Command
	}
	seen := false
	for _, pid := range pids {
		uid, ok := userOf(pid)
		if ok && uid != sock.uid {
			if !holds[pid] && (below[pid] != nil || hold.Inside(pid)) && hidden(pid) {
				return nil, 0, fmt.Errorf("process %d of %s hides its open files, and could have the connection open: end it, or connect from another machine",
					pid, sessionName(below[pid]))
			}
			continue
		}
		if !ok {
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

// hidden reports whether the open files of a process may not be read.
func hidden(pid int) bool {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return errors.Is(err, os.ErrPermission)
	}
	dir.Close()
	return false
}

// socket is the kernel's socket at one end of a TCP connection.
type socket struct{ inode, uid uint32 }

// findSocket finds the socket of this machine whose own address is local and
// whose peer's is remote; nil when there is none.
func findSocket(local, remote netip.AddrPort) (*socket, error) {
	sock, err := askKernel(local, remote)
	if err == nil && sock == nil {
		// The answer is the same for a socket bound to a device. An empty list is
		// sure where it has our own end, which exists.
		if sock, err = listKernel(local, remote); err == nil && sock == nil {
			own, err := listKernel(remote, local)
			if err == nil && own != nil {
				return nil, nil
			}
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
