package hold

import (
	"fmt"
	"os"
	"syscall"
)

// credential is what the program is started with; nil for the holder's user.
func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}

// give makes the terminal the user's, who opens it by its name too. Its group
// stays what the system has made it.
func (u *User) give(terminal *os.File) error {
	if u == nil {
		return nil
	}
	if err := terminal.Chown(u.UID, -1); err != nil {
		return fmt.Errorf("giving the terminal to user %d: %w", u.UID, err)
	}
	return nil
}
