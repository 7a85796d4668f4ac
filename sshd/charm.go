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

// A Session goes wherever charm.land/ssh and wish take one.
var _ ssh.Session = (*Session)(nil)

// Of gives the Session that a middleware has been given, also if another middleware has wrapped it.
func Of(s ssh.Session) *Session { return s.Context().Value(ssh.ContextKeySession).(*Session) }

// Context ends with the session; context.Cause says why. What is set on it is the session's alone.
func (s *Session) Context() ssh.Context { return s.ctx }

// User is the SSH user name; it grants nothing.
func (s *Session) User() string { return s.user }

// RemoteAddr is where the client is.
func (s *Session) RemoteAddr() net.Addr { return s.conn.wire.RemoteAddr() }

// LocalAddr is where the client has reached the server.
func (s *Session) LocalAddr() net.Addr { return s.conn.wire.LocalAddr() }

// PublicKey is the key that the client has proven; nil if it came over the Unix socket without one.
func (s *Session) PublicKey() ssh.PublicKey { return s.conn.key }

// Permissions are those of the handshake. They say which key was proven and grant nothing: rights
// are Identity's.
func (s *Session) Permissions() ssh.Permissions { return *s.ctx.Permissions() }

// RawCommand is the command line, byte for byte; a key's command= when it has one.
func (s *Session) RawCommand() string { return s.command }

// Command is the command line's words, as the verbs read them. A line with an open quote is one
// word: without words it would be taken for a shell.
func (s *Session) Command() []string {
	list, err := words.Words(s.command)
	if err != nil {
		return []string{s.command}
	}
	return list
}

// Subsystem is sftp, or empty: what the client asked for in place of a command.
func (s *Session) Subsystem() string { return s.subsystem }

// Environ is Env as NAME=value, in order of the names.
func (s *Session) Environ() []string {
	list := make([]string, 0, len(s.env))
	for name, value := range s.env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// Pty is the client's terminal with its present size, and its sizes to come. Only the last size
// waits to be read: a channel that keeps all of them would stall the connection when nothing reads
// it. The channel is closed after the session's context has ended. The client's terminal modes are
// not kept.
func (s *Session) Pty() (ssh.Pty, <-chan ssh.Window, bool) {
	if s.Terminal == nil {
		return ssh.Pty{}, nil, false
	}
	cols, rows := s.Window()
	return ssh.Pty{Term: s.Terminal.Term, Window: ssh.Window{Width: cols, Height: rows}}, s.windows, true
}

// EmulatedPty says that the terminal is the client's alone: there is no PTY of the kernel. Unlike
// that of charm.land/ssh, a session with such a terminal leaves line ends alone.
func (s *Session) EmulatedPty() bool { return s.Terminal != nil }

// maxSignals is how many signals wait to be read. What comes on top of that is dropped.
const maxSignals = 16

// Signals has the signals that the client sends, such as INT, go to c, those first that wait. nil
// ends that.
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
	s.unsignal = stop
	go func() { // until the session ends, or Signals is called again
		for {
			select {
			case signal := <-s.signals:
				select {
				case c <- signal:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// Break has a break of the client's go to c, if there is room in it. nil ends that.
func (s *Session) Break(c chan<- bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = c
}

// Read reads Input.
func (s *Session) Read(p []byte) (int, error) { return s.Input.Read(p) }

// Write writes to the client, straight to the channel: line ends are left alone.
func (s *Session) Write(p []byte) (int, error) { return s.out.Write(p) }

// TryWrite is Write that does not wait: all of p is taken, or nothing of it.
func (s *Session) TryWrite(p []byte) bool { return s.out.TryWrite(p) }

// Flush waits until all that was written has gone to the connection.
func (s *Session) Flush() error { return s.out.Flush() }

// Stderr is the client's standard error. It has nothing to read: what a client sends aside has no
// meaning, and is thrown away.
func (s *Session) Stderr() io.ReadWriter { return s.stderr }

// SendRequest sends a request to the client, after what was written.
func (s *Session) SendRequest(name string, wantReply bool, payload []byte) (bool, error) {
	if err := s.Flush(); err != nil {
		return false, err
	}
	return s.channel.SendRequest(name, wantReply, payload)
}

// CloseWrite says that nothing more is written, after what was.
func (s *Session) CloseWrite() error {
	return errors.Join(s.Flush(), s.channel.CloseWrite())
}

// Close closes the channel, so that a write which its client does not take returns.
func (s *Session) Close() error { return s.channel.Close() }

var errExited = errors.New("the session has its exit status already")

// Exit ends the session: why the server ended it, if so; all output; then the status, once; then
// end of file; then close. The status is another one if the caller's access has ended. A client that
// has gone makes each of these an error, and none of them matters then.
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
