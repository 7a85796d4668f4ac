package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Look is a working tree as git sees it.
type Look struct {
	Branch  string // empty: HEAD is detached
	Changed int    // files: staged, changed, or new and not ignored
}

// Look reads the branch and counts changed files. It changes nothing, not even the index.
func (g Git) Look(ctx context.Context, dir string) (Look, error) {
	r, err := g.Run(ctx, Call{
		Dir: dir, Most: 4 << 20, Within: lookWithin,
		Args: []string{"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames"},
	})
	if err != nil {
		return Look{}, fmt.Errorf("git status: %w", err)
	}
	if r.Status != 0 {
		return Look{}, &Error{Command: "status", Status: r.Status, Said: lastLine(r.Said)}
	}
	var l Look
	for _, entry := range strings.Split(string(r.Output), "\x00") { // of a cut output the number is the least
		head, isHead := strings.CutPrefix(entry, "# branch.head ")
		switch {
		case isHead && head != "(detached)":
			l.Branch = head
		case entry != "" && !strings.HasPrefix(entry, "# "):
			l.Changed++
		}
	}
	return l, nil
}

// Distance counts the commits that the worktree has and its base lacks, and the reverse.
func (g Git) Distance(ctx context.Context, t Tree) (ahead, behind int, err error) {
	base, err := g.base(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	out, err := g.line(ctx, t.Path, "rev-list", "--left-right", "--count", base+"...HEAD")
	if err != nil {
		return 0, 0, err
	}
	left, right, _ := strings.Cut(out, "\t")
	if behind, err = strconv.Atoi(left); err == nil {
		ahead, err = strconv.Atoi(right)
	}
	return ahead, behind, err
}

// base is what the worktree is compared with: the branch that it started from, or the commit if that
// branch is gone.
func (g Git) base(ctx context.Context, t Tree) (string, error) {
	if t.BaseRef == "" {
		return t.Base, nil
	}
	there, err := g.hasRef(ctx, t.Repo, t.BaseRef)
	if there {
		return t.BaseRef, err
	}
	return t.Base, err
}

// Commit is one of a worktree's commits.
type Commit struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"`
	At      string `json:"at"` // RFC 3339
	Subject string `json:"subject"`
}

// Diff is the work in a worktree.
type Diff struct {
	Commits     []Commit // since its base, newest first
	Committed   string   // what they change
	Uncommitted string   // staged or not
	NewFiles    []string // neither committed nor ignored
	New         string   // their contents, as a patch
	Cut         bool     // something was left out
}

// The bounds of a Diff.
const (
	mostCommits  = 500
	mostPatch    = 4 << 20 // bytes of each patch
	mostNewFiles = 200     // that are shown
)

// Diff reads the work in a worktree.
func (g Git) Diff(ctx context.Context, t Tree) (Diff, error) {
	d := Diff{Commits: []Commit{}, NewFiles: []string{}}
	base, err := g.base(ctx, t)
	if err != nil {
		return d, err
	}
	log, err := g.run(ctx, t.Path, "log", "-z", fmt.Sprintf("--max-count=%d", mostCommits+1), "--no-show-signature", "--format=%H%x1f%an%x1f%aI%x1f%s", base+"..HEAD")
	if err != nil {
		return d, err
	}
	for _, line := range strings.Split(strings.TrimSuffix(log, "\x00"), "\x00") {
		f := strings.SplitN(line, "\x1f", 4)
		if len(f) != 4 {
			continue
		}
		if len(d.Commits) == mostCommits {
			d.Cut = true
			break
		}
		d.Commits = append(d.Commits, Commit{f[0], f[1], f[2], f[3]})
	}
	if d.Committed, err = g.patch(ctx, t, &d.Cut, base+"...HEAD"); err != nil {
		return d, err
	}
	if d.Uncommitted, err = g.patch(ctx, t, &d.Cut, "HEAD"); err != nil {
		return d, err
	}
	others, err := g.run(ctx, t.Path, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return d, err
	}
	for _, name := range strings.Split(others, "\x00") {
		if name != "" {
			d.NewFiles = append(d.NewFiles, name)
		}
	}
	return d, g.newFiles(ctx, t, &d)
}

func (g Git) newFiles(ctx context.Context, t Tree, d *Diff) error {
	for i, name := range d.NewFiles {
		if i == mostNewFiles || len(d.New) > mostPatch {
			d.Cut = true
			break
		}
		if strings.HasSuffix(name, "/") { // a repository in the worktree
			continue
		}
		patch, err := g.patch(ctx, t, &d.Cut, "--no-index", "--", "/dev/null", name)
		if err != nil {
			return err
		}
		d.New += patch
	}
	return nil
}

// patch is git diff. With --no-index its status is 1 if there is a difference.
func (g Git) patch(ctx context.Context, t Tree, cut *bool, args ...string) (string, error) {
	args = append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"}, args...)
	r, err := g.Run(ctx, Call{Dir: t.Path, Args: args, Most: mostPatch, Within: lookWithin})
	if err != nil {
		return "", fmt.Errorf("git diff: %w", err)
	}
	if r.Status > 1 {
		return "", &Error{Command: "diff", Status: r.Status, Said: lastLine(r.Said)}
	}
	*cut = *cut || r.Cut
	return string(r.Output), nil
}
