package clients

import (
	"sync/atomic"
	"time"
)

const (
	// alonePace is how far apart output is read of a session that prints and
	// prints while no client looks: a hundred of them would take half a core from
	// the one that a person types into. It bounds how old a screen can be.
	alonePace = 40 * time.Millisecond
	// aloneAfter is how long no client has to have looked: verbs come in rows.
	aloneAfter = time.Second
)

// pace is how fast the holder may write.
type pace struct {
	alone  time.Time   // since when no client has looked; zero: one does
	slowed atomic.Bool // the holder was asked to take its time
}

// tick asks the holder to take its time while no client waits for the session, and to
// hurry when one does.
func (p *pace) tick(now time.Time, watched func() bool, ask func(pause time.Duration)) {
	if watched() {
		p.alone = time.Time{}
		p.hurry(ask)
		return
	}
	if p.alone.IsZero() {
		p.alone = now
	}
	if now.Sub(p.alone) < aloneAfter || p.slowed.Load() {
		return
	}
	p.slowed.Store(true)
	if watched() { // a caller that came in between may not have seen it
		p.hurry(ask)
		return
	}
	ask(alonePace)
}

// hurry takes back that the holder may take its time.
func (p *pace) hurry(ask func(pause time.Duration)) {
	if p.slowed.Swap(false) {
		ask(0)
	}
}
