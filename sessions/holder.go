package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/hold"
)

// launchWithin bounds how long a holder may take to start. It takes some
// milliseconds where the program's file and folder answer.
const launchWithin = 10 * time.Second

// launch starts a holder with the session's program. The caller ends it with
// r.launched when the session names that holder, or there is none.
func (s *Session) launch(ctx context.Context, spec Spec, prog program) (*hold.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, launchWithin)
	defer cancel()
	socket := s.newSocket()
	hooks := "" // a program without a driver has none
	if s.reg.driver(spec) != nil && spec.Isolate != agent.IsolateNone {
		hooks = socket + "h"
	}
	group, err := s.reg.options.Cgroups.Make(s.id, spec.Limits.cgroup())
	if err != nil {
		return nil, api.Errorf(api.CodeBadRequest, "%s could not be started: %w", spec.Name, err)
	}
	link, err := hold.Start(ctx, s.reg.options.Exe, hold.Spec{
		Dir: s.dir, Socket: socket, HookSocket: hooks,
		Argv: prog.argv, Env: prog.env, Path: prog.path, Cwd: prog.cwd, CwdReal: spec.CwdReal, Cols: spec.Cols, Rows: spec.Rows,
		OutputLimit: spec.Limits.Output, ControlLimit: controlLimit, Record: prog.record, Offset: prog.offset, As: credential(prog.user), Cgroup: group,
	}, func(pid int, start string) { s.reg.launches(s.id, spec.holder(pid, start)) })
	if err != nil {
		if left := hold.EndCgroup(group); left != nil {
			s.reg.log.Warn("the cgroup of a program that didn't start is left", "session", spec.Name, "error", left)
		}
	}
	var refused *hold.StartError
	if errors.As(err, &refused) {
		return nil, api.Errorf(api.CodeBadRequest, "%s could not be started: %s", api.Quote(prog.path), refused.Message)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, api.Errorf(api.CodeTimeout, "%s did not start within %s: its file or its folder does not answer, or another process holds it by a lease", api.Quote(prog.path), launchWithin)
	}
	if err != nil {
		return nil, fmt.Errorf("start the holder of %s: %w", spec.Name, err)
	}
	return link, nil
}

// newSocket is a path for one more holder of the session. Each has its own: one
// that is about to end still takes its socket away. Those of holders that were
// killed are taken away here.
func (s *Session) newSocket() string {
	s.dropSockets()
	var salt [2]byte
	_, _ = rand.Read(salt[:]) // never fails
	return s.socketBase() + "-" + hex.EncodeToString(salt[:])
}

func (s *Session) socketBase() string {
	return filepath.Join(s.reg.options.RuntimeDir, strings.ToLower(s.id))
}

// dropSockets removes the sockets of holders that are over.
func (s *Session) dropSockets() {
	old, _ := filepath.Glob(s.socketBase() + "*") // a folder that cannot be read has nothing to remove
	for _, path := range old {
		_ = os.Remove(path) // the holder itself may be quicker
	}
}
