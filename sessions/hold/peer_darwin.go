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
	start    string
}

// PeerOf asks the kernel who connected. The system has no handle on a process:
// its start time holds it.
func PeerOf(c *net.UnixConn) (*Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("ask who is at the socket: %w", err)
	}
	p := &Peer{}
	var got error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, got = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); got != nil {
			return
		}
		p.UID = int(cred.Uid)
		p.PID, got = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err = errors.Join(err, got); err != nil {
		return nil, fmt.Errorf("ask who is at the socket: %w", err)
	}
	first, err := lookProcess(p.PID)
	if err != nil {
		return nil, err
	}
	p.start = first.start
	return p, nil
}

// Alive reports whether the very process that connected still runs.
func (p *Peer) Alive() bool { return alive(p.PID, p.start) }

// Close has nothing to release.
func (p *Peer) Close() {}
