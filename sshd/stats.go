package sshd

import (
	"sync/atomic"
	"time"
)

// counts are the numbers of limited connections and calls since the server started.
type counts struct {
	logins, refused, manyLogins, penalized, dropped, full, channels, unread, verbs, commands atomic.Uint64
}

// Stats are counts: current ones, and since the server started.
type Stats struct {
	Connections int    // now, all of them
	Waiting     int    // of these, over TCP and not logged in yet
	Calls       int    // that run now
	Penalized   int    // sources that are refused now, because they kept failing to log in
	Served      uint64 // calls
	Logins      uint64 // that were accepted
	Refused     Refused
	Limits      Limits // as they are in force
}

// Refused says how often something was refused since the server started.
type Refused struct {
	Logins    uint64 // logins that offered a key, or came too often
	TooMany   uint64 // of these, for LOGINS a second of one identity
	Penalized uint64 // connections of refused sources
	Dropped   uint64 // connections without a login, closed for newer ones
	Full      uint64 // connections, for their number
	Channels  uint64 // for their number on a connection
	Unread    uint64 // connections, for unread input
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
