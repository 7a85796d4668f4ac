package shape

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/api"
)

// Argument is the first argument of the process, before the kind of its expression.
const Argument = "shape"

// startTime bounds how long the process may take to start, on a busy machine.
const startTime = 15 * time.Second

// spareTime is how long after MaxTime a process that hasn't ended itself is killed.
const spareTime = 5 * time.Second

// Main runs the process and returns its exit status. It gives up what it doesn't need first: memory,
// priority, and its folder.
func Main(args []string) int {
	if len(args) != 1 {
		return exitBroken
	}
	if used, ok := mapped(); ok { // other systems bound the time only
		limit := unix.Rlimit{Cur: used + maxMemory, Max: used + maxMemory}
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &limit) // it can always be lowered
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10)
	return serve(args[0], os.Stdin, os.Stdout, func() { os.Exit(exitTime) })
}

// mapped is the memory that the process has mapped so far, as RLIMIT_DATA counts it: the runtime
// reserves 100 MB at its start.
func mapped() (bytes uint64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 6 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[5], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

// Process is a running process. Close ends it.
type Process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	option  string
	cancel  context.CancelFunc
	expired *time.Timer
}

// Start starts a process for one expression, and waits until it has compiled it. The end of ctx ends
// the process.
func Start(ctx context.Context, kind, expression string) (*Process, error) {
	option := "--" + kind
	if len(expression) > maxExpression {
		return nil, api.Errorf(api.CodeLimit, "%s is %d bytes long: the limit is %d", option, len(expression), maxExpression)
	}
	exe, err := ownProgram()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", option, err)
	}
	inner, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(inner, exe, Argument, kind)
	cmd.Args[0] = "berth"
	cmd.Dir, cmd.Env = "/", []string{"GOMAXPROCS=1", "GOMEMLIMIT=64MiB"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal for the server's group isn't for it
	p := &Process{cmd: cmd, option: option, cancel: cancel}
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		out, err = cmd.StdoutPipe()
		p.in, p.out = in, bufio.NewReader(out)
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", option, err)
	}
	p.expired = time.AfterFunc(startTime, cancel)
	line, err := json.Marshal(expression)
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	got, err := p.exchange(ctx, append(line, '\n'))
	if err == nil && got.Error != "" {
		err = api.Errorf(api.CodeUsage, "%s: %s", option, got.Error)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Shape returns what the expression makes of one JSON value on one line. With an error it returns
// what came before it.
func (p *Process) Shape(ctx context.Context, line []byte) ([]byte, error) {
	p.expired.Reset(MaxTime + spareTime)
	got, err := p.exchange(ctx, line)
	switch {
	case err != nil:
		return nil, err
	case got.Limit:
		return nil, api.Errorf(api.CodeLimit, "%s: %s", p.option, got.Error)
	case got.Error != "":
		return got.Text, api.Errorf(api.CodeBadRequest, "%s: %s", p.option, got.Error)
	}
	return got.Text, nil
}

// exchange writes one line and reads its reply.
func (p *Process) exchange(ctx context.Context, line []byte) (reply, error) {
	if _, err := p.in.Write(line); err != nil {
		return reply{}, p.ended(ctx)
	}
	line, err := p.out.ReadBytes('\n')
	p.expired.Stop()
	if err != nil {
		return reply{}, p.ended(ctx)
	}
	var got reply
	if err := json.Unmarshal(line, &got); err != nil {
		return reply{}, fmt.Errorf("%s: read the reply: %w", p.option, err)
	}
	return got, nil
}

// ended says why the process ended by itself.
func (p *Process) ended(ctx context.Context) error {
	err := p.wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && (exit.ExitCode() == exitTime || exit.ExitCode() < 0):
		return api.Errorf(api.CodeLimit, "%s took longer than %s for one answer", p.option, MaxTime)
	}
	return api.Errorf(api.CodeLimit, "%s needs more than %d MiB of memory", p.option, maxMemory>>20)
}

func (p *Process) wait() error {
	_ = p.in.Close()
	return p.cmd.Wait()
}

// Close ends the process and waits for it.
func (p *Process) Close() {
	p.cancel()
	p.expired.Stop()
	_ = p.wait() // it was killed, or has ended before
}

// ownProgram is this program's file, also when an upgrade has replaced or removed it.
func ownProgram() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
