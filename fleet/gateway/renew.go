package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/registry"
	"berth/keys"
)

// renewPasses answers hosts that have something of a caller who isn't connected any more, such as a queued message,
// and ask what the caller may do now.
func (g *Gateway) renewPasses() error {
	asked := newShare(renewalsASecond)
	_, err := g.nc.Subscribe("berth.from.*."+registry.RenewSubject, func(m *nats.Msg) {
		host := strings.Split(m.Subject, ".")[2]
		// The reply is the host's word. The answer goes to that host alone, whatever it says.
		if !strings.HasPrefix(m.Reply, "berth.to."+host+".") || !asked.take(host, 1, g.o.Now()) {
			return
		}
		data, err := json.Marshal(g.renewed(host, m.Data))
		if err == nil {
			err = m.Respond(data)
		}
		if err != nil {
			g.o.Log.Debug("a host got no answer about a caller", "host", host, "error", err)
		}
	})
	if err != nil {
		return fmt.Errorf("answer hosts about callers: %w", err)
	}
	return nil
}

// renewed is the answer to a host that shows a pass.
func (g *Gateway) renewed(host string, wire []byte) registry.Renewed {
	key, err := gossh.ParsePublicKey(wire)
	older, ok := key.(*gossh.Certificate)
	if err != nil || !ok || !keys.IsPass(older) {
		return registry.Renewed{Error: "it isn't a pass"}
	}
	newer, err := g.relay.Renew(host, older)
	switch {
	case errors.Is(err, keys.ErrNoVouch), errors.Is(err, keys.ErrPass):
		return registry.Renewed{Error: err.Error()}
	case err != nil:
		g.o.Log.Warn("a host asked about a caller", "host", host, "error", err)
		return registry.Renewed{Again: true}
	}
	return registry.Renewed{Pass: newer.Marshal()}
}
