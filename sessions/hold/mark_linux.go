package hold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

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

// KeepLevel refuses a server that runs deeper in sessions than another one did with this file, since the machine
// started: it may be inside a session of that one. What a session left behind can lower its mark, and put a program
// in front of the server that counts as a holder, a real one too. It can't raise its limit again.
func KeepLevel(file string) error {
	limit, err := markOf(os.Getpid())
	if err != nil {
		return err
	}
	return keepLevel(file, bootID(), min(limit, markTop)>>markHash)
}

func keepLevel(file, boot string, level uint64) error {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read how deep in sessions a server with this state folder ran: %w", err)
	default:
		of, text, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
		before, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err != nil:
			return fmt.Errorf("%s isn't as a server writes it: remove it if you start the server from outside of all sessions", file)
		case of == boot && level < before:
			return errors.New("a server with the same state folder has had a higher limit on file locks (ulimit -H -x) since this machine started, " +
				"so this one may be inside one of its sessions: start the server where it was started before")
		case of == boot && level == before:
			return nil
		}
	}
	if err := os.WriteFile(file+".new", fmt.Appendf(nil, "%s %d\n", boot, level), 0o600); err != nil {
		return fmt.Errorf("write how deep in sessions this server runs: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write how deep in sessions this server runs: %w", err)
	}
	return nil
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

// maxEnviron bounds what is read of a process's environment. By default Linux gives
// a new program 2 MiB for it and the arguments together; a running one can point at
// as much memory as it likes (PR_SET_MM_MAP).
const maxEnviron = 1 << 20

// sessionOf is the session that a process was started in by its environment;
// empty for none, and where that may not be read. It is an error where the
// environment is too long to be looked through.
func sessionOf(pid int) (string, error) {
	env, err := readHead("/proc/"+strconv.Itoa(pid)+"/environ", maxEnviron+1)
	if err != nil {
		return "", nil
	}
	if len(env) > maxEnviron {
		return "", fmt.Errorf("process %d has more than %d bytes of environment", pid, maxEnviron)
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if session, ok := bytes.CutPrefix(v, []byte(sessionEnv+"=")); ok {
			return string(session), nil
		}
	}
	return "", nil
}

// readHead reads a file's first bytes, at most so many: a process makes some of its
// files in /proc as long as it likes.
func readHead(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
