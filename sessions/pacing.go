package sessions

import "time"

const (
	// alonePace is how far apart output is read of a session that prints and
	// prints while nobody looks: a hundred of them would take half a core from
	// the one that somebody types into. It bounds how old a screen can be.
	alonePace = 40 * time.Millisecond
	// aloneAfter is how long nobody has to have looked: verbs come in rows.
	aloneAfter = time.Second
)

// pacing asks the holder to take its time while nobody waits for the session,
// and to hurry when somebody does.
func (c *core) pacing(now time.Time) {
	if c.watched() {
		c.alone = time.Time{}
		c.hurry()
		return
	}
	if c.alone.IsZero() {
		c.alone = now
	}
	if now.Sub(c.alone) < aloneAfter || c.s.slowed.Load() {
		return
	}
	c.s.slowed.Store(true)
	if c.watched() { // who came in between may not have seen it
		c.hurry()
		return
	}
	c.link.Pace(alonePace)
}

// watched says that somebody looks at the session or waits for something of it,
// or that it has no holder to ask.
func (c *core) watched() bool {
	return c.link == nil || len(c.members) > 0 || len(c.settling) > 0 || c.s.bells.any()
}

// hurry takes back that the holder may take its time.
func (c *core) hurry() {
	if c.s.slowed.Swap(false) && c.link != nil {
		c.link.Pace(0)
	}
}
