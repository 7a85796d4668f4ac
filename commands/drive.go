package commands

import (
	"time"

	"github.com/spf13/pflag"

	"berth/keys"
	"berth/sessions"
)

// claimFlags are the options of every verb that writes to a PTY.
func claimFlags(f *pflag.FlagSet) {
	f.Duration("wait-lock", 0, "wait up to this long for another writer to release control")
	f.Bool("takeover", false, "take control from the client that has it; that client is notified")
	f.Uint64("lease", 0, "the generation that lock printed")
}

// claim is how this call wants the lease. The rights are checked again right before each write.
func (c *Call) claim(verb string, need keys.Role, s *sessions.Session) sessions.Claim {
	wait, _ := c.flags.GetDuration("wait-lock")
	takeover, _ := c.flags.GetBool("takeover")
	lease, _ := c.flags.GetUint64("lease")
	return sessions.Claim{
		Actor: c.actor(), Wait: max(wait, 0), Takeover: takeover, Lease: lease, Verb: verb,
		Allowed: func() error { return c.may(verb, need, s) },
	}
}

// may checks the caller's current rights on one session. A session that the caller may no longer
// see is named by its id, because it may have another name by now.
func (c *Call) may(verb string, need keys.Role, s *sessions.Session) error {
	id := c.Identity()
	if err := id.May(verb, need); err != nil {
		return err
	}
	if !c.sees(s) {
		return id.Denied(verb, s.ID())
	}
	return nil
}

// Delivered is the answer of the verbs that write.
type Delivered struct {
	Session   string `json:"session"`
	ID        string `json:"id"`
	Delivered bool   `json:"delivered"`
	Bytes     int    `json:"bytes"`
	Seq       uint64 `json:"seq"`
}

func (c *Call) delivered(s *sessions.Session, n int) Delivered {
	st := s.Status()
	return Delivered{Session: st.Name, ID: st.ID, Delivered: true, Bytes: n, Seq: st.Seq}
}

// lockDefault is the time of a lock without --for, and lockLongest the longest.
const (
	lockDefault = 30 * time.Second
	lockLongest = 10 * time.Minute
)
