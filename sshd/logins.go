package sshd

import "time"

// source is where the client is, as shown.
func (c *connection) source() string {
	if c.local {
		return "unix"
	}
	return c.wire.RemoteAddr().String()
}

func (s *Server) acceptedLogin(c *connection) {
	id := *c.identity.Load()
	s.log.Info("login", "conn", c.id, "identity", id.Name, "fingerprint", id.Fingerprint, "source", c.source(), "pid", id.PID, "user", c.user, "key", id.Line)
	s.audit(Login{Time: s.clock(), Accepted: true, Conn: c.id, Identity: id, User: c.user, Source: c.source(), Offered: c.offers()})
}

// refusedLogin records an attempt. One that offered no key at all is a probe
// or a broken network and goes to the log only.
func (s *Server) refusedLogin(c *connection, err error) {
	c.mu.Lock()
	user := c.offerer
	c.mu.Unlock()
	if c.user != "" {
		user = c.user
	}
	offered := c.offers()
	s.punish(c, len(offered) > 0)
	if len(offered) == 0 && c.refused == nil {
		s.log.Debug("connection ended before login", "conn", c.id, "source", c.source(), "error", err)
		return
	}
	s.log.Warn("login refused", "conn", c.id, "source", c.source(), "user", user, "offered", offered, "error", err)
	s.audit(Login{Time: s.clock(), Conn: c.id, User: user, Source: c.source(), Offered: offered, Reason: err.Error()})
}

func (s *Server) punish(c *connection, offered bool) {
	if c.local {
		return
	}
	penalty := penaltyNothing
	if offered {
		penalty = penaltyRefused
	}
	s.penalties.add(sourceOf(c.wire.RemoteAddr()), penalty, time.Now())
}

func (c *connection) offers() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.offered...)
}
