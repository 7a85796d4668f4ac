package worktree

import (
	"context"
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
