// Package broker is a fleet's NATS server, with the users of a realm. It links the whole of nats-server,
// so only programs of their own and tests import it: see docs/decisions/fleet.md.
package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"golang.org/x/time/rate"

	"berth/fleet/realm"
)

// A client that is there and doesn't answer is gone after pingEvery, pingsMissed + 1 times. The kernel asks whether its
// machine is there, after probeEvery, and probesMissed more times: that wakes up no process.
const (
	pingEvery    = 20 * time.Second
	pingsMissed  = 1
	probeEvery   = 4 * time.Second
	probesMissed = 2
)

// maxPending is what one client may leave unread: a host's streams, each with its window.
const maxPending = 256 << 20

// maxPayload is above the largest message, which has a host's sessions.
const maxPayload = 4 << 20

// streamMemory is what JetStream may keep in memory: the gateways' places in the stream. Events are on the disk.
const streamMemory = 16 << 20

// readyTime bounds the start.
const readyTime = 10 * time.Second

// Broker is a running server.
type Broker struct {
	server *natsd.Server
	front  *front
	realm  *realm.Realm
	fleet  string // its account
	store  *natsd.MemAccResolver
	stop   chan struct{} // of count
	ended  chan struct{}
}

// Start listens on address, and keeps the fleet's events below dir. A client without a user of the realm can do no more
// than ask to join.
func Start(dir, address string, certificate tls.Certificate, r *realm.Realm) (*Broker, error) {
	operator, err := r.Operator()
	if err != nil {
		return nil, err
	}
	joiner, err := r.Joiner()
	if err != nil {
		return nil, err
	}
	b := &Broker{realm: r, fleet: r.Fleet(), store: &natsd.MemAccResolver{}, stop: make(chan struct{}), ended: make(chan struct{})}
	if err := b.fill(); err != nil {
		return nil, err
	}
	b.server, err = natsd.NewServer(&natsd.Options{
		ServerName: "berth", Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoLog: true, NoSigs: true,
		SystemAccount: r.System(), TrustedOperators: []*jwt.OperatorClaims{operator}, AccountResolver: b.store, DefaultSentinel: joiner,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		TLSHandshakeFirst: true, TLSTimeout: 5, AuthTimeout: 5,
		JetStream: true, StoreDir: dir, JetStreamMaxStore: realm.StreamBytes, JetStreamMaxMemory: streamMemory,
		PingInterval: pingEvery, MaxPingsOut: pingsMissed, MaxPending: maxPending, MaxPayload: maxPayload,
	})
	if err != nil {
		return nil, fmt.Errorf("start the fleet's NATS server: %w", err)
	}
	probed := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeEvery, Interval: probeEvery, Count: probesMissed}}
	listener, err := probed.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the fleet on %s: %w", address, err)
	}
	b.server.Start()
	ready := b.server.ReadyForConnections(readyTime)
	b.front = &front{listener: listener, taken: make(chan struct{}, 1), open: map[net.Conn]struct{}{}, strangers: map[int]*rate.Limiter{}}
	go func() { defer close(b.ended); b.count(b.stop) }()
	if !ready {
		b.Close()
		return nil, fmt.Errorf("listen for the fleet on %s: the NATS server isn't ready after %s", address, readyTime)
	}
	b.front.to = b.server.Addr().String()
	b.front.serve()
	return b, nil
}

func (b *Broker) fill() error {
	accounts, err := b.realm.Accounts()
	if err != nil {
		return err
	}
	for key, text := range accounts {
		if err := b.store.Store(key, text); err != nil {
			return fmt.Errorf("keep an account: %w", err)
		}
	}
	return nil
}

// Near is where the gateway connects, on this machine. It has no share: all callers' keys and the hosts' screens go
// through its one connection.
func (b *Broker) Near() net.Addr { return b.server.Addr() }

// Addr is where it listens.
func (b *Broker) Addr() net.Addr { return b.front.listener.Addr() }

// Update applies the removals of a realm, which has the same keys: it disconnects the users.
func (b *Broker) Update(r *realm.Realm) error {
	b.realm = r
	if err := b.fill(); err != nil {
		return err
	}
	account, err := b.server.LookupAccount(b.realm.Fleet())
	if err != nil {
		return fmt.Errorf("find the fleet's account: %w", err)
	}
	text, err := b.store.Fetch(b.realm.Fleet())
	if err != nil {
		return fmt.Errorf("find the fleet's account: %w", err)
	}
	claims, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return errors.Join(errors.New("read the fleet's account"), err)
	}
	b.server.UpdateAccountClaims(account, claims)
	return nil
}

// Close ends all connections and returns when the server has stopped.
func (b *Broker) Close() {
	close(b.stop)
	<-b.ended
	b.front.close()
	b.server.Shutdown()
	b.server.WaitForShutdown()
}
