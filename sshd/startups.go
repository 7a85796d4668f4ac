package sshd

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// startups are the connections that haven't logged in yet. A new one is always accepted; when there are
// too many, an older one is closed. If the new one were refused instead, a flood of silent
// connections could lock everyone out.
//
// Which connection is closed depends on the ranks below: a random one of the older half of the lowest
// rank. So a login of a few round trips succeeds during a flood of silent connections, or of
// connections that hang after the key exchange. A person who unlocks a key survives the first kind of
// flood, and slower logins keep a chance.
type startups struct {
	most, mostPerSource int

	mu      sync.Mutex
	waiting map[*connection]*startup
	sources map[netip.Prefix]int
	dropped int // since the last report
}

type startup struct {
	source    netip.Prefix
	since     time.Time
	exchanged bool // the key exchange is done
}

// startupPatience is how long a connection counts as young.
const startupPatience = time.Second

func newStartups(most, mostPerSource int) *startups {
	return &startups{most: most, mostPerSource: mostPerSource,
		waiting: map[*connection]*startup{}, sources: map[netip.Prefix]int{}}
}

// add accepts c and returns the connection to close for it, or nil.
func (s *startups) add(c *connection, source netip.Prefix, now time.Time) (victim *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sources[source] >= s.mostPerSource:
		victim = s.victim(now, func(u *startup) bool { return u.source == source })
	case len(s.waiting) >= s.most:
		victim = s.victim(now, func(*startup) bool { return true })
	}
	if victim != nil {
		s.drop(victim)
		s.dropped++
	}
	s.waiting[c] = &startup{source: source, since: now}
	s.sources[source]++
	return victim
}

// victim picks one of the candidates.
func (s *startups) victim(now time.Time, candidate func(*startup) bool) *connection {
	var group []*connection
	lowest := 0
	for c, u := range s.waiting {
		if !candidate(u) {
			continue
		}
		rank := u.rank(c, now)
		if len(group) == 0 || rank < lowest {
			group, lowest = group[:0], rank
		}
		if rank == lowest {
			group = append(group, c)
		}
	}
	if len(group) == 0 {
		return nil
	}
	slices.SortFunc(group, func(a, b *connection) int { return s.waiting[a].since.Compare(s.waiting[b].since) })
	return group[rand.IntN((len(group)+1)/2)]
}

// The ranks: how far a connection has come, and whether it had more than startupPatience. A flood
// leaves old connections or many silent ones. An honest client speaks at once and finishes its key
// exchange in a few round trips; after that, a person may have to find a key.
const (
	silentOld = iota
	spokeOld
	silentYoung
	exchangedOld
	spokeYoung
	exchangedYoung
)

func (u *startup) rank(c *connection, now time.Time) int {
	old := now.Sub(u.since) >= startupPatience
	silent := c.wire.heard.Load() == 0
	switch {
	case u.exchanged && old:
		return exchangedOld
	case u.exchanged:
		return exchangedYoung
	case silent && old:
		return silentOld
	case silent:
		return silentYoung
	case old:
		return spokeOld
	}
	return spokeYoung
}

// exchanged records that c's key exchange is done.
func (s *startups) exchanged(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.waiting[c]; u != nil {
		u.exchanged = true
	}
}

// remove removes c, which has logged in or ended.
func (s *startups) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

func (s *startups) drop(c *connection) {
	u := s.waiting[c]
	if u == nil {
		return
	}
	delete(s.waiting, c)
	if s.sources[u.source]--; s.sources[u.source] == 0 {
		delete(s.sources, u.source)
	}
}

func (s *startups) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// takeDropped returns how many were closed since the last call.
func (s *startups) takeDropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.dropped
	s.dropped = 0
	return n
}

// sourceOf is what counts as one source: an IPv4 address, or the 64 bits of IPv6 that one customer
// has.
func sourceOf(addr net.Addr) netip.Prefix {
	t, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip, _ := netip.AddrFromSlice(t.IP)
	ip = ip.Unmap()
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
