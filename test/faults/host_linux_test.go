package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience limits waits that have no limit of their own. It is far longer than a busy machine needs.
const patience = 30 * time.Second

// host is a state folder with a key and at most one running server.
type host struct {
	t     *testing.T
	berth string
	dir   string // all files of this host; a short path, because of sockets
	state string
	key   string
	flags []string // of serve

	server *exec.Cmd
	ended  chan struct{} // closed when the server has ended
	addr   string
	port   string
}

// newHost makes a host for a binary. Its processes end with the test.
func newHost(t *testing.T, berth string, flags ...string) *host {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bf")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, berth: berth, dir: dir, state: filepath.Join(dir, "state"), key: filepath.Join(dir, "key"), flags: flags}
	must(t, os.Mkdir(h.state, 0o700))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", h.key).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	t.Cleanup(h.close)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// close ends the server and every holder, and checks for reported races.
func (h *host) close() {
	if h.server != nil {
		h.kill()
	}
	for _, dir := range h.sessionDirs() {
		pid := holderPID(dir)
		if pid == 0 || !strings.Contains(cmdline(pid), "\x00hold\x00") {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // its program ends with the terminal
		waitFor(h.t, "a holder to be gone", func() bool { return !alive(pid) })
	}
	if h.t.Failed() {
		if data, err := os.ReadFile(h.log()); err == nil {
			h.t.Logf("the server's log ends:\n%s", tail(string(data), 30))
		}
		segments, _ := filepath.Glob(filepath.Join(h.state, "events", "*.jsonl"))
		if len(segments) > 0 {
			data, _ := os.ReadFile(segments[len(segments)-1])
			h.t.Logf("its last events:\n%s", tail(string(data), 30))
		}
	}
	races, _ := filepath.Glob(filepath.Join(h.dir, "race.*"))
	for _, name := range races {
		data, _ := os.ReadFile(name)
		h.t.Errorf("a race:\n%s", data)
	}
	_ = unix.Unmount(h.state, unix.MNT_DETACH) // fails unless onSmallDisk mounted one
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Error(err)
	}
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (h *host) log() string { return filepath.Join(h.dir, "log") }

func (h *host) sessionDirs() []string {
	dirs, _ := filepath.Glob(filepath.Join(h.state, "sessions", "*"))
	return dirs
}

func holderPID(dir string) int {
	var id struct {
		PID int `json:"pid"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "holder.json"))
	if err != nil || json.Unmarshal(data, &id) != nil {
		return 0
	}
	return id.PID
}

// environ is the environment of the server and of ssh.
func (h *host) environ() []string {
	env := []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color"}
	return append(env, "GORACE=log_path="+filepath.Join(h.dir, "race"))
}

var listening = regexp.MustCompile(`^listening on (\S+)$`)

// launch starts the server and does not wait for it. The channel gets the server's address, and is closed
// when the server's output ends.
func (h *host) launch(flags ...string) <-chan string {
	h.t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--state-dir", h.state, "--runtime-dir", filepath.Join(h.dir, "run"), "--authorize", h.key + ".pub"}, h.flags...)
	cmd := exec.Command(h.berth, append(args, flags...)...)
	log, err := os.OpenFile(h.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(h.t, err)
	defer log.Close()
	cmd.Dir, cmd.Env, cmd.Stderr = h.dir, h.environ(), log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a process group, as a shell would make
	out, err := cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, cmd.Start())
	h.server, h.ended = cmd, make(chan struct{})
	address := make(chan string, 1)
	ended := h.ended
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := listening.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
		close(address)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
	return address
}

// start starts the server and returns how long it took until it listened.
func (h *host) start(flags ...string) time.Duration {
	h.t.Helper()
	begun := time.Now()
	h.reach(h.launch(flags...))
	return time.Since(begun)
}

// reach waits for the address of a launched server.
func (h *host) reach(address <-chan string) {
	h.t.Helper()
	select {
	case addr, ok := <-address:
		if !ok {
			h.t.Fatal("the server ended at once")
		}
		h.setAddr(addr)
	case <-time.After(patience):
		h.t.Fatal("the server does not listen")
	}
}

func (h *host) setAddr(addr string) {
	_, port, err := net.SplitHostPort(addr)
	must(h.t, err)
	h.addr, h.port = addr, port
}

// signal sends the server's process group a signal and waits until the server has ended.
func (h *host) signal(sig syscall.Signal) *os.ProcessState {
	h.t.Helper()
	must(h.t, syscall.Kill(-h.server.Process.Pid, sig))
	select {
	case <-h.ended:
	case <-time.After(patience):
		_ = h.server.Process.Kill()
		h.t.Errorf("the server did not end at %v", sig)
		<-h.ended
	}
	state := h.server.ProcessState
	h.server = nil
	return state
}

// kill kills the server alone.
func (h *host) kill() {
	_ = h.server.Process.Kill()
	<-h.ended
	h.server = nil
}

func (h *host) pid() int { return h.server.Process.Pid }

// sshArgs are the arguments of ssh before the command.
func (h *host) sshArgs(options ...string) []string {
	args := []string{"-F", "/dev/null", "-i", h.key, "-p", h.port, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"}
	return append(append(args, options...), "agents@127.0.0.1")
}

// command is an ssh client that runs a verb.
func (h *host) command(words ...string) *exec.Cmd {
	cmd := exec.Command("ssh", append(h.sshArgs(), words...)...)
	cmd.Env = h.environ()
	return cmd
}

// try runs a verb and returns its output and its status.
func (h *host) try(stdin io.Reader, words ...string) ([]byte, int) {
	h.t.Helper()
	cmd := h.command(words...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Errorf("ssh: %v", err) // not Fatal, because goroutines call it too
		return nil, -1
	}
	return out.Bytes(), cmd.ProcessState.ExitCode()
}

// run runs a verb that must succeed.
func (h *host) run(words ...string) []byte {
	h.t.Helper()
	out, status := h.try(nil, words...)
	if status != 0 {
		h.t.Fatalf("ssh %v: status %d\n%s", words, status, out)
	}
	return out
}

// answer runs a verb and decodes its JSON output.
func answer[T any](h *host, words ...string) (v T) {
	h.t.Helper()
	out := h.run(words...)
	if err := json.Unmarshal(out, &v); err != nil {
		h.t.Fatalf("ssh %v printed %.200q: %v", words, out, err)
	}
	return v
}

// create makes a session and returns its folder.
func (h *host) create(name string, words ...string) string {
	h.t.Helper()
	row := answer[struct{ ID string }](h, append([]string{"new", name}, words...)...)
	return filepath.Join(h.state, "sessions", row.ID)
}

// counts gives the server a session that counts into a folder, which is returned. output is how much of its output is kept.
func (h *host) counts(output string) (work string) {
	h.t.Helper()
	work = filepath.Join(h.dir, "work")
	must(h.t, os.Mkdir(work, 0o700))
	config := filepath.Join(h.dir, "berth.yaml")
	must(h.t, os.WriteFile(config, fmt.Appendf(nil, `
sessions:
  - name: count
    command: [%q, count, %q]
    size: 120x40
    limits: {output: %s}
`, program, work, output), 0o600))
	h.flags = append(h.flags, "--config", config)
	return work
}

type info struct {
	ID           string
	State        string
	PID          int   `json:"pid"`
	HolderPID    int   `json:"holder_pid"`
	TotalWritten int64 `json:"total_written"`
	OutputFrom   int64 `json:"output_from"`
	LostBytes    int64 `json:"lost_bytes"`
	Problem      string
	Exit         *struct{ Lost, Crashed bool }
}

type health struct {
	OK         bool
	Problems   []string
	Goroutines int
	Sessions   map[string]int
}

func (h *host) info(name string) info { h.t.Helper(); return answer[info](h, "info", name) }
func (h *host) health() health        { h.t.Helper(); return answer[health](h, "health") }

// waitFor polls until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) time.Duration {
	t.Helper()
	return waitWithin(t, patience, what, holds)
}

func waitWithin(t *testing.T, within time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !holds() {
		if time.Since(begun) > within {
			t.Fatalf("waited %v in vain for %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}
