package hold

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peer is the process at the other end of a socket.
type peer struct{ pid, uid int }

func connectedPeer(c *net.UnixConn) (peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, fmt.Errorf("asking who is at the socket: %w", err)
	}
	var p peer
	var got error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, got = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); got != nil {
			return
		}
		p.uid = int(cred.Uid)
		p.pid, got = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err == nil {
		err = got
	}
	if err != nil {
		return peer{}, fmt.Errorf("asking who is at the socket: %w", err)
	}
	return p, nil
}

// living is taken for granted: there is no handle on a process here, and its
// start time has been compared.
func (p peer) living() bool { return true }

func (p peer) close() {}
