package hold

import (
	"fmt"
	"net"
	"os"
)

// checkPeer refuses a connection from another user, and one from inside this
// session or any other: a program must not drive its own holder nor its
// neighbours'. A server that itself runs inside a session is let in by the holders
// that it starts there, for they have the same holder above them.
func checkPeer(c *net.UnixConn) error {
	peer, err := PeerOf(c)
	if err != nil {
		return err
	}
	defer peer.Close()
	if peer.UID != os.Geteuid() && peer.UID != 0 {
		return fmt.Errorf("user %d is not this holder's", peer.UID)
	}
	inside, err := descends(peer.PID, os.Getpid(), lookProcess)
	if err != nil {
		return err
	}
	if inside {
		return fmt.Errorf("process %d runs inside this session", peer.PID)
	}
	if err := CheckOutside(peer.PID); err != nil {
		return err
	}
	// The pid may have gone to another process while its parents were looked
	// up: what was looked up counts only if the peer still lives.
	if !peer.Alive() {
		return fmt.Errorf("process %d ended while it was checked", peer.PID)
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
	peer, err := PeerOf(c)
	if err != nil {
		return 0, err
	}
	defer peer.Close()
	if as != nil && peer.UID != as.UID && peer.UID != 0 {
		return 0, fmt.Errorf("user %d is not this session's", peer.UID)
	}
	before, err := lookProcess(peer.PID)
	if err != nil {
		return 0, err
	}
	inside, err := below(before, os.Getpid())
	for range walks { // one of its parents may have ended on the way
		if err == nil || !peer.Alive() {
			break
		}
		if before, err = lookProcess(peer.PID); err == nil {
			inside, err = below(before, os.Getpid())
		}
	}
	if err != nil {
		return 0, err
	}
	if !inside {
		return 0, fmt.Errorf("process %d does not run inside this session", peer.PID)
	}
	if !peer.Alive() {
		return 0, fmt.Errorf("process %d ended while it was checked", peer.PID)
	}
	return peer.PID, nil
}

// serverOf returns the pid and user of the process that listens at the other end.
func serverOf(c *net.UnixConn) (pid, uid int, err error) {
	peer, err := PeerOf(c)
	if err != nil {
		return 0, 0, err
	}
	defer peer.Close()
	return peer.PID, peer.UID, nil
}

// holderWord is the one argument that a holder is started with.
const holderWord = "hold"
