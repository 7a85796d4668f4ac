package hold

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// soPeerPidfd asks for a pidfd of the peer (Linux 6.5).
const soPeerPidfd = 77

// peer is the process at the other end of a socket.
type peer struct {
	pid, uid int
	fd       int // pidfd, or -1 where the kernel gives none
}

func connectedPeer(c *net.UnixConn) (peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, fmt.Errorf("asking who is at the socket: %w", err)
	}
	p := peer{fd: -1}
	var got error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); got != nil {
			return
		}
		p.pid, p.uid = int(cred.Pid), int(cred.Uid)
		if pidfd, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, soPeerPidfd); err == nil {
			p.fd = pidfd
		}
	})
	if err == nil {
		err = got
	}
	if err != nil {
		return peer{}, fmt.Errorf("asking who is at the socket: %w", err)
	}
	if p.pid <= 0 {
		p.close()
		return peer{}, fmt.Errorf("the process at the socket cannot be seen from here")
	}
	return p, nil
}

// living reports whether the very process that connected still runs. Without
// a pidfd it is taken to.
func (p peer) living() bool {
	return p.fd < 0 || unix.PidfdSendSignal(p.fd, 0, nil, 0) == nil
}

func (p peer) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
}
