// Package member is a server's part in a fleet that it has joined: it dials the gateway, for ever, and serves the
// connections that the gateway's callers open to it. cmd/berth makes one Member for each server; without a
// membership it does nothing. Its methods may be called from any goroutine.
//
// A membership is a file (fleet/join). Join and Leave take effect at once.
package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/ledger"
	"berth/fleet/registry"
	"berth/keys"
	"berth/sshd"
)

// Options are what a member needs.
type Options struct {
	File     string            // of the membership
	HostKeys []gossh.PublicKey // of this server; the gateway admits no other
	Keys     sshd.KeySource    // of this server
	Carry    func(net.Listener, sshd.KeySource) error
	Log      *slog.Logger

	// What the gateway hears of this host: itself, and its sessions.
	Beat func() registry.Beat
	Rows func() (rows []api.Session, pending []string) // see registry.Rows

	Events func() ledger.Source // of this server; called when it has joined
}

// Member is a server that may be in a fleet.
type Member struct {
	o Options

	renewals renewals

	in atomic.Pointer[joined] // nil: in no fleet. A joined doesn't change once it is here

	mu     sync.Mutex // of starting, joining and leaving, which may take as long as the gateway does
	closed bool
}

// joined is a membership. What follows the rules is nil until it is started.
type joined struct {
	join.Membership
	rules    keys.PassRules
	nc       *nats.Conn
	listener *conn.Listener
	reporter *reporter
	events   *publishing
}

// New reads the membership, if there is one, so that Rights knows it. It connects nowhere.
func New(o Options) (*Member, error) {
	m := &Member{o: o}
	membership, err := join.Open(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	var in *joined
	if err == nil {
		in, err = m.read(membership)
	}
	if m.in.Store(in); err != nil {
		return nil, fmt.Errorf("read the server's membership in its fleet: %w", err)
	}
	return m, nil
}

// read makes the rules of a membership.
func (m *Member) read(membership join.Membership) (*joined, error) {
	role, err := keys.ParseRole(membership.MaxRole)
	if err != nil {
		return nil, err
	}
	authority, _, _, _, err := gossh.ParseAuthorizedKey([]byte(membership.Authority))
	if err != nil {
		return nil, fmt.Errorf("read the fleet's authority: %w", err)
	}
	return &joined{Membership: membership, rules: keys.PassRules{Authority: authority, Host: membership.Name, HostKeys: m.o.HostKeys, MaxRole: role}}, nil
}

// Start connects to the gateway, if the server is in a fleet. It doesn't wait for the gateway.
func (m *Member) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.in.Load()
	if known == nil {
		return nil
	}
	in := *known
	err := in.start(m.o)
	m.in.Store(&in)
	return err
}

// start connects to the gateway and serves what comes from there.
func (in *joined) start(o Options) (err error) {
	if in.nc, err = join.Connect(in.Membership, o.Log); err != nil {
		return err
	}
	if in.listener, err = conn.Listen(in.nc, in.Name, conn.Options{}); err == nil {
		err = o.Carry(in.listener, callers{o.Keys, in.rules})
	}
	if err == nil {
		in.reporter, err = startReporter(o, in.nc, in.Name)
	}
	if err == nil {
		in.events, err = publish(o, in.nc, in.Membership)
	}
	if err != nil {
		in.stop()
		return fmt.Errorf("serve the fleet's connections: %w", err)
	}
	return nil
}

// stop ends the connection to the gateway and all that came over it.
func (in *joined) stop() {
	if in.events != nil {
		in.events.close()
	}
	if in.reporter != nil {
		in.reporter.close()
	}
	if in.listener != nil {
		_ = in.listener.Close()
	}
	if in.nc != nil {
		in.nc.Close()
	}
}

// callers are who may log in over the gateway: those with a pass, and those who prove a key of this server's own,
// end to end by ssh -J. A key's from= never admits the latter, because their address isn't known.
type callers struct {
	sshd.KeySource
	rules keys.PassRules
}

func (c callers) Lookup(key gossh.PublicKey, remote net.Addr, now time.Time) (keys.Identity, error) {
	if cert, ok := key.(*gossh.Certificate); ok && keys.IsPass(cert) {
		return c.rules.Identity(key, now)
	}
	return c.KeySource.Lookup(key, remote, now)
}

// errClosed is the answer while the server ends.
var errClosed = api.Errorf(api.CodeInternal, "the server is shutting down")

// Join uses a token, and leaves the fleet that the server was in. The gateway's callers get at most max here.
func (m *Member) Join(ctx context.Context, text string, most keys.Role) (join.Membership, error) {
	token, err := invite.Parse(text)
	if err != nil {
		return join.Membership{}, api.Errorf(api.CodeBadRequest, "%w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return join.Membership{}, errClosed
	}
	membership, err := join.Join(ctx, m.o.File, token, most.String(), m.o.HostKeys, m.o.Events().Head())
	if errors.Is(err, join.ErrRefused) {
		return membership, api.Errorf(api.CodeDenied, "%w", err)
	} else if err != nil {
		return membership, api.Errorf(api.CodeBadRequest, "not joined: %w", err)
	}
	in, err := m.read(membership)
	if err != nil {
		return membership, fmt.Errorf("read the gateway's answer: %w", err)
	}
	if before := m.in.Load(); before != nil {
		before.stop()
	}
	m.o.Log.Info("the server has joined a fleet", "name", membership.Name, "gateway", membership.Address, "max_role", most.String())
	err = in.start(m.o)
	m.in.Store(in)
	return membership, err
}

// Leave ends the membership. The gateway still lists the host until it is removed there.
func (m *Member) Leave() (join.Membership, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.in.Load()
	if in == nil {
		return join.Membership{}, api.Errorf(api.CodeNotFound, "this server is in no fleet")
	}
	left := in.Membership
	if err := os.Remove(m.o.File); err != nil {
		return left, fmt.Errorf("forget the fleet: %w", err)
	}
	m.in.Store(nil) // first, so that no right is left of a pass
	in.stop()
	m.o.Log.Info("the server has left its fleet", "name", left.Name, "gateway", left.Address)
	return left, nil
}

// Status is the membership, and whether the gateway is connected; ok is false in no fleet.
func (m *Member) Status() (s join.Membership, connected, ok bool) {
	in := m.in.Load()
	if in == nil {
		return s, false, false
	}
	return in.Membership, in.nc != nil && in.nc.IsConnected(), true
}

// Person is the caller that once logged in with a pass. A pass of another fleet, or of one that was left, has none.
func (m *Member) Person(pass *gossh.Certificate) (keys.Identity, error) {
	in := m.in.Load()
	if in == nil {
		return keys.Identity{}, fmt.Errorf("%w: this server is in no fleet", keys.ErrPass)
	}
	return in.rules.Identity(pass, whenValid(pass))
}

// Rights are that caller's rights now: those that the gateway gives it now, below what the server gives the fleet.
// The error is keys.ErrNotYet while the gateway hasn't said.
func (m *Member) Rights(pass *gossh.Certificate) (keys.Identity, error) {
	was, err := m.Person(pass)
	in := m.in.Load()
	if err != nil || in == nil {
		return was, cmp.Or(err, keys.ErrPass)
	}
	newer, err := m.renewals.of(in.nc, in.Name, pass, time.Now())
	if err != nil {
		return keys.Identity{}, err
	}
	id, err := in.rules.Identity(newer, whenValid(newer))
	if err == nil && (id.Fingerprint != was.Fingerprint || id.Fingerprint == "" && id.Name != was.Name) {
		err = fmt.Errorf("%w: the gateway's answer is about another person", keys.ErrPass)
	}
	if err == nil && !id.Expires.IsZero() && !time.Now().Before(id.Expires) {
		err = fmt.Errorf("%s: %w", id.Name, keys.ErrExpired)
	}
	return id, err
}

// whenValid is a time at which a pass was valid.
func whenValid(pass *gossh.Certificate) time.Time { return time.Unix(int64(pass.ValidBefore)-1, 0) }

// Close ends the connection to the gateway.
func (m *Member) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in := m.in.Load(); in != nil && !m.closed {
		in.stop()
	}
	m.closed = true
}
