// Package gateway is a fleet's gateway: it runs the fleet's NATS server in a program of its own, or uses a cluster that
// other people run; it admits hosts, knows which are there, and opens SSH connections to them for its callers. cmd/berth
// makes one Gateway for a server with fleet.listen or fleet.nats; its methods may be called from any goroutine.
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

// Options are what a gateway needs. With a Cluster, Program, Listen and Address may be empty; the rest may not.
type Options struct {
	Dir     string   // of the fleet, in the state folder
	Cluster *Cluster // nil: the gateway has a NATS server of its own
	Program string   // berth-fleet
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
	carrier carrier
	roster  *join.Roster
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

// Start starts the NATS server, or connects to the cluster, and returns when hosts can connect. The caller closes the
// gateway.
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
	pairs, err := keys.LoadOrCreateHostKeys(filepath.Join(o.Dir, "authority"))
	if err != nil {
		return g, fmt.Errorf("the fleet's authority: %w", err)
	}
	authority := pairs[0].Signer
	book, err := invite.Open(filepath.Join(o.Dir, "invites"), o.Now)
	if err != nil {
		return g, err
	}
	if g.roster, err = join.OpenRoster(filepath.Join(o.Dir, "hosts")); err != nil {
		return g, err
	}
	k := g.readKept()
	if err := g.restore(k); err != nil {
		return g, err
	}
	if err := g.carry(authority.PublicKey(), book); err != nil {
		return g, err
	}
	if err := g.connect(); err != nil {
		return g, err
	}
	if o.Cluster != nil {
		if err := g.alone(); err != nil {
			return g, err
		}
	}
	office := &join.Office{Users: g.carrier.users(), Removed: g.carrier.removed, Shared: o.Cluster != nil, Book: book, Roster: g.roster, Authority: authority.PublicKey(), Now: o.Now, Log: o.Log, Joined: g.known.Admit}
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
	g.relay = &relay.Gateway{Name: o.Name, Key: o.Key, Authority: authority, Host: g.roster.Host, Dial: g.Dial, Rights: o.Rights, Now: o.Now}
	if err := g.renewPasses(); err != nil {
		return g, err
	}
	if err := g.nc.FlushTimeout(startTime); err != nil {
		return g, fmt.Errorf("reach the fleet's NATS server: %w", err)
	}
	g.running.Go(func() { g.saveHosts(ctx.Done()) })
	return g, nil
}

// carry makes the carrier.
func (g *Gateway) carry(authority gossh.PublicKey, book *invite.Book) error {
	if g.o.Cluster != nil {
		c, err := newCluster(g.o, realm.PinOf(authority), book, g.roster)
		if err == nil {
			g.carrier = c
		}
		return err
	}
	c, err := startOwn(g.o, book, g.roster)
	if err == nil {
		g.carrier = c
	}
	return err
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
	text, err3 := g.carrier.users().Gateway(public)
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("make the gateway's key: %w", err)
	}
	log := g.o.Log
	url, options := g.carrier.way()
	g.nc, err = nats.Connect(url, append(options, nats.Name("gateway"), nats.UserJWTAndSeed(text, string(seed)),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1), nats.ReconnectWait(redial), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsMissed),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the gateway's connection to the fleet's NATS server is lost", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("the gateway's connection to the fleet's NATS server", "error", err)
		}))...)
	switch {
	case g.o.Cluster != nil && errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("the NATS cluster at %s doesn't admit the key of fleet.nats_account: the cluster doesn't know the account %s, or the key is neither the account's nor one of its signing keys: %w", url, g.carrier.users().Account(), err)
	case err != nil:
		return fmt.Errorf("reach the fleet's NATS server at %s: %w", url, err)
	}
	return nil
}

// Addr is where hosts connect.
func (g *Gateway) Addr() string { return g.carrier.address() }

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
	t, err := g.carrier.invite(name, by)
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
	if err := g.carrier.remove(h); err != nil {
		return err
	}
	g.known.Forget(name)
	g.dialer.Drop(name)
	g.o.Log.Info("a host was removed from the fleet", "host", name, "key", h.Key)
	if err := os.Remove(g.seenFile(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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

// Dial opens a connection to a host's SSH server. Whether it is a host is looked up last: Remove ends the connections
// that are open then, and a removed host may still accept one.
func (g *Gateway) Dial(ctx context.Context, host string) (net.Conn, error) {
	c, err := g.dialer.Dial(ctx, host)
	if _, gone := g.roster.Host(host); gone != nil {
		if err == nil {
			_ = c.Close()
		}
		return nil, noHost(host)
	}
	return c, err
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
	if g.carrier != nil {
		g.carrier.close()
	}
}
