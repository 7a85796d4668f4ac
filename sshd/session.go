package sshd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

// Session is one command, shell or subsystem that a client asked for on a session channel. It is an
// ssh.Session, so that wish's middlewares take it; charm.go has the methods for that. Its exported
// fields don't change. Its methods may be called concurrently.
type Session struct {
	Client    string    // unique during the server's life: c1, c2, ...
	Conn      uint64    // number of the connection it came over
	Requested string    // what the client asked for, if the key's command= replaced it
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
	refused   *api.Error // why the session isn't served
	exiting   sync.Once
	saying    sync.Once
	done      chan struct{} // closed when it has ended, the channel with it
	cancel    context.CancelCauseFunc

	mu         sync.Mutex
	cols, rows int
	breaks     chan<- bool
	unsignal   func()     // ends what Signals began; nil without
	unsent     ssh.Signal // taken from signals and not sent yet; it belongs to what Signals began
}

// Terminal is the client's terminal as it was when the call began.
type Terminal struct {
	Term       string // such as xterm-256color
	Cols, Rows int
}

// Identity is the caller with its current rights: they may be narrowed while a session runs. A process
// inside one of Berth's sessions has that session's current name, because another session may have the
// name from the login by now.
func (s *Session) Identity() keys.Identity {
	id := *s.conn.identity.Load()
	if id.Kind != keys.KindAgent || s.conn.server.agentOf == nil {
		return id
	}
	name, verbs, _ := s.conn.server.agentOf(id.Session)
	id.Name = keys.Agent(id.Session, cmp.Or(name, id.Session), id.PID).Name
	// The login's verbs stay a bound: rightless leaves none.
	id.Verbs = slices.DeleteFunc(slices.Clone(id.Verbs), func(verb string) bool { return !slices.Contains(verbs, verb) })
	return id
}

// CountVerb counts a verb of the caller beyond the one that the session was made for. The error is that there were too
// many in a second.
func (s *Session) CountVerb() error { return s.conn.server.countVerb(s.Identity()) }

func (s *Server) countVerb(who keys.Identity) error {
	if s.verbs.take(who, s.clock()) {
		return nil
	}
	s.counts.verbs.Add(1)
	return api.Errorf(api.CodeLimit, "more than %g commands per second from %q: wait a second", s.limits.Verbs, who.Name)
}

// Window is the current size of the client's terminal; 0, 0 without one.
func (s *Session) Window() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// Resized receives after the window has changed. One value stands for any number of changes; Window
// has the last size.
func (s *Session) Resized() <-chan struct{} { return s.resized }

// Env is the part of the client's environment that is kept: LANG, LC_*, TERM, COLORTERM, NO_COLOR, BERTH_PREFIX.
func (s *Session) Env() map[string]string { return maps.Clone(s.env) }

// Local says whether the session came over the Unix socket.
func (s *Session) Local() bool { return s.conn.local }

// Hangup closes the session's channel, so that a blocked write returns.
func (s *Session) Hangup() { _ = s.channel.Close() } // an error means that it is already closed

// complain writes a message for the person at the other end, in the form of all of Berth's errors.
func (s *Session) complain(message string) {
	end := "\n"
	if s.Terminal != nil {
		end = "\r\n" // the client's terminal is raw
	}
	fmt.Fprintf(s.stderr, "berth: %s%s", message, end)
}
