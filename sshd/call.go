package sshd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"sync"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

// Call is one command or shell that a client asked for on one session channel.
// Its exported fields do not change. Its methods may be called concurrently.
type Call struct {
	Client    string   // names this call among all of this server's life: c1, c2, ...
	Conn      uint64   // number of the connection it came over
	User      string   // SSH user name; grants nothing
	Command   string   // the command line, byte for byte; a key's command= when it has one
	Args      []string // the command line when it came as a JSON array of strings, else nil
	Requested string   // what the client asked for when Command is its key's command=
	Shell     bool     // the client asked for a shell: no command
	Subsystem string   // sftp, or empty: what the client asked for in place of a command
	PTY       *PTY     // nil without a terminal

	Input  *Input    // what the client sends
	Stdin  io.Reader // Input, for a verb that gathers all of it; it counts against the caller until the call ends
	Stdout io.Writer // straight to the channel: line ends are left alone
	Stderr io.Writer

	conn    *connection
	channel gossh.Channel
	out     *output
	stdin   standardInput
	env     map[string]string
	signals chan string
	resized chan struct{}
	ctx     context.Context
	refused *api.Error // why it is not served
	saying  sync.Once
	done    chan struct{} // closed when it has ended, the channel with it
	cancel  context.CancelCauseFunc

	mu         sync.Mutex
	cols, rows int
}

// PTY is the client's terminal as it was when the call began.
type PTY struct {
	Term       string // such as xterm-256color
	Cols, Rows int
}

// Identity is the caller with its current rights: a key's rights may be narrowed while a call
// runs. A process inside a session has the session's current name, because another session may
// have got the name that was used at the login.
func (c *Call) Identity() keys.Identity {
	id := *c.conn.identity.Load()
	if id.Kind == keys.KindAgent && c.conn.server.nameOf != nil {
		id.Name = keys.Agent(id.Session, cmp.Or(c.conn.server.nameOf(id.Session), id.Session), id.PID).Name
	}
	return id
}

// Window is the present size of the client's terminal; 0, 0 without one.
func (c *Call) Window() (cols, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cols, c.rows
}

// Resized receives after the window has changed; one value stands for any
// number of changes, and Window has the last.
func (c *Call) Resized() <-chan struct{} { return c.resized }

// Signals receives what the client sends by name, such as INT. At most 16 wait
// to be read; what comes on top of that is dropped.
func (c *Call) Signals() <-chan string { return c.signals }

// Env is what is kept of the client's environment: LANG, LC_*, TERM, COLORTERM, NO_COLOR.
func (c *Call) Env() map[string]string { return maps.Clone(c.env) }

// RemoteAddr is where the client is.
func (c *Call) RemoteAddr() net.Addr { return c.conn.wire.RemoteAddr() }

// Local reports whether the call came over the Unix socket.
func (c *Call) Local() bool { return c.conn.local }

// Flush waits until all that was written to Stdout has gone to the connection.
func (c *Call) Flush() error { return c.out.Flush() }

// argv reads a command line that is a JSON array of strings: how Berth's own
// client hands over words that no shell may take apart again.
func argv(command string) []string {
	if !strings.HasPrefix(command, "[") {
		return nil
	}
	var list []*string // null is no string
	if json.Unmarshal([]byte(command), &list) != nil {
		return nil
	}
	words := make([]string, len(list))
	for i, word := range list {
		if word == nil {
			return nil
		}
		words[i] = *word
	}
	return words
}

// complain writes a message for the person at the other end, as every failure
// of Berth is written.
func (c *Call) complain(message string) {
	end := "\n"
	if c.PTY != nil {
		end = "\r\n" // the client's terminal is raw
	}
	fmt.Fprintf(c.Stderr, "berth: %s%s", message, end)
}
