package sshd

import (
	"errors"
	"time"

	"berth/keys"
)

// errManyLogins says that a caller with access logs in too often.
var errManyLogins = errors.New("too many logins per second: wait a second, or use one connection for many commands (ssh -o ControlMaster)")

// source is the client's address for display.
func (c *connection) source() string {
	if c.local {
		return "unix"
	}
	return c.wire.RemoteAddr().String()
}

func (s *Server) acceptedLogin(c *connection, id keys.Identity, user string) {
	s.log.Debug("login", "conn", c.id, "identity", id.Name, "fingerprint", id.Fingerprint, "source", c.source(), "pid", id.PID, "user", user, "key", id.Line)
	s.counts.logins.Add(1)
	s.audit(Login{Time: s.clock(), Accepted: true, Conn: c.id, Identity: id, User: user, Source: c.source(), Offered: c.offers()})
}

// refusedLogin records an attempt. An attempt without a key is a probe or a broken network and is
// only logged.
func (s *Server) refusedLogin(c *connection, err error) {
	c.mu.Lock()
	user := c.offerer
	c.mu.Unlock()
	if c.user != "" {
		user = c.user
	}
	offered := c.offers()
	var crowded errShare
	if !c.local && !errors.As(err, &crowded) && !errors.Is(err, errManyLogins) { // such a one is known
		s.penalties.failed(c.wire.RemoteAddr(), len(offered) > 0, time.Now())
	}
	if len(offered) == 0 && c.refused == nil {
		s.log.Debug("connection ended before login", "conn", c.id, "source", c.source(), "error", err)
		return
	}
	s.counts.refused.Add(1)
	s.logRefusal(c, "login refused", "conn", c.id, "user", user, "offered", offered, "error", err)
	s.audit(Login{Time: s.clock(), Conn: c.id, User: user, Source: c.source(), Offered: offered, Reason: err.Error()})
}

func (c *connection) offers() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.offered...)
}
