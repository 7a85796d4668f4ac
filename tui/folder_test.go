package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/sessions/worktree"
)

// TestFolderOfASession: the head of a session names its folder, its branch and the count of changed
// files; where there is no room for all, the name and the state stay.
func TestFolderOfASession(t *testing.T) {
	for _, c := range []struct {
		cwd, says string
		look      *worktree.Look
	}{
		{"/home/ann/shop", "claude · shop · 80x24", nil},
		{"/home/ann/shop", "claude · shop feat/api ±3 · 80x24", &worktree.Look{Branch: "feat/api", Changed: 3}},
		{"/home/ann/shop", "claude · shop (detached) · 80x24", &worktree.Look{}},
		{"", "alpha · idle · claude · 80x24", nil},
	} {
		s := at("alpha", agent.Idle, 1)
		s.Cwd, s.Look = c.cwd, c.look
		if got := drawn(started(120, 30, world(s))); !strings.Contains(got, c.says) {
			t.Errorf("%+v: the head lacks %q:\n%s", c, c.says, got)
		}
		if got := drawn(started(40, 20, world(s))); !strings.Contains(got, "alpha · idle") {
			t.Errorf("%+v on a phone:\n%s", c, got)
		}
	}
}
