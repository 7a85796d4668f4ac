package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// theirs makes a folder of the user's in one that is root's.
func theirs(t *testing.T, u *User) (parent string) {
	t.Helper()
	parent = open(t)
	check(t, os.Mkdir(parent+"/agent", 0o700))
	check(t, os.Chown(parent+"/agent", u.UID, u.GID))
	return parent
}

// nest makes folders in each other, with a file in each, as the user. The
// deepest is given back.
func nest(t *testing.T, u *User, dir, name string, depth int) {
	t.Helper()
	check(t, u.Do(t.Context(), func() error {
		at, err := unix.Open(dir, folder, 0)
		for i := 0; i < depth && err == nil; i++ {
			fd := at
			if err = unix.Mkdirat(fd, name, 0o700); err == nil {
				if at, err = unix.Openat(fd, name, folder, 0); err == nil {
					var file int
					if file, err = unix.Openat(at, "file", unix.O_CREAT|unix.O_WRONLY, 0o600); err == nil {
						unix.Close(file)
					}
				}
			}
			unix.Close(fd)
		}
		unix.Close(at)
		return err
	}))
}

// fewFiles bounds what the process may open from here on.
func fewFiles(t *testing.T, more int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	var was unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	check(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(list) + more), Max: was.Max}))
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &was) })
}

// TestClearDeep: what a user has nested deeper than any path can name goes, with
// a few descriptors.
func TestClearDeep(t *testing.T) {
	u := otherUser(t)
	parent := theirs(t, u)
	dir := parent + "/agent"
	nest(t, u, dir, strings.Repeat("d", 200), 300)
	nest(t, u, dir, "other", 50)
	check(t, os.WriteFile(dir+"/kept", nil, 0o600))
	fewFiles(t, 12)
	if _, err := Size(parent); err != nil {
		t.Error(err)
	}
	check(t, u.Clear(t.Context(), parent, "agent", "kept"))
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 || list[0].Name() != "kept" {
		t.Errorf("%v, %v", list, err)
	}
	check(t, u.Clear(t.Context(), parent, "none"))
}

// TestSizeDeep: Size holds a descriptor for each folder that it is in, and so looks
// into no more than sizeDepth of them.
func TestSizeDeep(t *testing.T) {
	dir := t.TempDir()
	for at, i := dir, 0; i < 2*sizeDepth; i++ {
		check(t, os.WriteFile(at+"/file", []byte("x"), 0o600))
		at += "/d"
		check(t, os.Mkdir(at, 0o700))
	}
	if n, err := Size(dir); n != sizeDepth+1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestSizeOfSparseFiles: a file can be longer than the disk.
func TestSizeOfSparseFiles(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(dir+"/file", []byte("x"), 0o600))
	check(t, os.Truncate(dir+"/file", 1<<40))
	if n, err := Size(dir); n > 1<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestClearClosed: folders that their owner has closed, the first of them too,
// and links to what is elsewhere.
func TestClearClosed(t *testing.T) {
	u := otherUser(t)
	parent, other := theirs(t, u), open(t)
	dir := parent + "/agent"
	check(t, os.WriteFile(other+"/precious", nil, 0o666))
	check(t, os.Chown(other, u.UID, u.GID))
	check(t, u.Do(t.Context(), func() error {
		return errors.Join(os.MkdirAll(dir+"/a/b/c", 0o700), os.MkdirAll(dir+"/listed/inner", 0o700), os.Symlink(other, dir+"/a/b/link"), os.Symlink(other, dir+"/link"), unix.Mkfifo(dir+"/a/pipe", 0o600),
			os.Chmod(dir+"/listed", 0o500), os.Chmod(dir+"/a/b/c", 0), os.Chmod(dir+"/a/b", 0o500), os.Chmod(dir+"/a", 0), os.Chmod(dir, 0))
	}))
	check(t, u.Clear(t.Context(), parent, "agent"))
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	check(t, os.Symlink(other, parent+"/link"))
	if err := u.Clear(t.Context(), parent, "link"); err == nil {
		t.Error("a link is cleared")
	}
	if _, err := os.Stat(other + "/precious"); err != nil {
		t.Error(err)
	}
}

// TestClearIsBoundByRights: what is another's stays, is named, and does not keep
// the rest.
func TestClearIsBoundByRights(t *testing.T) {
	u := otherUser(t)
	parent := theirs(t, u)
	dir := parent + "/agent"
	check(t, os.MkdirAll(dir+"/a/roots/inner", 0o755))
	check(t, os.Chown(dir+"/a", u.UID, u.GID))
	nest(t, u, dir+"/a", "d", 5)
	err := u.Clear(t.Context(), parent, "agent")
	if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
		t.Errorf("%v", err)
	}
	var left []string
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		left = append(left, strings.TrimPrefix(path, dir))
		return err
	}))
	if got := strings.Join(left, " "); got != " /a /a/roots /a/roots/inner" {
		t.Errorf("left: %s", got)
	}
	check(t, os.RemoveAll(dir+"/a/roots"))
	check(t, u.Clear(t.Context(), parent, "agent"))
}

// TestEmpty: a path that the user can't walk leads to nothing that is emptied, even where its end is open
// to all.
func TestEmpty(t *testing.T) {
	u := otherUser(t)
	base := open(t)
	inner := base + "/shut/open/tree"
	check(t, os.MkdirAll(inner, 0o777))
	check(t, os.WriteFile(inner+"/file", nil, 0o666))
	for _, dir := range []string{inner, base + "/shut/open"} {
		check(t, os.Chmod(dir, 0o777))
	}
	check(t, os.Chmod(base+"/shut", 0o700))
	if err := u.Empty(t.Context(), inner); !errors.Is(err, unix.EACCES) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(inner + "/file"); err != nil {
		t.Error(err)
	}
	check(t, os.Chmod(base+"/shut", 0o755))
	check(t, u.Empty(t.Context(), inner))
	if list, err := os.ReadDir(inner); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	check(t, u.Empty(t.Context(), base+"/none/none"))
}

// TestClearEnds: a user that makes more while it is deleted keeps the caller no
// longer than it wants to wait.
func TestClearEnds(t *testing.T) {
	u := otherUser(t)
	parent := theirs(t, u)
	dir := parent + "/agent"
	ctx, cancel := context.WithCancel(t.Context())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = u.Do(context.Background(), func() error { return os.MkdirAll(dir+"/more/and/more", 0o700) })
			}
		}
	}()
	time.AfterFunc(100*time.Millisecond, cancel) // within the first pass, which would not end
	err := u.Clear(ctx, parent, "agent")
	close(stop)
	<-stopped
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestClearEndsForTheServersUser: there the work is not given up on from outside.
func TestClearEndsForTheServersUser(t *testing.T) {
	parent := t.TempDir()
	check(t, os.MkdirAll(parent+"/agent/more", 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var own *User
	if err := own.Clear(ctx, parent, "agent"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	check(t, own.Clear(t.Context(), parent, "agent"))
	if list, err := os.ReadDir(parent + "/agent"); err != nil || len(list) != 0 {
		t.Errorf("%d are left, %v", len(list), err)
	}
}

// TestSliceEnds: a slice whose time is over leaves the rest to the next one.
func TestSliceEnds(t *testing.T) {
	dir := t.TempDir()
	check(t, os.MkdirAll(dir+"/more/and/more", 0o700))
	top, err := os.Open(dir)
	check(t, err)
	defer top.Close()
	c := &clearing{path: dir, top: top}
	if over, err := c.slice(time.Now()); over || err != nil {
		t.Errorf("with no time: over %v, %v", over, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("with no time: %d are left, %v", len(list), err)
	}
	if over, err := c.slice(time.Now().Add(time.Minute)); !over || err != nil {
		t.Errorf("over %v, %v", over, err)
	}
}

// TestDropInParts: a folder with more in it than there is time for is left with the
// rest.
func TestDropInParts(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(dir+"/big", 0o700))
	for i := range 2 * namesAtOnce {
		check(t, os.WriteFile(fmt.Sprint(dir, "/big/", i), nil, 0o600))
	}
	top, err := os.Open(dir)
	check(t, err)
	defer top.Close()
	c := &clearing{path: dir, top: top}
	check(t, c.drop("big", time.Now()))
	if list, err := os.ReadDir(dir + "/big"); err != nil || len(list) != namesAtOnce {
		t.Errorf("%d are left, %v", len(list), err)
	}
}

// TestFilesThatDoNotAnswer: work that hangs holds up its caller for as long as
// that one waits, and no other user's.
func TestFilesThatDoNotAnswer(t *testing.T) {
	u := otherUser(t)
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	var done []chan error
	for range atOnce + 1 {
		one := make(chan error, 1)
		done = append(done, one)
		go func() { one <- u.Do(ctx, func() error { <-goOn; return nil }) }()
	}
	other := *u
	other.UID++
	check(t, other.Do(t.Context(), func() error { return nil }))
	cancel()
	for _, one := range done {
		if err := <-one; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	close(goOn)
	check(t, u.Do(t.Context(), func() error { return nil }))
}
