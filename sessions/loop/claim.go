package loop

import (
	"time"

	"berth/keys"
	"berth/sessions/lease"
)

// Actor is who does something: recorded in events, and judged again at each
// write.
type Actor struct {
	Identity keys.Identity
	Client   string // the caller's id, such as c12
}

// By is the actor as events show it.
func (a Actor) By() By {
	return By{Identity: a.Identity.Name, Fingerprint: a.Identity.Fingerprint, Client: a.Client}
}

// Writer is the actor as the lease knows it.
func (a Actor) Writer(mayWrite bool) lease.Client {
	id := a.Identity
	return lease.Client{ID: a.Client, Identity: id.Name, Fingerprint: id.Fingerprint, MayWrite: mayWrite, Kind: string(id.Kind), Source: id.Source, Proof: id.Certificate}
}

// Former is the caller of a client, whose rights are to be looked up. What an event has of a client
// lacks the last three fields: then only a key that is in a key file and may come from anywhere is found.
func Former(c lease.Client) keys.Identity {
	id := keys.Identity{Kind: keys.Kind(c.Kind), Name: c.Identity, Fingerprint: c.Fingerprint, Source: c.Source, Certificate: c.Proof}
	switch {
	case id.Kind != "":
	case id.Fingerprint == "":
		id.Kind = keys.KindLocal
	default:
		id.Kind = keys.KindKey
	}
	return id
}

// Claim is how a call wants to write to a session.
type Claim struct {
	Actor
	Allowed       func() error  // the caller's current rights on this session
	Lease         uint64        // generation of the caller's own lock; 0 for none
	Takeover      bool          // take the lease from its holder and notify the holder
	Wait          time.Duration // how long to wait for another writer's lease to end
	AfterDelivery bool          // if Wait is 0, wait for the end of a delivery in progress, at most 5 s
	Verb          string        // named in the event
	Digest        string        // of the prompt as the caller saw it; empty: not given
	Unseen        bool          // the answer may allow what the prompt shows only a part of
}

// Write has send write to the holder on the loop, if the delivery still may, and returns when
// the program's terminal has taken that. It returns send's error.
type Write = func(send func() (written <-chan error, err error)) error

// Nothing is the answer to a write of nothing.
var Nothing = func() <-chan error {
	done := make(chan error)
	close(done)
	return done
}()
