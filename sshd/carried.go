package sshd

import (
	"errors"
	"net"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// carried is a listener whose connections another program carries, such as a fleet's gateway, and the
// source that judges what they prove.
type carried struct {
	listener net.Listener
	source   KeySource
}

// Carry also serves the connections of l, until l or the server is closed. Their callers are whom
// source says, and the server's own keys don't count: what proves itself is the carrier, and it vouches for
// the caller. So no address of theirs is searched for processes of this machine, and the source's
// fingerprint stays that of the caller's key.
//
// The source judges a connection as of its start, also when the rights are reviewed: what the carrier
// shows is for the login alone. What it says of the end of the caller's rights counts at any time.
func (s *Server) Carry(l net.Listener, source KeySource) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return net.ErrClosed
	}
	c := &carried{l, source}
	s.carried[c] = struct{}{}
	if s.serving {
		s.acceptCarried(c)
	}
	return nil
}

// acceptCarried serves such a listener. The caller holds s.mu.
func (s *Server) acceptCarried(c *carried) {
	over := make(chan struct{})
	s.running.Go(func() {
		defer close(over)
		err := s.accept(c.listener, func(conn net.Conn) { s.admitCarried(conn, c) })
		if err != nil && !errors.Is(err, net.ErrClosed) {
			s.log.Error("carried connections are no longer served", "listener", c.listener.Addr(), "error", err)
		}
		s.mu.Lock()
		delete(s.carried, c)
		s.mu.Unlock()
	})
	s.running.Go(func() { // reviews after a change of the source, as rounds does for the server's keys
		for {
			changed := c.source.Changed()
			for _, one := range s.snapshot() {
				if one.carried == c {
					one.review()
				}
			}
			select {
			case <-over:
				return
			case <-changed:
			}
		}
	})
}

// admitCarried has no penalties: the address is the carrier's, and one caller's mistakes would be all callers'.
func (s *Server) admitCarried(conn net.Conn, from *carried) {
	c := s.newConnection(newWire(conn), false)
	c.carried, c.since = from, s.clock()
	if victim := s.startups.add(c, sourceOf(conn.RemoteAddr()), time.Now()); victim != nil {
		s.counts.dropped.Add(1)
		_ = victim.wire.Close()
	}
	s.run(c)
}

// lookupCarried is lookup for a carried connection.
func (c *connection) lookupCarried(key gossh.PublicKey) (keys.Identity, error) {
	id, err := c.carried.source.Lookup(key, c.wire.RemoteAddr(), c.since)
	if err != nil {
		return keys.Identity{}, err
	}
	if err := admits(id, c.server.clock()); err != nil {
		return keys.Identity{}, err
	}
	id.Kind, id.Source = keys.KindKey, c.wire.RemoteAddr().String()
	return id, nil
}
