package sshd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
)

// Bounds on what a client says about its terminal. The emulator allocates by
// these numbers.
const (
	maxWindow = 1000
	maxTerm   = 64
)

// openSession serves one session channel until the client has closed it too.
func (c *connection) openSession(conn *gossh.ServerConn, offered gossh.NewChannel) {
	if !c.answering() {
		return
	}
	channel, requests, ok := c.accept(conn, offered)
	c.answered()
	if !ok {
		return
	}
	defer c.leave()
	c.wire.expectSmall()
	call := c.newCall(channel)
	s := &session{call: call, requests: newBucket(c.server.limits.Requests, 10, c.server.clock())}
	s.serve(requests)
}

// accept opens a channel, unless it may not be opened.
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

func (c *connection) newCall(channel gossh.Channel) *Call {
	ctx, cancel := context.WithCancelCause(context.Background())
	call := &Call{
		Client: fmt.Sprintf("c%d", c.server.clients.Add(1)), Conn: c.id,
		User: c.user, conn: c, channel: channel, ctx: ctx, cancel: cancel,
		out: newOutput(channel), signals: make(chan string, 16), resized: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	call.Input = newInput(channel, channel.Stderr(), ctx.Done(), &c.wire.backlog)
	call.stdin.Input, call.stdin.share = call.Input, c.wire.owner()
	call.Stdin = &call.stdin
	c.mu.Lock()
	c.inputs[call.Input] = struct{}{}
	c.mu.Unlock()
	call.Stdout = call.out
	call.Stderr = &errorOutput{out: call.out, w: channel.Stderr()}
	return call
}

// session is the request side of a session channel. Its one goroutine never
// waits for the call: a request loop that waits stalls every channel of the
// connection.
type session struct {
	call     *Call
	requests *bucket
	envBytes int
	started  bool
	begun    bool
}

func (s *session) serve(requests <-chan *gossh.Request) {
	call := s.call
	backlog := &call.conn.wire.backlog
	for r := range requests {
		backlog.begin()
		ok := s.handle(r)
		backlog.passed(len(r.Payload))
		_ = r.Reply(ok, nil) // an error here is the channel's end, which closes requests
		backlog.end()
		if ok && startsCall(r.Type) {
			s.begin()
		}
	}
	call.conn.forget(call.Input)
	cause := ErrChannelClosed
	if call.conn.wire.gone() {
		cause = ErrConnectionLost
	}
	call.cancel(cause)
	if s.begun {
		<-call.done
	} else {
		_ = call.out.close()
	}
	call.Input.pumping.Wait()
	call.Input.drop()
}

func startsCall(request string) bool {
	return request == "exec" || request == "shell" || request == "subsystem"
}

// handle answers one request. What is beyond the rate is answered no, but for
// window changes, which cost nothing and of which the last must not be lost.
func (s *session) handle(r *gossh.Request) bool {
	if r.Type == "window-change" {
		return s.resize(r.Payload)
	}
	if !s.requests.take(s.call.conn.server.clock()) {
		return false
	}
	switch r.Type {
	case "pty-req":
		return s.openPTY(r.Payload)
	case "env":
		return s.setEnv(r.Payload)
	case "signal":
		return s.signal(r.Payload)
	case "exec", "shell", "subsystem":
		return s.command(r)
	case "eow@openssh.com": // end of write: nobody reads our output any more
		s.call.cancel(ErrChannelClosed)
		return true
	}
	// Among others auth-agent-req@openssh.com and x11-req: nothing is forwarded.
	return false
}

func (s *session) openPTY(payload []byte) bool {
	var m struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	if s.started || s.call.PTY != nil || s.call.Identity().NoPTY || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	if !plainTerm(m.Term) {
		m.Term = "vt100"
	}
	cols, rows := windowSize(m.Cols, 80), windowSize(m.Rows, 24)
	s.call.PTY = &PTY{Term: m.Term, Cols: cols, Rows: rows}
	s.call.cols, s.call.rows = cols, rows
	return true
}

func plainTerm(term string) bool {
	for _, r := range term {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-+._", r)) {
			return false
		}
	}
	return term != "" && len(term) <= maxTerm
}

// windowSize bounds a count from the wire; 0 means that the client does not know.
func windowSize(n uint32, unknown int) int {
	if n == 0 {
		return unknown
	}
	return int(min(n, maxWindow))
}

func (s *session) resize(payload []byte) bool {
	var m struct{ Cols, Rows, Width, Height uint32 }
	if s.call.PTY == nil || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	s.call.mu.Lock()
	s.call.cols, s.call.rows = windowSize(m.Cols, 80), windowSize(m.Rows, 24)
	s.call.mu.Unlock()
	wake(s.call.resized)
	return true
}

func (s *session) setEnv(payload []byte) bool {
	var m struct{ Name, Value string }
	if s.started || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	switch m.Name {
	case "LANG", "TERM", "COLORTERM", "NO_COLOR":
	default:
		if !strings.HasPrefix(m.Name, "LC_") {
			return false
		}
	}
	s.envBytes += len(m.Name) + len(m.Value)
	if s.envBytes > s.call.conn.server.limits.EnvBytes {
		return false
	}
	if s.call.env == nil {
		s.call.env = map[string]string{}
	}
	s.call.env[m.Name] = m.Value
	return true
}

func (s *session) signal(payload []byte) bool {
	var m struct{ Name string }
	if gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	select {
	case s.call.signals <- m.Name:
	default: // nobody reads them: dropped, so that this loop goes on
	}
	return true
}

// command takes the one request of a channel that says what to do. What it
// cannot do is not refused here but told on standard error with an exit
// status: a refused request is no more than "failed on channel 0" to a person.
func (s *session) command(r *gossh.Request) bool {
	var m struct{ Value string }
	if s.started || r.Type != "shell" && gossh.Unmarshal(r.Payload, &m) != nil {
		return false
	}
	s.started = true
	call, server := s.call, s.call.conn.server
	call.Command, call.Shell = m.Value, r.Type == "shell"
	who := call.Identity()
	switch {
	case r.Type == "subsystem" && who.Command != "":
		s.finish(api.Errorf(api.CodeDenied, "%s has one command, and no sftp", who.Name))
		return true
	case r.Type == "subsystem" && m.Value != "sftp":
		s.finish(api.Errorf(api.CodeNoDriver, "there is no subsystem %.64q here: berth takes verbs (try: help), and sftp", m.Value))
		return true
	case len(call.Command) > server.limits.CommandBytes:
		server.counts.commands.Add(1)
		s.finish(api.Errorf(api.CodeLimit, "the command is %d bytes long, and at most %d are taken: send long text on standard input, with - in its place", len(call.Command), server.limits.CommandBytes))
		return true
	case !server.verbs.take(who, server.clock()):
		server.counts.verbs.Add(1)
		s.finish(api.Errorf(api.CodeLimit, "more than %g commands a second from %q: wait a second", server.limits.Verbs, who.Name))
		return true
	}
	if r.Type == "subsystem" {
		call.Subsystem, call.Command = m.Value, ""
		return true
	}
	if who.Command != "" {
		call.Requested, call.Command, call.Shell = call.Command, who.Command, false
	}
	if !call.Shell {
		call.Args = argv(call.Command)
	}
	return true
}

// finish makes a call end with err instead of being served.
func (s *session) finish(err *api.Error) { s.call.refused = err }

// begin serves the call on its own goroutine.
func (s *session) begin() {
	s.begun = true
	s.call.conn.began(s.call)
	go func() {
		defer close(s.call.done)
		defer s.call.conn.ended(s.call)
		defer s.call.stdin.release()
		s.call.exit(s.call.run())
	}()
}

// run is Options.Serve with its panics contained.
func (c *Call) run() (status int) {
	server := c.conn.server
	defer func() {
		if p := recover(); p != nil {
			server.log.Error("a call panicked", "client", c.Client, "panic", p, "stack", string(debug.Stack()))
			c.complain(api.AsError(errors.New("panic")).Message)
			status = api.CodeInternal.Status()
		}
	}()
	if c.refused != nil {
		return c.fail(c.refused)
	}
	status = server.serve(c.ctx, c)
	c.sayEnding()
	if errors.Is(context.Cause(c.ctx), ErrRevoked) {
		status = api.CodeDenied.Status()
	}
	return status
}

// sayEnding tells the client, once, why the server has ended the call.
func (c *Call) sayEnding() {
	if cause := context.Cause(c.ctx); wasEnded(cause) {
		c.saying.Do(func() { c.complain(cause.Error()) })
	}
}

// fail tells err as every verb does: for programs on standard output unless
// there is a terminal, for people on standard error.
func (c *Call) fail(err *api.Error) int {
	if c.PTY == nil {
		if line, e := json.Marshal(map[string]any{"error": err}); e == nil {
			_, _ = c.Stdout.Write(append(line, '\n'))
		}
	}
	c.complain(err.Message)
	return err.Code.Status()
}

// exit ends the channel: all output, then the status, once, then end of file,
// then close. A client that has gone makes each of these an error, and none of
// them matters then.
func (c *Call) exit(status int) {
	_ = c.out.close()
	_, _ = c.channel.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{uint32(status)}))
	_ = c.channel.CloseWrite()
	_ = c.channel.Close()
	c.cancel(io.EOF)
}
