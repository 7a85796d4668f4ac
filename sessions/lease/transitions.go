package lease

import "time"

// Type is input typed by an attached client: the holder's is granted, and so is
// that of any client that may write when the lease is free or its holder has
// paused. A client that has attached and typed nothing has no lease, so that
// looking on keeps no call waiting. Errors: ErrMayNotWrite, *BusyError.
func (l *Lease) Type(now time.Time, c Client) (Grant, []Change, error) {
	return l.typed(now, c, false)
}

// Take is an attached client that takes the lease away, by prefix w or a
// takeover that its caller has allowed. A delivery in progress is waited for:
// *BusyError with the time to ask again.
func (l *Lease) Take(now time.Time, c Client) (Grant, []Change, error) {
	return l.typed(now, c, true)
}

func (l *Lease) typed(now time.Time, c Client, takeover bool) (Grant, []Change, error) {
	changes := l.Tick(now)
	if !c.MayWrite {
		return Grant{}, changes, ErrMayNotWrite
	}
	if l.holds(c) && l.settled(now) {
		l.delivery = nil // if there is one it had its time
		l.touch(now)
		return Grant{Client: c.ID, Generation: l.holder.Generation}, changes, nil
	}
	how, ok := l.available(now, takeover, ByTyping)
	if !ok {
		return Grant{}, changes, l.busy(now, takeover)
	}
	l.former = nil
	changes = append(changes, l.give(now, c, Attach, now.Add(l.o.Idle), how))
	return Grant{Client: c.ID, Generation: l.generation}, changes, nil
}

// Want is how a call asks for the lease.
type Want struct {
	Lease    uint64 // the generation of a lock of the same identity, 0 for none
	Takeover bool   // take it away from its holder; whether that is allowed is the caller's to know
}

// Begin begins a delivery: bytes that belong together and that no other input
// comes between. The holder's is granted; a call's takes the lease when it is
// free or its holder has paused, and gives it back at End. Every Begin that
// succeeded needs an End. Errors: ErrMayNotWrite, *BusyError, *LostError for a
// lock that is over.
func (l *Lease) Begin(now time.Time, c Client, w Want) (Grant, []Change, error) {
	changes := l.Tick(now)
	if !c.MayWrite {
		return Grant{}, changes, ErrMayNotWrite
	}
	if w.Lease != 0 {
		if l.holder == nil || l.holder.Kind != Lock || l.holder.Generation != w.Lease || !l.holder.same(c) {
			return Grant{}, changes, l.lost(Grant{Generation: w.Lease})
		}
	}
	if w.Lease != 0 || l.holds(c) {
		if !l.settled(now) {
			return Grant{}, changes, l.busy(now, true)
		}
		l.touch(now)
		return l.deliver(now, c), changes, nil // one before had its time: what it still writes is refused
	}
	how, ok := l.available(now, w.Takeover, ByExec)
	if !ok {
		return Grant{}, changes, l.busy(now, w.Takeover)
	}
	if l.holder != nil && l.holder.Kind == Attach {
		former := *l.holder
		l.former = &former
	}
	changes = append(changes, l.give(now, c, Exec, now.Add(l.o.CutAfter), how))
	return l.deliver(now, c), changes, nil
}

// End ends a delivery. A call gives the lease back: to the attached client that
// had it before, else it is free. A grant that is over ends nothing.
func (l *Lease) End(now time.Time, g Grant) []Change {
	if l.Authorize(g) != nil || l.delivery == nil {
		return l.Tick(now)
	}
	leaving := l.delivery.leaving
	l.delivery = nil
	switch {
	case leaving != "":
		return append([]Change{l.release(now, leaving)}, l.Tick(now)...)
	case l.holder.Kind != Exec:
		l.touch(now)
		return l.Tick(now)
	case l.former == nil:
		return append([]Change{l.release(now, ByDone)}, l.Tick(now)...)
	}
	former := l.former
	l.former = nil
	change := l.give(now, former.Client, Attach, former.Expires, ByReturn)
	// It was not the client's input: its pause goes on where it was.
	l.holder.LastInput = former.LastInput
	*change.By = *l.holder
	return []Change{change}
}

// Release is a client that lets go of the lease and stays.
func (l *Lease) Release(now time.Time, client string) []Change {
	return l.leave(now, client, ByRelease)
}

// Detach is a client that is gone. A delivery of its own that is in progress
// ends first.
func (l *Lease) Detach(now time.Time, client string) []Change {
	return l.leave(now, client, ByDetach)
}

func (l *Lease) leave(now time.Time, client string, how How) []Change {
	changes := l.Tick(now)
	if l.former != nil && l.former.ID == client {
		l.former = nil
	}
	if l.holder == nil || l.holder.ID != client || l.holder.Kind != Attach {
		return changes // a call ends by End, a lock by Unlock or its time
	}
	if l.delivery != nil {
		l.delivery.leaving = how
		return changes
	}
	return append(changes, l.release(now, how))
}

// Lock takes the lease ahead for calls that pass its generation, or, with
// w.Lease, prolongs such a lock: its generation stays. Errors: ErrMayNotWrite,
// *TooLongError, *BusyError, *LostError.
func (l *Lease) Lock(now time.Time, c Client, d time.Duration, w Want) (Holder, []Change, error) {
	changes := l.Tick(now)
	if !c.MayWrite {
		return Holder{}, changes, ErrMayNotWrite
	}
	if d < time.Millisecond || d > l.o.MaxLock {
		return Holder{}, changes, &TooLongError{Asked: d, Max: l.o.MaxLock}
	}
	if w.Lease != 0 {
		if l.holder == nil || l.holder.Kind != Lock || l.holder.Generation != w.Lease || !l.holder.same(c) {
			return Holder{}, changes, l.lost(Grant{Generation: w.Lease})
		}
		from := *l.holder
		l.holder.Expires = now.Add(d)
		by := *l.holder
		change := Change{Time: now, Kind: Prolonged, How: ByLock, By: &by, From: &from, Generation: by.Generation}
		return by, append(changes, change), nil
	}
	how, ok := l.available(now, w.Takeover, ByLock)
	if !ok {
		return Holder{}, changes, l.busy(now, w.Takeover)
	}
	l.former = nil
	changes = append(changes, l.give(now, c, Lock, now.Add(d), how))
	return *l.holder, changes, nil
}

// Unlock ends a lock of the same identity, or with force anybody's. A delivery
// under it ends first. Error: *LostError when that lock is over already.
func (l *Lease) Unlock(now time.Time, c Client, generation uint64, force bool) ([]Change, error) {
	changes := l.Tick(now)
	if l.holder == nil || l.holder.Kind != Lock || l.holder.Generation != generation || !force && !l.holder.same(c) {
		return changes, l.lost(Grant{Generation: generation})
	}
	if l.delivery != nil {
		l.delivery.leaving = ByUnlock
		return changes, nil
	}
	return append(changes, l.release(now, ByUnlock)), nil
}

// Revoke ends the lease of a holder that may no longer write. A delivery in
// progress ends first.
func (l *Lease) Revoke(now time.Time) []Change {
	changes := l.Tick(now)
	if l.holder == nil {
		return changes
	}
	if l.delivery != nil {
		l.delivery.leaving = ByRights
		return changes
	}
	return append(changes, l.release(now, ByRights))
}

// Tick lets time pass: a lock whose time is over ends, and so does the lease of
// a holder that has left, once no delivery is in progress. Every other
// transition does so first.
func (l *Lease) Tick(now time.Time) []Change {
	switch {
	case l.holder == nil || !l.settled(now):
		return nil
	case l.delivery != nil && l.delivery.leaving != "":
		return []Change{l.release(now, l.delivery.leaving)}
	case l.holder.Kind == Lock && l.lapsed(now):
		return []Change{l.release(now, ByExpiry)}
	}
	return nil
}

// Next is when something changes by time alone, so that Tick is called then and
// waiting callers ask again; false when nothing does.
func (l *Lease) Next(now time.Time) (time.Time, bool) {
	if l.holder == nil {
		return time.Time{}, false
	}
	var at time.Time
	if l.holder.Expires.After(now) {
		at = l.holder.Expires
	}
	if l.delivery != nil {
		settled := l.delivery.began.Add(l.o.CutAfter)
		if settled.After(now) && (at.IsZero() || settled.Before(at)) {
			at = settled
		}
	}
	return at, !at.IsZero()
}

// holds says whether the client itself has the lease.
func (l *Lease) holds(c Client) bool {
	return l.holder != nil && l.holder.ID == c.ID && l.holder.Kind != Lock
}

// available says whether a client that is not the holder can have the lease
// now, and how that is called.
func (l *Lease) available(now time.Time, takeover bool, otherwise How) (How, bool) {
	switch {
	case l.holder == nil:
		return otherwise, true
	case !l.settled(now):
		return "", false
	case l.free(now):
		return otherwise, true
	case takeover:
		return ByTakeover, true
	}
	return "", false
}

// deliver begins a delivery of the holder.
func (l *Lease) deliver(now time.Time, c Client) Grant {
	l.deliveries++
	l.delivery = &delivery{number: l.deliveries, began: now}
	return Grant{Client: c.ID, Generation: l.holder.Generation, delivery: l.deliveries}
}
