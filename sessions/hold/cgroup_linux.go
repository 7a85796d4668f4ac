package hold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// intoCgroup has the kernel start a process in a cgroup, so that no child of it is ever outside.
// close comes after the start.
func intoCgroup(path string, sys *syscall.SysProcAttr) (close func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the session's cgroup %s: %w", path, err)
	}
	sys.UseCgroupFD, sys.CgroupFD = true, fd
	return func() { unix.Close(fd) }, nil
}

const (
	// emptyFor is how long the kernel may take to end what is in a cgroup.
	emptyFor = 30 * time.Second
	// emptyEvery is how often that is looked at.
	emptyEvery = 10 * time.Millisecond
)

// endCgroup kills what is left in a session's cgroup and removes it, with those that were made below it.
func endCgroup(path string) error {
	if path == "" {
		return nil
	}
	for until := time.Now().Add(emptyFor); ; time.Sleep(emptyEvery) {
		err := removeCgroup(path)
		if err == nil || time.Now().After(until) {
			return err
		}
		killCgroup(path)
	}
}

// killCgroup kills all processes of a cgroup and of those below it.
func killCgroup(path string) {
	if os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	// A kernel before 5.14: a process that forks meanwhile is met in the next round.
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil
		}
		pids, _ := os.ReadFile(filepath.Join(at, "cgroup.procs"))
		for _, pid := range bytes.Fields(pids) {
			if n, err := strconv.Atoi(string(pid)); err == nil && n > 1 {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		return nil
	})
}

// removeCgroup removes a cgroup without processes. It succeeds if the cgroup is gone.
func removeCgroup(path string) error {
	below, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range below {
		if e.IsDir() {
			if err := removeCgroup(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the cgroup %s: %w", path, err)
	}
	return nil
}

// memory watches the OOM kills of a session's cgroup.
type memory struct {
	file   string // memory.events; empty: the session has no limit of memory
	limit  int64  // memory.max in bytes
	report func(OOMData)

	mu      sync.Mutex
	kills   int64       // that were reported
	last    time.Time   // of the newest one
	watched *os.File    // inotify; nil while the file isn't watched
	is      os.FileInfo // the file that is watched
	closed  bool
	over    sync.WaitGroup
}

// begin starts to watch, before the program runs.
func (m *memory) begin(cgroup string) {
	limit, err := os.ReadFile(filepath.Join(cgroup, "memory.max"))
	if cgroup == "" || err != nil {
		return
	}
	if m.limit, err = strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err != nil {
		return // "max"
	}
	m.file = filepath.Join(cgroup, "memory.events")
	m.kills, _ = oomKills(m.file)
	m.watch()
}

// watch watches the file, unless it is watched already. The file is another one when the controller was
// taken away and enabled again, which a restart of the server's unit does. The watch of the old one is silent.
func (m *memory) watch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := os.Stat(m.file)
	if err != nil || m.closed || m.watched != nil && os.SameFile(info, m.is) {
		return
	}
	if m.watched != nil {
		m.watched.Close()
		m.watched, m.kills = nil, 0
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return // the end looks once more
	}
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, m.file, unix.IN_MODIFY); err != nil {
		f.Close()
		return
	}
	m.watched, m.is = f, info
	m.over.Go(func() {
		buf := make([]byte, 4<<10)
		for {
			m.look() // first for what came before the watch
			if _, err := f.Read(buf); err != nil {
				return
			}
		}
	})
}

// look reports kills that were not reported yet.
func (m *memory) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == "" {
		return
	}
	kills, err := oomKills(m.file)
	if err != nil || kills <= m.kills {
		return
	}
	m.report(OOMData{Kills: kills - m.kills, Limit: m.limit})
	m.kills, m.last = kills, time.Now()
}

// end stops watching.
func (m *memory) end() {
	m.mu.Lock()
	m.closed = true
	if m.watched != nil {
		m.watched.Close()
	}
	m.mu.Unlock()
	m.over.Wait()
}

func (m *memory) limitOf() int64 { return m.limit }

// killedAt is when the newest kill was seen.
func (m *memory) killedAt() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// oomKills reads how many processes of a cgroup the kernel has killed for memory.
func oomKills(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read the OOM kills: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return 0, fmt.Errorf("read the OOM kills: %s has no oom_kill", file)
}

// CgroupSession is the id of the session in whose cgroup a process is; empty for none, and for the session
// that this process itself is in.
func CgroupSession(pid int) (id string, err error) {
	line, err := cgroupOf(strconv.Itoa(pid))
	if err != nil {
		return "", err
	}
	own, err := cgroupOf("self")
	if id = sessionOfCgroup(line); id == sessionOfCgroup(own) {
		id = ""
	}
	return id, err
}

func cgroupOf(pid string) (string, error) {
	text, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return "", fmt.Errorf("read the cgroup of process %s: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSuffix(strings.TrimSuffix(path, "\n"), " (deleted)"), nil
		}
	}
	return "", nil // a kernel without cgroup v2
}

// sessionOfCgroup finds the outermost session in a cgroup's path: what is further in can be made by a
// program of that session.
func sessionOfCgroup(path string) string {
	for name := range strings.SplitSeq(path, "/") {
		if id, ok := strings.CutPrefix(name, CgroupPrefix); ok && len(id) == sessionIDLength {
			return id
		}
	}
	return ""
}

// sessionIDLength is that of a ULID.
const sessionIDLength = 26

// Ungroup takes the controllers away from the children of the cgroup that a unit's process is in, or that
// the cgroup .control is in: systemd runs a unit's commands there. It can't start the unit again while the
// unit's cgroup has them. The next server enables them again, and sets the limits again.
func Ungroup() error {
	own, err := OwnCgroup()
	if err != nil {
		return err
	}
	if filepath.Base(own) == ".control" {
		own = filepath.Dir(own)
	}
	control := filepath.Join(own, "cgroup.subtree_control")
	have, err := os.ReadFile(control)
	if err != nil {
		return fmt.Errorf("read the controllers: %w", err)
	}
	for _, name := range strings.Fields(string(have)) {
		err = errors.Join(err, os.WriteFile(control, []byte("-"+name), 0))
	}
	if err != nil {
		return fmt.Errorf("take the controllers away: %w", err)
	}
	return nil
}

// OwnCgroup is the folder of this process's cgroup.
func OwnCgroup() (string, error) { return CgroupFolder("self") }

// CgroupFolder is the folder of a process's cgroup.
func CgroupFolder(pid string) (string, error) {
	path, err := cgroupOf(pid)
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("read the mounts: %w", err)
	}
	found := ""
	for line := range strings.Lines(string(mounts)) {
		// ID PARENT DEV ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS
		f := strings.Fields(line)
		_, kind, ok := strings.Cut(line, " - ")
		if !ok || len(f) < 6 || !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		if below, err := filepath.Rel(f[3], path); err == nil && filepath.IsLocal(below) {
			found = filepath.Join(f[4], below) // the last mount covers those before it
		}
	}
	if found == "" {
		return "", errors.New("cgroup v2 isn't mounted")
	}
	return found, nil
}
