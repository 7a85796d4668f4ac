package sshd

import (
	"sync/atomic"
	"time"
)

// counts are of what the limits did since the server began.
type counts struct {
	logins, refused, manyLogins, penalized, dropped, full, channels, unread, verbs, commands atomic.Uint64
}

// Stats are counts: of now, and since the server began.
type Stats struct {
	Connections int    // now, all of them
	Waiting     int    // of these, over TCP and not logged in yet
	Calls       int    // that run now
	Penalized   int    // sources that have to wait now, since they kept failing to log in
	Served      uint64 // calls
	Logins      uint64 // that were accepted
	Refused     Refused
	Limits      Limits // as they are in force
}

// Refused says how often something was refused since the server began.
type Refused struct {
	Logins    uint64 // all that offered a key, or were known and came too often
	TooMany   uint64 // of these, for LOGINS a second of one identity
	Penalized uint64 // connections of sources that have to wait
	Dropped   uint64 // connections that had not logged in, closed for newer ones
	Full      uint64 // connections, for their number
	Channels  uint64 // for their number on a connection
	Unread    uint64 // connections, for input that was not read
	Verbs     uint64 // commands, for their number a second of one identity
	Commands  uint64 // for their length
}

// Stats counts.
func (s *Server) Stats() Stats {
	all := s.snapshot()
	c := &s.counts
	out := Stats{
		Connections: len(all), Waiting: s.startups.count(), Penalized: s.penalties.count(time.Now()), Served: s.clients.Load(), Logins: c.logins.Load(), Limits: s.limits,
		Refused: Refused{
			Logins: c.refused.Load(), TooMany: c.manyLogins.Load(), Penalized: c.penalized.Load(), Dropped: c.dropped.Load(), Full: c.full.Load(),
			Channels: c.channels.Load(), Unread: c.unread.Load(), Verbs: c.verbs.Load(), Commands: c.commands.Load(),
		},
	}
	for _, one := range all {
		out.Calls += one.running()
	}
	return out
}
