package sshd

import (
	"context"
	"net"
	"sync"
	"time"

	ssh "charm.land/ssh"
)

// sessionContext is the context of one session. charm.land/ssh has one context for each connection: it
// stays when one of its channels closes, and all channels share its values. This one ends with its
// session and keeps its own values. Other values are the connection's.
type sessionContext struct {
	ssh.Context                 // the connection's
	own         context.Context // ends with the session

	mu     sync.Mutex
	values map[any]any
}

// newSessionContext makes a context that ends only by cancel: when the connection ends, the request
// loop calls it with the cause.
func newSessionContext(conn ssh.Context) (*sessionContext, context.CancelCauseFunc) {
	own, cancel := context.WithCancelCause(context.Background())
	return &sessionContext{Context: conn, own: own, values: map[any]any{}}, cancel
}

func (c *sessionContext) Deadline() (time.Time, bool) { return c.own.Deadline() }
func (c *sessionContext) Done() <-chan struct{}       { return c.own.Done() }
func (c *sessionContext) Err() error                  { return c.own.Err() }

// Value looks in the session's context before the connection's. context.Cause, and contexts derived
// from this one, use a value to find what ends them.
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

// LocalAddr is the server address that the client connected to, without what we add to it.
func (c *sessionContext) LocalAddr() net.Addr { return c.Context.LocalAddr().(address).Addr }
