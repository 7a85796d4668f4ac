package hold

import (
	"fmt"
	"net"
	"os"
)

// checkPeer refuses a connection from another user, one from inside the session,
// and one from inside any other: a program must not drive its own holder nor its
// neighbours'. A server that itself runs inside a session is let in by the holders
// that it starts there, for they have the same holder above them.
func checkPeer(c *net.UnixConn) error {
	peer, err := connectedPeer(c)
	if err != nil {
		return err
	}
	defer peer.close()
	if peer.uid != os.Geteuid() && peer.uid != 0 {
		return fmt.Errorf("user %d is not this holder's", peer.uid)
	}
	before, err := lookProcess(peer.pid)
	if err != nil {
		return err
	}
	inside, err := descends(peer.pid, os.Getpid())
	if err != nil {
		return err
	}
	if inside {
		return fmt.Errorf("process %d runs inside this session", peer.pid)
	}
	theirs, err := holderAbove(peer.pid)
	if err != nil {
		return err
	}
	ours, err := holderAbove(os.Getpid())
	if err != nil {
		return err
	}
	if theirs != ours {
		return fmt.Errorf("process %d runs inside another session", peer.pid)
	}
	// The pid may have gone to another process while its parents were looked
	// up: what was looked up counts only if the peer still lives.
	if after, err := lookProcess(peer.pid); err != nil || after.start != before.start || !peer.living() {
		return fmt.Errorf("process %d ended while it was looked at", peer.pid)
	}
	return nil
}

// walks is how often the parents of a process are followed anew when one of
// them ended meanwhile.
const walks = 10

// checkInside refuses a connection from a process that does not run in this
// session, and returns the pid of one that does. Where the session has a user of
// its own, that is who it must be of: he could open the socket to others.
func checkInside(c *net.UnixConn, as *User) (pid int, err error) {
	peer, err := connectedPeer(c)
	if err != nil {
		return 0, err
	}
	defer peer.close()
	before, err := lookProcess(peer.pid)
	if err != nil {
		return 0, err
	}
	inside, err := below(before, os.Getpid())
	for range walks { // one of its parents may have ended on the way
		if err == nil || !peer.living() {
			break
		}
		if before, err = lookProcess(peer.pid); err == nil {
			inside, err = below(before, os.Getpid())
		}
	}
	if err != nil {
		return 0, err
	}
	if !inside {
		return 0, fmt.Errorf("process %d does not run inside this session", peer.pid)
	}
	if as != nil && peer.uid != as.UID && peer.uid != 0 {
		return 0, fmt.Errorf("user %d is not this session's", peer.uid)
	}
	if after, err := lookProcess(peer.pid); err != nil || after.start != before.start || !peer.living() {
		return 0, fmt.Errorf("process %d ended while it was looked at", peer.pid)
	}
	return peer.pid, nil
}

// serverOf returns the pid and user of whoever listens at the other end.
func serverOf(c *net.UnixConn) (pid, uid int, err error) {
	peer, err := connectedPeer(c)
	if err != nil {
		return 0, 0, err
	}
	defer peer.close()
	return peer.pid, peer.uid, nil
}

// holderAbove is the nearest holder that a process descends from, 0 for none.
func holderAbove(pid int) (int, error) {
	for range 1 << 16 { // as in descends
		p, err := lookProcess(pid)
		if err != nil {
			return 0, err
		}
		if pid = p.parent; pid <= 1 {
			return 0, nil
		}
		if isHolder(pid) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("process %d has no end of parents", pid)
}

// holderWord is the one argument that a holder is started with.
const holderWord = "hold"
