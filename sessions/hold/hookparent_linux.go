package hold

import "golang.org/x/sys/unix"

// getTermiosRequest succeeds on terminals only.
const getTermiosRequest = unix.TCGETS

// watchProcess gives a descriptor that can be read when the process has ended.
func watchProcess(pid int) (fd int, err error) { return unix.PidfdOpen(pid, 0) }
