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

// loginTimeout is how long a login shell may take with its rc files. Heavy
// ones (nvm, conda) need about a second.
const loginTimeout = 5 * time.Second

// maxLoginOutput bounds what a shell may print.
const maxLoginOutput = 4 << 20

// systemPath is PATH where nothing else gives one.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LoginEnv asks a's login shell for the environment that it gives its user:
// PATH and all else the rc files export, as NAME=VALUE sorted by name. The
// shell starts with next to nothing, so that no variable of the server's own
// gets in, and has no terminal and no input.
//
// The shell of another user's account runs as that user, never as the server's. It
// runs with a mark (exe is berth-hold): what its rc files leave running, which an
// agent may be able to write, is not taken for a person.
//
// It always returns an environment to work with. With an error, for a log, it
// is what could be learned, PATH at the least.
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
		err = fmt.Errorf("ask the login shell %s for its environment: %w", a.Shell, err)
	}
	return env, err
}

// askShell returns the entries that were printed between two marks, which
// keep apart what rc files print. It gets as far as it can.
func askShell(ctx context.Context, exe string, a Account, env []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	mark := "berth-" + rand.Text()
	// Interactive too: many rc files set PATH only then.
	options := []string{"-l", "-i"}
	if base := filepath.Base(a.Shell); base == "csh" || base == "tcsh" {
		options = nil // their -l must stand alone; they read the user's rc files without it
	}
	// Until a program runs, Go starts no other one: the user's own shell and
	// folder, which may not answer, are for a process that runs already.
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

// ownOfShell are variables about the shell that was asked, or that sessions
// are given by Berth itself.
var ownOfShell = []string{"_", "PWD", "OLDPWD", "SHLVL", "TERM", "COLORTERM", "COLUMNS", "LINES", "PS1", "PROMPT"}

func cleanLogin(printed []string) []string {
	var out []string
	for _, e := range printed {
		name, _, found := strings.Cut(e, "=")
		// bash exports functions as BASH_FUNC_name%%, which is no name.
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
