package sshd

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// penalties delay sources that keep failing to log in. Each failure adds to a source's penalty time,
// which runs down by itself. While it is above a bound, connections from that source are refused.
type penalties struct {
	o     Penalties
	own   func(netip.Addr) (bool, error) // whether an address is this machine's
	mu    sync.Mutex
	until map[netip.Prefix]time.Time
}

// Penalties are the penalty times of failing sources. A zero field has its default; the numbers are
// OpenSSH's.
type Penalties struct {
	Refused time.Duration // for offering keys without access: 5 s. A fifth for offering none, or for a dropped connection
	From    time.Duration // penalty from which connections are refused: 15 s
	Most    time.Duration // largest penalty: 10 min
	// Exempt sources have no penalty. nil means all addresses of this machine: one process here could
	// otherwise lock out all others, and for IPv6 the whole network.
	Exempt []netip.Prefix
}

func (p Penalties) withDefaults() Penalties {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&p.Refused, 5*time.Second)
	def(&p.From, 15*time.Second)
	def(&p.Most, 10*time.Minute)
	return p
}

const penaltySources = 4096 // remembered at once

func newPenalties(o Penalties) *penalties {
	return &penalties{o: o.withDefaults(), own: ownAddress, until: map[netip.Prefix]time.Time{}}
}

// failed counts a failed login; offered says that keys were offered.
func (p *penalties) failed(client net.Addr, offered bool, now time.Time) {
	d := p.o.Refused
	if !offered {
		d /= 5
	}
	p.add(client, d, now)
}

func (p *penalties) exempt(client net.Addr) bool {
	a, ok := addrPort(client)
	if !ok {
		return true
	}
	if p.o.Exempt == nil {
		here, err := p.own(a.Addr())
		return here && err == nil
	}
	return slices.ContainsFunc(p.o.Exempt, func(e netip.Prefix) bool { return e.Contains(a.Addr()) })
}

func (p *penalties) add(client net.Addr, d time.Duration, now time.Time) {
	if p.exempt(client) {
		return
	}
	source := sourceOf(client)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.until[source]; !known && len(p.until) >= penaltySources {
		p.makeRoom(now)
	}
	t := p.until[source]
	if t.Before(now) {
		t = now
	}
	if t = t.Add(d); t.After(now.Add(p.o.Most)) {
		t = now.Add(p.o.Most)
	}
	p.until[source] = t
}

// makeRoom forgets sources whose penalty has passed; without any, it forgets one at random.
func (p *penalties) makeRoom(now time.Time) {
	for source, t := range p.until {
		if t.Before(now) {
			delete(p.until, source)
		}
	}
	if len(p.until) >= penaltySources {
		for source := range p.until {
			delete(p.until, source)
			return
		}
	}
}

// refuses says whether a client's connections are refused.
func (p *penalties) refuses(client net.Addr, now time.Time) bool {
	return p.waits(sourceOf(client), now) && !p.exempt(client)
}

func (p *penalties) waits(source netip.Prefix, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, known := p.until[source]
	if !known {
		return false
	}
	if !t.After(now) {
		delete(p.until, source)
		return false
	}
	return t.Sub(now) >= p.o.From
}

// count is how many sources are refused.
func (p *penalties) count(now time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.until {
		if t.Sub(now) >= p.o.From {
			n++
		}
	}
	return n
}
