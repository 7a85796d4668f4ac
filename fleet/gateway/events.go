package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"berth/fleet/ledger"
)

// kept is the file with what changes all the time: how far each host's log was appended to the stream, and when each
// host was last heard of.
type kept struct {
	Since uint64                 `json:"since"` // the end of the gateway's own log when it became a gateway
	Marks map[string]ledger.Mark `json:"marks"`
	Seen  map[string]time.Time   `json:"seen"`
}

func (g *Gateway) keptFile() string { return filepath.Join(g.o.Dir, "kept.json") }

// ownLog names the gateway's own log in the stream.
const ownLog = "gateway"

// readKept reads the file of an earlier process, if there was one. A file that a power loss has torn keeps no gateway
// from its start: the stream itself says how far each log was appended, and hosts say soon that they are there.
func (g *Gateway) readKept() kept {
	k := kept{}
	data, err := os.ReadFile(g.keptFile())
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	switch {
	case err == nil:
		return k
	case !errors.Is(err, fs.ErrNotExist):
		g.o.Log.Warn("when the hosts were heard of is lost", "error", err)
	}
	return kept{Since: g.o.Events.Head()}
}

// keepEvents opens the stream, answers the hosts' batches, and appends the gateway's own log, until ctx ends.
func (g *Gateway) keepEvents(ctx context.Context, k kept) (err error) {
	opening, done := context.WithTimeout(ctx, startTime)
	defer done()
	if g.ledger, err = ledger.Open(opening, g.nc, k.Marks, g.o.Log, g.o.Now); err != nil {
		return g.carrier.explain(err)
	}
	g.since = k.Since
	if err := g.saveKept(); err != nil {
		return fmt.Errorf("save where the gateway's own events begin: %w", err)
	}
	if _, err := g.nc.Subscribe("berth.from.*."+ledger.EventsSubject, func(m *nats.Msg) { g.batch(ctx, m) }); err != nil {
		return fmt.Errorf("listen to the hosts' events: %w", err)
	}
	own := &ledger.Publisher{Member: ownLog, Since: k.Since, Log: g.o.Events, Report: g.o.Log,
		Send: func(ctx context.Context, b ledger.Batch) (ledger.Answer, error) {
			return g.ledger.Append(ctx, g.o.Name, b)
		}} // the only one, so it always has the turn
	g.running.Go(func() { own.Run(ctx) })
	return nil
}

// batch takes a host's batch. The subscription doesn't wait for the stream, and a host has at most one batch in work.
// The answer goes to the host that the subject names, whatever the message says.
func (g *Gateway) batch(ctx context.Context, m *nats.Msg) {
	host := strings.Split(m.Subject, ".")[2]
	if _, ok := g.known.Host(host, g.o.Now()); !ok || !strings.HasPrefix(m.Reply, "berth.to."+host+".") || !g.ledger.Begin(host) {
		return
	}
	g.closing.Lock()
	defer g.closing.Unlock()
	if ctx.Err() != nil {
		return // Close waits for those that run
	}
	g.running.Go(func() {
		answer := g.ledger.Answer(ctx, host, m.Data)
		g.ledger.End(host)
		if err := m.Respond(answer); err != nil {
			g.o.Log.Debug("a host's batch was not answered", "host", host, "error", err)
		}
	})
}

// saveKept writes the file, if it has changed. One goroutine at a time calls it.
func (g *Gateway) saveKept() error {
	data, err := json.Marshal(kept{g.since, g.ledger.Marks(), g.known.Seen()})
	if err != nil || bytes.Equal(data, g.saved) {
		return err
	}
	g.saved = data
	return replace(g.keptFile(), data)
}

// Events follows the events of all hosts after a fleet cursor.
func (g *Gateway) Events(since uint64) *ledger.Follower { return g.ledger.Follow(since) }

// EventsHead is the fleet cursor of the newest event.
func (g *Gateway) EventsHead() uint64 { return g.ledger.Head() }
