// Package account knows the OS users that sessions may run as beside the
// server's own, and acts upon files with the rights of one of them alone.
package account

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// User is an OS user. A nil one stands for the server's own.
type User struct {
	Name, Home, Shell string
	UID, GID          int
	Groups            []int // all of them, the first one's too
}

// ErrNoUser is that the system knows no user of that name.
var ErrNoUser = errors.New("there is no such user on this machine")

// Lookup finds a user by name. Only root may act as somebody else.
func Lookup(name string) (*User, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("a session can run as the user %q only where the server runs as root; it runs as uid %d", name, os.Geteuid())
	}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("a session can run as the user %q on Linux alone: only there can the server act upon files as somebody else", name)
	}
	entry, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("the user %q: %w", name, ErrNoUser)
	}
	if err != nil {
		return nil, fmt.Errorf("look for the user %q: %w", name, err)
	}
	u := &User{Name: entry.Username, Home: entry.HomeDir, Shell: shellOf("/etc/passwd", entry.Uid)}
	groups, err := entry.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("look for the groups of %q: %w", name, err)
	}
	var failed error
	number := func(text string) int {
		n, err := strconv.ParseUint(text, 10, 32)
		failed = errors.Join(failed, err)
		return int(n)
	}
	u.UID, u.GID = number(entry.Uid), number(entry.Gid)
	for _, g := range groups {
		u.Groups = append(u.Groups, number(g))
	}
	if failed == nil && !filepath.IsAbs(u.Home) {
		failed = errors.New("it has no home folder")
	}
	if failed != nil {
		return nil, fmt.Errorf("the user %q: %w", name, failed)
	}
	return u, nil
}

// shellOf is the login shell of a user: /bin/sh where the file has none.
func shellOf(passwd, uid string) string {
	f, err := os.Open(passwd)
	if err != nil {
		return "/bin/sh"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		p := strings.Split(lines.Text(), ":")
		if len(p) == 7 && p[2] == uid && filepath.IsAbs(p[6]) {
			return p[6]
		}
	}
	return "/bin/sh"
}

// Credential is what a process of the user is started with; nil of the
// server's own.
func (u *User) Credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}

// Do runs work, which acts upon files, with the rights that the user has on
// them: what the user has put in the way, a link above all, leads no further
// than it would lead the user. work must not start goroutines that do so, nor
// processes.
func (u *User) Do(work func() error) error {
	if u == nil || u.UID == os.Geteuid() {
		return work()
	}
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and with it what was
		// set for it alone.
		runtime.LockOSThread()
		if err := become(u); err != nil {
			done <- fmt.Errorf("act as the user %q: %w", u.Name, err)
			return
		}
		done <- work()
	}()
	return <-done
}

// Reach says which folder keeps the user from the path, which is a folder too.
func (u *User) Reach(path string) error {
	return u.Do(func() error {
		at := "/"
		for _, name := range strings.Split(strings.Trim(filepath.Clean(path), "/"), "/") {
			at = filepath.Join(at, name)
			if _, err := os.Stat(at + "/."); err != nil {
				return fmt.Errorf("the user %q cannot enter the folder %s: %w", u.Name, at, errors.Unwrap(err))
			}
		}
		return nil
	})
}
