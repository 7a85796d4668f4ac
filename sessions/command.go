package sessions

import (
	"context"
	"fmt"
	"os/exec"

	"berth/sessions/command"
	"berth/sessions/hold"
)

// Run runs a command for the session. An agent may be able to edit what is run:
// the command, and all that it starts or leaves running, are callers of this
// session, as the agent's own processes are.
func (s *Session) Run(ctx context.Context, p command.Command) (command.Result, error) {
	return s.reg.runFor(ctx, s.Status().Spec, p)
}

// RunForNone runs a command that is about no session, such as the test of a notification rule. Agents may be able
// to edit the programs that it names, so its processes are callers of a session that doesn't exist: they may do
// nothing.
func (r *Registry) RunForNone(ctx context.Context, p command.Command) (command.Result, error) {
	return r.runFor(ctx, Spec{ID: "(none)", Name: "(none)"}, p)
}

// runFor is Run for a session that is being made, or is gone: the server knows no
// session of that id then, and gives such a caller nothing.
func (r *Registry) runFor(ctx context.Context, spec Spec, p command.Command) (command.Result, error) {
	p.Enter = func(cmd *exec.Cmd) (command.Entry, error) {
		entry, err := hold.Enter(cmd, r.options.Exe, spec.ID)
		return &sessionEntry{Entry: entry, reg: r, spec: spec}, err
	}
	return command.Run(ctx, p)
}

// sessionEntry makes a command known as one of the session's before it begins.
type sessionEntry struct {
	*hold.Entry
	reg  *Registry
	spec Spec
	pid  int
}

func (e *sessionEntry) Begin(pid int) error {
	start, err := hold.StartOf(pid)
	if err != nil {
		return fmt.Errorf("start a command of session %s: %w", e.spec.Name, err)
	}
	e.pid = pid
	h := e.spec.holder(pid, start)
	h.Command = true
	e.reg.mu.Lock()
	e.reg.commands[pid] = h
	e.reg.mu.Unlock()
	return e.Entry.Begin()
}

func (e *sessionEntry) Close() {
	e.reg.mu.Lock()
	delete(e.reg.commands, e.pid)
	e.reg.mu.Unlock()
	e.Entry.Close()
}
