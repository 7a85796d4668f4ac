package clients

import (
	"time"

	"berth/sessions/loop"
)

const (
	// comingsAtOnce and comingEvery bound the attachments of one identity to a session
	// that have events of their own: more than a person with an unsteady network makes.
	comingsAtOnce = 60
	comingEvery   = 10 * time.Second
)

// comings says which attachments to a session have an event, so that a client that
// attaches in a loop does not push other events out of the log.
type comings map[string]*coming

// coming is the count of one identity.
type coming struct {
	loop.Allowance
	unwritten int // attachments without an event, since the last that has one
}

// take says whether an attachment has an event, and how many before it had none.
func (c comings) take(who string, now time.Time) (written bool, before int) {
	one := c[who]
	if one == nil {
		if len(c) >= loop.IdentitiesKept {
			c.forget(now)
		}
		one = &coming{Allowance: loop.Full(comingsAtOnce, comingEvery, now)}
		c[who] = one
	}
	if !one.Take(now) {
		one.unwritten++
		return false, 0
	}
	before, one.unwritten = one.unwritten, 0
	return true, before
}

// forget drops identities whose allowance is full again.
func (c comings) forget(now time.Time) {
	for who, one := range c {
		if one.unwritten == 0 && one.Rested(now) {
			delete(c, who)
		}
	}
}
