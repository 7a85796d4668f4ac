package hold

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// A Peer is the process that connected to a socket.
type Peer struct {
	PID, UID int
	fd       int    // pidfd; -1 where the kernel gives none
	start    string // where fd is -1
}

// PeerOf asks the kernel who connected. A pidfd holds the process (Linux 6.5);
// on an older kernel its start time does. Any other reason for having no pidfd
// is an error, such as a process that is gone, or no free descriptor: the pid
// could be another process's by now.
func PeerOf(c *net.UnixConn) (*Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("ask who is at the socket: %w", err)
	}
	p := &Peer{fd: -1}
	var got error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); got != nil {
			return
		}
		p.PID, p.UID = int(cred.Pid), int(cred.Uid)
		var pidfd int
		if pidfd, got = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); got == nil {
			p.fd = pidfd
		} else if errors.Is(got, unix.ENOPROTOOPT) {
			got = nil
		}
	})
	if err = errors.Join(err, got); err != nil {
		return nil, fmt.Errorf("ask who is at the socket: %w", err)
	}
	if p.PID <= 0 {
		p.Close()
		return nil, errors.New("the process at the socket cannot be seen from here: it is in another process namespace")
	}
	if p.fd < 0 {
		first, err := lookProcess(p.PID)
		if err != nil {
			return nil, err
		}
		p.start = first.start
	}
	if !p.Alive() {
		p.Close()
		return nil, fmt.Errorf("process %d has ended", p.PID)
	}
	return p, nil
}

// Alive reports whether the very process that connected still runs.
func (p *Peer) Alive() bool {
	if p.fd < 0 {
		return alive(p.PID, p.start)
	}
	err := unix.PidfdSendSignal(p.fd, 0, nil, 0)
	return err == nil || errors.Is(err, unix.EPERM) // it runs as another user
}

// Close releases what holds the process.
func (p *Peer) Close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
		p.fd = -1
	}
}
