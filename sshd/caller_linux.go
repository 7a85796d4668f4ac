package sshd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/sessions/hold"
)

var errNoOwner = errors.New("no process that this server can see has the connection open. This machine's own sshd hides those that it makes (ssh -J, -L, -W): " +
	"use ssh -o ProxyCommand='ssh HOST nc ADDRESS PORT', or berth on HOST. Else connect without hiding the client's open files, not from a container, or from another machine")

// callerOverTCP finds the processes of this machine that have the client's end of a connection open.
// It returns the holder that one of them descends from. It returns nil if all are outside of every
// session, or if the client is on another machine. A client on this machine without a known process
// is an error.
func callerOverTCP(client, server net.Addr, holders []HolderProcess) (*HolderProcess, int, error) {
	c, ok1 := addrPort(client)
	s, ok2 := addrPort(server)
	if !ok1 || !ok2 {
		return nil, 0, errNoTCP
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
	users := usersOf(holders)
	search := &search{sock: *sock, holders: holders, users: users, holds: map[int]bool{}, until: time.Now().Add(searchWithin)}
	for _, h := range holders {
		search.holds[h.PID] = !h.Command
	}
	// If a client forks and exits between two searches, the next search finds it.
	for range 3 {
		h, pid, err := search.owners()
		switch {
		case err != nil || h != nil:
			return h, pid, err
		case pid == 0:
			continue
		}
		if err := users.checkUID(int(sock.uid)); err != nil {
			return nil, 0, fmt.Errorf("process %d: %w", pid, err)
		}
		return nil, pid, nil
	}
	if int(sock.uid) != os.Geteuid() && os.Geteuid() != 0 {
		return unreadable(*sock, holders)
	}
	return nil, 0, errNoOwner
}

// sessionUsers are the uids of sessions of other users, each with the name of a session. Processes
// of one user can connect for each other, so such a uid never counts as a person, also outside of
// all sessions.
type sessionUsers map[int]string

func usersOf(holders []HolderProcess) sessionUsers {
	users := sessionUsers{}
	for _, h := range holders {
		if h.UID != os.Geteuid() {
			users[h.UID] = h.Name
		}
	}
	return users
}

// unknown returns a session that may run as uid, because its user can't be read.
func (users sessionUsers) unknown(uid int) (name string, ok bool) {
	name, ok = users[hold.UnknownUID]
	return name, ok && uid != os.Geteuid()
}

// checkUID refuses a uid that a session has, or can take in a user namespace.
func (users sessionUsers) checkUID(uid int) error {
	if name, ok := users[uid]; ok {
		return fmt.Errorf("it has uid %d, and so has the session %s: connect as another user, or from another machine", uid, name)
	}
	if name, ok := users.unknown(uid); ok {
		return fmt.Errorf("it has uid %d, and so may the session %s, whose files can't be read: connect as uid %d, or from another machine", uid, name, os.Geteuid())
	}
	if len(users) == 0 || uid == os.Geteuid() {
		return nil
	}
	for user, name := range users {
		may, err := mayTake(user, uid)
		if err != nil {
			return err
		}
		if may {
			return fmt.Errorf("it has uid %d, which the user of the session %s can take: connect as another user, or from another machine", uid, name)
		}
	}
	return nil
}

// checkProcess refuses a process that runs as such a uid, or that is in a user namespace made by
// one.
func (users sessionUsers) checkProcess(pid int) error {
	if len(users) == 0 {
		return nil
	}
	uids, err := uidsOf(pid)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		if err := users.checkUID(uid); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	owners, err := namespaceOwners(pid)
	if err != nil {
		return fmt.Errorf("read the user namespace of process %d: %w", pid, err)
	}
	for _, owner := range owners {
		name, ok := users[owner]
		if !ok {
			name, ok = users.unknown(owner)
		}
		if ok {
			return fmt.Errorf("process %d is in a user namespace of uid %d, and so is the session %s: connect from outside of it, or from another machine", pid, owner, name)
		}
	}
	return nil
}

// uidsOf lists the uids of a process: its real, effective, saved and file system's.
func uidsOf(pid int) ([]int, error) {
	table, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(table), "\nUid:")
	line, _, _ := strings.Cut(rest, "\n")
	var uids []int
	for _, f := range strings.Fields(line) {
		uid, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("read the uids of process %d: %w", pid, err)
		}
		uids = append(uids, uid)
	}
	if len(uids) == 0 {
		return nil, fmt.Errorf("read the uids of process %d: there are none", pid)
	}
	return uids, nil
}

// mayTake reports whether a user can take a uid in a user namespace.
func mayTake(user, uid int) (bool, error) {
	table, err := os.ReadFile("/etc/subuid")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("read the uids that users may take: %w", err)
	}
	return subordinate(string(table), user, userName(user), uid), nil
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

// unreadable is for a client of another uid, such as one started with sudo, whose open files we
// may not read. If anything of that uid is inside a session, the client counts as that: better
// to refuse a person than to let an agent in. The client is also refused while a process inside
// a session, of any uid, hides its files from us: a program can make a socket as another uid
// (setfsuid in a user namespace of its own). A client with a uid that our own user can take in a
// user namespace is always refused: while such a program passes its socket to another process
// (SCM_RIGHTS), no process has it open.
func unreadable(sock socket, holders []HolderProcess) (*HolderProcess, int, error) {
	switch may, err := mayTake(os.Geteuid(), int(sock.uid)); {
	case err != nil:
		return nil, 0, err
	case may:
		return nil, 0, fmt.Errorf("the connection has uid %d, which uid %d can take, and sessions run as that: connect as another user, or from another machine", sock.uid, os.Geteuid())
	}
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	below, err := descendants(pids, holders)
	if err != nil {
		return nil, 0, err
	}
	holds := map[int]bool{}
	for _, h := range holders {
		holds[h.PID] = !h.Command
	}
	seen := false
	for _, pid := range pids {
		uid, ok := userOf(pid)
		if ok && uid != sock.uid {
			if !holds[pid] && (below[pid] != nil || hold.Inside(pid)) && hidden(pid) {
				return nil, 0, fmt.Errorf("process %d of %s hides its open files and may have the connection open: end the process, or connect from another machine",
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
		return nil, 0, fmt.Errorf("the connection belongs to uid %d, and no process of that user can be seen: connect from another machine", sock.uid)
	}
	return nil, 0, nil
}
