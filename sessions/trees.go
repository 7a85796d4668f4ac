package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/api"
	"berth/sessions/account"
	"berth/sessions/command"
	"berth/sessions/hold"
	"berth/sessions/worktree"
)

const (
	// defaultWorktrees is the folder of worktrees, in the home of a session's user.
	defaultWorktrees = "~/.local/share/berth/worktrees"
	// setupWithin bounds a profile's setup, such as an installation of packages.
	setupWithin = 10 * time.Minute
	// setupSaid and setupLines bound what is shown of a setup that failed.
	setupSaid  = 4 << 10
	setupLines = 10
	// treeGrace is the time that a half-made worktree's processes have to end.
	treeGrace = 2 * time.Second
)

// makeTree makes the worktree that the spec asks for and runs the setup in it. The
// spec on disk says at each moment what there may be.
func (c *core) makeTree(ctx context.Context) error {
	if c.spec.Worktree == nil {
		return nil
	}
	err := c.makeTreeSteps(ctx)
	var no *worktree.Refused
	if errors.As(err, &no) {
		return api.Errorf(api.CodeBadRequest, "%s", no.Why)
	}
	return err
}

func (c *core) makeTreeSteps(ctx context.Context) error {
	r := c.s.reg
	g, err := r.git(c.spec)
	if err != nil {
		return err
	}
	user, err := r.options.Environment.account(c.spec)
	if err != nil {
		return err
	}
	home := r.options.Environment.Home
	if user != nil {
		home = user.Home
	}
	save := func(t worktree.Tree) error {
		c.spec.Worktree = &t
		return saveSpec(c.s.dir, c.spec)
	}
	t, err := g.Plan(ctx, *c.spec.Worktree, c.spec.Cwd, belowHome(cmp.Or(r.settings.Load().Worktrees, defaultWorktrees), home), c.spec.Name)
	if err != nil {
		return err
	}
	if err := save(t); err != nil {
		return err
	}
	if t, err = g.Reserve(ctx, t); err != nil {
		return err
	}
	if err := save(t); err != nil {
		return err
	}
	if err := g.Make(ctx, t); err != nil {
		return err
	}
	if t.Within != "" { // the branch may not have that folder
		cwd := t.Cwd() // Do may give up on its work, which goes on
		if err := user.Do(ctx, func() error { return isFolder(cwd) }); err != nil {
			t.Within = ""
		}
	}
	c.spec.Cwd = t.Cwd()
	if c.spec.CwdReal != "" { // a branch may have a link in the place of the folder
		top, err := account.As(ctx, user, func() (string, error) { return filepath.EvalSymlinks(t.Path) })
		if err != nil {
			return fmt.Errorf("find the real path of the worktree: %w", err)
		}
		c.spec.CwdReal = filepath.Join(top, t.Within)
	}
	t.Phase = worktree.SetUp
	if err := save(t); err != nil {
		return err
	}
	if err := c.setup(ctx, t); err != nil {
		return err
	}
	t.Phase = worktree.Ready
	return save(t)
}

// setup runs the profile's setup as the session's program would run. BERTH_REPO is
// the working tree that the worktree was made from: files that git ignores are there.
func (c *core) setup(ctx context.Context, t worktree.Tree) error {
	if len(c.spec.Setup) == 0 {
		return nil
	}
	spec := c.spec
	spec.Command, spec.Cwd = spec.Setup, t.Path
	prog, err := c.s.reg.options.Environment.resolve(spec)
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	res, err := c.s.reg.runFor(ctx, spec, command.Command{
		Path: prog.path, Argv: prog.argv, Env: append(prog.env, "BERTH_REPO="+t.Source), Dir: prog.cwd,
		Last: setupSaid, Both: true, Within: setupWithin, As: prog.user.Credential(),
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(res.Said), "�")), "\n")
	lines = lines[max(0, len(lines)-setupLines):]
	return api.Errorf(api.CodeBadRequest, "the setup %s failed, so there is no session and no worktree: %v. Its last lines: %s",
		api.Quote(spec.Setup[0]), err, strings.Join(lines, " | ")).With("last_lines", lines)
}

// undo removes all of a session whose start failed. If its worktree can't be
// removed, its folder stays: the next server tries again.
func (r *Registry) undo(ctx context.Context, spec Spec, s *Session) error {
	if err := r.dropTree(ctx, spec, s.dir); err != nil {
		r.log.Error("a half-made worktree could not be removed: the next start of the server tries again", "session", spec.Name, "path", spec.Worktree.Path, "error", err)
		return err
	}
	return s.discard()
}

// dropTree removes the worktree of a session that never began.
func (r *Registry) dropTree(ctx context.Context, spec Spec, dir string) error {
	t := spec.Worktree
	if t == nil || t.Phase == worktree.Wanted {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	if _, err := hold.EndOrphans(ctx, dir, treeGrace); err != nil { // git or the setup, of a killed server
		return err
	}
	g, err := r.git(spec)
	if err != nil {
		return err
	}
	unlock, err := r.lockRepo(ctx, spec, t.Repo)
	if err != nil {
		return err
	}
	defer unlock()
	return g.Undo(ctx, *t)
}

// abandon removes what a killed server has left of a session whose worktree wasn't
// ready. Its program was never started.
func (r *Registry) abandon(dir string) bool {
	spec, err := loadSpec(dir)
	if err != nil || spec.Worktree == nil || spec.Worktree.Phase == worktree.Ready {
		return false
	}
	r.loops.Go(func() {
		s := &Session{id: spec.ID, dir: dir, reg: r}
		if r.undo(r.ctx, spec, s) == nil { // a stop of the server leaves the rest to the next one
			r.log.Info("a half-made session was removed", "session", spec.Name, "id", spec.ID)
		}
	})
	return true
}

func isFolder(path string) error {
	_, err := os.Stat(path + "/.")
	return err
}
