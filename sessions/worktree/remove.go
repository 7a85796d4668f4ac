package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kept says why a worktree stays.
type Kept struct{ Why string }

func (k *Kept) Error() string { return k.Why }

func keep(format string, args ...any) error { return &Kept{fmt.Sprintf(format, args...)} }

// Remove removes a worktree that has no work in it, and the branch that was made with it. Otherwise
// it changes nothing and returns a *Kept. It may be called again after a kill.
//
// Work is: a file that is staged, changed, or new and not ignored; a commit that no other branch has;
// an unfinished rebase or the like. Ignored files aren't work.
func (g Git) Remove(ctx context.Context, t Tree) error {
	here, repo, err := g.there(ctx, t)
	if err != nil {
		return err
	}
	if !repo {
		if !here {
			return nil
		}
		return keep("its repository %s is gone", t.Repo)
	}
	all, err := g.list(ctx, t.Repo)
	if err != nil {
		return err
	}
	at, listed := all.at(t.Path)
	if here && !listed {
		if g.rmdir(ctx, t.Path) != nil {
			return keep("%s isn't a worktree of %s any more", t.Path, t.Repo)
		}
		here = false
	}
	if here {
		if err := g.unfinished(ctx, t); err != nil {
			return err
		}
	}
	tip, err := g.unmerged(ctx, t, at, here)
	if err != nil {
		return err
	}
	if listed {
		// Without --force git looks for changes once more.
		if err := g.drop(ctx, t, "worktree", "remove", "--", t.Path); err != nil {
			return err
		}
	}
	g.sweep(ctx, t)
	return g.dropBranch(ctx, t, tip)
}

// Discard removes a worktree with the work in it, and the branch that was made with it.
func (g Git) Discard(ctx context.Context, t Tree) error {
	repo, err := g.discard(ctx, t)
	if err != nil || !repo {
		return err
	}
	return g.dropBranch(ctx, t, "")
}

// Undo removes what a failed start or a kill has left of a worktree that no program has worked in. The
// branch that was made with it stays if it has commits that no other branch has: they may be of a
// worktree that was removed meanwhile.
func (g Git) Undo(ctx context.Context, t Tree) error {
	if t.Phase == Planned { // the folder may be another's, unless it is empty
		_ = g.rmdir(ctx, t.Path)
		g.sweep(ctx, t)
		return nil
	}
	repo, err := g.discard(ctx, t)
	if err != nil || !repo {
		return err
	}
	tip, err := g.unmerged(ctx, t, entry{}, false)
	var only *Kept
	if errors.As(err, &only) || refused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if t.Phase == Making { // a kill may have come before git made the branch: another one's has other commits
		tip = t.Base
	}
	return g.dropBranch(ctx, t, tip)
}

// discard removes a worktree with the work in it. repo says that there is a repository, which may have
// its branch.
func (g Git) discard(ctx context.Context, t Tree) (repo bool, err error) {
	_, repo, err = g.there(ctx, t)
	if err != nil {
		return repo, err
	}
	if repo {
		all, err := g.list(ctx, t.Repo)
		if err != nil {
			return repo, err
		}
		if _, listed := all.at(t.Path); listed {
			// The second --force is for a lock, such as git's own while it makes one.
			_, _ = g.call(ctx, Call{Dir: t.Repo, Args: []string{"worktree", "remove", "--force", "--force", "--", t.Path}, Most: mostOutput, Within: makeWithin})
		}
	}
	if err := g.clear(ctx, t.Path); err != nil {
		return repo, err
	}
	g.sweep(ctx, t)
	if !repo {
		return repo, nil
	}
	all, err := g.list(ctx, t.Repo)
	if err != nil {
		return repo, err
	}
	if _, listed := all.at(t.Path); listed { // git refused a damaged one; without its folder it doesn't
		_, err = g.run(ctx, t.Repo, "worktree", "remove", "--force", "--force", "--", t.Path)
	}
	return repo, err
}

// there says whether the worktree's folder and its repository exist.
func (g Git) there(ctx context.Context, t Tree) (here, repo bool, err error) {
	if here, err = g.exists(ctx, t.Path); err == nil {
		repo, err = g.exists(ctx, t.Repo)
	}
	return here, repo, err
}

// drop has git remove a worktree. git forgets it even if some of its files can't be deleted, so these
// are deleted here.
func (g Git) drop(ctx context.Context, t Tree, args ...string) error {
	_, err := g.call(ctx, Call{Dir: t.Repo, Args: args, Most: mostOutput, Within: makeWithin})
	if err == nil {
		return nil
	}
	if !refused(err) {
		return err
	}
	all, failed := g.list(ctx, t.Repo)
	if failed != nil {
		return failed
	}
	if _, listed := all.at(t.Path); listed {
		return keep("%v", err)
	}
	return g.clear(ctx, t.Path)
}

func (g Git) clear(ctx context.Context, path string) error {
	there, err := g.exists(ctx, path)
	if err != nil || !there {
		return err
	}
	if err := g.Clear(ctx, path); err != nil {
		return err
	}
	if err := g.rmdir(ctx, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete the worktree's folder: %w", err)
	}
	return nil
}

func (g Git) rmdir(ctx context.Context, path string) error {
	return g.Do(ctx, func() error { return os.Remove(path) })
}

// sweep removes the folder of the repository's worktrees if it is empty.
func (g Git) sweep(ctx context.Context, t Tree) { _ = g.rmdir(ctx, filepath.Dir(t.Path)) }

// dropBranch deletes the branch that was made with the worktree, unless another worktree has it
// checked out. tip is the commit that it must still have; empty: any.
func (g Git) dropBranch(ctx context.Context, t Tree, tip string) error {
	if !t.New {
		return nil
	}
	there, err := g.hasRef(ctx, t.Repo, t.ref())
	if err != nil || !there {
		return err
	}
	all, err := g.list(ctx, t.Repo)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(e entry) bool { return e.branch == t.ref() }) {
		return nil
	}
	args := []string{"update-ref", "--no-deref", "-d", t.ref()}
	if tip != "" {
		args = append(args, tip)
	}
	if _, err := g.run(ctx, t.Repo, args...); err != nil && !refused(err) { // it has another tip by now: it stays
		return err
	}
	return nil
}

// entry is one worktree of a repository, as git lists it.
type entry struct {
	path, head, branch string // branch in full; empty: detached
}

type entries []entry

func (all entries) at(path string) (entry, bool) {
	i := slices.IndexFunc(all, func(e entry) bool { return e.path == path })
	if i < 0 {
		return entry{}, false
	}
	return all[i], true
}

func (g Git) list(ctx context.Context, repo string) (entries, error) {
	out, err := g.run(ctx, repo, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var all entries
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key == "worktree" {
			all = append(all, entry{path: value})
			continue
		}
		if len(all) == 0 { // the program may be one that the session's user has put in git's place
			return nil, fmt.Errorf("git worktree list: unexpected line %q", value)
		}
		switch last := &all[len(all)-1]; key {
		case "HEAD":
			last.head = value
		case "branch":
			last.branch = value
		}
	}
	return all, nil
}

// operations are files in a worktree's git folder while an operation on commits isn't finished.
var operations = []string{"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"}

// unfinished is a *Kept if the worktree's files are work.
func (g Git) unfinished(ctx context.Context, t Tree) error {
	look, err := g.Look(ctx, t.Path)
	if err != nil {
		return err
	}
	if look.Changed > 0 {
		return keep("it has %s", plural(look.Changed, "changed file", "changed files"))
	}
	dir, err := g.line(ctx, t.Path, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	for _, name := range operations {
		if there, err := g.exists(ctx, filepath.Join(dir, name)); err != nil || there {
			return errors.Join(err, keep("an operation of git isn't finished in it (%s)", name))
		}
	}
	if there, err := g.exists(ctx, filepath.Join(dir, "modules")); err != nil || there {
		return errors.Join(err, keep("it has submodules, whose commits Berth doesn't check"))
	}
	return g.hidden(ctx, t)
}

// hidden is a *Kept if there are files that git was asked not to look at.
func (g Git) hidden(ctx context.Context, t Tree) error {
	out, err := g.run(ctx, t.Path, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	var names []string
	for _, line := range strings.Split(out, "\x00") {
		if len(line) > 2 && (line[0] == 'S' || line[0] >= 'a' && line[0] <= 'z') {
			names = append(names, line[2:])
		}
	}
	return g.Do(ctx, func() error {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(t.Path, name)); err == nil {
				return keep("git was asked not to look at %q in it (update-index)", name)
			}
		}
		return nil
	})
}

// unmerged is a *Kept if the worktree or its own branch has commits that no other branch has. tip is
// the commit that its own branch has now.
func (g Git) unmerged(ctx context.Context, t Tree, at entry, here bool) (tip string, err error) {
	tips := []string{at.head}
	if here { // refs that only this worktree has
		own, err := g.run(ctx, t.Path, "for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten")
		if err != nil {
			return "", err
		}
		tips = append(tips, strings.Fields(own)...)
	}
	refs, err := g.run(ctx, t.Repo, "for-each-ref", "--format=%(refname) %(objecttype) %(objectname) %(symref)", "refs/heads", "refs/remotes")
	if err != nil {
		return "", err
	}
	var ask strings.Builder
	for line := range strings.Lines(refs) {
		f := strings.Fields(line)
		switch {
		case len(f) != 3 || f[1] != "commit": // a symbolic one keeps no commit itself
		case t.New && f[0] == t.ref():
			tip = f[2]
			tips = append(tips, tip)
		default:
			ask.WriteString("^" + f[2] + "\n")
		}
	}
	slices.Sort(tips)
	any := false
	for _, tip := range slices.Compact(tips) {
		if strings.Trim(tip, "0") != "" { // no commit yet
			ask.WriteString(tip + "\n")
			any = true
		}
	}
	if !any {
		return tip, nil
	}
	out, err := g.call(ctx, Call{Dir: t.Repo, Args: []string{"rev-list", "--count", "--stdin"}, Stdin: []byte(ask.String()), Most: 100, Within: lookWithin})
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return "", fmt.Errorf("git rev-list: %w", err)
	}
	if n > 0 {
		return "", keep("it has %s that no other branch has", plural(n, "commit", "commits"))
	}
	return tip, nil
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
