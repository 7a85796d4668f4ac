package gateway

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"berth/api"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/realm"
)

// Cluster is a NATS cluster that other people run, and the account that it has for the fleet.
type Cluster struct {
	URLs        []string
	Authorities []byte // of its TLS certificates, in DER; empty: those that the system trusts
	Users       realm.Users
}

// cluster carries a fleet over a Cluster. A host's rights can't be taken back there. So the gateway passes over what a
// removed host sends, and gives its name to no other host.
type cluster struct {
	Cluster
	pin    realm.Pin // of the fleet's authority
	secure nats.Option
	book   *invite.Book
	roster *join.Roster
	now    func() time.Time
}

func newCluster(o Options, pin realm.Pin, book *invite.Book, roster *join.Roster) (*cluster, error) {
	config, err := realm.Trusted(o.Cluster.Authorities)
	if err != nil {
		return nil, err
	}
	return &cluster{Cluster: *o.Cluster, pin: pin, secure: nats.Secure(config), book: book, roster: roster, now: o.Now}, nil
}

func (c *cluster) users() realm.Users           { return c.Users }
func (c *cluster) removed(string) bool          { return false } // its token is for a name that is retired
func (c *cluster) address() string              { return strings.Join(c.URLs, ",") }
func (c *cluster) way() (string, []nats.Option) { return c.address(), []nats.Option{c.secure} }
func (c *cluster) remove(h join.Host) error     { return c.roster.Retire(h.Name) }
func (c *cluster) close()                       {}

func (c *cluster) explain(err error) error {
	return fmt.Errorf("the fleet's account on the NATS cluster needs JetStream, with a disk storage of 1 GiB and one stream: %w", err)
}

func (c *cluster) invite(name, by string) (t invite.Token, err error) {
	if c.roster.Retired(name) {
		return t, api.Errorf(api.CodeBadRequest, "%w", join.ErrRetired)
	}
	if t, err = c.book.New(name, c.address(), by, c.pin); err != nil {
		return t, err
	}
	pair, err := t.Key()
	if err != nil {
		return t, fmt.Errorf("make the token's key: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return t, fmt.Errorf("make the token's key: %w", err)
	}
	t.Authorities = string(c.Authorities)
	if t.User, err = c.Users.Invited(hex.EncodeToString(t.ID[:]), public, c.now().Add(invite.Life)); err != nil {
		return t, err
	}
	if n := len(t.String()); n > invite.Longest {
		return t, api.Errorf(api.CodeLimit, "the token would have %d characters, and a host takes %d: name fewer URLs in fleet.nats, or fewer certificates in fleet.nats_ca", n, invite.Longest)
	}
	return t, nil
}

// gatewaySubject is where a gateway on a cluster says that it is there.
const gatewaySubject = "berth.gateway"

// alone finds another gateway of the account, and says to later ones that this one is here. The invitations and the
// roster of a fleet are files of one gateway.
func (g *Gateway) alone() error {
	m, err := g.nc.Request(gatewaySubject, nil, askTime)
	switch {
	case err == nil:
		return fmt.Errorf("the gateway %.80q uses the account of fleet.nats_account already: a fleet has one gateway, and each fleet needs an account of its own", m.Data)
	case !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("look for another gateway: %w", err)
	}
	_, err = g.nc.Subscribe(gatewaySubject, func(m *nats.Msg) { _ = m.Respond([]byte(g.o.Name)) }) // asked again without an answer
	if err != nil {
		return fmt.Errorf("answer other gateways: %w", err)
	}
	return nil
}

// askTime is how long another gateway may take to answer. One whose machine is gone doesn't.
const askTime = 2 * time.Second
