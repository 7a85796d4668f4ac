package keys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckRun: a program that the server runs must belong to its user or to root, and so must
// each folder on the path and on the path to a link.
func TestCheckRun(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, file string)
		says  string
	}{
		"ours":               {func(*testing.T, string, string) {}, ""},
		"others may write":   {func(t *testing.T, _, f string) { chmod(t, f, 0o757) }, "chmod go-w"},
		"its folder is open": {func(t *testing.T, d, _ string) { chmod(t, d, 0o777) }, "chmod go-w"},
		"foreign owner":      {func(t *testing.T, _, f string) { chown(t, f) }, "belongs to uid"},
		"foreign group": {func(t *testing.T, _, f string) {
			chmod(t, f, 0o775)
			if os.Geteuid() != 0 {
				t.Skip("SKIPPED: only root can give a file to another group")
			}
			if err := os.Chown(f, -1, 12345); err != nil {
				t.Fatal(err)
			}
		}, "chmod go-w"},
		"it is gone": {func(t *testing.T, _, f string) {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir, links := filepath.Join(root, "d"), filepath.Join(root, "l")
			file, link := filepath.Join(dir, "program"), filepath.Join(links, "program")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(links, 0o700), os.WriteFile(file, nil, 0o755), os.Symlink(file, link)); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, dir, file)
			for _, path := range []string{file, link} {
				if err := CheckRun(path); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%s: %v", path, err)
				}
			}
			if c.says == "" {
				chmod(t, links, 0o777)
				if err := CheckRun(link); err == nil || !strings.Contains(err.Error(), links+" can be written by others") {
					t.Errorf("a link that others may replace: %v", err)
				}
			}
		})
	}
}

func TestSoleMember(t *testing.T) {
	const groups = "root:x:0:\nalice:x:1000:\nbob:x:1001:bob\ncarol:x:1002:eve\nstaff:x:50:alice\n"
	for _, c := range []struct {
		name string
		gid  int
		want bool
	}{{"alice", 1000, true}, {"bob", 1001, true}, {"carol", 1002, false}, {"alice", 50, false}, {"alice", 1001, false}, {"dave", 1003, false}} {
		if got := soleMember(groups, c.name, c.gid); got != c.want {
			t.Errorf("%s, group %d: %v", c.name, c.gid, got)
		}
	}
}

// TestCheckFor: a user relies on that user's own files and on root's, and on no others. The file of a
// group that has the user's name may be writable by that group.
func TestCheckFor(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckFor(file, os.Geteuid(), ""); err != nil {
		t.Error(err)
	}
	chmod(t, file, 0o660)
	if err := CheckFor(file, os.Geteuid(), ""); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a group without a user: %v", err)
	}
	chmod(t, file, 0o600)
	chown(t, file) // skips the rest without root
	const theirs = 65534
	if err := os.Chown(file, theirs, -1); err != nil {
		t.Fatal(err)
	}
	if err := CheckFor(file, theirs, "nobody"); err != nil {
		t.Errorf("root's folders: %v", err)
	}
	if err := CheckFor(file, 1, "daemon"); err == nil || !strings.Contains(err.Error(), "it must be root's or uid 1's") {
		t.Errorf("another user's: %v", err)
	}
	if err := os.Chown(dir, 1, -1); err != nil {
		t.Fatal(err)
	}
	if err := CheckFor(file, theirs, "nobody"); err == nil || !strings.Contains(err.Error(), dir+" belongs to uid 1") {
		t.Errorf("another user's folder: %v", err)
	}
}
