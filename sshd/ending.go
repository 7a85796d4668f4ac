package sshd

import (
	"errors"
	"slices"
	"time"

	"berth/keys"
)

// When access ends, the caller's sessions end first, so that an attached client gets its terminal back
// and the reason. The connection is closed soon after, in any case. All of it takes at most a second.
const (
	endingPatience = 500 * time.Millisecond // for calls to return
	endingGoodbye  = 100 * time.Millisecond // for what they wrote to arrive, and the client to hang up
)

// end ends the connection and all its sessions because of cause. It returns at once; the server waits
// for the goroutine that it starts.
func (c *connection) end(cause error) {
	c.mu.Lock()
	if c.ending != nil || c.closed {
		c.mu.Unlock()
		return
	}
	c.ending = cause
	calls := make([]*Session, 0, len(c.calls))
	for call := range c.calls {
		calls = append(calls, call)
	}
	c.workers.Add(1)
	c.mu.Unlock()
	for _, call := range calls {
		call.cancel(cause)
	}
	go func() {
		defer c.workers.Done()
		c.goodbye(calls)
	}()
}

func (c *connection) goodbye(calls []*Session) {
	defer c.wire.Close()
	patience := time.NewTimer(endingPatience)
	defer patience.Stop()
	for i, call := range calls {
		select {
		case <-call.done:
			continue
		case <-c.stop:
			return
		case <-patience.C:
		}
		for _, late := range calls[i:] {
			select {
			case <-late.done:
			default:
				// The write waits when the client reads nothing; closing the connection unblocks it.
				c.workers.Go(func() { late.sayEnding() })
			}
		}
		break
	}
	if len(calls) == 0 {
		return
	}
	goodbye := time.NewTimer(endingGoodbye)
	defer goodbye.Stop()
	select {
	case <-c.stop:
	case <-goodbye.C:
	}
}

// review checks the connection's rights against the key source again: they may have been removed or
// changed.
func (c *connection) review() {
	now := c.identity.Load()
	if now == nil {
		c.reviewUnused()
		return
	}
	if c.agentNarrowed(*now) {
		c.server.log.Info("access narrowed", "conn", c.id, "identity", now.Name, "session", now.Session)
		c.end(&revoked{errChildren})
		return
	}
	if c.key == nil { // in this order: the key is set before the identity
		return
	}
	id, err := c.lookup(c.key)
	if err != nil {
		c.server.log.Info("access ended", "conn", c.id, "identity", now.Name, "fingerprint", now.Fingerprint, "reason", err)
		c.identity.Store(rightless(*now)) // for what doesn't end at once, such as a verb that reads standard input
		c.end(&revoked{err})
		return
	}
	if now.Kind != keys.KindAgent { // an agent's rights are not its key's
		c.identity.Store(&id)
		if narrowed(*now, id) {
			c.server.log.Info("access narrowed", "conn", c.id, "identity", now.Name, "fingerprint", now.Fingerprint, "key", id.Line)
			c.end(&revoked{errNarrowed})
			return
		}
	}
	c.expireAt(id.Expires)
}

// reviewUnused is review for a connection that has logged in and opened no channel.
func (c *connection) reviewUnused() {
	p := c.proven.Load()
	if p == nil {
		return
	}
	c.tellUnused()
	if _, err := c.lookup(p.key); err != nil {
		c.server.log.Info("access ended", "conn", c.id, "identity", p.id.Name, "fingerprint", p.id.Fingerprint, "reason", err)
		c.end(&revoked{err})
	}
}

// rightless is an identity without rights. A process inside a session, which has no role, may still
// look at its own session.
func rightless(id keys.Identity) *keys.Identity {
	id.Role, id.Verbs = keys.None, nil
	return &id
}

// errNarrowed is the cause when a connection ends although its key may still log in.
var errNarrowed = errors.New("the key has fewer rights now: connect again to use the remaining ones")

// errChildren is errNarrowed for a process inside a session.
var errChildren = errors.New("the field children of the process's session allows less now: connect again to use the rest")

// agentNarrowed says that a process inside a session may no longer use a verb that it had at the login. A
// session that isn't found is being started, or its processes are about to end.
func (c *connection) agentNarrowed(id keys.Identity) bool {
	if id.Kind != keys.KindAgent || c.server.agentOf == nil {
		return false
	}
	_, verbs, ok := c.server.agentOf(id.Session)
	return ok && slices.ContainsFunc(id.Verbs, func(verb string) bool { return !slices.Contains(verbs, verb) })
}

// narrowed says that a right was removed that is checked only when something is opened: to see a
// session, to use a verb, to have a terminal, to choose the command. A lower role isn't one of these:
// it is checked at each write.
func narrowed(before, now keys.Identity) bool {
	before.Role = now.Role
	return before.NarrowedTo(now)
}

// expireAt reviews the rights when they expire.
func (c *connection) expireAt(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expiry != nil {
		c.expiry.Stop()
		c.expiry = nil
	}
	if t.IsZero() || c.closed {
		return
	}
	// A timer doesn't count suspended time; the server's rounds cover that.
	c.expiry = time.AfterFunc(t.Sub(c.server.clock()), c.review)
}

// revoked is ErrRevoked with the reason.
type revoked struct{ reason error }

func (r *revoked) Error() string        { return ErrRevoked.Error() + ": " + r.reason.Error() }
func (r *revoked) Is(target error) bool { return target == ErrRevoked }
func (r *revoked) Unwrap() error        { return r.reason }

// wasEnded says whether the client must be given cause as the reason.
func wasEnded(cause error) bool {
	return errors.Is(cause, ErrRevoked) || errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrUnread)
}
