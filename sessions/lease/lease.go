// Package lease decides who writes to a session. It is a state machine of
// values: the time is handed in, nothing is read or written, and each
// transition says what changed, for the event log and for the clients to notify.
//
// One client at a time holds the lease. Each holding has a generation, which
// only grows. Bytes may go to the terminal only under a Grant of the present
// generation; Authorize is asked before every write, so that a client that lost the
// lease writes no more, wherever it is in its work. The exception is the fast path of
// sessions/clients: it is open for the holder alone, and only while the lease can't change.
//
// Here a holder is the client with the lease, not the process of sessions/hold.
package lease

import "time"

// Kind is how a client holds the lease.
type Kind string

// The kinds of holders.
const (
	Attach Kind = "attach" // an attached terminal: until it detaches, or others take it after a pause
	Exec   Kind = "exec"   // one call of a verb: for its delivery
	Lock   Kind = "lock"   // taken ahead for several calls: until it expires
)

// The times of the lease.
const (
	DefaultIdle     = 30 * time.Second // an attached holder without input for this long loses it to any client that wants it
	DefaultCutAfter = 5 * time.Second  // a taker waits for a delivery in progress at most this long
	DefaultLock     = 30 * time.Second // lock without a time
	MaxLock         = 10 * time.Minute
)

// Options are the times to use; zero values mean the defaults.
type Options struct {
	Idle     time.Duration
	CutAfter time.Duration
	MaxLock  time.Duration
}

func (o Options) withDefaults() Options {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.CutAfter <= 0 {
		o.CutAfter = DefaultCutAfter
	}
	if o.MaxLock <= 0 {
		o.MaxLock = MaxLock
	}
	return o
}

// Client is who wants to write.
type Client struct {
	ID          string `json:"id"`          // of this connection's channel, such as c12; never used twice
	Identity    string `json:"identity"`    // its name as shown
	Fingerprint string `json:"fingerprint"` // of the proven key; empty for callers on the machine
	MayWrite    bool   `json:"may_write"`   // its rights let it write to this session

	// What its rights are looked up by, beside the key's fingerprint.
	Kind   string `json:"kind,omitempty"`   // of caller
	Source string `json:"source,omitempty"` // the address it came from
	Proof  []byte `json:"proof,omitempty"`  // the certificate that it proved
}

// same says whether two clients are one identity.
func (c Client) same(other Client) bool {
	return c.Identity == other.Identity && c.Fingerprint == other.Fingerprint
}

// Holder is who writes at present. The times are the caller's clock.
type Holder struct {
	Client
	Kind       Kind      `json:"kind"`
	Generation uint64    `json:"generation"`
	Since      time.Time `json:"since"`
	LastInput  time.Time `json:"last_input"`
	Expires    time.Time `json:"expires"` // from then on others may take it; a lock ends by itself
}

// Grant is the right to write, until the generation or the delivery is over.
type Grant struct {
	Client     string
	Generation uint64
	delivery   uint64 // 0 for typing
}

// Lease is the state machine of one session. It is not safe for concurrent
// use: the goroutine that owns the session owns it.
type Lease struct {
	o          Options
	generation uint64 // the highest given out
	holder     *Holder
	former     *Holder // an attached client that gets the lease back after a call's delivery
	delivery   *delivery
	deliveries uint64
}

// delivery is bytes on their way that belong together, such as a paste and the
// Enter after it.
type delivery struct {
	number  uint64
	began   time.Time
	leaving How // not empty: the holder's lease ends with it, for this reason
}

// New makes a free lease.
func New(o Options) *Lease { return &Lease{o: o.withDefaults()} }

// Holder is the client with control; false if there is none.
func (l *Lease) Holder() (Holder, bool) {
	if l.holder == nil {
		return Holder{}, false
	}
	return *l.holder, true
}

// Generation is the highest generation given out.
func (l *Lease) Generation() uint64 { return l.generation }

// Delivering says whether a delivery is in progress.
func (l *Lease) Delivering() bool { return l.delivery != nil }

// Authorize is asked right before bytes are written. It is nil only for the
// present holder's present grant.
func (l *Lease) Authorize(g Grant) error {
	if l.holder == nil || g.Generation != l.holder.Generation {
		return l.lost(g)
	}
	current := uint64(0)
	if l.delivery != nil {
		current = l.delivery.number
	}
	if g.delivery != current || g.Generation == 0 {
		return l.lost(g)
	}
	return nil
}

// free says whether any client that may write can take the lease now without
// taking it away from a client that uses it.
func (l *Lease) free(now time.Time) bool {
	return l.holder == nil || l.lapsed(now)
}

// lapsed says whether the holder's time is over for others. A call's is over
// with its delivery, and when the delivery has had its time.
func (l *Lease) lapsed(now time.Time) bool {
	return l.holder != nil && !now.Before(l.holder.Expires)
}

// settled says whether no delivery blocks a taker.
func (l *Lease) settled(now time.Time) bool {
	return l.delivery == nil || now.Sub(l.delivery.began) >= l.o.CutAfter
}

// give makes a client the holder. The generation grows with every change.
func (l *Lease) give(now time.Time, c Client, kind Kind, expires time.Time, how How) Change {
	from := l.holder
	l.generation++
	l.holder = &Holder{Client: c, Kind: kind, Generation: l.generation, Since: now, LastInput: now, Expires: expires}
	l.delivery = nil
	by := *l.holder
	return Change{Time: now, Kind: Taken, How: how, By: &by, From: from, Generation: l.generation}
}

// release makes the lease free.
func (l *Lease) release(now time.Time, how How) Change {
	from := l.holder
	l.holder, l.delivery = nil, nil
	return Change{Time: now, Kind: Released, How: how, From: from, Generation: from.Generation}
}

// touch notes input of the holder.
func (l *Lease) touch(now time.Time) {
	l.holder.LastInput = now
	if l.holder.Kind == Attach {
		l.holder.Expires = now.Add(l.o.Idle)
	}
}
