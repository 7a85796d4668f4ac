package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/keys"
)

// What a line may become holds only what the caller may use and see.
func TestComplete(t *testing.T) {
	d := newDesk(t)
	for _, line := range []string{"new alpha --tag blue -- sleep 600", "new web-1 -- sleep 600"} {
		if a := d.call(admin, line); a.status != 0 {
			t.Fatalf("%+v", a)
		}
	}
	for _, c := range []struct {
		id   keys.Identity
		line string
		want string
		from int
	}{
		{admin, "inf", "info", 0},
		{viewer, "ki", "", 0},
		{admin, "ki", "kill", 0},
		{admin, "state ", "alpha web-1 tag:blue all", 6},
		{narrow, "state ", "web-1 all", 6},
		{narrow, "info al", "", 5},
		{admin, "rm alpha --forc", "--force", 9},
		{admin, "nudge alpha,w", "web-1", 12},
		{admin, "worktree d", "diff", 9},
		{admin, "worktree diff w", "web-1", 14},
		{admin, "new x --profile w", "web", 16},
		{admin, "new x -- al", "", 9},
		{admin, "nosuch al", "", 7},
		{admin, "help sel", "selectors", 5},
	} {
		id := c.id
		from, found := d.Complete(Request{Identity: func() keys.Identity { return id }}, c.line)
		if got := strings.Join(found, " "); got != c.want || from != c.from {
			t.Errorf("%s: %q becomes %q from %d, want %q from %d", c.id.Name, c.line, got, from, c.want, c.from)
		}
	}
}

// Folders are completed only for a caller who may start any command anywhere.
func TestFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"shop/.git", "src", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "secret.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	ask := func(id keys.Identity, typed string) (names []string, err error) {
		folders, err := d.Folders(t.Context(), Request{Identity: func() keys.Identity { return id }}, "", typed)
		for _, f := range folders.Found {
			names = append(names, strings.TrimPrefix(f.Path, home+"/"))
		}
		return names, err
	}
	if got, err := ask(admin, home+"/s"); err != nil || !slices.Equal(got, []string{"shop", "src"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, id := range []keys.Identity{viewer, narrow} {
		if got, err := ask(id, home+"/"); err == nil || len(got) > 0 {
			t.Errorf("%s: %q, %v", id.Name, got, err)
		}
	}
}
