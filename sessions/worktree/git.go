// Package worktree makes, inspects and removes the git worktrees of sessions. It decides whether a
// worktree can be removed without losing work.
//
// Package sessions calls it, with a Git that runs each command as the session's user and as a caller
// of the session. That matters because an agent can edit the repository's configuration, and git
// runs programs that the configuration names (filters, for example). So such a program never gets
// more rights than the agent already has. Hooks never run at all.
//
// The functions keep no state and may be called concurrently. The caller serializes removals: two
// worktrees could each count on the other's branch.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Call is one run of git.
type Call struct {
	Dir    string
	Args   []string
	Stdin  []byte
	Most   int           // bytes of its output that are kept
	Within time.Duration // after this time it is killed
}

// Result is what one run of git printed.
type Result struct {
	Output []byte
	Cut    bool   // it printed more
	Status int    // its exit status
	Said   string // the end of its error stream
}

// Git acts on one repository with the rights of one session.
type Git struct {
	// Run runs git. Another exit status than 0 isn't an error of Run.
	Run func(ctx context.Context, c Call) (Result, error)
	// Do runs work, which acts on files, with the rights of the session's user.
	Do func(ctx context.Context, work func() error) error
	// Trust returns an error if another user than root could replace what is in a folder. It is
	// called within Do.
	Trust func(dir string) error
	// Clear deletes all that is in a folder, with these rights.
	Clear func(ctx context.Context, path string) error
}

// Options come before git's command. They keep git from running hooks and monitors, from asking
// questions and from starting work in the background. They undo settings that would hide changes.
var Options = []string{
	"--no-pager",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.fsmonitor=false",
	"-c", "core.askPass=/bin/false",
	"-c", "core.editor=false",
	"-c", "core.quotePath=false",
	"-c", "credential.helper=",
	"-c", "protocol.ext.allow=never",
	"-c", "submodule.recurse=false",
	"-c", "status.showUntrackedFiles=normal",
	"-c", "diff.ignoreSubmodules=none",
	"-c", "diff.submodule=short", // else git diffs in a submodule as the submodule's own configuration says
	"-c", "diff.noprefix=false",
	"-c", "diff.mnemonicPrefix=false",
	"-c", "log.showSignature=false",
	"-c", "color.ui=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "worktree.guessRemote=false",
	"-c", "advice.detachedHead=false",
}

// Environ is the environment that git runs with, made from the session's. Variables of git are left
// out: GIT_DIR, for example, would lead to another repository.
func Environ(session []string) []string {
	var env []string
	for _, e := range session {
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "LC_") && !strings.HasPrefix(e, "LANGUAGE=") && !strings.HasPrefix(e, "SSH_ASKPASS") {
			env = append(env, e)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=/bin/false", "GIT_PAGER=cat", "GIT_EDITOR=false", "LC_ALL=C")
}

// The bounds of one run of git. A checkout copies the whole tree, so it may take longer.
const (
	lookWithin = 20 * time.Second
	makeWithin = 10 * time.Minute
	mostOutput = 32 << 20
)

// Error is git's refusal.
type Error struct {
	Command string
	Status  int
	Said    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("git %s: %s", e.Command, e.Said)
}

// errCut means that git printed more than is read, so that nothing can be concluded.
var errCut = errors.New("git printed more than berth reads")

// run runs git in a folder and returns its output. Another status than 0 is an *Error.
func (g Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	return g.call(ctx, Call{Dir: dir, Args: args, Most: mostOutput, Within: lookWithin})
}

func (g Git) call(ctx context.Context, c Call) (string, error) {
	r, err := g.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	if r.Status != 0 {
		said := lastLine(r.Said)
		if said == "" {
			said = fmt.Sprintf("it ended with status %d", r.Status)
		}
		return "", &Error{Command: c.Args[0], Status: r.Status, Said: said}
	}
	if r.Cut {
		return "", fmt.Errorf("git %s: %w", c.Args[0], errCut)
	}
	return string(r.Output), nil
}

// line is run for a command that prints one line.
func (g Git) line(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := g.run(ctx, dir, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// lastLine is the last line of git's error stream that says something, without git's own prefix.
func lastLine(said string) string {
	last := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if fatal, ok := strings.CutPrefix(line, "fatal: "); ok {
			return fatal
		}
		if line != "" && !strings.HasPrefix(line, "hint:") {
			last = strings.TrimPrefix(line, "error: ")
		}
	}
	return last
}

// refused says whether git ran and refused.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// exists says whether there is something at a path, for the session's user.
func (g Git) exists(ctx context.Context, path string) (bool, error) {
	err := g.Do(ctx, func() error { _, err := os.Lstat(path); return err })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
