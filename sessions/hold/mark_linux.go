package hold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// markOf reads a process's hard limit on file locks.
func markOf(pid int) (uint64, error) {
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit)
	if errors.Is(err, unix.EPERM) { // of another user: the file is open to all
		return readMark(pid)
	}
	if err != nil {
		return 0, fmt.Errorf("read the mark of process %d: %w", pid, err)
	}
	return limit.Max, nil
}

func readMark(pid int) (uint64, error) {
	table, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0, fmt.Errorf("read the mark of process %d: %w", pid, err)
	}
	_, rest, _ := bytes.Cut(table, []byte("Max file locks"))
	fields := bytes.Fields(rest)
	if len(fields) < 2 {
		return 0, fmt.Errorf("read the mark of process %d: its limits lack it", pid)
	}
	if string(fields[1]) == "unlimited" {
		return unix.RLIM_INFINITY, nil
	}
	limit, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the mark of process %d: %w", pid, err)
	}
	return limit, nil
}

// markSelf has this process, and all that it starts, carry the mark of a session
// that it starts. A system that has no such limit, or does not let it be set,
// leaves them without.
func markSelf(session string) error {
	if _, err := ours(); err != nil {
		return err
	}
	limit, err := markOf(os.Getpid())
	if err != nil {
		return err
	}
	lower := markUnder(limit, session)
	_ = unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: lower, Max: lower})
	return nil
}

// sessionOf is the session that a process was started in by its environment;
// empty for none, and where that may not be read.
func sessionOf(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if session, ok := bytes.CutPrefix(v, []byte(sessionEnv+"=")); ok {
			return string(session)
		}
	}
	return ""
}
