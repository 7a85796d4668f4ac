package sshd

import (
	"strings"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
)

// Bounds on the size of a client's terminal. The emulator allocates by these numbers.
const (
	maxWindow = 1000
	maxTerm   = 64
)

// requests is the request loop of a session channel. Its goroutine never waits for the handler: a
// waiting request loop stalls every channel of the connection.
type requests struct {
	session  *Session
	rate     *bucket
	envBytes int
	started  bool
	begun    bool
}

func (r *requests) serve(incoming <-chan *gossh.Request) {
	s := r.session
	backlog := &s.conn.wire.backlog
	for request := range incoming {
		backlog.begin()
		ok := r.handle(request)
		backlog.passed(len(request.Payload))
		_ = request.Reply(ok, nil) // an error here is the channel's end, which closes incoming
		backlog.end()
		if ok && startsCall(request.Type) {
			r.begun = true
			s.begin()
		}
	}
	s.conn.forget(s.Input)
	cause := ErrChannelClosed
	if s.conn.wire.gone() {
		cause = ErrConnectionLost
	}
	s.cancel(cause)
	if s.windows != nil {
		close(s.windows)
	}
	if r.begun {
		<-s.done
	} else {
		_ = s.out.close()
	}
	s.Input.pumping.Wait()
	s.Input.drop()
}

func startsCall(request string) bool {
	return request == "exec" || request == "shell" || request == "subsystem"
}

// handle answers one request. Requests beyond the rate are refused, except window changes: they are
// cheap, and the last one must not be lost.
func (r *requests) handle(request *gossh.Request) bool {
	if request.Type == "window-change" {
		return r.resize(request.Payload)
	}
	if !r.rate.take(r.session.conn.server.clock()) {
		return false
	}
	switch request.Type {
	case "pty-req":
		return r.openPTY(request.Payload)
	case "env":
		return r.setEnv(request.Payload)
	case "signal":
		return r.signal(request.Payload)
	case "break":
		return r.session.interrupt()
	case "exec", "shell", "subsystem":
		return r.command(request)
	case "eow@openssh.com": // end of write: no one reads our output after this
		r.session.cancel(ErrChannelClosed)
		return true
	}
	// Among others auth-agent-req@openssh.com and x11-req: nothing is forwarded.
	return false
}

func (r *requests) openPTY(payload []byte) bool {
	var m struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	s := r.session
	if r.started || s.Terminal != nil || s.Identity().NoPTY || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	if !plainTerm(m.Term) {
		m.Term = "vt100"
	}
	cols, rows := windowSize(m.Cols, 80), windowSize(m.Rows, 24)
	s.Terminal = &Terminal{Term: m.Term, Cols: cols, Rows: rows}
	s.windows = make(chan ssh.Window, 1)
	s.resize(cols, rows)
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

// windowSize bounds a number from the wire; 0 means that the client doesn't know.
func windowSize(n uint32, unknown int) int {
	if n == 0 {
		return unknown
	}
	return int(min(n, maxWindow))
}

func (r *requests) resize(payload []byte) bool {
	var m struct{ Cols, Rows, Width, Height uint32 }
	if r.session.Terminal == nil || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	r.session.resize(windowSize(m.Cols, 80), windowSize(m.Rows, 24))
	wake(r.session.resized)
	return true
}

// resize stores the terminal's size. It replaces a size that wasn't read: only the request loop
// sends, so there is room afterwards.
func (s *Session) resize(cols, rows int) {
	s.mu.Lock()
	s.cols, s.rows = cols, rows
	s.mu.Unlock()
	select {
	case <-s.windows:
	default:
	}
	s.windows <- ssh.Window{Width: cols, Height: rows}
}

func (r *requests) setEnv(payload []byte) bool {
	var m struct{ Name, Value string }
	if r.started || gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	switch m.Name {
	case "LANG", "TERM", "COLORTERM", "NO_COLOR", "BERTH_PREFIX":
	default:
		if !strings.HasPrefix(m.Name, "LC_") {
			return false
		}
	}
	r.envBytes += len(m.Name) + len(m.Value)
	if r.envBytes > r.session.conn.server.limits.EnvBytes {
		return false
	}
	if r.session.env == nil {
		r.session.env = map[string]string{}
	}
	r.session.env[m.Name] = m.Value
	return true
}

func (r *requests) signal(payload []byte) bool {
	var m struct{ Name string }
	if gossh.Unmarshal(payload, &m) != nil {
		return false
	}
	select {
	case r.session.signals <- ssh.Signal(m.Name):
	default: // no reader: dropped, so that this loop continues
	}
	return true
}

// interrupt passes a break on if the handler wants it.
func (s *Session) interrupt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.breaks <- true:
		return true
	default:
		return false
	}
}

// command handles the one request of a channel that says what to run. An impossible request isn't
// refused here but reported on standard error with an exit status, because a person would see a
// refusal only as "failed on channel 0".
func (r *requests) command(request *gossh.Request) bool {
	var m struct{ Value string }
	if r.started || request.Type != "shell" && gossh.Unmarshal(request.Payload, &m) != nil {
		return false
	}
	r.started = true
	s, server := r.session, r.session.conn.server
	s.command, s.Shell = m.Value, request.Type == "shell"
	who := s.Identity()
	switch {
	case request.Type == "subsystem" && who.Command != "":
		r.finish(api.Errorf(api.CodeDenied, "%s may only run its forced command, not sftp", who.Name))
		return true
	case request.Type == "subsystem" && m.Value != "sftp":
		r.finish(api.Errorf(api.CodeNoDriver, "unknown subsystem %.64q: berth has verbs (see help) and sftp", m.Value))
		return true
	case len(s.command) > server.limits.CommandBytes:
		server.counts.commands.Add(1)
		r.finish(api.Errorf(api.CodeLimit, "the command is %d bytes long: the limit is %d. Send long text on standard input, with - in its place", len(s.command), server.limits.CommandBytes))
		return true
	}
	if err := server.countVerb(who); err != nil {
		r.finish(api.AsError(err))
		return true
	}
	if request.Type == "subsystem" {
		s.subsystem, s.command = m.Value, ""
		return true
	}
	if who.Command != "" {
		s.Requested, s.command, s.Shell = s.command, who.Command, false
	}
	return true
}

// finish makes a session end with err instead of being served.
func (r *requests) finish(err *api.Error) { r.session.refused = err }
