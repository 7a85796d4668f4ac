package sshd

import (
	"fmt"
	"sync"

	"berth/keys"
)

// shares count the connections of each caller, so that one of them, who may do no
// more than look, or an agent that forgets to hang up, does not shut out all others.
type shares struct {
	most int

	mu   sync.Mutex
	open map[string]int
}

// A caller may have a quarter of all connections, so that one alone, or two,
// leave room; with few in all it may have as many as somebody with a window for
// each session needs.
func newShares(connections int) *shares {
	return &shares{most: max(connections/4, min(connections, 16)), open: map[string]int{}}
}

// errShare is that a caller has as many connections as it may.
type errShare int

func (n errShare) Error() string {
	return fmt.Sprintf("you have %d connections open, and more are not taken: use one for many commands (ssh -o ControlMaster)", int(n))
}

// take counts one in, or says that it is one too many.
func (s *shares) take(who string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[who] >= s.most {
		return errShare(s.most)
	}
	s.open[who]++
	return nil
}

func (s *shares) give(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[who]--; s.open[who] <= 0 {
		delete(s.open, who)
	}
}

// share counts the connection in as one of who, until it ends.
func (c *connection) share(who string) error {
	if err := c.server.shares.take(who); err != nil {
		c.server.counts.full.Add(1)
		c.crowded = true
		return err
	}
	c.sharer = who
	return nil
}

func (c *connection) unshare() {
	if c.sharer != "" {
		c.server.shares.give(c.sharer)
	}
}

// onSocket is whose connections a caller's on the local socket are.
func onSocket(id keys.Identity) string {
	return string(id.Kind) + " " + id.Name + " " + id.Session
}
