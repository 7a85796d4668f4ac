package tail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOutside is that an agent named a file that is not among its own.
var ErrOutside = errors.New("it is not among the agent's own files")

// Below is the machine's files below one folder: regular files of the user that
// the agent runs as, with no symbolic link on the way from the folder to them. Which
// path is looked at is an agent's word, and the server may read more than the agent
// should show. The folder itself may be named by a way with links. An empty one
// holds nothing.
type Below struct {
	Folder string
	UID    int // of the files' owner
}

// Stat looks at a file. What there is elsewhere is told by Open alone.
func (b Below) Stat(path string) (Info, error) {
	if !b.Holds(path) {
		return Info{}, fmt.Errorf("look at %s: %w in %s", path, ErrOutside, b.Folder)
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

// Holds says whether the path, as it is written, is one below the folder.
func (b Below) Holds(path string) bool {
	_, ok := below(b.Folder, path)
	return ok
}

// OpenFile is Open for who needs no more of the system.
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
		if i < len(rel)-1 {
			flags |= unix.O_DIRECTORY
		}
		var next int
		next, err = unix.Openat(at, name, flags, 0)
		unix.Close(at)
		at = next
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := os.NewFile(uintptr(at), path)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return nil, errors.Join(fmt.Errorf("look at %s: %w", path, err), f.Close())
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != b.UID {
		return nil, errors.Join(fmt.Errorf("open %s: %w: it is no regular file of the user %d's", path, ErrOutside, b.UID), f.Close())
	}
	return f, nil
}

// below is the way from a folder to a path in it. The folder may be named by a
// way with symbolic links, and the path by its real one.
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
