package sessions

import "time"

const (
	// comingsAtOnce and comingEvery bound the attachments of one identity to a session
	// that have events of their own: more than a person with an unsteady network makes.
	comingsAtOnce = 60
	comingEvery   = 10 * time.Second
	// comingsKept is from how many identities on those that are at rest are forgotten.
	comingsKept = 64
)

// comings says which attachments to a session are told of, so that a client which
// attaches in a loop does not push other events out of the log. The zero value has seen
// none.
type comings map[string]*coming

// coming is one identity's.
type coming struct {
	left   int       // that may be told of
	last   time.Time // when left was last counted up
	untold int       // since the last that was told of
}

// tell says whether an attachment is told of, and how many before it were not.
func (c comings) tell(who string, now time.Time) (told bool, before int) {
	one := c[who]
	if one == nil {
		if len(c) >= comingsKept {
			c.forget(now)
		}
		one = &coming{left: comingsAtOnce, last: now}
		c[who] = one
	}
	one.fill(now)
	if one.left == 0 {
		one.untold++
		return false, 0
	}
	one.left--
	before, one.untold = one.untold, 0
	return true, before
}

func (o *coming) fill(now time.Time) {
	if n := int(now.Sub(o.last) / comingEvery); n > 0 {
		o.left = min(comingsAtOnce, o.left+n)
		o.last = o.last.Add(time.Duration(n) * comingEvery)
	}
}

// forget drops identities that have all of theirs again.
func (c comings) forget(now time.Time) {
	for who, one := range c {
		if one.fill(now); one.left == comingsAtOnce && one.untold == 0 {
			delete(c, who)
		}
	}
}
