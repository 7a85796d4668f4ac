package sshd

import (
	"fmt"
	"sync"
	"sync/atomic"

	"berth/keys"
)

// shares bounds what each caller takes of the server, so that a viewer, or an agent that forgets to
// hang up, can't take it from all others.
type shares struct {
	connections int   // of one caller
	local       int   // of the machine's own users together
	channels    int   // of one caller
	unread      int64 // unread bytes of one caller's input

	mu   sync.Mutex
	open map[string]*share
}

// share is what one caller takes now.
type share struct {
	all         *shares
	who         string
	connections atomic.Int32 // written under shares.mu
	channels    atomic.Int32
	unread      atomic.Int64
}

// A caller may have limits.Share connections. If the server takes few connections in all, it is a
// quarter of them, or as many as a person with a window for each session needs. Connections of the
// machine's own users have the whole quarter, because each is one process, such as a script that
// waits for a session.
func newShares(l Limits) *shares {
	quarter := max(l.Connections/4, min(l.Connections, 16))
	return &shares{connections: min(l.Share, quarter), local: quarter, channels: l.ShareChannels, unread: l.ShareUnread, open: map[string]*share{}}
}

// errShare says that a caller has as many connections as it may.
type errShare int

func (n errShare) Error() string {
	return fmt.Sprintf("you already have %d connections open, which is the limit: use one connection for many commands (ssh -o ControlMaster)", int(n))
}

// take counts a connection, or refuses it if there are too many.
func (s *shares) take(who string, most int) (*share, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.open[who]
	if one == nil {
		one = &share{all: s, who: who}
		s.open[who] = one
	}
	if int(one.connections.Load()) >= most {
		return nil, errShare(most)
	}
	one.connections.Add(1)
	return one, nil
}

func (s *shares) give(one *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.connections.Add(-1) <= 0 {
		delete(s.open, one.who)
	}
}

// openChannel counts a channel, or refuses it if there are too many.
func (s *share) openChannel() error {
	if int(s.channels.Add(1)) > s.all.channels {
		s.channels.Add(-1)
		return fmt.Errorf("you already have %d channels open, which is the limit", s.all.channels)
	}
	return nil
}

// share counts the connection as one of who, until it ends.
func (c *connection) share(who string, most int) error {
	one, err := c.server.shares.take(who, most)
	if err != nil {
		c.server.counts.full.Add(1)
		return err
	}
	if before := c.wire.owner(); before != nil {
		c.server.shares.give(before)
	}
	c.wire.own(one)
	return nil
}

func (c *connection) unshare() {
	if one := c.wire.owner(); one != nil {
		c.wire.forget()
		c.server.shares.give(one)
	}
}

// shareProcess is share for a process of this machine, with any key.
func (c *connection) shareProcess(id keys.Identity) error {
	most := c.server.shares.connections
	if id.Kind == keys.KindLocal {
		most = c.server.shares.local
	}
	return c.share(string(id.Kind)+" "+id.Name+" "+id.Session, most)
}
