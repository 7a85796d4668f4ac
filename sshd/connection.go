package sshd

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// connection is one client's connection, from accept to end.
type connection struct {
	server *Server
	id     uint64
	wire   *wire
	local  bool          // came over the Unix socket
	peer   keys.Identity // of the process there

	carried *carried  // came by a carrier; see Carry
	since   time.Time // when it did

	establishing sync.Once
	user         string
	key          gossh.PublicKey // the proven key; nil on the Unix socket
	refused      error           // why establish failed
	identity     atomic.Pointer[keys.Identity]

	tries  int     // keys refused in this handshake, whose goroutine owns it
	failed error   // why the handshake failed, owned likewise
	denied error   // why a proven key wasn't admitted, owned likewise
	caller *caller // over TCP, once a key is proven: of the handshake, then of establish

	proven  atomic.Pointer[proof] // set in the handshake; establish checks it again
	telling sync.Once             // whether the login or its refusal was reported

	mu      sync.Mutex
	offered []string // fingerprints, proven or not
	offerer string   // the user name with them
	closed  bool     // no channel opens after this
	open    int      // channels
	opening int      // channels to be accepted or refused
	inputs  map[*Input]struct{}
	calls   map[*Session]struct{}
	ending  error // once set: why all sessions end
	expiry  *time.Timer

	workers sync.WaitGroup // channels and the watch for signs of life
	stop    chan struct{}  // closed when the handshake failed or the connection ended
}

// proof is what a client has proven in its handshake.
type proof struct {
	key  gossh.PublicKey
	id   keys.Identity // the identity at that time
	user string
}

func (s *Server) newConnection(w *wire, local bool) *connection {
	c := &connection{server: s, id: s.connections.Add(1), wire: w, local: local,
		calls: map[*Session]struct{}{}, inputs: map[*Input]struct{}{}, stop: make(chan struct{})}
	w.sweep, w.exceed, w.less = c.readAll, c.endUnread, make(chan struct{}, 1)
	return c
}

// serve runs the connection to its end, and returns when all its goroutines have ended.
func (c *connection) serve() {
	c.server.ssh.HandleConn(accepted{c.wire, c})
	c.finish()
}

func (c *connection) finish() {
	_ = c.wire.Close()
	c.server.startups.remove(c)
	c.mu.Lock()
	c.closed = true
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.mu.Unlock()
	close(c.stop)
	c.workers.Wait()
	c.unshare()
	if c.failed != nil {
		c.tellRefused(cmp.Or(c.refused, c.denied, c.failed))
		return
	}
	c.establishing.Do(c.tellUnused) // nothing else does any more
}

// refuseChannel refuses all channels but sessions: Berth forwards nothing.
func (c *connection) refuseChannel(offered gossh.NewChannel) {
	if !c.answering() {
		return
	}
	defer c.answered()
	switch offered.ChannelType() {
	case "direct-tcpip", "direct-streamlocal@openssh.com", "forwarded-tcpip", "x11", "auth-agent@openssh.com", "tun@openssh.com":
		_ = offered.Reject(gossh.Prohibited, "berth forwards nothing")
	default:
		_ = offered.Reject(gossh.UnknownChannelType, "berth only accepts session channels")
	}
}

// globalRequest refuses every request: forwarding, and unknown ones. A refusal also answers a
// client's keepalive.
func (c *connection) globalRequest(conn *gossh.ServerConn, r *gossh.Request) {
	if c.establish(conn) != nil {
		_ = c.wire.Close()
	}
	// Answer here and not in the caller, so that requests that arrive while the answer waits are
	// counted.
	c.wire.begin()
	_ = r.Reply(false, nil) // an error is the connection's end
	c.wire.backlog.end()
	r.WantReply = false
}

func (c *connection) refuse(offered gossh.NewChannel, err error) {
	_ = offered.Reject(gossh.Prohibited, "berth: "+err.Error())
	_ = c.wire.Close()
}

// offer records the keys that a client offers, for the log.
func (c *connection) offer(user, fingerprint string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offerer = user[:min(len(user), maxUser)]
	if len(c.offered) < maxOffered {
		c.offered = append(c.offered, fingerprint)
	}
}

// enter counts a channel in, or returns why it may not open.
func (c *connection) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.ending != nil {
		return ErrConnectionLost
	}
	if c.open >= c.server.limits.Channels {
		return fmt.Errorf("a connection can have at most %d channels open", c.server.limits.Channels)
	}
	if err := c.wire.owner().openChannel(); err != nil {
		return err
	}
	c.open++
	c.workers.Add(1)
	return nil
}

func (c *connection) leave() {
	c.mu.Lock()
	c.open--
	c.mu.Unlock()
	c.wire.owner().channels.Add(-1)
	c.workers.Done()
}

// answering counts a channel that waits to be accepted or refused. It returns false if too many
// wait, because the client doesn't read the answers; the connection then ends.
func (c *connection) answering() bool {
	c.wire.begin()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening++
	if c.opening > c.server.limits.Channels+openingMost {
		_ = c.wire.Close()
		return false
	}
	return true
}

func (c *connection) answered() {
	c.mu.Lock()
	c.opening--
	c.mu.Unlock()
	c.wire.backlog.end()
}

// forget removes the input of a closed channel.
func (c *connection) forget(in *Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inputs, in)
}

// readAll reads the input of all channels, also of those without a reader.
func (c *connection) readAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for in := range c.inputs {
		in.readAll()
	}
}

// endUnread ends a connection that has sent more than its caller's share allows.
func (c *connection) endUnread() {
	c.server.counts.unread.Add(1)
	name := c.peer.Name
	if id := c.identity.Load(); id != nil {
		name = id.Name
	}
	c.server.log.Warn("connection ended", "conn", c.id, "source", c.source(), "identity", name, "error", ErrUnread)
	c.end(ErrUnread)
}

func (c *connection) began(call *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call] = struct{}{}
	if c.ending != nil {
		call.cancel(c.ending)
	}
}

func (c *connection) ended(call *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, call)
}

// running is how many sessions are running.
func (c *connection) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}
