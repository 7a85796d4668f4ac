package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// logBytes is the size from which Detach sets a server's old log aside, as NAME.1.
const logBytes = 4 << 20

// poll is how often a start and a stop look whether they are done: neither announces it.
const poll = 20 * time.Millisecond

// LogFile is the log of a detached server.
func LogFile(stateDir string) string { return filepath.Join(stateDir, "server.log") }

// Detach starts a server as a process of its own session, whose output goes to the log file, and
// returns its pid and a channel that says how it ended while this process still runs.
func Detach(stateDir string, argv, env []string) (pid int, ended <-chan error, err error) {
	file := LogFile(stateDir)
	if info, err := os.Stat(file); err == nil && info.Size() > logBytes {
		if err := os.Rename(file, file+".1"); err != nil {
			return 0, nil, fmt.Errorf("set the server's old log aside: %w", err)
		}
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = log, log, env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("start the server: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // ends with the server, or with this process
	return cmd.Process.Pid, done, nil
}

// errSlow says that a server did neither in time.
var errSlow = errors.New("it takes too long")

// WaitUp returns when ready says that the server answers. The error says why it doesn't: it ended, or
// the time is up.
func WaitUp(ctx context.Context, ended <-chan error, patience time.Duration, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case err := <-ended:
			if err == nil {
				err = errors.New("exit status 0")
			}
			return fmt.Errorf("the server ended: %w", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// Stop asks the server to end, and returns when its process is gone.
func Stop(ctx context.Context, pid int, patience time.Duration) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end the server (pid %d): %w", pid, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of the server (pid %d): %w", pid, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// LastLines are the last lines of a server's log since a size that it had.
func LastLines(file string, since int64, most int) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, since, 1<<20), 1<<20))
	if err != nil || len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return lines[max(0, len(lines)-most):]
}
