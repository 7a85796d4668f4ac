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
	hostPending     = 32 << 20 // unread, of one connection
	countEvery      = 500 * time.Millisecond
	countAnyway     = 8 // each look of this number counts without new connections too
)

// count ends what is above these bounds, until stop is closed. To count takes a part of a core, so a look without new
// connections counts only now and then. A new one is counted twice, because it says later who it is.
func (b *Broker) count(stop <-chan struct{}) {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	var taken, before int64
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		earlier := before
		before, taken = taken, b.front.taken.Load()
		if taken == earlier && n%countAnyway != 0 {
			continue
		}
		for _, id := range b.tooMuch() {
			_ = b.server.DisconnectClientByID(id) // it may have gone by itself
		}
	}
}

// tooMuch are the connections to end. Of a host's connections the newest stay: an older one may have broken.
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
