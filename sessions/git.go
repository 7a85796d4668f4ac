package sessions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/keys"
	"berth/sessions/account"
	"berth/sessions/command"
	"berth/sessions/worktree"
)

// gitSaid is how much of git's error stream is read.
const gitSaid = 4 << 10

// git runs git as the session's user and as a caller of the session. An agent can
// edit the repository's configuration, so what git runs by it has no more rights
// than the agent.
func (r *Registry) git(of Spec) (worktree.Git, error) {
	of = Spec{ID: of.ID, Name: of.Name, User: of.User, UID: of.UID, LoginEnv: of.LoginEnv}
	user, err := r.options.Environment.account(of)
	if err != nil {
		return worktree.Git{}, err
	}
	return worktree.Git{
		Run:   func(ctx context.Context, c worktree.Call) (worktree.Result, error) { return r.runGit(ctx, of, c) },
		Do:    user.Do,
		Trust: trustsFolder(user),
		Clear: user.Empty,
	}, nil
}

// trustsFolder is worktree.Git's Trust for a session's user.
func trustsFolder(user *account.User) func(string) error {
	if user == nil {
		return keys.CheckRun
	}
	return func(dir string) error { return keys.CheckFor(dir, user.UID, user.Name) }
}

func (r *Registry) runGit(ctx context.Context, of Spec, c worktree.Call) (worktree.Result, error) {
	of.Cwd, of.Command = c.Dir, append(append([]string{"git"}, worktree.Options...), c.Args...)
	prog, err := r.options.Environment.resolve(of)
	if err != nil {
		return worktree.Result{}, err
	}
	res, err := r.runFor(ctx, of, command.Command{
		Path: prog.path, Argv: prog.argv, Env: worktree.Environ(prog.env), Dir: prog.cwd, Stdin: c.Stdin,
		Most: c.Most, Last: gitSaid, Within: c.Within, As: prog.user.Credential(),
	})
	out := worktree.Result{Output: res.Output, Cut: res.Cut, Said: string(res.Said)}
	var status command.StatusError
	if errors.As(err, &status) {
		out.Status, err = int(status), nil
	}
	return out, err
}

// lookAt is what git says of a session's folder, and how long it took; nil outside of a repository.
func (r *Registry) lookAt(ctx context.Context, spec Spec) (*worktree.Look, time.Duration) {
	g, err := r.git(spec)
	if err != nil {
		return nil, 0
	}
	user, err := r.options.Environment.account(spec)
	if err != nil {
		return nil, 0
	}
	inside, err := account.As(ctx, user, func() (bool, error) { return inRepository(spec.Cwd) })
	if err != nil || !inside {
		return nil, 0
	}
	probe := Spec{User: spec.User, UID: spec.UID, LoginEnv: spec.LoginEnv, Cwd: spec.Cwd, Command: []string{"git"}}
	if _, err := r.options.Environment.resolveWith(probe, false); err != nil { // a run would ask the login shell again
		return nil, 0
	}
	leave, err := r.trees.looks.enter(ctx, uidOf(user), looksAtOnce)
	if err != nil {
		return nil, 0
	}
	defer leave()
	began := time.Now()
	look, err := g.Look(ctx, spec.Cwd)
	if err != nil {
		return nil, time.Since(began)
	}
	return &look, time.Since(began)
}

// inRepository says whether a folder or one above it has a .git. It keeps git from being
// started for nothing.
func inRepository(dir string) (bool, error) {
	for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
		_, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
		if at == "/" {
			break
		}
	}
	return false, nil
}
