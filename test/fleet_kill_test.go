package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fleetKills is how often TestFleetKilled kills a server: BERTH_SOAK_KILLS, else a few times.
func fleetKills() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK_KILLS")); err == nil {
		return n
	}
	return 6
}

// natsPID finds a gateway's NATS server.
func (b *box) natsPID(address string) int {
	b.t.Helper()
	program, err := exec.Command("pgrep", "-f", "berth-fleet .* "+address).Output()
	if err != nil || len(strings.Fields(string(program))) != 1 {
		b.t.Fatalf("the gateway's NATS server: %v\n%s", err, program)
	}
	return number(b.t, strings.TrimSpace(string(program)))
}

// killNATS kills a gateway's NATS server.
func (b *box) killNATS(address string) {
	b.t.Helper()
	if err := syscall.Kill(b.natsPID(address), syscall.SIGKILL); err != nil {
		b.t.Fatal(err)
	}
}

// event is a line of a fleet's watch.
type fleetEvent struct {
	Cursor     string   `json:"cursor"`
	Type       string   `json:"type"`
	Session    string   `json:"session"`
	Host       string   `json:"host"`
	HostCursor string   `json:"host_cursor"`
	Time       string   `json:"time"`
	Tags       []string `json:"tags"`
}

// events parses what a watch has printed.
func fleetEvents(t *testing.T, text string) (out []fleetEvent) {
	t.Helper()
	for line := range strings.Lines(text) {
		var e fleetEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// TestFleetKilled kills the gateway, hosts and the gateway's NATS server again and again, while the hosts' sessions
// cause events. Two readers get each event once, and those of a host in order: one that goes on with its last
// cursor whenever its watch ends, and one that reads all of it afterwards.
func TestFleetKilled(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	flags := []string{"--fleet-listen", address, "--fleet-name", "gw"}
	gw := newBox(t, flags...)
	hosts := map[string]*box{}
	names := []string{"box1", "box2", "box3"}
	for _, name := range names {
		hosts[name] = newBox(t)
		hosts[name].join(gw, name)
		for _, s := range []string{"a", "b"} {
			hosts[name].must("admin", "new", s, "--", "cat")
		}
	}

	// The reader that goes on.
	var followed []fleetEvent
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		since := "0"
		for {
			select {
			case <-stop:
				return
			default:
			}
			cmd := gw.ssh("viewer", "watch", "--json", "--since", since, "--past")
			out, _ := cmd.Output() // a killed gateway ends it in the middle of a line
			for line := range strings.Lines(string(out)) {
				var e fleetEvent
				if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &e) != nil || e.Type == "end" || e.Cursor == "" {
					continue
				}
				followed, since = append(followed, e), e.Cursor
			}
		}
	}()

	for i := range fleetKills() {
		var causing sync.WaitGroup
		for _, name := range names {
			causing.Go(func() {
				for k := range 5 { // the host may be killed in the middle
					_ = hosts[name].ssh("admin", "input", []string{"a", "b"}[k%2], "--enter", "x").Run()
				}
			})
		}
		time.Sleep(rand.N(300 * time.Millisecond)) // a moment by chance: all of them are to be right
		var dead *box
		switch i % 3 {
		case 0:
			dead = gw
		case 1:
			dead = hosts[names[rand.N(len(names))]]
		}
		if dead == nil {
			gw.killNATS(address)
		} else {
			dead.kill()
		}
		causing.Wait()
		if dead == gw {
			gw.serve(flags...)
		} else if dead != nil {
			dead.serve()
		}
	}

	// The end of each host's log.
	for _, name := range names {
		hosts[name].must("admin", "tag", "a", "the-end")
		gw.sees(`"type":"tags","session":"`+name+`/a",.*"the-end"`, "viewer", "watch", name+"/a", "--since", "0", "--past")
	}
	close(stop)
	<-ended
	all := fleetEvents(t, gw.must("viewer", "watch", "--since", "0", "--past"))
	all = all[:len(all)-1] // why the watch ended
	for reader, events := range map[string][]fleetEvent{"afterwards": all, "going on": followed} {
		next := map[string]int{}
		for i, e := range events {
			cursor := number(t, strings.TrimPrefix(e.HostCursor, "e"))
			if e.Type == "gap" || e.Host == "" || next[e.Host] > 0 && cursor != next[e.Host] || i > 0 && number(t, e.Cursor[1:]) != number(t, events[i-1].Cursor[1:])+1 {
				t.Fatalf("the reader %s: after %d events comes %+v; wanted e%d of this host", reader, i, e, next[e.Host])
			}
			next[e.Host] = cursor + 1
		}
		for _, name := range names {
			own := fleetEvents(t, hosts[name].must("viewer", "watch", "--since", "0", "--past"))
			if head := number(t, own[len(own)-1].Cursor[1:]); reader == "afterwards" && next[name] != head+1 {
				t.Errorf("%s has events up to e%d, and the fleet those before e%d", name, head, next[name])
			}
		}
	}
	if i := len(followed); i > len(all) || i == 0 {
		t.Fatalf("one reader has %d events, and the other %d", i, len(all))
	}
	t.Logf("%d kills, %d events, each once and in order", fleetKills(), len(all))
}

// link is a way from a host to its gateway that can be cut. A cut link takes bytes and carries none, as a network does
// that drops packets.
type link struct {
	net.Listener
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
	wait  *sync.Cond
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{Listener: l}
	k.wait = sync.NewCond(&k.mu)
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		k.set(false)
		k.mu.Lock()
		for _, c := range k.conns {
			_ = c.Close()
		}
		k.mu.Unlock()
		running.Wait()
	})
	pipe := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			k.mu.Lock()
			for k.cut {
				k.wait.Wait()
			}
			k.mu.Unlock()
			if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			k.mu.Lock()
			k.conns = append(k.conns, in, out)
			k.mu.Unlock()
			running.Go(func() { pipe(out, in) })
			running.Go(func() { pipe(in, out) })
		}
	})
	return k
}

func (k *link) set(cut bool) {
	k.mu.Lock()
	k.cut = cut
	k.mu.Unlock()
	k.wait.Broadcast()
}

// partition is how long TestFleetPartition cuts a link: BERTH_SOAK_PARTITION, else as long as it takes to be marked.
func partition() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("BERTH_SOAK_PARTITION")); err == nil {
		return d
	}
	return 7 * time.Second
}

// TestFleetPartition cuts a host off without a word, as a network does that loses everything. It is marked, delays no
// caller, and what happened there meanwhile comes once and in order when it is back.
func TestFleetPartition(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2", "box3")
	box2, box3 := hosts[0], hosts[1]

	// box2 reaches the gateway over a link.
	file := filepath.Join(box2.state, "fleet.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`"address": ?"([^"]+)"`).FindSubmatch(data)
	if address == nil {
		t.Fatalf("no address in %s", data)
	}
	k := newLink(t, string(address[1]))
	box2.kill()
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), string(address[1]), k.Addr().String(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	box2.serve()
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.must("operator", "state", "box2/api")
	since := gw.watch("viewer")
	since.until(`"type":"live"`)
	start := since.cursor()

	k.set(true)
	began := time.Now()
	gw.refused(12, "box2 can't be reached now", "operator", "state", "box2/api") // before it is marked
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("a verb about a host that is cut off took %s", took)
	}
	gw.sees(`"session":"box2/api".*"last_seen_at":"2`, "viewer", "ls", "box2/api")
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it was marked after %s", took)
	}
	for i := range 20 {
		box2.must("admin", "tag", "api", fmt.Sprint("cut", i))
	}
	for longer := true; longer; longer = time.Since(began) < partition() { // others are undisturbed
		one := time.Now()
		gw.must("operator", "state", "box3/api")
		gw.must("viewer", "ls")
		box3.must("admin", "input", "api", "--enter", "x")
		if took := time.Since(one); took > 4*time.Second {
			t.Errorf("three verbs about others took %s", took)
		}
	}
	k.set(false)
	gw.sees(`"type":"tags","session":"box2/api",.*"cut19"`, "viewer", "watch", "box2/api", "--since", start, "--past")
	t.Logf("cut off for %s; %s until the events had come", partition(), time.Since(began)-partition())
	var got []string
	for _, e := range fleetEvents(t, gw.must("viewer", "watch", "box2/api", "--since", start, "--past")) {
		if e.Type == "tags" {
			got = append(got, e.Tags...)
		}
	}
	want := ""
	for i := range 20 {
		for k := range i + 1 {
			want += fmt.Sprint("cut", k, " ")
		}
		want += "web "
	}
	if sorted := strings.Join(got, " ") + " "; len(strings.Fields(sorted)) != len(strings.Fields(want)) {
		t.Errorf("the tags of the time without a link: %s", sorted)
	}
	gw.must("operator", "state", "box2/api")
}
