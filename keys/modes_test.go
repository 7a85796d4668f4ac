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
