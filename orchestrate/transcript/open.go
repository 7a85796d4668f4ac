package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errOutside is that the agent named a file that is not among its own.
var errOutside = errors.New("it is not among the agent's own logs")

// openLog opens the log that an agent says it writes: a regular file of this
// user's below folder, with no symbolic link on the way there. The path is an
// agent's word, and the server may read more than the agent should show.
func openLog(folder, path string) (*os.File, error) {
	rel, ok := below(folder, path)
	if !ok {
		return nil, fmt.Errorf("open %s: %w in %s", path, errOutside, folder)
	}
	const look = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK
	at, err := unix.Open(folder, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
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
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() {
		return nil, errors.Join(fmt.Errorf("open %s: %w: it is no regular file of this user's", path, errOutside), f.Close())
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

// fileID tells a file from another that is there at the same time.
func fileID(f *os.File) (id string, size int64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", 0, fmt.Errorf("look at %s: %w", f.Name(), err)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), st.Size, nil
}
