// Package gateway is a fleet's gateway: it runs the fleet's NATS server in a program of its own, admits hosts, knows
// which are there, and opens SSH connections to them for its callers. cmd/berth makes one Gateway for a server with
// fleet.listen; its methods may be called from any goroutine.
//
// Who may do what is decided elsewhere: NATS keeps hosts apart (fleet/realm), and each host judges callers (keys.Pass).
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/ledger"
	"berth/fleet/realm"
	"berth/fleet/registry"
	"berth/fleet/relay"
	"berth/keys"
)

// Options are what a gateway needs. None may be empty.
type Options struct {
	Dir     string // of the fleet, in the state folder
	Program string // berth-fleet
	Listen  string
	Address func(listens string) string                // where hosts reach an address that the gateway listens on
	Name    string                                     // of the gateway in its fleet
	Key     gossh.Signer                               // that it proves to hosts
	Rights  func(keys.Identity) (keys.Identity, error) // now, of a caller that was identified before
	Events  ledger.Source                              // of this server
	Log     *slog.Logger
	Now     func() time.Time
}

// Gateway is a running gateway.
type Gateway struct {
	o       Options
	realm   *realm.Realm
	pin     realm.Pin
	book    *invite.Book
	roster  *join.Roster
	program *program
	nc      *nats.Conn
	dialer  *conn.Dialer
	relay   *relay.Gateway
	known   *registry.Registry
	ledger  *ledger.Ledger
	since   uint64 // see kept
	saved   []byte // the file of kept

	stop    context.CancelFunc
	closing sync.Mutex // of starting one that runs, and of stop
	running sync.WaitGroup
}

// Start starts the NATS server and returns when hosts can connect. The caller closes the gateway.
func Start(o Options) (g *Gateway, err error) {
	ctx, stop := context.WithCancel(context.Background())
	g = &Gateway{o: o, known: registry.New(), stop: stop}
	defer func() {
		if err != nil {
			g.Close()
		}
	}()
	if err := os.MkdirAll(filepath.Join(o.Dir, "seen"), 0o700); err != nil {
		return g, fmt.Errorf("make the fleet's folder: %w", err)
	}
	if g.realm, err = realm.Open(realm.KeysFile(o.Dir)); err != nil {
		return g, err
	}
	if _, g.pin, err = realm.Certificate(realm.CertificateFile(o.Dir), o.Now()); err != nil {
		return g, err
	}
	own, err := keys.LoadOrCreateHostKeys(filepath.Join(o.Dir, "authority"))
	if err != nil {
		return g, fmt.Errorf("the fleet's authority: %w", err)
	}
	authority := own[0].Signer
	if g.book, err = invite.Open(filepath.Join(o.Dir, "invites"), o.Now); err != nil {
		return g, err
	}
	if g.roster, err = join.OpenRoster(filepath.Join(o.Dir, "hosts")); err != nil {
		return g, err
	}
	k, err := g.readKept()
	if err != nil {
		return g, err
	}
	if err := g.restore(k); err != nil {
		return g, err
	}
	if g.program, err = startProgram(o.Program, o.Dir, o.Listen, o.Log); err != nil {
		return g, err
	}
	if err := g.connect(); err != nil {
		return g, err
	}
	office := &join.Office{Realm: g.realm, Book: g.book, Roster: g.roster, Authority: authority.PublicKey(), Now: o.Now, Log: o.Log, Joined: g.known.Admit}
	if _, err := office.Serve(g.nc); err != nil {
		return g, err
	}
	if err := g.followHosts(); err != nil {
		return g, err
	}
	if err := g.keepEvents(ctx, k); err != nil {
		return g, err
	}
	if g.dialer, err = conn.NewDialer(g.nc, conn.Options{Streams: mostStreams}); err != nil {
		return g, err
	}
	g.relay = &relay.Gateway{Name: o.Name, Key: o.Key, Authority: authority, Host: g.roster.Host, Dial: g.dialer.Dial, Rights: o.Rights, Now: o.Now}
	if err := g.renewPasses(); err != nil {
		return g, err
	}
	if err := g.nc.FlushTimeout(startTime); err != nil {
		return g, fmt.Errorf("reach the fleet's NATS server: %w", err)
	}
	g.running.Go(func() { g.saveHosts(ctx.Done()) })
	return g, nil
}

// mostStreams is far above what one caller has: all callers share it.
const mostStreams = 8 << 10

// Pauses between the gateway's tries to reach its own NATS server.
const (
	redial      = 200 * time.Millisecond
	pingEvery   = 4 * time.Second
	pingsMissed = 2
)

// connect opens the gateway's own connection, with a key that only this process has.
func (g *Gateway) connect() error {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return fmt.Errorf("make the gateway's key: %w", err)
	}
	seed, err1 := pair.Seed()
	public, err2 := pair.PublicKey()
	text, err3 := g.realm.Gateway(public)
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("make the gateway's key: %w", err)
	}
	log := g.o.Log
	g.nc, err = nats.Connect("tls://"+dialable(g.program.address), nats.Name("gateway"), nats.Secure(realm.Pinned(g.pin)), nats.TLSHandshakeFirst(), nats.UserJWTAndSeed(text, string(seed)),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1), nats.ReconnectWait(redial), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsMissed),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the gateway's connection to the fleet's NATS server is lost", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("the gateway's connection to the fleet's NATS server", "error", err)
		}))
	if err != nil {
		return fmt.Errorf("reach the fleet's NATS server: %w", err)
	}
	return nil
}

// dialable is an address as this machine dials it.
func dialable(listens string) string {
	host, port, err := net.SplitHostPort(listens)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listens
}

// Addr is where hosts connect.
func (g *Gateway) Addr() string { return g.program.address }

// Invite makes a token for a new host. by is who asks.
func (g *Gateway) Invite(name, by string) (invite.Token, error) {
	if err := api.CheckHost(name); err != nil {
		return invite.Token{}, err
	}
	if name == g.o.Name {
		return invite.Token{}, api.Errorf(api.CodeBadRequest, "%s is the gateway's own name: choose another, or set fleet.name", name)
	}
	if _, err := g.roster.Host(name); err == nil {
		return invite.Token{}, api.Errorf(api.CodeBadRequest, "%s", join.ErrName)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return invite.Token{}, err
	}
	t, err := g.book.New(name, g.o.Address(g.program.address), by, g.pin)
	if errors.Is(err, invite.ErrMany) {
		return t, api.Errorf(api.CodeLimit, "%w", err)
	}
	return t, err
}

// Hosts are the fleet's hosts, by name, as they were admitted.
func (g *Gateway) Hosts() ([]join.Host, error) { return g.roster.Hosts() }

// Known are the fleet's hosts, by name, as they say of themselves.
func (g *Gateway) Known() []registry.Host { return g.known.Hosts(g.o.Now()) }

// Host is one of them.
func (g *Gateway) Host(name string) (registry.Host, bool) { return g.known.Host(name, g.o.Now()) }

// Remove takes a host's rights and ends its connection. Its sessions go on there.
func (g *Gateway) Remove(name string) error {
	if api.CheckHost(name) != nil {
		return noHost(name)
	}
	h, err := g.roster.Host(name)
	if errors.Is(err, fs.ErrNotExist) {
		return noHost(name)
	} else if err != nil {
		return err
	}
	// The rights go first: a host whose removal is interrupted here is still listed, and can be removed again.
	if err := g.realm.Remove(h.Key, g.o.Now()); err != nil {
		return err
	}
	if err := g.program.read(); err != nil {
		return fmt.Errorf("end the connection of %s: %w", name, err)
	}
	_, err = g.roster.Remove(name)
	g.known.Forget(name)
	if gone := os.Remove(g.seenFile(name)); err == nil && !errors.Is(gone, fs.ErrNotExist) {
		err = gone
	}
	return err
}

// Drain keeps new sessions from a host, or lets them there again.
func (g *Gateway) Drain(name string, on bool) error {
	err := g.roster.Drain(name, on)
	if errors.Is(err, fs.ErrNotExist) || api.CheckHost(name) != nil {
		return noHost(name)
	}
	if err == nil {
		g.known.Drain(name, on)
	}
	return err
}

func noHost(name string) error {
	return api.Errorf(api.CodeNotFound, "there is no host %s: fleet ls lists the hosts", api.Quote(name)).With("host", name)
}

// Client logs in at a host for a person; see relay.Gateway.Client.
func (g *Gateway) Client(ctx context.Context, host string, person keys.Identity) (*gossh.Client, error) {
	return g.relay.Client(ctx, host, person)
}

// Dial opens a connection to a host's SSH server, for a caller who proves an own key there.
func (g *Gateway) Dial(ctx context.Context, host string) (net.Conn, error) {
	if _, err := g.roster.Host(host); err != nil {
		return nil, noHost(host)
	}
	return g.dialer.Dial(ctx, host)
}

// Close ends all connections to hosts and the NATS server.
func (g *Gateway) Close() {
	g.closing.Lock()
	g.stop()
	g.closing.Unlock()
	g.running.Wait()
	if g.ledger != nil {
		g.ledger.Close()
	}
	if g.dialer != nil {
		_ = g.dialer.Close() // its streams end, which is all that can be done
	}
	if g.nc != nil {
		g.nc.Close()
	}
	if g.program != nil {
		g.program.close()
	}
}
