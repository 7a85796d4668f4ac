package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/sessions/account"
)

// TestUserIsTheOneThatWasMeant: a user that has gone, or whose name is another's by
// now, is named and not replaced.
func TestUserIsTheOneThatWasMeant(t *testing.T) {
	there := map[string]*account.User{"bob": {Name: "bob", UID: 1001}}
	e := Environment{Account: func(name string) (*account.User, error) {
		if u := there[name]; u != nil {
			return u, nil
		}
		return nil, account.ErrNoUser
	}}
	for _, c := range []struct {
		spec Spec
		says string // of its error; empty: there is none
		uid  int    // -1: the server's own
	}{
		{Spec{}, "", -1},
		{Spec{User: "bob"}, "", 1001},
		{Spec{User: "bob", UID: 1001}, "", 1001},
		{Spec{User: "bob", UID: 1002}, `"bob" has uid 1001 now, and had 1002`, 0},
		{Spec{User: "eve", UID: 1003}, `"eve" that the session runs as, uid 1003, is no longer there`, 0},
		{Spec{User: "eve"}, "no such user", 0},
	} {
		u, err := e.account(c.spec)
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c.spec, err)
			}
		case err != nil, (u == nil) != (c.uid < 0), u != nil && u.UID != c.uid:
			t.Errorf("%+v: %+v, %v", c.spec, u, err)
		}
	}
}

// TestCloseWithin: before others are let through a folder, what they could read in
// it is closed to them.
func TestCloseWithin(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	elsewhere := filepath.Join(t.TempDir(), "file")
	err := errors.Join(os.WriteFile(path("open"), nil, 0o600), os.Chmod(path("open"), 0o644), os.WriteFile(path("run"), nil, 0o700), os.Chmod(path("run"), 0o755),
		os.Mkdir(path("folder"), 0o700), os.Chmod(path("folder"), 0o755), os.Mkdir(path("through"), 0o700), os.Chmod(path("through"), 0o711),
		os.WriteFile(elsewhere, nil, 0o600), os.Chmod(elsewhere, 0o644), os.Symlink(elsewhere, path("link")), closeWithin(dir))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"open": 0o600, "run": 0o700, "folder": 0o700, "through": 0o711, "link": 0o644} {
		if info, err := os.Stat(path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestDisk: drivers read regular files to their end, and nothing that has none.
func TestDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := (disk{}).ReadFile(file[1:]); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if err := os.Truncate(file, diskMost+1); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file[1:], pipe[1:], "dev/zero", file, "../etc/passwd"} {
		if _, err := (disk{}).ReadFile(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestInstalledLater: a command that is not found may be in a folder that the
// login shell names since then. One that is there asks nothing again.
func TestInstalledLater(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/later", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	asked := 0
	e := Environment{Home: dir, Login: func(_ *account.User, anew bool) map[string]string {
		if anew {
			asked++
			return map[string]string{"PATH": dir + ":/bin:/usr/bin"}
		}
		return map[string]string{"PATH": "/bin:/usr/bin"}
	}}
	for _, c := range []struct {
		command string
		login   bool
		found   bool
		asked   int
	}{
		{"sh", true, true, 0}, {"later", false, false, 0}, {"later", true, true, 1}, {"nowhere", true, false, 2},
	} {
		prog, err := e.resolve(Spec{Command: []string{c.command}, LoginEnv: c.login})
		if (err == nil) != c.found || asked != c.asked || c.found && filepath.Base(prog.path) != c.command {
			t.Errorf("%+v: %s, %v, asked %d times", c, prog.path, err, asked)
		}
	}
}
