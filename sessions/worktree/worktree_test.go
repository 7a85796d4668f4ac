package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain keeps the tester's own settings out.
func TestMain(m *testing.M) {
	os.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		os.Setenv("GIT_"+who+"_NAME", "tester")
		os.Setenv("GIT_"+who+"_EMAIL", "tester@example.org")
	}
	os.Exit(m.Run())
}

// plain runs git without another user and without a session.
var plain = Git{
	Run: func(ctx context.Context, c Call) (Result, error) {
		cmd := exec.CommandContext(ctx, "git", append(append([]string{}, Options...), c.Args...)...)
		var out, said bytes.Buffer
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, bytes.NewReader(c.Stdin), &out, &said
		cmd.Env = append(Environ(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return Result{Output: out.Bytes(), Status: exit.ExitCode(), Said: said.String()}, nil
		}
		data := out.Bytes()
		return Result{Output: data[:min(len(data), c.Most)], Cut: len(data) > c.Most, Said: said.String()}, err
	},
	Do:    func(_ context.Context, work func() error) error { return work() },
	Trust: func(string) error { return nil },
	Clear: func(_ context.Context, path string) error { return os.RemoveAll(path) },
}

// repo is a repository and the folder of its worktrees.
type repo struct {
	t    testing.TB
	dir  string
	root string
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t, filepath.Join(base, "shop"), filepath.Join(base, "trees")}
	r.write(r.dir, "a.txt", "one\n")
	r.write(r.dir, "sub/b.txt", "two\n")
	r.write(r.dir, ".gitignore", "*.o\n")
	r.git(r.dir, "init", "-q", "-b", "main")
	r.git(r.dir, "add", ".")
	r.git(r.dir, "commit", "-qm", "first")
	return r
}

// git is the agent's or a person's git.
func (r *repo) git(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.try(dir, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *repo) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *repo) write(dir, name, text string) {
	r.t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) make(name string, want Tree) Tree {
	r.t.Helper()
	t, err := plain.Plan(r.t.Context(), want, r.dir, r.root, name)
	if err == nil {
		t, err = plain.Reserve(r.t.Context(), t)
	}
	if err == nil {
		err = plain.Make(r.t.Context(), t)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	t.Phase = Ready
	return t
}

// none checks that nothing is left of a worktree.
func (r *repo) none(t Tree) {
	r.t.Helper()
	if _, err := os.Lstat(t.Path); err == nil {
		r.t.Errorf("%s is still there", t.Path)
	}
	if list := r.git(r.dir, "worktree", "list"); strings.Contains(list, t.Path+" ") {
		r.t.Errorf("git still lists it:\n%s", list)
	}
	if t.New {
		if _, err := r.try(r.dir, "rev-parse", "--verify", "-q", "refs/heads/"+t.Branch); err == nil {
			r.t.Errorf("the branch %s is still there", t.Branch)
		}
	}
}

func TestMakeAndRemove(t *testing.T) {
	r := newRepo(t)
	tree := r.make("api", Tree{})
	if tree.Branch != "berth/api" || !tree.New || tree.BaseRef != "refs/heads/main" || tree.Onto() != "main" || tree.Path != filepath.Join(r.root, "shop", "api") || tree.Source != r.dir {
		t.Errorf("%+v", tree)
	}
	if got := r.git(tree.Path, "rev-parse", "--abbrev-ref", "HEAD"); got != "berth/api" {
		t.Error(got)
	}
	second := r.make("api", Tree{})
	if second.Branch != "berth/api-2" || second.Path != tree.Path+"-2" {
		t.Errorf("%+v", second)
	}
	r.git(r.dir, "branch", "old")
	third := r.make("web", Tree{Branch: "old"})
	if third.New || third.Branch != "old" {
		t.Errorf("%+v", third)
	}
	fourth := r.make("a..b.lock", Tree{From: "old"})
	if fourth.Branch != "berth/a--b-lock" || fourth.Onto() != "old" {
		t.Errorf("%+v", fourth)
	}
	for _, one := range []Tree{tree, second, third, fourth} {
		if err := plain.Remove(t.Context(), one); err != nil {
			t.Error(err)
		}
		r.none(one)
		if err := plain.Remove(t.Context(), one); err != nil {
			t.Errorf("a second time: %v", err)
		}
	}
	r.git(r.dir, "rev-parse", "--verify", "refs/heads/old")
	if _, err := os.Lstat(r.root + "/shop"); err == nil {
		t.Error("the empty folder of the repository's worktrees is left")
	}
}

func TestPlanRefuses(t *testing.T) {
	r := newRepo(t)
	r.git(r.dir, "branch", "old")
	empty := t.TempDir()
	if out, err := r.try(empty, "init", "-q"); err != nil {
		t.Fatal(out)
	}
	for name, c := range map[string]struct {
		want Tree
		dir  string
		why  string
	}{
		"no repository": {Tree{}, t.TempDir(), "no git repository"},
		"no commit":     {Tree{}, empty, "no commit yet"},
		"no such start": {Tree{From: "none"}, r.dir, `no commit "none"`},
		"an option":     {Tree{From: "--all"}, r.dir, `no commit "--all"`},
		"a bad name":    {Tree{Branch: "a..b"}, r.dir, "can't be the name"},
		"a dash":        {Tree{Branch: "-b"}, r.dir, "can't be the name"},
		"branch exists": {Tree{Branch: "old", From: "main"}, r.dir, "already"},
		"checked out":   {Tree{Branch: "main"}, r.dir, "checked out"},
	} {
		var no *Refused
		if _, err := plain.Plan(t.Context(), c.want, c.dir, r.root, "x"); !errors.As(err, &no) || !strings.Contains(no.Why, c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFoldersBelow: a session in a folder of the repository gets the same folder of the worktree.
func TestFoldersBelow(t *testing.T) {
	r := newRepo(t)
	tree, err := plain.Plan(t.Context(), Tree{}, filepath.Join(r.dir, "sub"), r.root, "x")
	if err != nil || tree.Cwd() != filepath.Join(r.root, "shop", "x", "sub") {
		t.Errorf("%s %v", tree.Cwd(), err)
	}
	bare := filepath.Join(t.TempDir(), "store.git")
	r.git(r.dir, "clone", "-q", "--bare", r.dir, bare)
	tree, err = plain.Plan(t.Context(), Tree{}, bare, r.root, "x")
	if err != nil || tree.Cwd() != filepath.Join(r.root, "store", "x") {
		t.Errorf("%s %v", tree.Cwd(), err)
	}
}

// TestWork: each kind of work keeps the worktree, and what isn't work doesn't.
func TestWork(t *testing.T) {
	commit := func(r *repo, dir, text string) {
		r.write(dir, "a.txt", text+"\n")
		r.git(dir, "commit", "-qam", text)
	}
	for name, c := range map[string]struct {
		do  func(r *repo, t Tree)
		why string // empty: it is removed
	}{
		"nothing":    {func(*repo, Tree) {}, ""},
		"ignored":    {func(r *repo, t Tree) { r.write(t.Path, "x.o", "") }, ""},
		"changed":    {func(r *repo, t Tree) { r.write(t.Path, "a.txt", "x") }, "1 changed file"},
		"deleted":    {func(r *repo, t Tree) { os.Remove(filepath.Join(t.Path, "a.txt")) }, "1 changed file"},
		"new":        {func(r *repo, t Tree) { r.write(t.Path, "n/new.txt", "x"); r.write(t.Path, "n/b.txt", "x") }, "2 changed files"},
		"staged":     {func(r *repo, t Tree) { r.write(t.Path, "a.txt", "x"); r.git(t.Path, "add", ".") }, "1 changed file"},
		"a commit":   {func(r *repo, t Tree) { commit(r, t.Path, "x") }, "1 commit that"},
		"detached":   {func(r *repo, t Tree) { r.git(t.Path, "checkout", "-q", "--detach"); commit(r, t.Path, "x") }, "1 commit that"},
		"merged":     {func(r *repo, t Tree) { commit(r, t.Path, "x"); r.git(r.dir, "merge", "-q", t.Branch) }, ""},
		"renamed":    {func(r *repo, t Tree) { commit(r, t.Path, "x"); r.git(t.Path, "branch", "-m", "other") }, ""},
		"pushed":     {func(r *repo, t Tree) { commit(r, t.Path, "x"); r.git(t.Path, "update-ref", "refs/remotes/o/x", "HEAD") }, ""},
		"a tag only": {func(r *repo, t Tree) { commit(r, t.Path, "x"); r.git(t.Path, "tag", "x") }, "1 commit that"},
		"switched": {func(r *repo, t Tree) {
			commit(r, t.Path, "x")
			r.git(t.Path, "checkout", "-q", "-b", "other", "main")
		}, "1 commit that"},
		"an alias of its branch": {func(r *repo, t Tree) {
			commit(r, t.Path, "x")
			r.git(t.Path, "symbolic-ref", "refs/heads/alias", "refs/heads/"+t.Branch)
		}, "1 commit that"},
		"a ref of the worktree": {func(r *repo, t Tree) {
			commit(r, t.Path, "x")
			r.git(t.Path, "update-ref", "refs/worktree/x", "HEAD")
			r.git(t.Path, "reset", "-q", "--hard", "main")
		}, "1 commit that"},
		"hidden by the index": {func(r *repo, t Tree) {
			r.git(t.Path, "update-index", "--assume-unchanged", "a.txt")
			r.write(t.Path, "a.txt", "x")
		}, "not to look"},
		"hidden by the configuration": {func(r *repo, t Tree) {
			r.git(r.dir, "config", "status.showUntrackedFiles", "no")
			r.write(t.Path, "new.txt", "x")
		}, "1 changed file"},
		"a repository in it": {func(r *repo, t Tree) { r.git(t.Path, "init", "-q", "inner") }, "1 changed file"},
		"an unfinished rebase": {func(r *repo, t Tree) {
			commit(r, t.Path, "x")
			r.git(r.dir, "merge", "-q", t.Branch)
			r.git(t.Path, "-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "HEAD~1")
		}, "isn't finished"},
		"no commit yet":              {func(r *repo, t Tree) { r.git(t.Path, "checkout", "-q", "--orphan", "fresh") }, "3 changed files"},
		"locked":                     {func(r *repo, t Tree) { r.git(t.Path, "worktree", "lock", t.Path) }, "locked"},
		"its folder deleted by hand": {func(r *repo, t Tree) { os.RemoveAll(t.Path) }, ""},
		"that, with a commit":        {func(r *repo, t Tree) { commit(r, t.Path, "x"); os.RemoveAll(t.Path) }, "1 commit that"},
		"removed by hand":            {func(r *repo, t Tree) { r.git(r.dir, "worktree", "remove", t.Path) }, ""},
		"forgotten by git": {func(r *repo, t Tree) {
			os.RemoveAll(filepath.Join(r.dir, ".git/worktrees"))
		}, "any more"},
		"its repository gone": {func(r *repo, t Tree) { os.RemoveAll(r.dir) }, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			tree := r.make("api", Tree{})
			c.do(r, tree)
			err := plain.Remove(t.Context(), tree)
			var kept *Kept
			switch {
			case c.why == "" && err != nil:
				t.Fatal(err)
			case c.why == "":
				r.none(tree)
				return
			case !errors.As(err, &kept) || !strings.Contains(kept.Error(), c.why):
				t.Errorf("%v, want %q", err, c.why)
			}
			if err := plain.Discard(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(tree.Path); err == nil {
				t.Error("it is still there")
			}
			if _, err := os.Lstat(r.dir); err == nil {
				r.none(tree)
			}
		})
	}
}

// TestBranchElsewhere: a branch that another worktree has checked out stays.
func TestBranchElsewhere(t *testing.T) {
	r := newRepo(t)
	tree := r.make("api", Tree{})
	r.git(tree.Path, "checkout", "-q", "--detach")
	r.git(r.dir, "checkout", "-q", tree.Branch)
	if err := plain.Discard(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	r.git(r.dir, "rev-parse", "HEAD")
	r.git(r.dir, "show-ref", "--verify", "refs/heads/"+tree.Branch)
}

// TestClosedFolders: git forgets a worktree even if it can't delete all of its files.
func TestClosedFolders(t *testing.T) {
	r := newRepo(t)
	tree := r.make("api", Tree{})
	stuck := plain
	stuck.Run = func(ctx context.Context, c Call) (Result, error) { // a folder that git can't delete from
		res, err := plain.Run(ctx, c)
		if len(c.Args) > 1 && c.Args[1] == "remove" {
			r.write(tree.Path, "cache/x.o", "")
			res.Status, res.Said = 255, "error: failed to delete"
		}
		return res, err
	}
	if err := stuck.Remove(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	r.none(tree)
}

// TestHalfMade: what a kill leaves at each step is removed, and another's isn't.
func TestHalfMade(t *testing.T) {
	r := newRepo(t)
	plan, err := plain.Plan(t.Context(), Tree{}, r.dir, r.root, "api")
	if err != nil {
		t.Fatal(err)
	}
	// Planned: an empty folder may be ours, a full one isn't.
	if err := errors.Join(os.MkdirAll(plan.Path, 0o700), plain.Undo(t.Context(), plan)); err != nil {
		t.Fatal(err)
	}
	r.none(plan)
	r.write(plan.Path, "theirs", "x")
	if err := plain.Undo(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(plan.Path, "theirs")); err != nil {
		t.Error(err)
	}
	tree, err := plain.Reserve(t.Context(), plan)
	if err != nil || tree.Path != plan.Path+"-2" {
		t.Fatalf("%+v %v", tree, err)
	}
	// Making: reserved; made and locked by git; half checked out; damaged.
	for name, step := range map[string]func(){
		"reserved": func() {},
		"branch":   func() { r.git(r.dir, "branch", tree.Branch) },
		"locked": func() {
			r.git(r.dir, "worktree", "add", "-q", "--lock", "--no-checkout", "-b", tree.Branch, tree.Path)
		},
		"half": func() {
			r.git(r.dir, "worktree", "add", "-q", "-b", tree.Branch, tree.Path)
			os.Remove(filepath.Join(tree.Path, "a.txt"))
		},
		"damaged": func() {
			r.git(r.dir, "worktree", "add", "-q", "-b", tree.Branch, tree.Path)
			os.Remove(filepath.Join(tree.Path, ".git"))
		},
	} {
		if err := os.MkdirAll(tree.Path, 0o700); err != nil {
			t.Fatal(err)
		}
		step()
		if err := plain.Undo(t.Context(), tree); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.none(tree)
	}
	// A branch of that name with other commits is another's.
	r.git(r.dir, "checkout", "-q", "-b", tree.Branch)
	r.git(r.dir, "commit", "-q", "--allow-empty", "-m", "theirs")
	r.git(r.dir, "checkout", "-q", "main")
	if err := plain.Undo(t.Context(), tree); err != nil {
		t.Error(err)
	}
	r.git(r.dir, "show-ref", "--verify", "refs/heads/"+tree.Branch)
}

// TestHalfMadeHasTheOnlyCommits: while a session is made from another one's branch, that one's worktree
// is removed, because the new branch has its commits. They stay if the start of the new session fails.
func TestHalfMadeHasTheOnlyCommits(t *testing.T) {
	for _, phase := range []Phase{Making, SetUp, Ready} {
		r := newRepo(t)
		first := r.make("first", Tree{})
		r.git(first.Path, "commit", "-q", "--allow-empty", "-m", "work")
		commit := strings.TrimSpace(r.git(first.Path, "rev-parse", "HEAD"))
		second := r.make("second", Tree{From: first.Branch})
		second.Phase = phase
		if err := errors.Join(plain.Remove(t.Context(), first), plain.Undo(t.Context(), second)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(second.Path); err == nil {
			t.Errorf("%s: the folder is left", phase)
		}
		if got := strings.TrimSpace(r.git(r.dir, "branch", "--contains", commit)); got != second.Branch {
			t.Errorf("%s: the commit is in %q", phase, got)
		}
	}
}

func TestDiff(t *testing.T) {
	r := newRepo(t)
	tree := r.make("api", Tree{})
	r.write(tree.Path, "a.txt", "committed\n")
	r.git(tree.Path, "commit", "-qam", "a change")
	r.write(tree.Path, "sub/b.txt", "uncommitted\n")
	r.write(tree.Path, "new file", "new\n")
	r.write(tree.Path, "x.o", "ignored\n")
	r.write(r.dir, "a.txt", "main's\n")
	r.git(r.dir, "commit", "-qam", "on main")
	d, err := plain.Diff(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Commits) != 1 || d.Commits[0].Subject != "a change" || d.Commits[0].Author != "tester" || d.Cut {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(d.Committed, "+committed") || strings.Contains(d.Committed, "main's") || !strings.Contains(d.Uncommitted, "+uncommitted") {
		t.Errorf("%s\n%s", d.Committed, d.Uncommitted)
	}
	if len(d.NewFiles) != 1 || d.NewFiles[0] != "new file" || !strings.Contains(d.New, "+new") || strings.Contains(d.New, "ignored") {
		t.Errorf("%v\n%s", d.NewFiles, d.New)
	}
	if ahead, behind, err := plain.Distance(t.Context(), tree); ahead != 1 || behind != 1 || err != nil {
		t.Errorf("distance %d %d, %v", ahead, behind, err)
	}
	look, err := plain.Look(t.Context(), tree.Path)
	if err != nil || look != (Look{"berth/api", 2}) {
		t.Errorf("%+v %v", look, err)
	}
	r.git(r.dir, "branch", "-m", "main", "trunk")
	if ahead, behind, err := plain.Distance(t.Context(), tree); ahead != 1 || behind != 0 || err != nil {
		t.Errorf("without its base: distance %d %d, %v", ahead, behind, err)
	}
}

// TestHostile: no hook, monitor, pager or external diff of the repository runs.
func TestHostile(t *testing.T) {
	r := newRepo(t)
	ran := filepath.Join(r.root, "ran")
	if err := os.MkdirAll(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho $0 $* >> " + ran + "\n"
	evil := filepath.Join(r.root, "evil")
	if err := os.WriteFile(evil, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"} {
		if err := os.WriteFile(filepath.Join(r.dir, ".git/hooks", hook), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.pager": evil, "pager.diff": evil, "pager.log": evil, "pager.status": evil, "diff.external": evil,
		"diff.x.textconv": evil, "diff.x.command": evil, "core.editor": evil, "core.askPass": evil, "credential.helper": evil,
		"core.hooksPath": r.root, "gpg.program": evil, "log.showSignature": "true", "core.sshCommand": evil, "alias.status": "!" + evil,
	} {
		r.git(r.dir, "config", key, value)
	}
	if err := os.Symlink(evil, filepath.Join(r.root, "post-checkout")); err != nil {
		t.Fatal(err)
	}
	r.write(r.dir, ".git/info/attributes", "*.txt diff=x\n")
	tree := r.make("api", Tree{})
	r.write(tree.Path, "a.txt", "x\n")
	r.write(tree.Path, "new.txt", "x\n")
	if _, err := plain.Diff(t.Context(), tree); err != nil {
		t.Error(err)
	}
	var kept *Kept
	if err := plain.Remove(t.Context(), tree); !errors.As(err, &kept) {
		t.Error(err)
	}
	if err := plain.Discard(t.Context(), tree); err != nil {
		t.Error(err)
	}
	if out, err := os.ReadFile(ran); err == nil {
		t.Errorf("the repository had programs run:\n%s", out)
	}
}
