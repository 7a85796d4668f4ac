package member

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"berth/fleet/registry"
)

// lookEvery is how often a member looks whether its sessions have changed since its last report. A
// look that finds no new event costs nothing.
const lookEvery = 100 * time.Millisecond

// beatSlots are the moments of registry.BeatEvery at which hosts beat, by their clocks: each has one of them by its
// name. So a gateway that is idle wakes up once for many hosts, because waking up costs more than reading a beat. They
// are several, because a gateway that reads a thousand beats delays keys by some milliseconds.
const beatSlots = 4

// turn numbers a host's times to beat.
func turn(host string, now time.Time) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(host))
	slot := int64(h.Sum32()%beatSlots) * int64(registry.BeatEvery/beatSlots)
	return (now.UnixNano() - slot) / int64(registry.BeatEvery)
}

// untilLook is the time until the next look. All hosts whose clocks agree look at the same moments.
func untilLook(now time.Time) time.Duration {
	return lookEvery - time.Duration(now.UnixNano()%int64(lookEvery))
}

// reporter reports to the gateway that the host is there, and which sessions it has.
type reporter struct {
	o    Options
	nc   *nats.Conn
	host string
	ask  *nats.Subscription
	wake chan struct{} // the gateway wants the rows

	stop    chan struct{}
	running sync.WaitGroup
}

func startReporter(o Options, nc *nats.Conn, host string) (*reporter, error) {
	r := &reporter{o: o, nc: nc, host: host, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	var err error
	r.ask, err = nc.Subscribe("berth.to."+host+"."+registry.AskSubject, func(*nats.Msg) {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listen to the gateway: %w", err)
	}
	r.running.Go(r.run)
	return r, nil
}

func (r *reporter) close() {
	close(r.stop)
	r.running.Wait()
	_ = r.ask.Unsubscribe() // the connection is closed next
}

// run reports until the reporter is closed. What can't be sent while the gateway is away is sent when it asks.
func (r *reporter) run() {
	look := time.NewTimer(untilLook(time.Now()))
	defer look.Stop()
	var rows time.Time // the last ones
	var head, sum, number uint64
	beat := int64(-1) // the turn of the last one
	for {
		asked := false
		select {
		case <-r.stop:
			return
		case <-r.wake:
			asked = true
		case <-look.C:
			look.Reset(untilLook(time.Now()))
		}
		now := time.Now()
		due := turn(r.host, now) != beat
		if h := r.o.Events().Head(); asked || due || h != head && now.Sub(rows) >= lookEvery {
			head = h
			if data, n := encode(r.most(), r.o.Rows); asked || n != sum || number == 0 {
				sum, number, rows, due = n, uint64(now.UnixNano()), now, true
				r.publish(registry.RowsSubject, withNumber(number, data))
			}
		}
		if due {
			beat = turn(r.host, now)
			b := r.o.Beat()
			b.Rows = number
			data, err := json.Marshal(b)
			if err == nil {
				r.publish(registry.BeatSubject, data)
			}
		}
	}
}

// publish sends to the gateway, if it is there.
func (r *reporter) publish(kind string, data []byte) {
	if !r.nc.IsConnected() {
		return
	}
	if err := r.nc.Publish("berth.from."+r.host+"."+kind, data); err != nil {
		r.o.Log.Debug("a report of this host was not sent", "what", kind, "error", err)
	}
}

// most is how many bytes the NATS server takes in a message with rows.
func (r *reporter) most() int {
	if n := r.nc.MaxPayload(); n > 0 {
		return int(min(n, registry.MostBytes))
	}
	return registry.MostBytes // it wasn't connected yet
}
