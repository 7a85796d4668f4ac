package lease

import "time"

// State is what a checkpoint keeps of a lease; it marshals to JSON.
type State struct {
	Generation uint64  `json:"generation"`
	Holder     *Holder `json:"holder"`
}

// State gives what Restore needs.
func (l *Lease) State() State {
	s := State{Generation: l.generation}
	if h, ok := l.Holder(); ok {
		s.Holder = &h
	}
	return s
}

// After is the state after one more change: changes emitted since a checkpoint
// bring it up to date, in their order. Those from before it do no harm.
func (s State) After(c Change) State {
	if c.Generation < s.Generation {
		return s
	}
	s.Generation = c.Generation
	s.Holder = c.By // nil after a release
	return s
}

// Restore makes a lease of a state, after a restart of the server. A lock goes
// on until its time; attached clients and calls are gone with their
// connections, and so is their lease. Generations go on.
func Restore(o Options, s State, now time.Time) (*Lease, []Change) {
	l := New(o)
	l.generation = s.Generation
	if s.Holder == nil {
		return l, nil
	}
	holder := *s.Holder
	l.generation = max(l.generation, holder.Generation)
	l.holder = &holder
	if holder.Kind == Lock {
		return l, l.Tick(now)
	}
	return l, []Change{l.release(now, ByRestart)}
}
