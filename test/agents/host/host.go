// Package host runs the real berth server for tests of real agents, and calls
// it as users do: with OpenSSH's client and a key.
package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience limits the start and the end of a server, and calls without a limit of their own.
const patience = 30 * time.Second

// Build makes the binaries dir/berth and dir/berth-hold. BERTH_EXE in the environment names another berth to use, such
// as that of a release.
func Build(ctx context.Context, dir string) (string, error) {
	if given := os.Getenv("BERTH_EXE"); given != "" {
		return filepath.Abs(given)
	}
	exe := filepath.Join(dir, "berth")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/", "berth/cmd/berth", "berth/cmd/berth-hold") // as the Makefile does
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build berth: %w\n%s", err, out)
	}
	return exe, nil
}

// Host is a server with a state folder and an admin's key of its own. Only one goroutine may use it, except that any
// may call Call and Attach.
type Host struct {
	exe, dir string
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has ended
	shared   *connection   // nil while no server was started
}

// New prepares a host in dir, an existing folder with a short path: sockets
// live in it. The server is not running yet.
func New(ctx context.Context, exe, dir string) (*Host, error) {
	h := &Host{exe: exe, dir: dir}
	keygen := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, "key"))
	if out, err := keygen.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a key: %w\n%s", err, out)
	}
	return h, nil
}

// Start starts the server, also after Kill, and waits for its address.
func (h *Host) Start() error {
	log, err := os.OpenFile(h.logFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(h.exe, "serve", "--listen", "127.0.0.1:0", "--authorize", filepath.Join(h.dir, "key.pub"), "--limits-verbs-per-second", "1000")
	cmd.Env, cmd.Dir, cmd.Stderr = h.environ(), h.dir, log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start berth: %w", err)
	}
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if a, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				address <- a
			}
		}
		_ = cmd.Wait() // the log says how it ended
		close(ended)
	}()
	h.cmd, h.ended = cmd, ended
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-address:
		if err := h.configureSSH(a); err != nil {
			return err
		}
		h.shared, err = h.connect()
		return err
	case <-ended:
		return fmt.Errorf("berth serve ended: %s", h.Log())
	case <-timer.C:
		return errors.Join(fmt.Errorf("berth serve printed no address: %s", h.Log()), h.Kill())
	}
}

// environ is the environment of the server and the client: of the caller's own only what is needed to find programs.
func (h *Host) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "SHELL=/bin/sh", "USER=tester", "LANG=C.UTF-8", "TERM=xterm-256color", "TMPDIR=" + h.dir,
		"BERTH_STATE_DIR=" + filepath.Join(h.dir, "state"), "BERTH_RUNTIME_DIR=" + filepath.Join(h.dir, "run"),
	}
}

func (h *Host) configureSSH(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`Host berth
  HostName 127.0.0.1
  Port %s
  User agents
  IdentityFile %s/key
  IdentitiesOnly yes
  IdentityAgent none
  BatchMode yes
  UserKnownHostsFile %s/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
  HostKeyAlias berth
  ControlPath %s
  LogLevel ERROR
`, port, h.dir, h.dir, h.controlPath())
	return os.WriteFile(filepath.Join(h.dir, "ssh_config"), []byte(text), 0o600)
}

// Kill ends the server with SIGKILL; sessions go on.
func (h *Host) Kill() error {
	if err := h.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-h.ended
	if h.shared == nil {
		return nil
	}
	return h.disconnect(h.shared)
}

// Freeze stops the server with SIGSTOP; Thaw lets it go on.
func (h *Host) Freeze() error { return h.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (h *Host) Thaw() error { return h.cmd.Process.Signal(syscall.SIGCONT) }

// Close ends all sessions and the server.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var all []error
	select {
	case <-h.ended: // killed, and not started again
		if err := h.Start(); err != nil {
			return err
		}
	default:
	}
	if _, err := h.Call(ctx, nil, "kill", "all", "--grace", "2s"); err != nil {
		all = append(all, fmt.Errorf("end the sessions: %w", err))
	}
	if h.shared != nil {
		all = append(all, h.disconnect(h.shared))
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		all = append(all, err)
	}
	select {
	case <-h.ended:
	case <-ctx.Done():
		all = append(all, errors.New("berth serve does not stop"), h.Kill())
	}
	return errors.Join(all...)
}

func (h *Host) logFile() string { return filepath.Join(h.dir, "server.log") }

// Log is the end of the server's log.
func (h *Host) Log() string {
	log, err := os.ReadFile(h.logFile())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-8000):])
}

// apart makes ssh use a connection of its own, which ends with it.
const apart = "-Snone"

func (h *Host) ssh(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ssh", append([]string{"-F", filepath.Join(h.dir, "ssh_config")}, args...)...)
	cmd.Env, cmd.Dir = h.environ(), h.dir
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// Failure is a call that ended with another status than 0.
type Failure struct {
	Words  []string
	Status int
	Output string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: status %d: %s", strings.Join(f.Words, " "), f.Status, strings.TrimSpace(f.Output))
}

// Call runs a verb through ssh and returns its standard output. The words arrive
// as they are: they go over as a JSON array. A verb's failure is a *Failure.
func (h *Host) Call(ctx context.Context, stdin []byte, words ...string) ([]byte, error) {
	line, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	cmd := h.ssh(ctx, "berth", string(line))
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stdout.Bytes(), &Failure{words, exit.ExitCode(), stdout.String() + stderr.String()}
	}
	return stdout.Bytes(), err
}

// Follower is a verb that runs on, such as watch.
type Follower struct {
	Lines <-chan Line // closed at its end
	stop  context.CancelFunc
	ended chan struct{}
}

// Line is a line of a Follower, and when it was read.
type Line struct {
	Time time.Time
	Text []byte
}

// Follow runs a verb that runs on, through ssh. The caller must read Lines to their end. Close ends them.
func (h *Host) Follow(ctx context.Context, words ...string) (*Follower, error) {
	line, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	cmd := h.ssh(ctx, apart, "berth", string(line))
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	lines := make(chan Line, 64)
	f := &Follower{Lines: lines, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		defer close(lines)
		in := bufio.NewScanner(out)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			lines <- Line{time.Now(), bytes.Clone(in.Bytes())}
		}
		_ = cmd.Wait() // it is ended by us, or by a server that was killed
	}()
	return f, nil
}

// Close ends the verb. Another goroutine must read Lines to their end.
func (f *Follower) Close() {
	f.stop()
	<-f.ended
}

// Viewer is an attached client.
type Viewer struct {
	in    io.WriteCloser
	stop  context.CancelFunc
	ended chan struct{}
}

// Attach attaches a client to a session through ssh -tt, without a terminal of its own. Its output is discarded. It
// returns after the first bytes of output.
func (h *Host) Attach(ctx context.Context, session string, flags ...string) (*Viewer, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd := h.ssh(ctx, append([]string{apart, "-tt", "berth", "attach", session}, flags...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	v := &Viewer{in: in, stop: stop, ended: make(chan struct{})}
	first := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(out, make([]byte, 1))
		first <- err
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it is ended by us, or by a server that was killed
		close(v.ended)
	}()
	select {
	case err = <-first:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		v.Close()
		return nil, fmt.Errorf("attach to %s: %w", session, err)
	}
	return v, nil
}

// Type sends what a person types, in one write.
func (v *Viewer) Type(text string) error {
	_, err := io.WriteString(v.in, text)
	return err
}

// Close ends the client as a closed terminal window does.
func (v *Viewer) Close() {
	_ = v.in.Close()
	v.stop()
	<-v.ended
}

// WriteJSON writes a settings file into an agent's home.
func WriteJSON(file string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("seed a home: %w", err)
	}
	return nil
}
