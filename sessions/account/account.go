// Package account finds the OS users that sessions may run as, and accesses files with the rights of
// such a user (As). That protects the server, which runs as root, from links and other traps in that
// user's folders. It may be called from any goroutine. Each call of As runs on a thread of its own.
package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// User is an OS user. Nil is the server's own user.
type User struct {
	Name, Home, Shell string
	UID, GID          int
	Groups            []int // all of them, including GID
}

// ErrNoUser says that the system has no user with that name.
var ErrNoUser = errors.New("there is no such user on this machine")

// Lookup finds a user by name. Only root may act as another user.
func Lookup(name string) (*User, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("a session can run as the user %q only where the server runs as root; it runs as uid %d", name, os.Geteuid())
	}
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("a session can run as the user %q only on Linux: on other systems the server cannot access files as another user", name)
	}
	entry, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return lookupNSS(name)
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

// shellOf is the login shell of a user, or /bin/sh if the file has none.
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

// Credential is the credential to start a process of the user with. It is nil for the server's own user.
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

// Another user's files may not answer, for example on a file system that this user has mounted. They
// hold up a caller for at most answerWithin, and at most atOnce threads for each user. Further callers
// wait for one of these threads.
const (
	answerWithin = 10 * time.Second
	atOnce       = 8
)

// acting are the threads that act as each user, by uid.
var acting struct {
	sync.Mutex
	slots map[int]chan struct{}
}

func slotsOf(uid int) chan struct{} {
	acting.Lock()
	defer acting.Unlock()
	if acting.slots == nil {
		acting.slots = map[int]chan struct{}{}
	}
	if acting.slots[uid] == nil {
		acting.slots[uid] = make(chan struct{}, atOnce)
	}
	return acting.slots[uid]
}

// As runs work, which accesses files, with the rights of the user. So a link or another trap of the user
// reaches only what the user can reach. work must not start processes, nor goroutines that access
// files. work may still run after As has returned with an error, so it must not write to the
// caller's variables. It only returns its result.
func As[T any](ctx context.Context, u *User, work func() (T, error)) (T, error) {
	if u == nil || u.UID == os.Geteuid() {
		return work()
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	var none T
	slots := slotsOf(u.UID)
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return none, u.silent(ctx)
	}
	go func() {
		defer func() { <-slots }()
		// Never unlocked: the thread ends with the goroutine, so no other goroutine runs with
		// the user's rights.
		runtime.LockOSThread()
		if err := become(u); err != nil {
			done <- result{err: fmt.Errorf("act as the user %q: %w", u.Name, err)}
			return
		}
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, u.silent(ctx)
	}
}

func (u *User) silent(ctx context.Context) error {
	return fmt.Errorf("files of the user %q do not answer: %w", u.Name, ctx.Err())
}

// Do is As for work without a result.
func (u *User) Do(ctx context.Context, work func() error) error {
	_, err := As(ctx, u, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// Reach returns an error that names the first folder on the path that the user cannot enter. The path
// is a folder too.
func (u *User) Reach(path string) error {
	return u.Do(context.Background(), func() error {
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
