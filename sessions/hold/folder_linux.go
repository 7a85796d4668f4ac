package hold

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// pinFolder returns a name of the folder that dir is now, for a process that is being started. The name stays
// that folder's when dir becomes another one. It is an error if the folder isn't real, a path without links.
func pinFolder(dir, real string) (name string, unpin func(), err error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, os.NewSyscallError("open", err)
	}
	unpin = func() { unix.Close(fd) }
	name = fmt.Sprintf("/proc/self/fd/%d", fd)
	is, err := os.Readlink(name)
	if err == nil {
		err = sameFolder(is, real)
	}
	if err != nil {
		unpin()
		return "", nil, err
	}
	return name, unpin, nil
}
