package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// namesAtOnce bounds how many names of a folder are in memory.
	namesAtOnce = 256
	// sliceOf bounds one call of As. It is well below answerWithin, so that a large folder isn't
	// taken for files that do not answer.
	sliceOf = time.Second
)

// Clear deletes all that is in the folder name of the folder parent, except for the names in keep, with
// the rights of the user. It follows no link and leaves mounted file systems alone. It gives the owner
// access to folders that the owner has closed.
//
// It uses three descriptors, however deep the folders are, because it moves the content of inner folders
// up before it deletes it. So no path becomes too long, and no other process can move a folder away while
// Clear is inside it.
func (u *User) Clear(ctx context.Context, parent, name string, keep ...string) error {
	up, err := openFolder(unix.AT_FDCWD, parent)
	if err != nil {
		return fmt.Errorf("open the folder %s: %w", parent, err)
	}
	defer up.Close()
	return u.clear(ctx, filepath.Join(parent, name), func() (*os.File, error) { return openOwn(up, name) }, keep...)
}

// Empty is Clear for a folder of the user's at a path of the user's: it also walks the path with the
// rights of the user.
func (u *User) Empty(ctx context.Context, path string) error {
	return u.clear(ctx, path, func() (*os.File, error) {
		up, err := openFolder(unix.AT_FDCWD, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer up.Close()
		return openOwn(up, filepath.Base(path))
	})
}

func (u *User) clear(ctx context.Context, path string, open func() (*os.File, error), keep ...string) error {
	top, err := As(ctx, u, open)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the folder %s: %w", path, err)
	}
	c := &clearing{path: path, top: top, keep: keep, prefix: "." + rand.Text() + "-"}
	for over := false; !over; {
		if over, err = As(ctx, u, func() (bool, error) { return c.slice(time.Now().Add(sliceOf)) }); err != nil {
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				return err // the slice may work on: top is left to the collector
			}
			return errors.Join(err, top.Close())
		}
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("delete what is in %s, where there is always more: %w", path, ctx.Err()), top.Close())
		}
	}
	return top.Close()
}

// clearing is one Clear under way. One slice works on it at a time.
type clearing struct {
	path   string
	top    *os.File
	keep   []string
	prefix string // of the names of what is moved up
	moved  int

	seen, done int   // entries of this pass over top, and those that are fewer now
	failed     error // the first of this pass
}

// slice works until then, and says whether nothing is left.
func (c *clearing) slice(until time.Time) (over bool, err error) {
	for time.Now().Before(until) {
		names, err := c.top.Readdirnames(namesAtOnce)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("list the folder %s: %w", c.path, err)
		}
		for _, name := range names {
			if slices.Contains(c.keep, name) {
				continue
			}
			c.seen++
			if err := c.drop(name, until); err == nil {
				c.done++
			} else if c.failed == nil {
				c.failed = fmt.Errorf("delete %q in %s: %w", name, c.path, err)
			}
		}
		if len(names) > 0 {
			continue
		}
		if c.seen == 0 || c.done == 0 {
			return true, c.failed
		}
		c.seen, c.done, c.failed = 0, 0, nil // what was moved up may have been missed
		if _, err := c.top.Seek(0, io.SeekStart); err != nil {
			return false, fmt.Errorf("list the folder %s: %w", c.path, err)
		}
	}
	return false, nil
}

// drop deletes an entry of top, or makes it less until the slice is over.
func (c *clearing) drop(name string, until time.Time) error {
	left, err := unlink(c.top, name)
	if !left {
		return err
	}
	dir, err := openOwn(c.top, name)
	if err != nil {
		return gone(err)
	}
	defer dir.Close()
	less := false
	var failed error
	for first := true; first || time.Now().Before(until); first = false {
		names, err := dir.Readdirnames(namesAtOnce)
		if len(names) == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				return gone(err)
			}
			break
		}
		for _, inner := range names {
			if err := c.lift(dir, inner); err == nil {
				less = true
			} else if failed == nil {
				failed = err
			}
		}
	}
	if failed != nil && !less {
		return failed
	}
	if left, err = unlink(c.top, name); left && less {
		return nil // there will be another pass
	}
	return err
}

// lift deletes an entry of a folder, or moves it up if it is a folder with
// something in it.
func (c *clearing) lift(dir *os.File, name string) error {
	left, err := unlink(dir, name)
	if !left {
		return err
	}
	c.moved++
	to := c.prefix + strconv.Itoa(c.moved)
	err = unix.Renameat(int(dir.Fd()), name, int(c.top.Fd()), to)
	if errors.Is(err, unix.EACCES) { // a folder that moves is written to
		if err := openUp(dir, name); err != nil {
			return gone(err)
		}
		err = unix.Renameat(int(dir.Fd()), name, int(c.top.Fd()), to)
	}
	return gone(err)
}

// unlink deletes what is neither a folder nor has anything in it; left says that
// there is a folder with something in it.
func unlink(dir *os.File, name string) (left bool, err error) {
	err = unix.Unlinkat(int(dir.Fd()), name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	inner := unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR)
	switch {
	case inner == nil, errors.Is(inner, unix.ENOENT):
		return false, nil
	case errors.Is(inner, unix.ENOTEMPTY), errors.Is(inner, unix.EEXIST):
		return true, inner
	case errors.Is(inner, unix.ENOTDIR):
		return false, err
	}
	return false, inner
}

// openOwn opens a folder in another to list it and to delete from it, also one
// that its owner, who calls, has closed.
func openOwn(dir *os.File, name string) (*os.File, error) {
	f, err := openFolder(int(dir.Fd()), name)
	if errors.Is(err, unix.EACCES) {
		if err := openUp(dir, name); err != nil {
			return nil, err
		}
		f, err = openFolder(int(dir.Fd()), name)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
		_ = f.Chmod(0o700) // in another user's folder the next call fails
	}
	return f, nil
}

// gone removes the error that another process has deleted the file first.
func gone(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Size is how many bytes the regular files in a folder take. It looks at no more than sizeEntries
// entries, and no deeper than sizeDepth, because a session's user may make any number of files.
func Size(path string) (int64, error) {
	f, err := openFolder(unix.AT_FDCWD, path)
	if err != nil {
		return 0, fmt.Errorf("open the folder %s: %w", path, err)
	}
	left := sizeEntries
	return sizeOf(f, sizeDepth, &left), nil
}

const (
	sizeEntries = 20_000
	sizeDepth   = 16
)

// sizeOf closes the folder. Files that cannot be read count as empty.
func sizeOf(dir *os.File, depth int, left *int) (total int64) {
	defer dir.Close()
	for {
		names, _ := dir.Readdirnames(namesAtOnce)
		if len(names) == 0 {
			return total
		}
		for _, name := range names {
			if *left--; *left < 0 {
				return total
			}
			var st unix.Stat_t
			if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				total += min(st.Size, int64(st.Blocks)*512) // a sparse file takes less than its size
			case unix.S_IFDIR:
				if inner, err := openFolder(int(dir.Fd()), name); err == nil && depth > 0 {
					total += sizeOf(inner, depth-1, left)
				} else if err == nil {
					inner.Close()
				}
			}
		}
	}
}
