package sshd

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"berth/keys"
	"berth/sessions/hold"
)

// maxSocketPath is the longest path that fits a Unix address on both Linux
// (108 with its end) and macOS (104).
const maxSocketPath = 103

// listenUnix opens the local socket, 0600 in a folder that only we may enter.
// A socket left by a server that was killed is replaced; one that answers is not.
func listenUnix(path string) (*net.UnixListener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the socket's path %s is longer than %d bytes: choose a shorter folder", path, maxSocketPath)
	}
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("the folder of the socket %s: %w", path, err)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the socket %s answers: another server runs there", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("the socket %s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the stale socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("protect %s: %w", path, err)
	}
	return l, nil
}

// privateFolder makes dir if need be, and refuses one that others may read or
// write. They may go through it, to a socket of their own.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to uid %d, not to us", dir, st.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o066 != 0 {
		return fmt.Errorf("%s is open to others (mode %04o): chmod 700 it", dir, mode)
	}
	return nil
}

// Admit listens on one more socket, which the processes of that user alone may
// open: those that run in a session find it in their environment. Who connects
// is judged as on the server's own. A path that is listened on already stays.
func (s *Server) Admit(path string, uid int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return net.ErrClosed
	}
	if s.others[path] != nil {
		return nil
	}
	l, err := listenUnix(path)
	if err != nil {
		return err
	}
	if err := os.Lchown(path, uid, -1); err != nil {
		return errors.Join(fmt.Errorf("give the socket %s to uid %d: %w", path, uid, err), l.Close())
	}
	s.others[path] = l
	if s.serving {
		s.acceptOther(l)
	}
	return nil
}

// acceptOther serves such a socket. s.mu is held.
func (s *Server) acceptOther(l *net.UnixListener) {
	s.running.Go(func() {
		if err := s.accept(l, s.admitUnix); err != nil {
			s.log.Error("a socket of another user's is served no more", "socket", l.Addr(), "error", err)
		}
	})
}

// admitUnix has the kernel say who is at the other end of the local socket, at the
// moment of its accept: later the process may be gone and its number another's.
// Whose it is gets judged apart from the accepts, for what is read of a process can
// keep the reader waiting. As many of one user's are judged at once as one caller may
// have connections, and of the server's own user as the machine's own users may; one
// more is closed.
func (s *Server) admitUnix(conn net.Conn) {
	c := s.newConnection(newWire(conn), true)
	peer, err := hold.PeerOf(conn.(*net.UnixConn))
	if err != nil {
		c.refused = fmt.Errorf("cannot tell which process this is: %w", err)
		s.admitPeer(c)
		return
	}
	most := s.shares.connections
	if peer.UID == os.Geteuid() {
		most = s.shares.local
	}
	judging, err := s.shares.take("uid "+strconv.Itoa(peer.UID), most)
	if err != nil {
		s.counts.full.Add(1)
		s.log.Warn("connection refused", "source", c.source(), "pid", peer.PID, "uid", peer.UID, "error", "too many callers of this user are being looked at")
		peer.Close()
		_ = conn.Close()
		return
	}
	s.running.Go(func() {
		defer s.shares.give(judging)
		late := time.AfterFunc(s.limits.LoginGrace, func() { _ = conn.Close() })
		c.peer, c.refused = s.peerIdentity(peer)
		peer.Close()
		if late.Stop() {
			s.admitPeer(c)
		}
	})
}

// admitPeer runs a connection of the local socket whose caller is known or refused.
func (s *Server) admitPeer(c *connection) {
	if err := c.shareProcess(c.peer); err != nil { // at once: there is no login that takes its time
		s.log.Warn("connection refused", "source", c.source(), "identity", c.peer.Name, "pid", c.peer.PID, "error", err)
		_ = c.wire.Close()
		return
	}
	s.run(c)
}

// peerIdentity says whose process it is. One whose user owns neither the server nor
// a session is not looked at.
func (s *Server) peerIdentity(peer *hold.Peer) (keys.Identity, error) {
	foreign := fmt.Errorf("this server belongs to uid %d, and you are uid %d", os.Geteuid(), peer.UID)
	holders := s.holders()
	if peer.UID != os.Geteuid() && peer.UID != 0 && !slices.ContainsFunc(holders, func(h HolderProcess) bool { return h.UID == peer.UID }) {
		return keys.Identity{}, foreign
	}
	holder, err := origin(peer.PID, holders, peer.Alive)
	switch {
	case err != nil:
		return keys.Identity{}, fmt.Errorf("cannot take the caller for a person: %w", err)
	case holder != nil:
		return holder.agent(peer.PID), nil
	case peer.UID != os.Geteuid():
		return keys.Identity{}, foreign
	}
	return keys.Local(userName(peer.UID), peer.PID, s.local), nil
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}
