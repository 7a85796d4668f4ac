package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"berth/fleet/registry"
)

// saveEvery is how often what hosts have said is written down. It is read for hosts that are away when the
// gateway starts again, so the newest seconds don't matter.
const saveEvery = 5 * time.Second

// followHosts takes what hosts say of themselves. NATS lets a host publish below its own name alone, so the subject
// says who it is.
func (g *Gateway) followHosts() error {
	type reports struct {
		may  *share
		cost func(*nats.Msg) int
		take func(host string, m *nats.Msg) error
	}
	one := func(*nats.Msg) int { return 1 }
	for kind, r := range map[string]reports{
		registry.BeatSubject: {newShare(beatsASecond), one, func(host string, m *nats.Msg) error {
			stale, err := g.known.Heard(host, m.Data, g.o.Now())
			if stale {
				err = errors.Join(err, g.nc.Publish("berth.to."+host+"."+registry.AskSubject, nil))
			}
			return err
		}},
		registry.RowsSubject: {newShare(rowsASecond), func(m *nats.Msg) int { return len(m.Data) }, func(host string, m *nats.Msg) error { return g.known.SetRows(host, m.Data) }},
	} {
		warnings := newShare(warningsASecond)
		_, err := g.nc.Subscribe("berth.from.*."+kind, func(m *nats.Msg) {
			host, now := strings.Split(m.Subject, ".")[2], g.o.Now()
			if !r.may.take(host, r.cost(m), now) {
				return
			}
			if err := r.take(host, m); err != nil && warnings.take(host, 1, now) {
				g.o.Log.Warn("a host of the fleet", "error", err)
			}
		})
		if err != nil {
			return fmt.Errorf("listen to the fleet's hosts: %w", err)
		}
	}
	return nil
}

// restore makes the hosts of the roster known, with what an earlier process has saved.
func (g *Gateway) restore(k kept) error {
	hosts, err := g.roster.Hosts()
	if err != nil {
		return err
	}
	for _, h := range hosts {
		g.known.Admit(h.Name)
		g.known.Drain(h.Name, h.Draining)
		data, err := os.ReadFile(g.seenFile(h.Name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var s registry.Saved
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil {
			g.o.Log.Warn("what was known of a host is lost until it connects", "host", h.Name, "error", err)
			continue
		}
		if seen := k.Seen[h.Name]; seen.After(s.Seen) {
			s.Seen = seen
		}
		g.known.Restore(h.Name, s, g.o.Now())
	}
	return nil
}

func (g *Gateway) seenFile(host string) string { return filepath.Join(g.o.Dir, "seen", host+".json") }

// saveHosts writes down what has changed, until stop is closed and once more then.
func (g *Gateway) saveHosts(stop <-chan struct{}) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-stop:
			ended = true
		}
		for host, s := range g.known.Unsaved() {
			if err := g.save(host, s); err != nil {
				g.o.Log.Warn("what is known of a host couldn't be saved", "host", host, "error", err)
			}
		}
		if err := g.saveKept(); err != nil {
			g.o.Log.Warn("when the hosts were heard of couldn't be saved", "error", err)
		}
	}
}

func (g *Gateway) save(host string, s registry.Saved) error {
	data, err := s.Encode()
	if err != nil {
		return err
	}
	return replace(g.seenFile(host), data)
}

// replace writes a file in one step.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
