package sshd

import (
	"context"
	"net"
	"sync"
	"time"

	ssh "charm.land/ssh"
)

// sessionContext is the context of one session. charm.land/ssh has one for each connection, which
// stays when one of its channels goes, and whose values all its channels share. This one ends with
// its session, and keeps what is set. Other values are the connection's.
type sessionContext struct {
	ssh.Context                 // the connection's
	own         context.Context // ends with the session

	mu     sync.Mutex
	values map[any]any
}

// newSessionContext makes a context that ends by cancel alone: a connection's end is a cause that
// the request loop gives.
func newSessionContext(conn ssh.Context) (*sessionContext, context.CancelCauseFunc) {
	own, cancel := context.WithCancelCause(context.Background())
	return &sessionContext{Context: conn, own: own, values: map[any]any{}}, cancel
}

func (c *sessionContext) Deadline() (time.Time, bool) { return c.own.Deadline() }
func (c *sessionContext) Done() <-chan struct{}       { return c.own.Done() }
func (c *sessionContext) Err() error                  { return c.own.Err() }

// Value looks at the session's own context before the connection's: context.Cause and contexts made
// from this one find what ends them by a value.
func (c *sessionContext) Value(key any) any {
	c.mu.Lock()
	v, ok := c.values[key]
	c.mu.Unlock()
	if ok {
		return v
	}
	if v := c.own.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

func (c *sessionContext) SetValue(key, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = value
}

// LocalAddr is where the client has reached the server, without what we add to it.
func (c *sessionContext) LocalAddr() net.Addr { return c.Context.LocalAddr().(address).Addr }
