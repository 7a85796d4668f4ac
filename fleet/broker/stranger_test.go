package broker

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"berth/fleet/realm"
)

// TestClientsThatAskWithoutEnd: clients that haven't joined take little of the gateway's time, also with new connections.
func TestClientsThatAskWithoutEnd(t *testing.T) {
	f := newFleet(t)
	gateway := f.gateway(t)
	var got atomic.Int64
	const connections, enough = 4, 3 * strangerBurst
	asked := make(chan struct{}, 1)
	if _, err := gateway.Subscribe(realm.JoinSubject, func(m *nats.Msg) {
		if got.Add(int64(len(m.Data))) >= enough {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Flush(); err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	began := time.Now()
	for range connections {
		c := f.connect(t)
		defer c.Close()
		asking.Go(func() {
			for data := make([]byte, 4000); c.Publish(realm.JoinSubject, data) == nil; {
			}
		})
	}
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("they may not even ask what they may")
	}
	until(t, "the NATS server knows them", func() bool { return time.Since(began) > 3*countAfter })
	took := time.Since(began)
	if most := int64(connections * (strangerBurst + int(took.Seconds()*strangerRate))); got.Load() > most {
		t.Errorf("%d bytes were let through within %s, and %d may be", got.Load(), took, most)
	}
}
