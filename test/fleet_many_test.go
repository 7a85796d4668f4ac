package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"berth/api"
	"berth/fleet/join"
	"berth/fleet/ledger"
	"berth/fleet/realm"
	"berth/fleet/registry"
)

// fleetHosts is how many hosts TestFleetOfMany has: BERTH_FLEET_HOSTS, else a few.
func fleetHosts() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_FLEET_HOSTS")); err == nil {
		return n
	}
	return 20
}

// sessionsOfMany is how many sessions each of those hosts has.
const sessionsOfMany = 20

// standIn sends the beats, the rows and the events of a host, and has no server. A
// thousand real servers don't fit on one machine.
type standIn struct {
	name, key string
	nc        *nats.Conn
	rows      []byte
}

func (h *standIn) publish(kind string, data []byte) error {
	return h.nc.Publish("berth.from."+h.name+"."+kind, data)
}

// TestFleetOfMany measures a gateway with many hosts: what it costs while they only say that they are there, how long ls
// takes, and how fast events of all of them come through.
func TestFleetOfMany(t *testing.T) {
	t.Parallel()
	many := fleetHosts()
	address := freeAddress(t)
	flags := []string{"--fleet-listen", address, "--fleet-name", "gw", "--limits-verbs-per-second", "1000"}
	gw := newBox(t, flags...)
	dir := filepath.Join(gw.state, "fleet")
	keys, err := realm.Open(realm.KeysFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	_, pin, err := realm.Certificate(realm.CertificateFile(dir), time.Now())
	if err != nil {
		t.Fatal(err)
	}

	// They are in the gateway's list when it starts again.
	gw.kill()
	hosts := make([]*standIn, many)
	logins := make([]nats.Option, many)
	for i := range hosts {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err1 := pair.PublicKey()
		seed, err2 := pair.Seed()
		h := &standIn{name: fmt.Sprintf("box%04d", i), key: public}
		text, err3 := keys.Host(h.name, public)
		list, err4 := json.Marshal(rowsOfMany(h.name))
		line, err5 := json.Marshal(join.Host{Name: h.name, Key: public, HostKeys: []string{}, Joined: time.Now()})
		err6 := os.WriteFile(filepath.Join(dir, "hosts", h.name+".json"), line, 0o600)
		for _, err := range []error{err1, err2, err3, err4, err5, err6} {
			if err != nil {
				t.Fatal(err)
			}
		}
		h.rows = fmt.Appendf(nil, `{"number":1,"sessions":%s,"pending":[]}`, list)
		hosts[i], logins[i] = h, nats.UserJWTAndSeed(text, string(seed))
	}
	gw.serve(flags...)

	began := time.Now()
	var joining sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i, h := range hosts {
		slots <- struct{}{}
		joining.Go(func() {
			defer func() { <-slots }()
			nc, err := nats.Connect("tls://"+address, nats.Secure(realm.Pinned(pin)), nats.TLSHandshakeFirst(), logins[i], nats.CustomInboxPrefix("berth.to."+h.name+".inbox"), nats.Timeout(patienceSeconds*time.Second))
			if err == nil {
				_, err = nc.Subscribe("berth.to."+h.name+"."+registry.AskSubject, func(*nats.Msg) { _ = h.publish(registry.RowsSubject, h.rows) })
			}
			if err != nil {
				t.Errorf("%s: %v", h.name, err)
				return
			}
			h.nc = nc
			t.Cleanup(nc.Close)
		})
	}
	joining.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d hosts have connected after %.1f s", many, time.Since(began).Seconds())

	// Beats, spread over each second.
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		beat, err := json.Marshal(registry.Beat{Version: "1.0", Running: sessionsOfMany, Rows: 1})
		if err != nil {
			t.Error(err)
		}
		tick := time.NewTicker(registry.BeatEvery / time.Duration(many))
		defer tick.Stop()
		for i := 0; ; i++ {
			if err := hosts[i%many].publish(registry.BeatSubject, beat); err != nil {
				t.Error(err)
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	defer func() { close(stop); beating.Wait() }()

	c := gw.dial("viewer")
	want := many * sessionsOfMany
	for end := time.Now().Add(patienceSeconds * time.Second); strings.Count(verb(t, c, "ls -q"), "\n") < want; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("ls doesn't show all sessions")
		}
	}
	lists := &figure{name: fmt.Sprintf("ls of %d sessions", want)}
	one := &figure{name: "ls of one host's"}
	size := 0
	for i := range 20 {
		began := time.Now()
		size = len(verb(t, c, "ls --json"))
		lists.all = append(lists.all, time.Since(began))
		began = time.Now()
		verb(t, c, fmt.Sprintf("ls %s/*", hosts[i%many].name))
		one.all = append(one.all, time.Since(began))
	}
	lists.tell(t, false)
	one.tell(t, false)
	t.Logf("ls has %.1f MB", float64(size)/1e6)

	// An event of each host, at once.
	s, err := gw.dial("viewer").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := lines(t, s, "watch --json --type report,live")
	if first := <-w; !strings.Contains(first.text, `"type":"live"`) {
		t.Fatal(first.text)
	}
	began = time.Now()
	var sending sync.WaitGroup
	for _, h := range hosts {
		sending.Go(func() {
			line := fmt.Sprintf(`{"cursor":"e1","type":"report","session":"s0","id":"%s-0","seq":1,"time":"%s","text":"%s"}`, h.name, time.Now().UTC().Format(api.TimeLayout), strings.Repeat("x", 300))
			batch, err := json.Marshal(ledger.Batch{Member: h.key, Lines: []json.RawMessage{json.RawMessage(line)}})
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := h.nc.Request("berth.from."+h.name+"."+ledger.EventsSubject, batch, patienceSeconds*time.Second)
			if err != nil || strings.Contains(string(answer.Data), "error") {
				t.Errorf("%s: %v %s", h.name, err, answer.Data)
			}
		})
	}
	deadline := time.After(patienceSeconds * time.Second)
	for n := range many {
		select {
		case <-w:
		case <-deadline:
			t.Fatalf("%d of %d events came", n, many)
		}
	}
	t.Logf("an event of each host, all at once: the last line after %.0f ms", float64(time.Since(began).Milliseconds()))
	sending.Wait()
	if _, measured := os.LookupEnv("BERTH_FLEET_HOSTS"); measured {
		fleetIdle(t, gw, nil, address)
	}
}

func rowsOfMany(host string) []api.Session {
	rows := make([]api.Session, sessionsOfMany)
	for i := range rows {
		rows[i] = api.Session{
			Session: fmt.Sprint("s", i), ID: fmt.Sprintf("%s-%d", host, i), Agent: "claude", State: "working", Since: api.At(time.Now()), Title: "a title of usual length",
			Tags: []string{"web"}, PID: 4711, Cols: 120, Rows: 40, Cwd: "/home/ann/projects/website",
		}
	}
	return rows
}
