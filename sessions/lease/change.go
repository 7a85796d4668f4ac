package lease

import (
	"errors"
	"fmt"
	"time"
)

// Happening is what became of the lease.
type Happening string

// What can become of it.
const (
	Taken     Happening = "taken"
	Released  Happening = "released"
	Prolonged Happening = "prolonged" // a lock, by its own identity
)

// How says by what a change came about.
type How string

// The ways to get or lose the lease.
const (
	ByTyping   How = "typing"   // it was free, or its holder had paused
	ByExec     How = "exec"     // a call, for its delivery
	ByLock     How = "lock"     // the verb lock
	ByTakeover How = "takeover" // from a holder that still had it: that one must be notified
	ByReturn   How = "return"   // given back after a call's delivery
	ByRelease  How = "release"  // the holder let go
	ByDetach   How = "detach"   // the holder left
	ByDone     How = "done"     // the call's delivery ended
	ByUnlock   How = "unlock"   // the verb unlock
	ByExpiry   How = "expired"  // the lock's time ended
	ByRights   How = "rights"   // the client that locked may no longer type
	ByRestart  How = "restart"  // the holder's connection ended with the server
)

// Change is one change of the lease, as in the event writer_change.
type Change struct {
	Time       time.Time
	Kind       Happening
	How        How
	By         *Holder // who has it now; nil after a release
	From       *Holder // who had it; nil when it was free
	Generation uint64
}

// Loser is the client that lost the lease against its will and must be notified,
// false when there is none.
func (c Change) Loser() (Client, bool) {
	taken := c.Kind == Taken && c.How != ByReturn
	if c.From == nil || !taken && c.How != ByExpiry {
		return Client{}, false
	}
	return c.From.Client, true
}

// ErrMayNotWrite says that the client's rights do not let it write.
var ErrMayNotWrite = errors.New("these rights don't allow typing")

// BusyError says that another client has control: WRITER_BUSY.
type BusyError struct {
	Holder     Holder
	Delivering bool      // a delivery is in progress, which is not cut
	Retry      time.Time // when it can be had at the latest unless the holder uses it again; ask again then, and after every change
}

func (e *BusyError) Error() string {
	what := "has control of this session"
	switch {
	case e.Delivering:
		what = "is delivering a message to this session"
	case e.Holder.Kind == Lock:
		what = "has locked this session's input"
	}
	return fmt.Sprintf("%s (%s) %s", e.Holder.Identity, e.Holder.ID, what)
}

// LostError says that a grant or a lock has ended.
type LostError struct {
	Generation uint64  // of the grant or lock
	Current    uint64  // the highest there has been
	Holder     *Holder // who has control now; nil for no client
}

func (e *LostError) Error() string {
	if e.Generation > e.Current {
		return fmt.Sprintf("there was no lease with generation %d", e.Generation)
	}
	if e.Holder == nil || e.Holder.Generation == e.Generation {
		return fmt.Sprintf("the lease with generation %d has ended", e.Generation)
	}
	return fmt.Sprintf("the lease with generation %d has ended; %s (%s) has control of this session", e.Generation, e.Holder.Identity, e.Holder.ID)
}

// TooLongError says that a lock was asked for longer than there is.
type TooLongError struct{ Asked, Max time.Duration }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a lock can't last %s: give a time from 1ms to %s", e.Asked, e.Max)
}

func (l *Lease) lost(g Grant) error {
	e := &LostError{Generation: g.Generation, Current: l.generation}
	if h, ok := l.Holder(); ok {
		e.Holder = &h
	}
	return e
}

// busy describes who is in the way and until when at the latest.
func (l *Lease) busy(now time.Time, takeover bool) error {
	e := &BusyError{Holder: *l.holder, Delivering: !l.settled(now)}
	if !takeover {
		e.Retry = l.holder.Expires
	}
	if e.Delivering {
		if settled := l.delivery.began.Add(l.o.CutAfter); settled.After(e.Retry) {
			e.Retry = settled
		}
	}
	return e
}
