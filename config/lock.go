package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNoServer says that no server has the state folder.
var ErrNoServer = errors.New("no berth serve is running")

// LockedError says that another server has the state folder.
type LockedError struct {
	Dir string
	PID int // 0 if it could not be read
}

func (e *LockedError) Error() string {
	who := "another berth serve"
	if e.PID != 0 {
		who += " (pid " + strconv.Itoa(e.PID) + ")"
	}
	return fmt.Sprintf("%s uses the state folder %s; stop it, or name another folder with --state-dir", who, e.Dir)
}

// Lock is the right to be the only server of a state folder. The kernel releases it when the
// process ends, however it ends. Child processes don't inherit it.
type Lock struct{ f *os.File }

// LockState makes the state folder if needed (see MakeStateDir) and takes its lock. The error is
// a *LockedError while another process has it.
func LockState(dir string) (*Lock, error) {
	if err := MakeStateDir(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state folder: %w", err)
	}
	pid := 0
	// A killed process keeps its lock until the kernel has cleaned up, and flock waits without a
	// deadline. So this polls, for lockPatience at most.
	for end := time.Now().Add(lockPatience); ; time.Sleep(5 * time.Millisecond) {
		if err = flock(f); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if pid, _ = holderIn(f); pid == 0 || !gone(pid) || time.Now().After(end) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, &LockedError{Dir: dir, PID: pid}
	}
	l := &Lock{f}
	if err == nil {
		err = l.Publish("")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the state folder %s: %w", dir, err)
	}
	return l, nil
}

// lockPatience is how long LockState waits for a dead server's lock. A server that is killed while
// it starts a process leaves the lock to the child until the child has executed its program.
const lockPatience = 2 * time.Second

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Publish writes down where this server's sockets are, for LastServer.
func (l *Lock) Publish(runtimeDir string) error {
	text := strconv.Itoa(os.Getpid()) + "\n" + runtimeDir + "\n"
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(text), 0)
	return err
}

// Unlock releases the lock. The file stays: if it were removed, two servers could lock two files
// of the same name.
func (l *Lock) Unlock() error {
	return errors.Join(l.f.Truncate(0), l.f.Close())
}

// LastServer returns what the last server of a state folder wrote down: its pid and the folder of
// its sockets (empty if it never wrote one). The error is ErrNoServer if there was none, or if it
// ended normally. A killed server leaves its entry; its socket shows whether it still runs. (Trying
// the lock would show that too, but could keep a server from starting at that moment.)
func LastServer(stateDir string) (pid int, runtimeDir string, err error) {
	f, err := os.Open(filepath.Join(stateDir, "lock"))
	if err == nil {
		defer f.Close()
		pid, runtimeDir = holderIn(f)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, "", fmt.Errorf("look for a running server: %w", err)
	}
	if pid == 0 {
		return 0, "", fmt.Errorf("%w with the state folder %s", ErrNoServer, stateDir)
	}
	return pid, runtimeDir, nil
}

// holderIn reads what the process with the lock wrote into it.
func holderIn(f *os.File) (pid int, runtimeDir string) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil {
		return 0, ""
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	runtimeDir, _, _ = strings.Cut(rest, "\n")
	if pid, err = strconv.Atoi(first); err != nil {
		return 0, ""
	}
	return pid, runtimeDir
}
