package tail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOutside: an agent named a file that isn't one of its own.
var ErrOutside = errors.New("not one of the agent's own files")

// Below is the files below one folder: only regular files of the user that the agent runs as, and
// without a symbolic link on the way from the folder. The agent chooses the path, and the server
// may read more than the agent should show. The path to the folder itself may have links. An empty
// folder has no files.
type Below struct {
	Folder string
	UID    int // the files' owner
}

// Stat returns what a file is. It doesn't check for links; only Open does.
func (b Below) Stat(path string) (Info, error) {
	if !b.Holds(path) {
		return Info{}, fmt.Errorf("stat %s: %w in %s", path, ErrOutside, b.Folder)
	}
	return stat(path)
}

// Open opens a file for reading.
func (b Below) Open(path string) (File, error) {
	f, err := b.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// Holds reports whether the path, as it is written, is below the folder.
func (b Below) Holds(path string) bool {
	_, ok := below(b.Folder, path)
	return ok
}

// OpenFile is Open for callers that need an *os.File.
func (b Below) OpenFile(path string) (*os.File, error) {
	rel, ok := below(b.Folder, path)
	if !ok {
		return nil, fmt.Errorf("open %s: %w in %s", path, ErrOutside, b.Folder)
	}
	const look = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK
	at, err := unix.Open(b.Folder, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	for i, name := range rel {
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		flags := look
		var st unix.Stat_t
		if i < len(rel)-1 {
			flags |= unix.O_DIRECTORY
		} else if err = unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
			err = b.check(&st) // first: root's open of a device has effects
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(at, name, flags, 0)
		}
		unix.Close(at)
		at = next
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := os.NewFile(uintptr(at), path)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return nil, errors.Join(fmt.Errorf("stat %s: %w", path, err), f.Close())
	}
	if err := b.check(&st); err != nil { // it may be another file by now
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), f.Close())
	}
	return f, nil
}

// check refuses what isn't a regular file of the user.
func (b Below) check(st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != b.UID {
		return fmt.Errorf("%w: not a regular file of user %d", ErrOutside, b.UID)
	}
	return nil
}

// below returns the path's parts after the folder. The folder's path may have symbolic links; the
// path may start with the folder's real path.
func below(folder, path string) ([]string, bool) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return nil, false
	}
	folders := []string{folder}
	if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
		folders = append(folders, real)
	}
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(f, "/")+"/"); ok && f != "" {
			return strings.Split(rest, "/"), true
		}
	}
	return nil, false
}
