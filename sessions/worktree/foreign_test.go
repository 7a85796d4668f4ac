package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestForeignGit: git is found on the PATH of the session's user, who can put another program there. What such a
// program prints gets errors and no panic, which would end the server.
func TestForeignGit(t *testing.T) {
	r := newRepo(t)
	tree := r.make("api", Tree{})
	for _, out := range []string{"", "\n", "HEAD 1\n", "branch x\n", "worktree", "worktree \nHEAD", "\t\x00\x1f", "a b c d", "1 2 3\n", "refs/heads/berth/api commit x\n", "-1"} {
		for _, status := range []int{0, 1, 128} {
			g := plain
			g.Run = func(context.Context, Call) (Result, error) {
				return Result{Output: []byte(out), Status: status, Said: out}, nil
			}
			_ = g.Remove(t.Context(), tree)
			_ = g.Undo(t.Context(), Tree{Phase: Making, Repo: tree.Repo, Path: filepath.Join(r.root, "none"), New: true, Branch: "b"})
			_, _ = g.Look(t.Context(), tree.Path)
			_, _ = g.Diff(t.Context(), tree)
			_, _, _ = g.Distance(t.Context(), tree)
			_, _ = g.Plan(t.Context(), Tree{}, r.dir, r.root, "api")
		}
	}
}

// TestSubmodules: no program of a submodule's configuration runs either.
func TestSubmodules(t *testing.T) {
	r, inner := newRepo(t), newRepo(t)
	r.git(r.dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "inner")
	r.git(r.dir, "commit", "-qm", "submodule")
	sub := filepath.Join(r.dir, "inner")
	evil, ran := filepath.Join(inner.root, "evil"), filepath.Join(inner.root, "ran")
	r.write(inner.root, "evil", "#!/bin/sh\necho $0 $* >> "+ran+"\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{r.dir, sub} {
		for _, key := range []string{"core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager"} {
			r.git(dir, "config", key, evil)
		}
		r.git(dir, "config", "core.hooksPath", inner.root)
	}
	for key, value := range map[string]string{"diff.submodule": "diff", "status.submoduleSummary": "true"} {
		r.git(r.dir, "config", key, value)
	}
	r.write(sub, "a.txt", "changed\n")
	tree := Tree{Repo: filepath.Join(r.dir, ".git"), Path: r.dir, Base: "HEAD"}
	if d, err := plain.Diff(t.Context(), tree); err != nil || d.Uncommitted == "" {
		t.Errorf("%+v %v", d, err)
	}
	if look, err := plain.Look(t.Context(), tree.Path); err != nil || look.Changed != 1 {
		t.Errorf("%+v %v", look, err)
	}
	if out, err := os.ReadFile(ran); err == nil {
		t.Errorf("the submodule had programs run:\n%s", out)
	}
}
