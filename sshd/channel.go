package sshd

import (
	"context"
	"encoding/json"
	"fmt"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
)

// openSession serves one session channel until the client has closed it too.
func (c *connection) openSession(conn *gossh.ServerConn, offered gossh.NewChannel, ctx ssh.Context) {
	if !c.answering() {
		return
	}
	channel, incoming, ok := c.accept(conn, offered)
	c.answered()
	if !ok {
		return
	}
	defer c.leave()
	c.wire.expectSmall()
	r := &requests{session: c.newSession(channel, ctx), rate: newBucket(c.server.limits.Requests, 10, c.server.clock())}
	r.serve(incoming)
}

// accept opens a channel, unless a limit forbids it.
func (c *connection) accept(conn *gossh.ServerConn, offered gossh.NewChannel) (gossh.Channel, <-chan *gossh.Request, bool) {
	if err := c.establish(conn); err != nil {
		c.refuse(offered, err)
		return nil, nil, false
	}
	if err := c.enter(); err != nil {
		c.server.counts.channels.Add(1)
		_ = offered.Reject(gossh.ResourceShortage, "berth: "+err.Error())
		return nil, nil, false
	}
	channel, requests, err := offered.Accept()
	if err != nil {
		c.leave()
		return nil, nil, false
	}
	return channel, requests, true
}

func (c *connection) newSession(channel gossh.Channel, conn ssh.Context) *Session {
	ctx, cancel := newSessionContext(conn)
	s := &Session{
		Client: fmt.Sprintf("c%d", c.server.clients.Add(1)), Conn: c.id,
		user: c.user, conn: c, channel: channel, ctx: ctx, cancel: cancel,
		out: newOutput(channel), signals: make(chan ssh.Signal, maxSignals), resized: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	ctx.SetValue(ssh.ContextKeySession, s)
	s.Input = newInput(channel, channel.Stderr(), ctx.Done(), &c.wire.backlog)
	s.stdin.Input, s.stdin.share = s.Input, c.wire.owner()
	s.Stdin = &s.stdin
	s.stderr = &errorOutput{out: s.out, w: channel.Stderr()}
	c.mu.Lock()
	c.inputs[s.Input] = struct{}{}
	c.mu.Unlock()
	return s
}

// begin serves the session on its own goroutine. A session without an exit status gets 0, as in
// charm.land/ssh.
func (s *Session) begin() {
	s.conn.began(s)
	go func() {
		defer close(s.done)
		defer s.conn.ended(s)
		defer s.stdin.release()
		if s.refused != nil {
			_ = s.Exit(s.fail(s.refused)) // an error is that the client has gone
			return
		}
		s.conn.server.ssh.Handler(s)
		_ = s.Exit(api.StatusDone) // an error is that it has its status
	}()
}

// sayEnding reports to the client, once, why the server has ended the session.
func (s *Session) sayEnding() {
	if cause := context.Cause(s.ctx); wasEnded(cause) {
		s.saying.Do(func() { s.complain(cause.Error()) })
	}
}

// fail reports err as every verb does: as JSON on standard output unless there is a terminal, and
// as text on standard error.
func (s *Session) fail(err *api.Error) int {
	if s.Terminal == nil {
		if line, e := json.Marshal(map[string]any{"error": err}); e == nil {
			_, _ = s.Write(append(line, '\n'))
		}
	}
	s.complain(err.Message)
	return err.Code.Status()
}
