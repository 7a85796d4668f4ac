package member

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"berth/fleet/join"
	"berth/fleet/ledger"
)

// publishing sends the server's events to the gateway until it is closed.
type publishing struct {
	stop  context.CancelFunc
	ended chan struct{}
}

func publish(o Options, nc *nats.Conn, m join.Membership) (*publishing, error) {
	name, err := m.Log()
	if err != nil {
		return nil, err
	}
	p := &ledger.Publisher{Member: name, Since: m.Since, Log: o.Events(), Report: o.Log, Send: func(ctx context.Context, b ledger.Batch) (a ledger.Answer, err error) {
		data, err := b.Encode()
		if err != nil {
			return a, err
		}
		answer, err := nc.RequestWithContext(ctx, "berth.from."+m.Name+"."+ledger.EventsSubject, data)
		if err != nil {
			return a, fmt.Errorf("send a batch of events: %w", err)
		}
		if err := json.Unmarshal(answer.Data, &a); err != nil {
			return a, fmt.Errorf("read the gateway's answer to a batch of events: %w", err)
		}
		return a, nil
	}}
	ctx, stop := context.WithCancel(context.Background())
	out := &publishing{stop, make(chan struct{})}
	go func() { defer close(out.ended); p.Run(ctx) }()
	return out, nil
}

func (p *publishing) close() {
	p.stop()
	<-p.ended
}
