package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"berth/api"
	"berth/sessions/hold"
	"berth/sshd"
)

// holderBinary finds berth-hold: the configured file, else the one next to this program.
func holderBinary(given string) (string, error) {
	if given == "" {
		exe, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find berth's own binary: %w", err)
		}
		given = filepath.Join(filepath.Dir(exe), hold.HookBinary)
	}
	if _, err := os.Stat(given); err != nil {
		return "", api.Errorf(api.CodeUsage, "%s was not found at %s: install it next to berth, or name it with --hold or BERTH_HOLD", hold.HookBinary, given)
	}
	return given, nil
}

// becomeHolder replaces this process with berth-hold and the arguments. It returns an exit status
// when that fails.
func becomeHolder(args []string) int {
	exe, err := holderBinary(os.Getenv("BERTH_HOLD"))
	if err == nil {
		err = syscall.Exec(exe, append([]string{hold.HookBinary}, args[1:]...), os.Environ())
		err = fmt.Errorf("run %s: %w", exe, err)
	}
	fmt.Fprintln(os.Stderr, "berth:", err)
	return 1
}

// holders lists the processes that hold sessions, for the edge.
func (s *server) holders() []sshd.HolderProcess {
	var out []sshd.HolderProcess
	for _, h := range s.sessions.Holders() {
		out = append(out, sshd.HolderProcess{PID: h.PID, UID: h.UID, Command: h.Command, Start: h.Start, Session: h.ID, Name: h.Name, Verbs: h.Verbs})
	}
	return out
}

// agentOf returns a session's current name and what its processes may do on the sessions that they
// started; ok is false if no session has that id.
func (s *server) agentOf(id string) (name string, verbs []string, ok bool) {
	one, ok := s.sessions.Find(id)
	if !ok || one.ID() != id {
		return "", nil, false
	}
	st := one.Status()
	return st.Name, st.Children.AllVerbs(), true
}
