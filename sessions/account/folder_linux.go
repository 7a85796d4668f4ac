package account

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const folder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// openFolder opens a folder to list it: no link, and in another folder none
// that something is mounted on.
func openFolder(dir int, name string) (*os.File, error) {
	how := unix.OpenHow{Flags: folder, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS}
	if dir == unix.AT_FDCWD {
		how.Resolve = 0
	}
	fd, err := unix.Openat2(dir, name, &how)
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.6; to delete a mount point fails by itself
		fd, err = unix.Openat(dir, name, folder, 0)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openUp gives the owner of a folder, no link, back the rights to it.
func openUp(dir *os.File, name string) error {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}
