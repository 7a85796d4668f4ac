package sessions

import (
	"sync"
	"time"

	"berth/sessions/hold"
	"berth/sessions/lease"
)

// lane lets the member that holds the lease type without a way through the
// loop, which took a third of the server's part of an echo. It is open only
// while the loop sleeps: whatever the loop does, to the lease or else, it does
// with the lane closed and knowing of all that was typed, and what it sends to
// the holder comes after that. So nothing but these fields is shared.
type lane struct {
	mu     sync.Mutex
	member *Member // who may type; nil: closed
	link   *hold.Link
	typed  time.Time // when it last did; zero: not since the lane was opened
}

// openLane lets the holder of the lease type, when that is an attached client
// and nobody's delivery is under way.
func (c *core) openLane() {
	h, ok := c.lease.Holder()
	if !ok || h.Kind != lease.Attach || c.lease.Delivering() || c.link == nil || c.exit != nil {
		return
	}
	m := c.members[h.ID]
	if m == nil || m.gone {
		return
	}
	l := &c.s.lane
	l.mu.Lock()
	l.member, l.link = m, c.link
	l.mu.Unlock()
}

// closeLane ends that and takes in that the holder has typed.
func (c *core) closeLane() {
	l := &c.s.lane
	l.mu.Lock()
	m, typed := l.member, l.typed
	l.member, l.link, l.typed = nil, nil, time.Time{}
	l.mu.Unlock()
	if m != nil && !typed.IsZero() {
		_, changes, _ := c.lease.Type(typed, m.client(true)) // it holds the lease
		c.tellLease(changes)
		if c.typedAt.IsZero() {
			c.typedAt = typed
		}
		c.personAt = typed
	}
}

// TypeSoon types data as Type does, without waiting for anybody. False says
// that this is not possible now and nothing was typed: Type then does it, or
// tells why not. answered is called later, from any goroutine, with what Type
// would have returned; it must not wait.
func (m *Member) TypeSoon(data []byte, answered func(error)) bool {
	if m.mayWrite() != nil {
		return false
	}
	l := &m.session.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.member != m {
		return false
	}
	if l.link.Type(data, m.mark, func(err error) { answered(inputError(err)) }) != nil {
		return false
	}
	l.typed = m.session.reg.now()
	return true
}
