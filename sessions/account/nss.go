package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// getentWithin is how long a directory service may take.
const getentWithin = 5 * time.Second

// Entry is a line of the passwd database.
type Entry struct {
	Name, Home, Shell string
	UID, GID          int
}

// FromNSS asks the system's name service for a user by name or uid: /etc/passwd doesn't have the users of
// LDAP, SSSD and the like. Berth is built without the C library, so it runs getent. The error is ErrNoUser
// if there is no such user, or no getent.
func FromNSS(ctx context.Context, key string) (Entry, error) {
	out, err := getent(ctx, "passwd", key)
	if err != nil {
		return Entry{}, err
	}
	line, _, _ := strings.Cut(out, "\n")
	f := strings.Split(line, ":")
	if len(f) != 7 {
		return Entry{}, fmt.Errorf("getent passwd says %.80q of the user %q", line, key)
	}
	uid, err1 := strconv.ParseUint(f[2], 10, 31)
	gid, err2 := strconv.ParseUint(f[3], 10, 31)
	if err := errors.Join(err1, err2); err != nil || f[0] != key && f[2] != key {
		return Entry{}, fmt.Errorf("getent passwd says %.80q of the user %q", line, key)
	}
	e := Entry{Name: f[0], UID: int(uid), GID: int(gid), Home: f[5], Shell: f[6]}
	if !filepath.IsAbs(e.Shell) {
		e.Shell = "/bin/sh"
	}
	return e, nil
}

// groupsFromNSS are the groups of a user of the name service, with its own first.
func groupsFromNSS(ctx context.Context, e Entry) ([]int, error) {
	out, err := getent(ctx, "initgroups", e.Name)
	if err != nil {
		return nil, fmt.Errorf("look for the groups of %q: %w", e.Name, err)
	}
	words := strings.Fields(out)
	if len(words) == 0 || words[0] != e.Name {
		return nil, fmt.Errorf("getent initgroups says %.80q of the user %q", out, e.Name)
	}
	groups := []int{e.GID}
	for _, word := range words[1:] {
		gid, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("getent initgroups says %.80q of the user %q", out, e.Name)
		}
		if int(gid) != e.GID {
			groups = append(groups, int(gid))
		}
	}
	return groups, nil
}

// systemFolders are searched for getent, in place of PATH: an agent may be able to write into a folder of the
// server's PATH, and what the server itself starts counts as a person. The last two are NixOS' and Guix'.
var systemFolders = []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/run/current-system/profile/bin"}

func systemProgram(name string) (path string, ok bool) {
	for _, dir := range systemFolders {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

func getent(ctx context.Context, database, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, getentWithin)
	defer cancel()
	path, ok := systemProgram("getent")
	if !ok {
		return "", ErrNoUser
	}
	cmd := exec.CommandContext(ctx, path, database, "--", key)
	cmd.Env = []string{} // no variable of the server's has to do with it
	out, err := cmd.Output()
	var exit *exec.ExitError
	const notFound = 2
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == notFound:
		return "", ErrNoUser
	case err != nil:
		return "", fmt.Errorf("getent %s: %w", database, err)
	}
	return string(out), nil
}

// lookupNSS is Lookup for a user that /etc/passwd doesn't have.
func lookupNSS(name string) (*User, error) {
	ctx := context.Background()
	e, err := FromNSS(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("the user %q: %w", name, err)
	}
	if e.Name != name { // a uid in the place of a name
		return nil, fmt.Errorf("the user %q: %w", name, ErrNoUser)
	}
	groups, err := groupsFromNSS(ctx, e)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(e.Home) {
		return nil, fmt.Errorf("the user %q: it has no home folder", name)
	}
	return &User{Name: e.Name, Home: e.Home, Shell: e.Shell, UID: e.UID, GID: e.GID, Groups: groups}, nil
}
