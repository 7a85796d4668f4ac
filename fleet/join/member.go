package join

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"berth/fleet/invite"
	"berth/fleet/realm"
)

// Membership is what a host keeps of its fleet.
type Membership struct {
	Name      string `json:"name"`
	Address   string `json:"address"` // of the gateway, or the URLs of the cluster
	Pin       string `json:"pin"`     // of the gateway's TLS key, hex; on a cluster of the fleet's authority
	Seed      string `json:"seed"`    // of the host's nkey; it never leaves the host
	JWT       string `json:"jwt"`
	Authority string `json:"authority"`
	MaxRole   string `json:"max_role"` // the most that the gateway's callers may do here
	Token     string `json:"token"`    // the id of the token, hex
	Since     uint64 `json:"since"`    // the end of the host's event log when it joined: the fleet gets what comes after it

	// Of a fleet on a NATS cluster.
	Cluster     bool   `json:"cluster,omitempty"`
	Authorities string `json:"authorities,omitempty"` // of its TLS certificates, DER in base64; empty: the system's
}

// Times of a member's connection. A gateway whose machine is gone is noticed after unheardTime, because the member's
// beats aren't acknowledged. One that is there and doesn't answer is noticed after pingEvery, pingsMissed + 1 times: a
// ping is an answer of the gateway's for each member, and costs an idle gateway as much as a beat.
const (
	unheardTime = 12 * time.Second
	dialTime    = 10 * time.Second
	askTime     = 10 * time.Second
	pingEvery   = 20 * time.Second
	pingsMissed = 1
	firstWait   = 250 * time.Millisecond
	longestWait = 15 * time.Second
)

// waitBefore is the pause before the dial after that many failed ones. It doubles, and a part of it is by chance, so
// that a thousand members don't come back at once.
func waitBefore(failed int) time.Duration {
	wait := min(firstWait<<min(max(failed-1, 0), 10), longestWait)
	return wait/2 + rand.N(wait)
}

// Open reads a membership; the error is fs.ErrNotExist when the host is in no fleet.
func Open(path string) (Membership, error) {
	var m Membership
	err := readJSON(path, &m)
	return m, err
}

// Log names the host's event log in this membership: the host's public key.
func (m Membership) Log() (string, error) {
	pair, err := nkeys.FromSeed([]byte(m.Seed))
	if err != nil {
		return "", fmt.Errorf("read the host's key: %w", err)
	}
	return pair.PublicKey()
}

// pending ends the name of a file. It has the key until the gateway has answered; an older
// membership counts until then.
const pending = ".joining"

// Join uses a token and keeps the membership at path. It may be called again with the token of a call
// that failed or was killed. head is the end of the host's event log.
func Join(ctx context.Context, path string, token invite.Token, maxRole string, hostKeys []gossh.PublicKey, head uint64) (Membership, error) {
	m, err := prepare(path+pending, token)
	if err != nil {
		return m, err
	}
	public, err := m.Log()
	if err != nil {
		return m, err
	}
	q := question{ID: m.Token, Key: public}
	for _, k := range hostKeys {
		q.HostKeys = append(q.HostKeys, string(gossh.MarshalAuthorizedKey(k)))
	}
	url, options, err := m.way()
	if err != nil {
		return m, err
	}
	a, err := ask(ctx, token, q, url, options)
	if err != nil {
		return m, err
	}
	if token.User != "" && (a.Name != token.Name || !isAuthority(a.Authority, token.Pin)) {
		return m, ErrGateway
	}
	m.Name, m.JWT, m.Authority, m.MaxRole, m.Since = a.Name, a.JWT, a.Authority, maxRole, head
	if err := writeJSON(path, m); err != nil {
		return m, err
	}
	return m, os.Remove(path + pending)
}

// prepare keeps the host's key before it is used.
func prepare(path string, token invite.Token) (m Membership, err error) {
	id := hex.EncodeToString(token.ID[:])
	switch err := readJSON(path, &m); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return m, err
	case m.Token == id:
		return m, nil
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return m, fmt.Errorf("make the host's key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return m, fmt.Errorf("make the host's key: %w", err)
	}
	m = Membership{Name: token.Name, Address: token.Address, Pin: hex.EncodeToString(token.Pin[:]), Seed: string(seed), Token: id,
		Cluster: token.User != "", Authorities: base64.StdEncoding.EncodeToString([]byte(token.Authorities))}
	return m, writeJSON(path, m)
}

// isAuthority says whether a line of a key file has the key with that hash.
func isAuthority(line string, pin realm.Pin) bool {
	key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(line))
	return err == nil && realm.PinOf(key) == pin
}

// way is where a member dials, and how it knows that it has reached its fleet.
func (m Membership) way() (url string, options []nats.Option, err error) {
	if m.Cluster {
		der, err := base64.StdEncoding.DecodeString(m.Authorities)
		if err != nil {
			return "", nil, fmt.Errorf("read the authority of the cluster's certificates: %w", err)
		}
		config, err := realm.Trusted(der)
		return m.Address, []nats.Option{nats.Secure(config)}, err
	}
	var pin realm.Pin
	if err := decode(pin[:], m.Pin); err != nil {
		return "", nil, fmt.Errorf("read the gateway's pin: %w", err)
	}
	return "tls://" + m.Address, []nats.Option{nats.Secure(realm.Pinned(pin)), nats.TLSHandshakeFirst()}, nil
}

// proven is how a host asks: with the token's secret, or on a cluster as the token's user with a proof.
func proven(token invite.Token, q question) (question, []nats.Option, error) {
	if token.User == "" {
		q.Secret = hex.EncodeToString(token.Secret[:])
		return q, []nats.Option{nats.CustomInboxPrefix(realm.JoinInbox)}, nil
	}
	text, err := q.signed()
	if err != nil {
		return q, nil, err
	}
	pair, err := token.Key()
	if err != nil {
		return q, nil, fmt.Errorf("use the token's key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return q, nil, fmt.Errorf("use the token's key: %w", err)
	}
	if q.Proof, err = pair.Sign(text); err != nil {
		return q, nil, fmt.Errorf("use the token's key: %w", err)
	}
	return q, []nats.Option{nats.UserJWTAndSeed(token.User, string(seed)), nats.CustomInboxPrefix(realm.InboxOf(q.ID))}, nil
}

func ask(ctx context.Context, token invite.Token, q question, url string, options []nats.Option) (a answer, err error) {
	q, as, err := proven(token, q)
	if err != nil {
		return a, err
	}
	nc, err := nats.Connect(url, append(append(options, as...), nats.Timeout(dialTime), nats.NoReconnect(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	switch {
	case token.User != "" && (errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired)):
		return a, fmt.Errorf("the NATS cluster at %s refuses the token, which is good for 15 minutes: make a new one with fleet invite: %w", token.Address, err)
	case err != nil:
		return a, fmt.Errorf("reach the gateway at %s: %w", token.Address, err)
	}
	defer nc.Close()
	data, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, realm.JoinSubject, data)
	if err != nil {
		return a, fmt.Errorf("ask the gateway at %s: %w", token.Address, err)
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, fmt.Errorf("read the gateway's answer: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	return a, nil
}

// dialer makes connections that end when what is sent isn't acknowledged.
func dialer(longest time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: dialTime, Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unheard, int(longest/unheardUnit))
		})
		if err := errors.Join(err, failed); err != nil {
			return fmt.Errorf("bound how long the gateway may be silent: %w", err)
		}
		return nil
	}}
}

// Connect dials the gateway, and again for ever whenever the connection breaks or is refused. It
// returns at once; streams open when the gateway is there. The caller closes the connection.
func Connect(m Membership, log *slog.Logger) (*nats.Conn, error) {
	url, options, err := m.way()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(url, append(options, nats.Name("host "+m.Name),
		nats.UserJWTAndSeed(m.JWT, m.Seed), nats.CustomInboxPrefix("berth.to."+m.Name+".inbox"),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1), nats.Timeout(dialTime),
		nats.CustomReconnectDelay(waitBefore), nats.SetCustomDialer(dialer(unheardTime)), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsMissed),
		nats.ConnectHandler(func(*nats.Conn) { log.Info("connected to the fleet", "gateway", m.Address) }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected to the fleet again", "gateway", m.Address) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: this end has closed it
				log.Warn("the connection to the fleet is lost", "gateway", m.Address, "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("the fleet's connection", "gateway", m.Address, "error", err)
		}))...)
	if err != nil {
		return nil, fmt.Errorf("connect to the fleet: %w", err)
	}
	return nc, nil
}
