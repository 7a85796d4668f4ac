package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Phase is how far a worktree is made. It is saved before each step, so that after a kill the next
// server knows what there may be.
type Phase string

// The phases, in their order.
const (
	Wanted  Phase = "wanted"  // nothing was done yet
	Planned Phase = "planned" // the folder is chosen; it may have been made, empty
	Making  Phase = "making"  // the folder is Berth's, and git may be at work
	SetUp   Phase = "setup"   // git is done, and the profile's setup runs
	Ready   Phase = "ready"
)

// Tree is a session's worktree.
type Tree struct {
	Phase   Phase  `json:"phase"`
	Repo    string `json:"repo"`       // the repository's common git folder
	Source  string `json:"source"`     // top folder of the working tree that it was made from; the repository if that is bare
	Path    string `json:"path"`       // the worktree's folder
	Within  string `json:"within"`     // folder of the session in it, relative; empty: its top
	Branch  string `json:"branch"`     // at first; the agent may switch
	New     bool   `json:"new_branch"` // the branch was made with the worktree
	From    string `json:"from"`       // the start, as the caller named it; empty: HEAD
	Base    string `json:"base"`       // the commit that it starts at
	BaseRef string `json:"base_ref"`   // the branch that Base was the tip of, in full; empty: none
}

// Cwd is the folder of the session.
func (t Tree) Cwd() string { return filepath.Join(t.Path, t.Within) }

// Onto is the base for people: a branch, or the commit.
func (t Tree) Onto() string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/"} {
		if name, ok := strings.CutPrefix(t.BaseRef, prefix); ok {
			return name
		}
	}
	return t.Base
}

func (t Tree) ref() string { return "refs/heads/" + t.Branch }

// Refused says why there can be no such worktree: the caller has to ask for another.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// mostNames bounds how many names are tried for a branch and a folder.
const mostNames = 1000

// Plan chooses where a worktree for the session name will be, and on which branch. cwd is the folder
// that the session was asked for, and root the folder of all worktrees.
func (g Git) Plan(ctx context.Context, want Tree, cwd, root, name string) (Tree, error) {
	t := Tree{Phase: Planned, Branch: want.Branch, From: want.From}
	var err error
	if t.Repo, err = g.line(ctx, cwd, "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
		if !refused(err) {
			return t, err
		}
		return t, refuse("there is no git repository in %s: %v. Name a folder in one with --cwd", cwd, err)
	}
	t.Source = t.Repo
	if top, err := g.line(ctx, cwd, "rev-parse", "--show-toplevel"); err == nil && top != "" {
		t.Source = top
		if t.Within, err = g.line(ctx, cwd, "rev-parse", "--show-prefix"); err != nil {
			return t, err
		}
		t.Within = filepath.Clean(t.Within)
	}
	if t, err = g.start(ctx, t, cwd, name); err != nil {
		return t, err
	}
	repo := filepath.Base(t.Repo)
	if repo == ".git" {
		repo = filepath.Base(filepath.Dir(t.Repo))
	}
	repo = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.TrimSuffix(repo, ".git"))
	for i := 1; i < mostNames; i++ {
		t.Path = filepath.Join(root, repo, numbered(name, i))
		if there, err := g.exists(ctx, t.Path); err != nil || !there {
			return t, err
		}
	}
	return t, refuse("the folder %s is full of worktrees called %s", filepath.Join(root, repo), name)
}

func numbered(name string, i int) string {
	if i == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i)
}

// start chooses the branch, and the commit that it starts at.
func (g Git) start(ctx context.Context, t Tree, cwd, name string) (Tree, error) {
	from := t.From
	if from == "" {
		from = "HEAD"
	}
	var err error
	if t.Base, err = g.line(ctx, cwd, "rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}"); err != nil {
		if !refused(err) {
			return t, err
		}
		if t.From == "" {
			return t, refuse("the repository %s has no commit yet: make one first", t.Source)
		}
		return t, refuse("the repository %s has no commit %q", t.Source, t.From)
	}
	if ref, err := g.line(ctx, cwd, "rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", from); err == nil &&
		(strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/remotes/")) {
		t.BaseRef = ref
	}
	if t.Branch == "" {
		t.New = true
		t.Branch, err = g.freeBranch(ctx, t.Repo, "berth/"+name)
		return t, err
	}
	if _, err := g.run(ctx, t.Repo, "check-ref-format", t.ref()); err != nil || strings.HasPrefix(t.Branch, "-") {
		return t, refuse("%q can't be the name of a branch", t.Branch)
	}
	there, err := g.hasRef(ctx, t.Repo, t.ref())
	if err != nil {
		return t, err
	}
	if t.New = !there; t.New {
		return t, nil
	}
	if t.From != "" {
		return t, refuse("there is a branch %s already: leave --from out to work on it, or name another branch", t.Branch)
	}
	if t.BaseRef == t.ref() {
		return t, refuse("the branch %s is checked out in %s: name another branch", t.Branch, t.Source)
	}
	base, err := g.line(ctx, t.Repo, "merge-base", t.Base, t.ref())
	if refused(err) { // they have no commit in common
		return t, nil
	}
	t.Base = base
	return t, err
}

// freeBranch is the first name that no branch has.
func (g Git) freeBranch(ctx context.Context, repo, name string) (string, error) {
	if _, err := g.run(ctx, repo, "check-ref-format", "refs/heads/"+name); err != nil {
		if !refused(err) {
			return "", err
		}
		name = strings.ReplaceAll(name, ".", "-") // a..b and a.lock are names of sessions
	}
	for i := 1; i < mostNames; i++ {
		there, err := g.hasRef(ctx, repo, "refs/heads/"+numbered(name, i))
		if err != nil || !there {
			return numbered(name, i), err
		}
	}
	return "", refuse("there are too many branches called %s: name one with --worktree=BRANCH", name)
}

func (g Git) hasRef(ctx context.Context, repo, ref string) (bool, error) {
	_, err := g.run(ctx, repo, "show-ref", "--verify", "--quiet", ref)
	if refused(err) {
		return false, nil
	}
	return err == nil, err
}

// untrusted is an error of Git.Trust.
type untrusted struct{ error }

// Reserve makes the folder of a planned worktree, so that no other session gets it. The path in the
// result has no symbolic link: git lists worktrees by such paths. No other user can replace the
// folder: a session of that user may have made the folder above it.
func (g Git) Reserve(ctx context.Context, t Tree) (Tree, error) {
	wanted := t.Path
	for i := 2; i < mostNames; i++ {
		path := t.Path
		real := make(chan string, 1) // Do may give up on its work
		err := g.Do(ctx, func() error {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			parent, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return err
			}
			if err := g.Trust(parent); err != nil {
				return &untrusted{err}
			}
			real <- filepath.Join(parent, filepath.Base(path))
			return os.Mkdir(path, 0o700)
		})
		var other *untrusted
		switch {
		case errors.As(err, &other):
			return t, refuse("the worktree can't be in %s, because another user could replace it: %v. Name another folder with worktrees in berth.yaml, such as one in the user's home", filepath.Dir(path), other.error)
		case err == nil:
			t.Path, t.Phase = <-real, Making
			return t, nil
		case errors.Is(err, fs.ErrExist):
			t.Path = numbered(wanted, i)
		case errors.Is(err, fs.ErrNotExist): // another session's removal took the empty parent
		default:
			return t, fmt.Errorf("make the worktree's folder: %w", err)
		}
	}
	return t, refuse("there is no free folder for the worktree %s", wanted)
}

// Make has git make the worktree in its reserved folder.
func (g Git) Make(ctx context.Context, t Tree) error {
	args := []string{"worktree", "add", "--no-track", "-b", t.Branch, "--", t.Path, t.Base}
	if !t.New {
		args = []string{"worktree", "add", "--", t.Path, t.Branch}
	}
	_, err := g.call(ctx, Call{Dir: t.Repo, Args: args, Most: 4 << 10, Within: makeWithin})
	if errors.Is(err, errCut) { // a filter was talkative
		err = nil
	}
	if refused(err) {
		return &Refused{err.Error()}
	}
	return err
}
