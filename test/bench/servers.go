package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// berthServer is a Berth server with its own state folder.
type berthServer struct {
	addr string
	pid  int
}

// stopTime is how long a server with a hundred sessions may take to end them.
const stopTime = 30 * time.Second

// berth is the server that the rows share, started at first use.
func (b *bench) berth() (*berthServer, error) {
	if b.berthd != nil {
		return b.berthd, nil
	}
	s, err := b.startBerth("shared")
	b.berthd = s
	return s, err
}

// startBerth starts a server as a user would, except for the limit on verbs a second: the benchmark
// exceeds it.
func (b *bench) startBerth(name string) (*berthServer, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(b.exe, "serve", "--listen", "127.0.0.1:0", "--state-dir", filepath.Join(dir, "state"),
		"--runtime-dir", filepath.Join(dir, "run"), "--authorize", b.key+".pub", "--stop-sessions", "--limits-verbs-per-second", "1000000")
	cmd.Env, cmd.Dir, cmd.Stderr = b.env(), dir, log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b.later(func() error { return stop(cmd, syscall.SIGTERM, stopTime) })
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		said, _ := os.ReadFile(log.Name()) // without a log the error has the line alone
		return nil, fmt.Errorf("berth serve: %q, %w: %s", line, err, said)
	}
	return &berthServer{addr: addr, pid: cmd.Process.Pid}, nil
}

// sshdKind is how an sshd is set up.
type sshdKind string

const (
	sshdSame    sshdKind = "same"    // the key exchange and cipher that the client uses with Berth
	sshdDefault sshdKind = "default" // sshd's defaults
)

// sshdPath is the path of sshd in Debian's openssh-server.
const sshdPath = "/usr/sbin/sshd"

// sshd returns the address of an sshd of this kind, started at first use.
func (b *bench) sshd(kind sshdKind) (string, error) {
	if addr, ok := b.sshds[kind]; ok {
		return addr, nil
	}
	if err := b.separation(); err != nil {
		return "", err
	}
	addr, err := freeAddress()
	if err != nil {
		return "", err
	}
	host, _, err := b.newKey("sshd-" + string(kind))
	if err != nil {
		return "", err
	}
	conf := filepath.Join(b.dir, "sshd_config-"+string(kind))
	if err := os.WriteFile(conf, []byte(b.sshdConfig(kind, addr, host)), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command(sshdPath, "-D", "-f", conf, "-E", conf+".log")
	cmd.Env = b.env()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	b.later(func() error { return stop(cmd, syscall.SIGTERM, 5*time.Second) })
	b.sshds[kind] = addr
	return addr, b.poll("sshd listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}

func (b *bench) sshdConfig(kind sshdKind, addr, host string) string {
	lines := []string{
		"ListenAddress " + addr, "HostKey " + host, "AuthorizedKeysFile " + b.key + ".pub", "PidFile none",
		// The shell that runs a command sources the user's .bashrc. A slow .bashrc has nothing to do with
		// sshd.
		"SetEnv HOME=" + b.dir,
		"UsePAM no", "StrictModes no", "PermitRootLogin yes", "PrintMotd no", "PrintLastLog no", "MaxStartups 1000", "MaxSessions 100",
	}
	if kind == sshdSame {
		lines = append(lines, "KexAlgorithms curve25519-sha256", "Ciphers aes128-gcm@openssh.com")
	}
	return strings.Join(lines, "\n") + "\n"
}

// separation makes the folder that sshd needs for privilege separation. A machine without a running sshd
// doesn't have it.
func (b *bench) separation() error {
	const dir = "/run/sshd"
	err := os.Mkdir(dir, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission) && os.Getuid() != 0:
		return nil
	case err != nil:
		return err
	}
	b.later(func() error { return os.Remove(dir) })
	return nil
}

// freeAddress is an address that no process listens on now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// tmuxServer is a tmux server on a socket of its own.
type tmuxServer struct {
	bench  *bench
	socket string
	pid    int
}

// tmux is the server that the rows share, started at first use. Its status line is off, so that it draws
// the same as Berth.
func (b *bench) tmux() (*tmuxServer, error) {
	if b.panes != nil {
		return b.panes, nil
	}
	t := &tmuxServer{bench: b, socket: filepath.Join(b.dir, "tmux")}
	if err := t.new("keep", "cat"); err != nil {
		return nil, err
	}
	b.later(func() error {
		_, err := t.run("kill-server")
		return err
	})
	if _, err := t.run("set-option", "-g", "status", "off"); err != nil {
		return nil, err
	}
	text, err := t.run("display-message", "-p", "#{pid}")
	if err != nil {
		return nil, err
	}
	if t.pid, err = strconv.Atoi(text); err != nil {
		return nil, err
	}
	b.panes = t
	return t, nil
}

// new starts a program in a session of its own.
func (t *tmuxServer) new(name string, argv ...string) error {
	_, err := t.run(append([]string{"new-session", "-d", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rws), "-s", name}, argv...)...)
	return err
}

func (t *tmuxServer) run(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", t.socket}, args...)...)
	cmd.Env = t.bench.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// attach is the command line that attaches through sshd.
func (t *tmuxServer) attach(name string) []string {
	return []string{"tmux", "-u", "-S", t.socket, "attach", "-t", name}
}
