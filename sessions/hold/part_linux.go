package hold

import "golang.org/x/sys/unix"

// part keeps from the program what this thread could hand on to another user
// beside files: the keys in the server's session keyring. A system that has no
// keyrings, or gives none, has nothing to hand on. The thread is locked.
func (u *User) part() {
	if u != nil {
		_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) // a new one without a name
	}
}
