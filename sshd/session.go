package sshd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"sync"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

// Session is one command, shell or subsystem that a client asked for on one session channel. It is
// an ssh.Session, so that it goes through wish's middlewares; what these ask for is in charm.go.
// Its exported fields do not change. Its methods may be called concurrently.
type Session struct {
	Client    string    // names this call among all of this server's life: c1, c2, ...
	Conn      uint64    // number of the connection it came over
	Requested string    // what the client asked for when the command is its key's command=
	Shell     bool      // the client asked for a shell: no command
	Terminal  *Terminal // nil without one

	Input *Input    // what the client sends
	Stdin io.Reader // Input, for a verb that gathers all of it; it counts against the caller until the call ends

	conn      *connection
	channel   gossh.Channel
	out       *output
	stderr    *errorOutput
	user      string
	command   string
	subsystem string
	stdin     standardInput
	env       map[string]string
	signals   chan ssh.Signal
	windows   chan ssh.Window // for Pty; nil without a terminal
	resized   chan struct{}
	ctx       *sessionContext
	refused   *api.Error // why it is not served
	exiting   sync.Once
	saying    sync.Once
	done      chan struct{} // closed when it has ended, the channel with it
	cancel    context.CancelCauseFunc

	mu         sync.Mutex
	cols, rows int
	breaks     chan<- bool
	unsignal   func() // ends what Signals began; nil without
}

// Terminal is the client's terminal as it was when the call began.
type Terminal struct {
	Term       string // such as xterm-256color
	Cols, Rows int
}

// Identity is the caller with its current rights: a key's rights may be narrowed while a call
// runs. A process inside a session has the session's current name, because another session may
// have got the name that was used at the login.
func (s *Session) Identity() keys.Identity {
	id := *s.conn.identity.Load()
	if id.Kind == keys.KindAgent && s.conn.server.nameOf != nil {
		id.Name = keys.Agent(id.Session, cmp.Or(s.conn.server.nameOf(id.Session), id.Session), id.PID).Name
	}
	return id
}

// Window is the present size of the client's terminal; 0, 0 without one.
func (s *Session) Window() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// Resized receives after the window has changed; one value stands for any
// number of changes, and Window has the last.
func (s *Session) Resized() <-chan struct{} { return s.resized }

// Env is what is kept of the client's environment: LANG, LC_*, TERM, COLORTERM, NO_COLOR.
func (s *Session) Env() map[string]string { return maps.Clone(s.env) }

// Local reports whether the call came over the Unix socket.
func (s *Session) Local() bool { return s.conn.local }

// Hangup closes the call's channel, so that a write which its client does not
// take returns.
func (s *Session) Hangup() { _ = s.channel.Close() } // closed already is as good

// complain writes a message for the person at the other end, as every failure
// of Berth is written.
func (s *Session) complain(message string) {
	end := "\n"
	if s.Terminal != nil {
		end = "\r\n" // the client's terminal is raw
	}
	fmt.Fprintf(s.stderr, "berth: %s%s", message, end)
}
