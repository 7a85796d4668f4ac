package hold

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// start opens socket and PTY and runs the program with this umask.
func (h *holder) start(umask int) (err error) {
	os.Remove(h.spec.Socket)
	h.listen, err = net.ListenUnix("unix", &net.UnixAddr{Name: h.spec.Socket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listening for the server: %w", err)
	}
	defer func() {
		if err != nil {
			h.listen.Close()
		}
	}()
	if err := os.Chmod(h.spec.Socket, 0o600); err != nil {
		return fmt.Errorf("closing the socket to others: %w", err)
	}
	if err := shortenQueue(h.listen); err != nil {
		return err
	}
	if err := h.listenForHooks(); err != nil {
		return err
	}
	defer func() {
		if err != nil && h.hooks.listen != nil {
			h.hooks.listen.Close()
		}
	}()
	m, slave, err := openPTY(h.size.cols, h.size.rows)
	if err != nil {
		return err
	}
	defer slave.Close()
	h.pty = m
	// Signals that this process ignores, the program must not ignore: a
	// signal that is caught is reset by exec.
	h.signals = catchSignals()
	// Before there is a program: a server killed from here on is followed by
	// one that finds this holder.
	if err := h.writeIdentity(); err != nil {
		return err
	}
	if err := h.runProgram(slave, umask); err != nil {
		return err
	}
	h.record(KindStarted, StartedData{PID: h.child.pid, Start: h.child.start, Cols: h.size.cols, Rows: h.size.rows})
	return nil
}

// runProgram starts the program as the leader of a session of its own with
// the PTY as its terminal.
func (h *holder) runProgram(slave *os.File, umask int) error {
	if h.spec.Cwd != "" {
		if info, err := os.Stat(h.spec.Cwd); err != nil {
			return fmt.Errorf("starting in folder %s: %w", h.spec.Cwd, err)
		} else if !info.IsDir() {
			return fmt.Errorf("starting in folder %s: %w", h.spec.Cwd, syscall.ENOTDIR)
		}
	}
	dir := h.spec.Cwd
	if h.spec.CwdReal != "" {
		pinned, unpin, err := pinFolder(dir, h.spec.CwdReal)
		if err != nil {
			return fmt.Errorf("starting in folder %s: %w", dir, err)
		}
		defer unpin()
		dir = pinned
	}
	if err := h.spec.As.give(slave); err != nil {
		return err
	}
	sys := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Credential: h.spec.As.credential()}
	close, err := intoCgroup(h.spec.Cgroup, sys)
	if err != nil {
		return err
	}
	defer close()
	h.ending.memory.begin(h.spec.Cgroup)
	fd := slave.Fd()
	unix.Umask(umask) // nothing else runs yet that could make a file
	var pid int
	withUsualSlack(func() {
		h.spec.As.part()
		pid, err = syscall.ForkExec(h.spec.Path, h.spec.Argv, &syscall.ProcAttr{
			Dir:   dir,
			Env:   h.environ(),
			Files: []uintptr{fd, fd, fd},
			Sys:   sys,
		})
	})
	unix.Umask(0o077)
	if err != nil {
		return fmt.Errorf("running %s: %w", h.spec.Path, err)
	}
	h.child, err = lookProcess(pid)
	if err != nil {
		h.child = process{pid: pid} // it has ended already and is not reaped yet
	}
	return nil
}

// sameFolder refuses a folder that isn't the one that was chosen.
func sameFolder(is, chosen string) error {
	if is != chosen {
		return fmt.Errorf("an agent chose it, and it leads to %s now: put the folder back, or start another session", is)
	}
	return nil
}

// environ is the program's environment.
func (h *holder) environ() []string {
	if h.spec.HookSocket == "" {
		return h.spec.Env
	}
	env := slices.DeleteFunc(slices.Clone(h.spec.Env), func(v string) bool {
		return strings.HasPrefix(v, HookSocketEnv+"=")
	})
	return append(env, HookSocketEnv+"="+h.spec.HookSocket)
}

// writeIdentity writes holder.json aside and renames it. On a full disk the
// file may be missing: the start fails.
func (h *holder) writeIdentity() error {
	uid := os.Geteuid()
	if h.spec.As != nil {
		uid = h.spec.As.UID
	}
	data, err := json.Marshal(identity{PID: h.self.pid, Start: h.self.start, Version: maxVersion, Socket: h.spec.Socket, Cgroup: h.spec.Cgroup, UID: &uid})
	if err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	name := filepath.Join(h.spec.Dir, holderFile)
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("writing %s: %w", holderFile, err)
	}
	return nil
}
