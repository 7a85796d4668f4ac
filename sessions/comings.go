package sessions

import "time"

const (
	// comingsAtOnce and comingEvery bound the attachments of one identity to a session
	// that have events of their own: more than a person with an unsteady network makes.
	comingsAtOnce = 60
	comingEvery   = 10 * time.Second
)

// comings says which attachments to a session are told of, so that a client which
// attaches in a loop does not push other events out of the log. The zero value has seen
// none.
type comings map[string]*coming

// coming is one identity's.
type coming struct {
	allowance
	untold int // since the last that was told of
}

// tell says whether an attachment is told of, and how many before it were not.
func (c comings) tell(who string, now time.Time) (told bool, before int) {
	one := c[who]
	if one == nil {
		if len(c) >= identitiesKept {
			c.forget(now)
		}
		one = &coming{allowance: full(comingsAtOnce, comingEvery, now)}
		c[who] = one
	}
	if !one.take(now) {
		one.untold++
		return false, 0
	}
	before, one.untold = one.untold, 0
	return true, before
}

// forget drops identities that have all of theirs again.
func (c comings) forget(now time.Time) {
	for who, one := range c {
		if one.untold == 0 && one.rested(now) {
			delete(c, who)
		}
	}
}
