// Package command runs a command that must not hold anybody up: without a
// shell, for a bounded time, with a bounded part of its output kept.
package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Command is what is run once.
type Command struct {
	Path   string   // of the executable
	Argv   []string // with its name first
	Env    []string // all of it
	Dir    string
	Stdin  []byte
	Most   int                 // bytes of its standard output that are kept; the rest is thrown away
	Last   int                 // bytes of the end of its error stream that are kept
	Both   bool                // its standard output is kept there too, in the order that it was written in
	Within time.Duration       // after which it and all of its group are killed
	As     *syscall.Credential // of another user; nil: the server's
	// Enter, where it is set, changes how the command is started. It is called
	// before, and what it gives when the command's process is there.
	Enter func(*exec.Cmd) (Entry, error)
}

// Entry lets a started process go on to be the command.
type Entry interface {
	Begin(pid int) error
	Close()
}

// Result is what it printed.
type Result struct {
	Output []byte
	Cut    bool   // it printed more
	Said   []byte // the end of its error stream
	Took   time.Duration
}

// StatusError is the status, other than 0, that the command ended with.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("it ended with status %d", int(s)) }

// pipesWithin is how long what a program has left behind may keep its output
// open.
const pipesWithin = 500 * time.Millisecond

// ErrTime is that the program took longer than it may.
var ErrTime = errors.New("it took longer than it may")

// Run runs the command to its end. An error names neither arguments nor
// environment, which may be secret.
func Run(ctx context.Context, p Command) (Result, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, p.Within, ErrTime)
	defer cancel()
	out := &head{most: p.Most}
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.Args, cmd.Env, cmd.Dir = p.Argv, p.Env, p.Dir
	said := &tail{most: p.Last}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(p.Stdin), out
	if p.Last > 0 {
		cmd.Stderr = said
	}
	if p.Both {
		cmd.Stdout = said // one pipe for both, as os/exec sees that they are the same
	}
	// A session of its own, because a process may type into the terminal of its session (TIOCSTI). A server
	// that was started in a terminal has it, and agents may be able to edit the command.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: p.As}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pipesWithin
	err := run(cmd, p.Enter)
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it has ended, and what it left behind goes on
		err = nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
		if errors.Is(err, ErrTime) {
			err = fmt.Errorf("%w: %s", ErrTime, p.Within)
		}
	case errors.As(err, &exit) && exit.Exited():
		err = StatusError(exit.ExitCode())
	case errors.As(err, &exit):
		err = fmt.Errorf("it ended by a signal: %s", exit.ProcessState)
	default:
		// What Go says names the path, in front of the reason.
		err = fmt.Errorf("it could not be started: %w", cmp.Or(errors.Unwrap(err), err))
	}
	return Result{Output: out.kept.Bytes(), Cut: out.cut, Said: said.kept, Took: time.Since(began)}, err
}

func run(cmd *exec.Cmd, enter func(*exec.Cmd) (Entry, error)) error {
	if enter == nil {
		return cmd.Run()
	}
	entry, err := enter(cmd)
	if err != nil {
		return err
	}
	defer entry.Close()
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := entry.Begin(cmd.Process.Pid)
	if err := cmd.Wait(); failed == nil {
		return err
	}
	return failed
}

// head keeps the beginning of what is written to it.
type head struct {
	most int
	kept bytes.Buffer
	cut  bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.most - h.kept.Len()
	h.cut = h.cut || len(p) > room
	h.kept.Write(p[:max(min(room, len(p)), 0)])
	return len(p), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	most int
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.most):]...)
	t.kept = t.kept[max(0, len(t.kept)-t.most):]
	return len(p), nil
}
