package sshd

import (
	"errors"
	"log/slog"
	"net"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// Options configures a Server. Keys is needed for Listen; HostKeys and Handler are always needed.
type Options struct {
	Listen   []string // TCP addresses such as 127.0.0.1:2222; port 0 picks one
	Socket   string   // path of the Unix socket; empty for none
	HostKeys []gossh.Signer
	Keys     KeySource
	Limits   Limits
	Local    keys.Role // role of callers on the socket outside of sessions; None makes them prove a key

	// Handler serves one command, shell or subsystem, a *Session, and ends it by its Exit. It is called
	// on its own goroutine and must return soon after the session's context ends; context.Cause says
	// why. It must contain its own panics: see Recover.
	Handler ssh.Handler

	// Holders lists the living holders. It is called for each connection from this machine and must be
	// quick. It may be nil.
	Holders func() []HolderProcess
	// AgentOf returns a session's current name, and the verbs that its processes may use now in addition
	// to those that all may; ok is false if the session is gone. They count over older connections too. If
	// nil, neither changes.
	AgentOf func(session string) (name string, verbs []string, ok bool)

	// Forward reaches a fleet's hosts end to end; nil: nothing is forwarded.
	Forward *Forward

	Log   *slog.Logger     // nil is slog.Default()
	Audit func(Login)      // called for each accepted and refused login, concurrently; may be nil
	Now   func() time.Time // wall clock for key expiry and audit; nil is time.Now
}

// KeySource says whom a key belongs to. Its methods are called concurrently.
type KeySource interface {
	// Lookup returns the identity of a key used from remote at the time now, or why the key isn't
	// admitted. The error's text may be logged and audited, and is shown to the client only after it
	// has proven the key.
	Lookup(key gossh.PublicKey, remote net.Addr, now time.Time) (keys.Identity, error)
	// Changed is closed when the answers of Lookup change. The server calls it again before the next
	// Lookups. It may be nil.
	Changed() <-chan struct{}

	// A source may also have Empty() bool. If that returns true, New fails.
}

// StoreKeys is a keys.Store as a KeySource.
func StoreKeys(s *keys.Store) KeySource { return storeKeys{s} }

type storeKeys struct{ *keys.Store }

func (s storeKeys) Lookup(key gossh.PublicKey, remote net.Addr, now time.Time) (keys.Identity, error) {
	return s.Current().Lookup(key, remote, now)
}

// HolderProcess names the process that holds a session, or one that the server runs for it. All its
// descendants count as that session's agent.
type HolderProcess struct {
	PID     int
	UID     int      // uid of its programs; the server's own if that is theirs; hold.UnknownUID if it can be any other
	Start   string   // distinguishes it from a later process with its PID; see hold.StartOf
	Command bool     // it runs for the session and holds nothing
	Session string   // the session's id
	Name    string   // the session's name
	Verbs   []string // verbs that its processes may use in addition to those that all may
}

// Login is one login attempt, for the audit log. It contains no secret.
type Login struct {
	Time     time.Time
	Accepted bool
	Conn     uint64        // number of the connection, rising from 1
	Identity keys.Identity // when accepted
	User     string        // SSH user name as the client gave it; grants nothing
	Source   string        // remote address, or unix
	Offered  []string      // fingerprints of keys offered, proven or not; at most 8
	Reason   string        // why refused
}

// ErrNoKeys says that no key may log in: a server never starts open to all, nor closed to all.
var ErrNoKeys = errors.New("no key may log in")

// Causes of the end of a Session's context.
var (
	ErrChannelClosed  = errors.New("the client closed the channel")
	ErrConnectionLost = errors.New("the connection is gone")
	ErrRevoked        = errors.New("your access has ended")
	ErrShutdown       = errors.New("the server is shutting down")
	ErrUnread         = errors.New("too much of your input is unread: the limit for one caller is reached")
)

// Limits bounds what clients may take. A zero field has its default.
type Limits struct {
	Startups          int           // connections not logged in yet: 300
	StartupsPerSource int           // of these, from one address (IPv6: one /64): 150
	LoginGrace        time.Duration // from accept to login: 20 s
	AuthTries         int           // keys offered on a connection: 6
	Connections       int           // all connections: 4096
	Channels          int           // open at once on a connection: 64
	Share             int           // connections of one caller: 32
	ShareChannels     int           // channels of one caller, over all its connections: 256
	ShareUnread       int64         // unread bytes that one caller has sent: 8 MiB
	EnvBytes          int           // names and values kept of a channel: 4 KiB
	CommandBytes      int           // of a command line: 128 KiB
	Logins            float64       // of one identity each second, with as many saved up as 2 s give: 1000
	Penalties         Penalties
	Requests          float64       // on a channel each second, with as many saved up as 10 s give: 100
	Verbs             float64       // commands of one identity each second, with as many saved up as 2 s give: 10000
	KeepAlive         time.Duration // silence after which the server sends a keepalive: 30 s
	KeepAliveMissed   int           // unanswered keepalives before the connection is closed: 3
}

func (l Limits) withDefaults() Limits {
	l.Penalties = l.Penalties.withDefaults()
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&l.Startups, 300)
	def(&l.StartupsPerSource, 150)
	def(&l.AuthTries, 6)
	def(&l.Connections, 4096)
	def(&l.Channels, 64)
	def(&l.Share, 32)
	def(&l.ShareChannels, 256)
	def(&l.EnvBytes, 4<<10)
	def(&l.CommandBytes, 128<<10)
	def(&l.KeepAliveMissed, 3)
	if l.ShareUnread <= 0 {
		l.ShareUnread = 8 << 20
	}
	if l.LoginGrace <= 0 {
		l.LoginGrace = 20 * time.Second
	}
	if l.KeepAlive <= 0 {
		l.KeepAlive = 30 * time.Second
	}
	if l.Requests <= 0 {
		l.Requests = 100
	}
	if l.Verbs <= 0 {
		l.Verbs = 10000
	}
	if l.Logins <= 0 {
		l.Logins = 1000
	}
	return l
}
