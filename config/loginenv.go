package config

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"berth/sessions/hold"
)

// loginTimeout is how long a login shell may take with its rc files. Heavy ones (nvm, conda) need
// about a second.
const loginTimeout = 5 * time.Second

// maxLoginOutput bounds what a shell may print.
const maxLoginOutput = 4 << 20

// systemPath is PATH when there is no other.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LoginEnv runs a's login shell and returns the environment that it gives its user: PATH and all
// else that the rc files export, as NAME=VALUE sorted by name. The shell starts with a minimal
// environment, so that it gets no variable of the server. It has no terminal and no input.
//
// The shell of another user's account runs as that user, never as the server's. It runs with a
// mark (exe is berth-hold), because an agent may be able to write the rc files: a process that
// they leave running must not count as a person.
//
// LoginEnv always returns a usable environment. With an error, which is for a log, it contains
// what could be learned, at least PATH.
func LoginEnv(ctx context.Context, exe string, a Account) ([]string, error) {
	base := []string{
		"HOME=" + a.Home, "USER=" + a.Name, "LOGNAME=" + a.Name, "SHELL=" + a.Shell, "PATH=" + systemPath,
	}
	printed, err := askShell(ctx, exe, a, append(slices.Clone(base), "TERM=dumb"))
	env := cleanLogin(printed)
	for _, b := range base {
		name, _, _ := strings.Cut(b, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			env = append(env, b)
		}
	}
	slices.Sort(env)
	if err != nil {
		err = fmt.Errorf("run the login shell %s for its environment: %w", a.Shell, err)
	}
	return env, err
}

// askShell returns the entries printed between two marks; the marks separate them from the output
// of rc files. After an error it returns the entries so far.
func askShell(ctx context.Context, exe string, a Account, env []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	mark := "berth-" + rand.Text()
	// An interactive shell too, because many rc files set PATH only then.
	options := []string{"-l", "-i"}
	if base := filepath.Base(a.Shell); base == "csh" || base == "tcsh" {
		options = nil // their -l must stand alone; they read the user's rc files without it
	}
	// A Go program starts one process at a time until the new one executes its program. The user's
	// shell and folder may hang, so they are left to a process that already runs.
	cmd := exec.CommandContext(ctx, "/bin/sh", slices.Concat([]string{"-c", `cd "$HOME" 2>/dev/null; exec "$0" "$@"`, a.Shell}, options,
		[]string{"-c", "printf %s " + mark + "; /usr/bin/env -0; printf %s " + mark})...)
	out := &capped{most: maxLoginOutput}
	cmd.Env, cmd.Dir, cmd.Stdout = env, "/", out
	// A session of its own: no terminal to take, and a group to end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: a.As.Credential()}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// What the rc files left running may hold the pipe open.
	cmd.WaitDelay = 200 * time.Millisecond
	err := runMarked(cmd, exe)

	_, printed, begun := bytes.Cut(out.data, []byte(mark))
	printed, _, whole := bytes.Cut(printed, []byte(mark))
	switch {
	case whole:
		return entries(printed), nil
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer within %v", loginTimeout)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		err = errors.New("it ended without an answer")
	}
	if !begun {
		return nil, err
	}
	// The last entry may be cut short.
	end := bytes.LastIndexByte(printed, 0)
	return entries(printed[:max(end, 0)]), err
}

func runMarked(cmd *exec.Cmd, exe string) error {
	entry, err := hold.Enter(cmd, exe, hold.LoginShell)
	if err != nil {
		return err
	}
	defer entry.Close()
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := entry.Begin()
	return cmp.Or(failed, cmd.Wait())
}

func entries(b []byte) []string {
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// ownOfShell are variables about the shell itself, or that Berth sets in sessions.
var ownOfShell = []string{"_", "PWD", "OLDPWD", "SHLVL", "TERM", "COLORTERM", "COLUMNS", "LINES", "PS1", "PROMPT"}

func cleanLogin(printed []string) []string {
	var out []string
	for _, e := range printed {
		name, _, found := strings.Cut(e, "=")
		// bash exports functions as BASH_FUNC_name%%, which isn't a variable name.
		if found && isEnvName(name) && !slices.Contains(ownOfShell, name) && name != "BERTH" && !strings.HasPrefix(name, "BERTH_") {
			out = append(out, e)
		}
	}
	return out
}

// capped keeps the first bytes written to it and drops the rest.
type capped struct {
	data []byte
	most int
}

func (c *capped) Write(p []byte) (int, error) {
	c.data = append(c.data, p[:min(len(p), c.most-len(c.data))]...)
	return len(p), nil
}
