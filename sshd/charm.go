package sshd

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/commands/words"
)

// A Session works wherever charm.land/ssh and wish expect one.
var _ ssh.Session = (*Session)(nil)

// Of returns the Session within an ssh.Session, also if a middleware has wrapped it.
func Of(s ssh.Session) *Session { return s.Context().Value(ssh.ContextKeySession).(*Session) }

// Context ends with the session; context.Cause says why. Values set on it belong to this session.
func (s *Session) Context() ssh.Context { return s.ctx }

// User is the SSH user name; it grants nothing.
func (s *Session) User() string { return s.user }

// RemoteAddr is the client's address.
func (s *Session) RemoteAddr() net.Addr { return s.conn.wire.RemoteAddr() }

// LocalAddr is the server address that the client connected to.
func (s *Session) LocalAddr() net.Addr { return s.conn.wire.LocalAddr() }

// PublicKey is the key that the client has proven; nil if it came over the Unix socket without one.
func (s *Session) PublicKey() ssh.PublicKey { return s.conn.key }

// Permissions are those of the handshake. They say which key was proven and grant nothing: Identity
// has the rights.
func (s *Session) Permissions() ssh.Permissions { return *s.ctx.Permissions() }

// RawCommand is the command line, byte for byte; a key's command= when it has one.
func (s *Session) RawCommand() string { return s.command }

// Command is the command line's words, as the verbs read them. A line with an open quote is one
// word, because a session without words would count as a shell.
func (s *Session) Command() []string {
	list, err := words.Words(s.command)
	if err != nil {
		return []string{s.command}
	}
	return list
}

// Subsystem is sftp, or empty: a request other than a command.
func (s *Session) Subsystem() string { return s.subsystem }

// Environ is Env as NAME=value, sorted by name.
func (s *Session) Environ() []string {
	list := make([]string, 0, len(s.env))
	for name, value := range s.env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// Pty is the client's terminal with its current size, and a channel with later sizes. The channel
// keeps only the last size: one that kept all of them would stall the connection when no goroutine
// reads it. It is closed after the session's context has ended. The client's terminal modes aren't
// kept.
func (s *Session) Pty() (ssh.Pty, <-chan ssh.Window, bool) {
	if s.Terminal == nil {
		return ssh.Pty{}, nil, false
	}
	cols, rows := s.Window()
	return ssh.Pty{Term: s.Terminal.Term, Window: ssh.Window{Width: cols, Height: rows}}, s.windows, true
}

// EmulatedPty says that the kernel has no PTY for this session. Unlike charm.land/ssh's, such a
// session doesn't change line ends.
func (s *Session) EmulatedPty() bool { return s.Terminal != nil }

// maxSignals is how many unread signals are kept; later ones are dropped.
const maxSignals = 16

// Signals sends the client's signals, such as INT, to c, starting with the kept ones. nil stops
// that.
func (s *Session) Signals(c chan<- ssh.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsignal != nil {
		s.unsignal()
		s.unsignal = nil
	}
	if c == nil {
		return
	}
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	s.unsignal = func() { // it takes no signal after this
		stop()
		<-ended
	}
	go func() { // until the session ends, or Signals is called again
		defer close(ended)
		for ctx.Err() == nil {
			if s.unsent == "" {
				select {
				case s.unsent = <-s.signals:
				case <-ctx.Done():
					return
				}
			}
			select {
			case c <- s.unsent:
				s.unsent = ""
			case <-ctx.Done(): // the next call's channel gets it
			}
		}
	}()
}

// Break sends the client's break requests to c if it has room. nil stops that.
func (s *Session) Break(c chan<- bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = c
}

// Read reads Input.
func (s *Session) Read(p []byte) (int, error) { return s.Input.Read(p) }

// Write writes to the client's channel and doesn't change line ends.
func (s *Session) Write(p []byte) (int, error) { return s.out.Write(p) }

// TryWrite is a Write that doesn't wait: it takes all of p or nothing.
func (s *Session) TryWrite(p []byte) bool { return s.out.TryWrite(p) }

// Flush waits until all output has gone to the connection.
func (s *Session) Flush() error { return s.out.Flush() }

// Stderr is the client's standard error. It has nothing to read: extended data from a client has no
// meaning and is dropped.
func (s *Session) Stderr() io.ReadWriter { return s.stderr }

// SendRequest sends a request to the client, after all earlier output.
func (s *Session) SendRequest(name string, wantReply bool, payload []byte) (bool, error) {
	if err := s.Flush(); err != nil {
		return false, err
	}
	return s.channel.SendRequest(name, wantReply, payload)
}

// CloseWrite sends end of file, after all earlier output.
func (s *Session) CloseWrite() error {
	return errors.Join(s.Flush(), s.channel.CloseWrite())
}

// Close closes the channel, so that a blocked write returns.
func (s *Session) Close() error { return s.channel.Close() }

var errExited = errors.New("the session has its exit status already")

// Exit ends the session: it sends the reason if the server ended it, all output, the exit status
// (once), end of file, and close. The status is a different one if the caller's access has ended. If
// the client is gone, each of these fails, and no failure matters.
func (s *Session) Exit(status int) error {
	err := errExited
	s.exiting.Do(func() {
		s.sayEnding()
		if errors.Is(context.Cause(s.ctx), ErrRevoked) {
			status = api.CodeDenied.Status()
		}
		_ = s.out.close()
		_, err = s.channel.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{uint32(status)}))
		_ = s.channel.CloseWrite()
		_ = s.channel.Close()
		s.cancel(io.EOF)
	})
	return err
}
