package sshd

import (
	"net/netip"
	"sync"
	"time"
)

// penalties make sources wait that keep failing to log in. Each failure adds
// to a source's time, which runs down by itself; while there is so much of it
// that it is no accident, connections from there are refused. The numbers are
// OpenSSH's.
//
// This machine itself is never made to wait: one process here could shut out
// all others.
type penalties struct {
	mu    sync.Mutex
	until map[netip.Prefix]time.Time
}

const (
	penaltyRefused = 5 * time.Second  // keys were offered and none is let in
	penaltyNothing = time.Second      // it went, or was cut, without offering any
	penaltyFrom    = 15 * time.Second // less is not held against anybody
	penaltyMost    = 10 * time.Minute
	penaltySources = 4096 // remembered at once
)

func newPenalties() *penalties { return &penalties{until: map[netip.Prefix]time.Time{}} }

func (p *penalties) add(source netip.Prefix, d time.Duration, now time.Time) {
	if !source.IsValid() || source.Addr().IsLoopback() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.until[source]; !known && len(p.until) >= penaltySources {
		p.makeRoom(now)
	}
	t := p.until[source]
	if t.Before(now) {
		t = now
	}
	if t = t.Add(d); t.After(now.Add(penaltyMost)) {
		t = now.Add(penaltyMost)
	}
	p.until[source] = t
}

// makeRoom forgets those whose time has passed or, with none, any one.
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

// refuses reports whether source has to wait.
func (p *penalties) refuses(source netip.Prefix, now time.Time) bool {
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
	return t.Sub(now) >= penaltyFrom
}
