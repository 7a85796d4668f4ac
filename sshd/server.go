package sshd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	ssh "charm.land/ssh"

	"berth/keys"
	"berth/sessions/hold"
)

// Server listens and serves. Make it with New.
type Server struct {
	ssh     *ssh.Server // takes each connection apart
	keys    KeySource
	limits  Limits
	local   keys.Role
	holders func() []HolderProcess
	agentOf func(session string) (name string, verbs []string, ok bool)
	log     *slog.Logger
	audit   func(Login)
	clock   func() time.Time

	startups    *startups
	penalties   *penalties
	shares      *shares
	verbs       *rates
	logins      *rates
	refusals    refusals
	counts      counts
	connections atomic.Uint64
	clients     atomic.Uint64

	tcp  []net.Listener
	unix *net.UnixListener

	mu       sync.Mutex
	others   map[string]*net.UnixListener // of other users, by path; see Admit
	carried  map[*carried]struct{}        // see Carry
	forward  *Forward
	forwards forwards
	serving  bool
	stopping bool
	live     map[*connection]struct{}
	stop     chan struct{} // closed when stopping
	running  sync.WaitGroup
}

// New checks o and opens its listeners. It refuses to listen on TCP if no key may log in, with
// ErrNoKeys. The caller then calls Serve or Shutdown.
func New(o Options) (*Server, error) {
	switch {
	case o.Handler == nil:
		return nil, errors.New("sshd: Options.Handler is missing")
	case len(o.HostKeys) == 0:
		return nil, errors.New("sshd: no host key")
	case len(o.Listen) == 0 && o.Socket == "":
		return nil, errors.New("sshd: no address to listen on")
	case len(o.Listen) > 0 && noKeys(o.Keys):
		return nil, ErrNoKeys
	}
	if err := hold.Remember(); err != nil {
		return nil, fmt.Errorf("sshd: %w", err)
	}
	s := &Server{
		keys: o.Keys, limits: o.Limits.withDefaults(), local: o.Local,
		holders: o.Holders, agentOf: o.AgentOf, forward: o.Forward, log: o.Log, audit: o.Audit, clock: o.Now,
		live: map[*connection]struct{}{}, others: map[string]*net.UnixListener{}, carried: map[*carried]struct{}{}, stop: make(chan struct{}),
	}
	s.ssh = newSSHServer(o.Handler, o.HostKeys, s.limits.LoginGrace)
	if s.holders == nil {
		s.holders = func() []HolderProcess { return nil }
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.audit == nil {
		s.audit = func(Login) {}
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.startups = newStartups(s.limits.Startups, s.limits.StartupsPerSource)
	s.penalties = newPenalties(s.limits.Penalties)
	s.shares = newShares(s.limits)
	s.logins = newRates(s.limits.Logins)
	s.verbs = newRates(s.limits.Verbs)
	s.refusals.lines = newRates(refusalLines)
	if err := s.listen(o); err != nil {
		s.closeListeners()
		return nil, err
	}
	return s, nil
}

func noKeys(k KeySource) bool {
	if k == nil {
		return true
	}
	e, ok := k.(interface{ Empty() bool })
	return ok && e.Empty()
}

func (s *Server) listen(o Options) error {
	config := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{
		// For connections that never open a channel; the others are asked by
		// keepAlive. Dead after 30 + 4 * 15 s.
		Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 4,
	}}
	// With multipath TCP we would always see the first path's address. After that path has ended,
	// another process can have the address.
	config.SetMultipathTCP(false)
	for _, address := range o.Listen {
		l, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", address, err)
		}
		s.tcp = append(s.tcp, l)
	}
	if o.Socket != "" {
		l, err := listenUnix(o.Socket)
		if err != nil {
			return err
		}
		s.unix = l
	}
	return nil
}

// Addr is the first TCP address that it listens on; nil if there is none.
func (s *Server) Addr() net.Addr {
	if len(s.tcp) == 0 {
		return nil
	}
	return s.tcp[0].Addr()
}

// Addrs are all TCP addresses that it listens on.
func (s *Server) Addrs() []net.Addr {
	out := make([]net.Addr, len(s.tcp))
	for i, l := range s.tcp {
		out[i] = l.Addr()
	}
	return out
}

// shutdownTime is how long Serve lets sessions run when its context ends.
const shutdownTime = time.Second

// Serve serves until ctx ends or Shutdown is called, and returns when all its goroutines have ended.
// The error is that of a failed listener.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return net.ErrClosed
	}
	failed := make(chan error, len(s.tcp)+1)
	for _, l := range s.tcp {
		s.running.Go(func() { failed <- s.accept(l, s.admitTCP) })
	}
	if s.unix != nil {
		s.running.Go(func() { failed <- s.accept(s.unix, s.admitUnix) })
	}
	s.serving = true
	for _, l := range s.others {
		s.acceptOther(l)
	}
	for c := range s.carried {
		s.acceptCarried(c)
	}
	s.running.Go(s.rounds)
	s.mu.Unlock()

	var err error
	select {
	case <-ctx.Done():
	case <-s.stop:
	case err = <-failed:
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	_ = s.Shutdown(grace)
	s.running.Wait()
	return err
}

// accept admits connections until the listener is closed; then it returns nil. When the process is out
// of file descriptors it tries again.
func (s *Server) accept(l net.Listener, admit func(net.Conn)) error {
	pause := time.Duration(0)
	for {
		conn, err := l.Accept()
		if err == nil {
			pause = 0
			admit(conn)
			continue
		}
		select {
		case <-s.stop:
			return nil
		default:
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.log.Warn("accept failed", "listener", l.Addr(), "error", err, "again_in", pause)
		select {
		case <-time.After(pause):
		case <-s.stop:
			return nil
		}
	}
}

func (s *Server) admitTCP(conn net.Conn) {
	now := time.Now()
	if s.penalties.refuses(conn.RemoteAddr(), now) {
		s.counts.penalized.Add(1)
		s.log.Debug("connection refused after too many failed logins", "source", conn.RemoteAddr())
		_ = conn.Close()
		return
	}
	c := s.newConnection(newWire(conn), false)
	if victim := s.startups.add(c, sourceOf(conn.RemoteAddr()), now); victim != nil {
		s.counts.dropped.Add(1)
		_ = victim.wire.Close()
	}
	s.run(c)
}

// run starts c's goroutine, unless there are too many connections or the server is stopping.
func (s *Server) run(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping || len(s.live) >= s.limits.Connections {
		s.counts.full.Add(1)
		s.logRefusal(c, "connection refused", "connections", len(s.live), "stopping", s.stopping)
		_ = c.wire.Close()
		s.startups.remove(c)
		c.unshare()
		return
	}
	s.live[c] = struct{}{}
	s.running.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.live, c)
		s.mu.Unlock()
	})
}

func (s *Server) snapshot() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*connection, 0, len(s.live))
	for c := range s.live {
		out = append(out, c)
	}
	return out
}

// roundTime is how often all rights are reviewed without a cause, because timers don't count the time
// while a machine is suspended.
const roundTime = 15 * time.Second

// Review checks the rights of all connections again. The caller calls it after a change that no key
// source reports: of what AgentOf returns.
func (s *Server) Review() {
	for _, c := range s.snapshot() {
		c.review()
	}
}

// rounds reviews the rights of all connections: after each change of the keys, and every roundTime.
func (s *Server) rounds() {
	changed := func() <-chan struct{} { return nil }
	if s.keys != nil {
		changed = s.keys.Changed
	}
	tick := time.NewTicker(roundTime)
	defer tick.Stop()
	for {
		next := changed()
		s.Review()
		select {
		case <-s.stop:
			return
		case <-next:
		case <-tick.C:
			if n := s.startups.takeDropped(); n > 0 {
				s.log.Warn("too many connections that haven't logged in; older ones were closed", "closed", n)
			}
			s.reportRefusals()
		}
	}
}

// shutdownHead is the first part of a shutdown. Sessions keep running during it, so that a verb that
// is nearly done can finish.
const shutdownHead = 300 * time.Millisecond

// Shutdown stops listening, lets sessions run for a moment, ends their contexts with ErrShutdown, and
// closes everything when all have returned or ctx ends. In the latter case it returns ctx's error.
// Connections without a session are closed at once. It may be called more than once, and
// concurrently with Serve.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopping {
		s.stopping = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.closeListeners()
	for _, c := range s.snapshot() {
		if c.running() == 0 {
			_ = c.wire.Close()
		}
	}
	gone := make(chan struct{})
	go func() {
		s.running.Wait()
		close(gone)
	}()
	head := time.NewTimer(shutdownHead)
	defer head.Stop()
	select {
	case <-gone:
		return nil
	case <-head.C:
	case <-ctx.Done():
	}
	for _, c := range s.snapshot() {
		c.end(ErrShutdown)
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.snapshot() {
		_ = c.wire.Close()
	}
	return ctx.Err()
}

func (s *Server) closeListeners() {
	for _, l := range s.tcp {
		_ = l.Close()
	}
	if s.unix != nil {
		_ = s.unix.Close() // removes the socket
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.others {
		_ = l.Close()
	}
	for c := range s.carried {
		_ = c.listener.Close()
	}
}
