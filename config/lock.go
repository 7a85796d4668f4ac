package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

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
	return fmt.Sprintf("%s uses the state folder %s; stop it, or name another with --state-dir", who, e.Dir)
}

// Lock is the right to be the one server of a state folder. The kernel takes
// it back when the process ends, however it ends; it is not inherited.
type Lock struct{ f *os.File }

// LockState makes the state folder if need be (see MakeStateDir) and takes
// its lock. The error is a *LockedError while another process has it.
func LockState(dir string) (*Lock, error) {
	if err := MakeStateDir(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		held := &LockedError{Dir: dir, PID: pidIn(f)}
		f.Close()
		return nil, held
	}
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, strconv.Itoa(os.Getpid())+"\n"))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the state folder %s: %w", dir, err)
	}
	return &Lock{f}, nil
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

func pidIn(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0
	}
	return pid
}

// Unlock gives the lock back. The file stays: removing it would let two
// servers lock two files of one name.
func (l *Lock) Unlock() error { return l.f.Close() }
