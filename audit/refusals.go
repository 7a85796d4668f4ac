package audit

import (
	"fmt"
	"net/netip"
	"time"

	"berth/api"
)

const (
	// refusalsEach is how many refusals of one caller are written in a minute, refusalsAll how many of all
	// callers, while there is room for refusals at all.
	refusalsEach = 30
	refusalsAll  = 300
	refusalsSpan = time.Minute
)

// refusals says which refusals are written, and counts the others. The zero value is ready.
type refusals struct {
	since   time.Time // of the minute that is counted
	written int
	callers map[string]*refusedCaller // at most refusalsAll of them
	others  int                       // of callers beyond those
}

type refusedCaller struct {
	written int
	more    int   // that were not
	last    Entry // of them
}

// add says whether to write the refusal, and returns the lines for refusals of the minute before that were
// only counted.
func (r *refusals) add(e Entry, now time.Time, room func() bool) (write bool, before []Entry) {
	before = r.over(now, room)
	if r.callers == nil {
		r.since, r.callers = now, map[string]*refusedCaller{}
	}
	who := callerOf(e)
	c := r.callers[who]
	switch {
	case c == nil && len(r.callers) >= refusalsAll:
		r.others++
		return false, before
	case c == nil:
		c = &refusedCaller{}
		r.callers[who] = c
	}
	if c.written < refusalsEach && r.written < refusalsAll && room() {
		c.written++
		r.written++
		return true, before
	}
	c.more++
	c.last = Entry{Kind: KindRefused, Identity: e.Identity, Caller: e.Caller, CallerID: e.CallerID, Fingerprint: e.Fingerprint, Source: e.Source, User: e.User, Verb: e.Verb}
	return false, before
}

// over ends the minute if it has passed, or if the clock was set back, and returns the lines for refusals
// that were only counted in it.
func (r *refusals) over(now time.Time, room func() bool) []Entry {
	if r.callers == nil || !now.Before(r.since) && now.Sub(r.since) < refusalsSpan {
		return nil
	}
	return r.end(room)
}

func (r *refusals) end(room func() bool) (out []Entry) {
	rest := r.others
	for _, c := range r.callers {
		switch {
		case c.more == 0:
		case len(out) < refusalsEach && room():
			c.last.Text = r.countLine(c.more)
			out = append(out, c.last)
		default:
			rest += c.more
		}
	}
	if rest > 0 {
		out = append(out, Entry{Kind: KindRefused, Text: r.countLine(rest) + ", of many callers"})
	}
	*r = refusals{}
	return out
}

func (r *refusals) countLine(more int) string {
	return fmt.Sprintf("%d more refusals within a minute from %s on; this line describes the last one", more, r.since.UTC().Format(api.TimeLayout))
}

// callerOf is the caller whose refusals are counted together: an identity, or an address; for IPv6 a
// network, which is one customer's.
func callerOf(e Entry) string {
	if e.Identity != "" {
		return "id " + e.Identity + " " + e.Fingerprint
	}
	at, err := netip.ParseAddrPort(e.Source)
	if err != nil {
		return e.Source
	}
	addr, bits := at.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return e.Source
	}
	return network.String()
}
