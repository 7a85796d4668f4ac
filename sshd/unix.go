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

// listenUnix opens the local socket, with mode 0600 in a folder that only we may enter. A socket left
// by a killed server is replaced; one that answers isn't.
func listenUnix(path string) (*net.UnixListener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the socket's path %s is longer than %d bytes: choose a shorter folder", path, maxSocketPath)
	}
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("the folder of the socket %s: %w", path, err)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the socket %s answers: another server is running there", path)
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

// privateFolder makes dir if needed, and refuses a folder that others may read or write. Others may
// pass through it, to sockets of their own.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s isn't a folder", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to uid %d, not to this user", dir, st.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o066 != 0 {
		return fmt.Errorf("others can read or write %s (mode %04o): run chmod 700 on it", dir, mode)
	}
	return nil
}

// Admit listens on one more socket, which only the processes of that user may open; sessions have it
// in their environment. Callers on it are checked as on the server's own socket. A path that is
// already open stays unchanged.
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

// acceptOther serves such a socket. The caller holds s.mu.
func (s *Server) acceptOther(l *net.UnixListener) {
	s.running.Go(func() {
		if err := s.accept(l, s.admitUnix); err != nil {
			s.log.Error("the socket of another user is no longer served", "socket", l.Addr(), "error", err)
		}
	})
}

// admitUnix asks the kernel which process is at the other end of the local socket, at the moment of
// accept: later the process may be gone and another may have its number. The check of the process
// runs apart from accept, because reading about a process can be slow. For each user, as many are
// checked at once as one caller may have connections; for the server's own user as many as the
// machine's own users may have. Others are closed.
func (s *Server) admitUnix(conn net.Conn) {
	c := s.newConnection(newWire(conn), true)
	peer, err := hold.PeerOf(conn.(*net.UnixConn))
	if err != nil {
		c.refused = fmt.Errorf("can't identify the calling process: %w", err)
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
		s.logRefusal(c, "connection refused", "pid", peer.PID, "uid", peer.UID, "error", "too many callers of this user are being checked")
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

// admitPeer runs a connection of the local socket whose caller was identified or refused.
func (s *Server) admitPeer(c *connection) {
	if err := c.shareProcess(c.peer); err != nil { // at once: there is no login to wait for
		s.logRefusal(c, "connection refused", "identity", c.peer.Name, "pid", c.peer.PID, "error", err)
		_ = c.wire.Close()
		return
	}
	s.run(c)
}

// peerIdentity returns the identity of a process. It doesn't inspect a process whose user owns neither
// the server nor a session.
func (s *Server) peerIdentity(peer *hold.Peer) (keys.Identity, error) {
	foreign := fmt.Errorf("this server belongs to uid %d, and you are uid %d", os.Geteuid(), peer.UID)
	holders := s.holders()
	if peer.UID != os.Geteuid() && peer.UID != 0 && !slices.ContainsFunc(holders, func(h HolderProcess) bool { return h.UID == peer.UID }) {
		return keys.Identity{}, foreign
	}
	holder, err := origin(peer.PID, holders, peer.Alive)
	switch {
	case err != nil:
		return keys.Identity{}, fmt.Errorf("can't accept the caller as a person: %w", err)
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
