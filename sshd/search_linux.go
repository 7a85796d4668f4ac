package sshd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/sessions/hold"
)

// Bounds of a search: a program that opens files without end must not delay the logins of others.
// Reading a descriptor takes some microseconds. The time is generous, for a busy machine.
const (
	searchWithin  = 10 * time.Second
	searchProcess = 1 << 14 // descriptors and threads of one process
	searchInside  = 1 << 18 // those of all processes inside sessions
)

// search looks for the processes that have a socket open.
type search struct {
	sock    socket
	holders []HolderProcess
	users   sessionUsers
	holds   map[int]bool // their pids: a holder has no connection of a program's
	until   time.Time
}

// errTooMany is a process with more descriptors than the search reads.
var errTooMany = errors.New("too many files are open")

// owners returns the first process that descends from a holder, with that holder; else one outside of
// all sessions; 0 means none. Processes outside come first, because those inside can make a search
// long; and the newest come first, because an ssh client usually connects right after its start. All
// processes inside are checked, whatever their user: a socket can be shared, and root's process can
// become another user's.
func (s *search) owners() (*HolderProcess, int, error) {
	pids, err := processes()
	if err != nil {
		return nil, 0, err
	}
	below, err := descendants(pids, s.holders)
	if err != nil {
		return nil, 0, err
	}
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
			return nil, 0, fmt.Errorf("process %d of %s has too many open files to check: end it, or connect from another machine", most, sessionName(below[most]))
		}
		if err != nil || h != nil {
			return h, own, err
		}
		outside = cmp.Or(outside, own)
	}
	if outside != 0 && len(s.users) == 0 {
		return nil, outside, nil
	}
	h, own, err := s.first(others)
	return h, cmp.Or(outside, own), err
}

// first returns the first of some processes that has the socket open. If sessions have users of their
// own, all processes are checked, because one of theirs can share the socket. It skips processes with
// too many files: if none is found, the client is refused.
func (s *search) first(pids []int) (*HolderProcess, int, error) {
	outside := 0
	for _, pid := range pids {
		work := searchProcess
		h, own, err := s.look(pid, &work)
		if errors.Is(err, errTooMany) {
			continue
		}
		if err != nil || h != nil || own != 0 && len(s.users) == 0 {
			return h, own, err
		}
		outside = cmp.Or(outside, own)
	}
	return nil, outside, nil
}

// look returns pid if it has the socket open, and the holder that it descends from. A process of a
// session's user outside of all sessions is an error.
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
	if err == nil && h == nil {
		err = s.users.checkProcess(pid)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			err = errProcessGone
		}
	}
	if errors.Is(err, errProcessGone) {
		return nil, 0, nil // it may have left the socket to another
	}
	return h, pid, err
}

// descendants returns the holder of each process that descends from one.
func descendants(pids []int, holders []HolderProcess) (map[int]*HolderProcess, error) {
	below := map[int]*HolderProcess{}
	if len(holders) == 0 {
		return below, nil
	}
	walk, err := hold.Table()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		if h, err := holderOf(pid, holders, walk); err == nil && h != nil {
			below[pid] = h
		}
	}
	return below, nil
}

// sessionName is how a message names a holder's session.
func sessionName(h *HolderProcess) string {
	if h == nil {
		return "a session whose holder is not this server's"
	}
	return "the session " + h.Name
}

// userOf is the uid of a process, also of one that we may not trace.
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
	// Process ids start again from the bottom: those above the last one given out are the oldest.
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

// lastPID is the process id given out last; the highest possible one if the kernel doesn't say.
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

// hasOpen returns the link to target among pid's file descriptors; empty if there is none. It checks
// every thread, because a thread may have left the shared table (unshare) and the main thread may
// have ended. It subtracts what it reads from work.
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

// sameFiles says whether two threads share one table of open files; false if the kernel doesn't say.
func sameFiles(a, b int) bool {
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpFiles, 0, 0, 0)
	return errno == 0 && order == 0
}

// tableHas returns the link to target in a folder of descriptors; empty if there is none.
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

// readNames calls look for each name in a folder until it returns true or an error. An unreadable
// folder counts as empty.
func readNames(path string, work *int, until time.Time, look func(dir int, name string) (bool, error)) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	for {
		if time.Now().After(until) {
			return fmt.Errorf("the open files of this machine couldn't be checked within %s: try again", searchWithin)
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

// hidden says whether we may not read the open files of a process.
func hidden(pid int) bool {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return errors.Is(err, os.ErrPermission)
	}
	dir.Close()
	return false
}
