package sshd

import "sync/atomic"

// refusalLines is how many refusals of one source a second have a line of their own in the server's log. The users
// of sessions can be refused thousands of times a second: their lines would fill the disk, or have the
// system's log drop those about others.
const refusalLines = 5

// refusals are those that the log has.
type refusals struct {
	lines *rates
	left  atomic.Uint64 // without a line, since the last report
}

// logRefusal writes a line about a refused connection, if its source doesn't have many of this second.
func (s *Server) logRefusal(c *connection, message string, details ...any) {
	from := sourceOf(c.wire.RemoteAddr())
	source := from.String()
	switch {
	case c.local:
		source = c.wire.LocalAddr().String() // each user has a socket
	case from.Addr().IsLoopback(): // a process of this machine can have any of these addresses
		source = "loopback"
	}
	if !s.refusals.lines.takeFor(source, s.clock()) {
		s.refusals.left.Add(1)
		return
	}
	s.log.Warn(message, append([]any{"source", c.source()}, details...)...)
}

// reportRefusals writes how many refusals had no line.
func (s *Server) reportRefusals() {
	if n := s.refusals.left.Swap(0); n > 0 {
		s.log.Warn("connections were refused too often for a line about each", "left_out", n)
	}
}
