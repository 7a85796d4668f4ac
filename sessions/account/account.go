// Package account knows the OS users that sessions may run as beside the
// server's own, and acts upon files with the rights of one of them alone.
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

// Files of another user that do not answer, as on a file system which that user
// has mounted, hold up a caller for answerWithin at most, and as many threads as
// atOnce: the next of that user's callers wait for one of these.
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

// As runs work, which acts upon files, with the rights that the user has on
// them: what the user has put in the way, a link above all, leads no further
// than it would lead the user. work must not start goroutines that do so, nor
// processes. It may go on after As has given up on it: what it finds is what it
// returns, and it must not write to anything else of the caller's.
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
		// Never unlocked: the thread ends with the goroutine, and with it what was
		// set for it alone.
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

// Do is As for work that only succeeds or fails.
func (u *User) Do(ctx context.Context, work func() error) error {
	_, err := As(ctx, u, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// Reach says which folder keeps the user from the path, which is a folder too.
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
