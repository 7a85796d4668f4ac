package account

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// overFiles are the capabilities that let root access all files: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH,
// FOWNER, FSETID. The kernel removes them from a thread whose file system user is not root.
const overFiles = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// become makes this thread access files as the user. Everything else about the thread stays root's, so
// the user can neither signal nor trace it.
func become(u *User) error {
	// The functions of x/sys change this thread alone. Those of syscall change all threads.
	if err := unix.Setgroups(u.Groups); err != nil {
		return fmt.Errorf("take on the groups: %w", err)
	}
	// Setfsgid and Setfsuid report no error. A call with -1, which isn't a valid id, returns the
	// current id.
	_ = unix.Setfsgid(u.GID)
	_ = unix.Setfsuid(u.UID)
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if gid != u.GID || uid != u.UID {
		return fmt.Errorf("the system refused: file access is still as %d:%d", uid, gid)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("look at the capabilities: %w", err)
	}
	if sets[0].Effective&overFiles != 0 {
		return errors.New("the server's capabilities are kept: what it does would not be bound by that user's rights")
	}
	return nil
}

// ShutInherited keeps the files that the server itself was handed from the
// processes of other users that it starts.
func ShutInherited() {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
