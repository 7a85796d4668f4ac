package broker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"

	"berth/fleet/realm"
)

// What a host may have of the NATS server, which bounds neither by itself for a user. An honest host has one connection,
// and for some seconds a second one after a break. It reads at once what is sent to it.
const (
	hostConnections = 4
	hostPending     = 32 << 20               // unread, of one connection
	countAfter      = 500 * time.Millisecond // of a new connection, twice, because it says later who it is
	countEvery      = 4 * time.Second
)

// count ends what is above these bounds, until stop is closed.
func (b *Broker) count(stop <-chan struct{}) {
	look := time.NewTimer(countEvery)
	defer look.Stop()
	for fresh := 0; ; {
		select {
		case <-stop:
			return
		case <-b.front.taken:
			if fresh == 0 {
				look.Reset(countAfter)
			}
			fresh = 2
			continue
		case <-look.C:
		}
		if fresh > 0 || b.front.hasStrangers() || b.unread() {
			for _, id := range b.tooMuch() {
				_ = b.server.DisconnectClientByID(id) // it may have gone by itself
			}
		}
		fresh = max(0, fresh-1)
		look.Reset(countEvery)
		if fresh > 0 {
			look.Reset(countAfter)
		}
	}
}

// unread says whether a connection leaves much unread. It is what tooMuch says without the users, whose names take most
// of its time.
func (b *Broker) unread() bool {
	all, err := b.server.Connz(&natsd.ConnzOptions{Limit: 1 << 20})
	return err == nil && slices.ContainsFunc(all.Conns, func(c *natsd.ConnInfo) bool { return c.Pending > hostPending })
}

// tooMuch are the connections to end. It has the front know the others of the fleet's account. Of a host's connections the newest stay: an older one may have broken.
func (b *Broker) tooMuch() (ids []uint64) {
	all, err := b.server.Connz(&natsd.ConnzOptions{Username: true, Limit: 1 << 20})
	if err != nil {
		return nil // the server ends
	}
	slices.SortFunc(all.Conns, func(a, b *natsd.ConnInfo) int { return cmp.Compare(b.Cid, a.Cid) })
	users := map[string]int{}
	for _, c := range all.Conns {
		if c.Account != b.fleet {
			continue
		}
		b.front.known(c.Port)
		users[c.AuthorizedUser]++
		if users[c.AuthorizedUser] > hostConnections || c.Pending > hostPending && ofHost(c.JWT) {
			ids = append(ids, c.Cid)
		}
	}
	return ids
}

func ofHost(text string) bool {
	claims, err := jwt.DecodeUserClaims(text)
	return err == nil && strings.HasPrefix(claims.Name, realm.HostUser)
}
