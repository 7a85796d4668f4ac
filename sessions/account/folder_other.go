//go:build !linux

package account

import (
	"os"

	"golang.org/x/sys/unix"
)

const folder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// openFolder opens a folder to list it: no link.
func openFolder(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, folder, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openUp gives the owner of a folder, no link, back the rights to it.
func openUp(dir *os.File, name string) error {
	return unix.Fchmodat(int(dir.Fd()), name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
