package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// fleetSize is how many hosts and sessions TestFleetFigures has: BERTH_FLEET, such as 50x20. strict says that the
// figures have bounds, which is so when BERTH_FLEET is set: then TestMain builds without the race detector.
func fleetSize() (hosts, sessions int, strict bool) {
	if n, err := fmt.Sscanf(os.Getenv("BERTH_FLEET"), "%dx%d", &hosts, &sessions); err == nil && n == 2 {
		return hosts, sessions, true
	}
	return 3, 2, os.Getenv("BERTH_FLEET_HOSTS") != ""
}

// figure is how long something took, many times.
type figure struct {
	name  string
	bound time.Duration // of p99; 0: none
	all   []time.Duration
}

func (f *figure) at(part float64) time.Duration {
	slices.Sort(f.all)
	return f.all[min(len(f.all)-1, int(part*float64(len(f.all))))]
}

func (f *figure) tell(t *testing.T, strict bool) {
	t.Helper()
	t.Logf("%s: p50 %.2f ms, p99 %.2f ms, %d times", f.name, float64(f.at(0.5).Microseconds())/1000, float64(f.at(0.99).Microseconds())/1000, len(f.all))
	if strict && f.bound > 0 && f.at(0.99) > f.bound {
		t.Errorf("%s: p99 is above %s", f.name, f.bound)
	}
}

// dial logs in with Go's client, whose start costs nothing.
func (b *box) dial(key string) *gossh.Client {
	b.t.Helper()
	signer, err := b.signer(key)
	if err != nil {
		b.t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(b.dir, "ssh_config"))
	port := regexp.MustCompile(`Port ([0-9]+)`).FindSubmatch(config)
	if err != nil || port == nil {
		b.t.Fatalf("no port in %s: %v", config, err)
	}
	c, err := gossh.Dial("tcp", net.JoinHostPort("127.0.0.1", string(port[1])), &gossh.ClientConfig{
		User: "agents", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)}, Timeout: patienceSeconds * time.Second,
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), // the server of this test, on this machine
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() })
	return c
}

// verb runs a verb in a session of a connection.
func verb(t *testing.T, c *gossh.Client, line string) string {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.CombinedOutput(line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// typist is an attached session, whose keys come back.
type typist struct {
	t     *testing.T
	in    io.Writer
	shown chan []byte
	*figure
	key int
}

func newTypist(t *testing.T, c *gossh.Client, line, name string) *typist {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.RequestPty("xterm", 24, 80, gossh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	in, err1 := s.StdinPipe()
	out, err2 := s.StdoutPipe()
	if err := errors.Join(err1, err2, s.Start(line)); err != nil {
		t.Fatal(err)
	}
	term := &typist{t: t, in: in, shown: make(chan []byte, 64), figure: &figure{name: name}}
	go func() {
		defer close(term.shown)
		for buf := make([]byte, 4096); ; {
			n, err := out.Read(buf)
			if n > 0 {
				term.shown <- bytes.Clone(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	term.echoes(20) // attach draws at first
	term.all = nil
	return term
}

// echoes measures how long keys take to come back.
func (term *typist) echoes(times int) {
	term.t.Helper()
	for range times {
		key := []byte{byte('a' + term.key%26)}
		if term.key%26 == 25 {
			key = []byte{0x15} // the line is emptied, which is echoed too
		}
		term.key++
		began := time.Now()
		if _, err := term.in.Write(key); err != nil {
			term.t.Fatal(err)
		}
		for found := false; !found; {
			select {
			case b, ok := <-term.shown:
				if !ok {
					term.t.Fatalf("%s: the session ended", term.name)
				}
				found = bytes.Contains(b, key) || key[0] == 0x15 && len(b) > 0
			case <-time.After(patienceSeconds * time.Second):
				term.t.Fatalf("%s: no echo of the key %d", term.name, term.key)
			}
		}
		if took := time.Since(began); key[0] != 0x15 {
			term.all = append(term.all, took)
		}
	}
}

// cpu is what a process has used, in seconds.
func cpu(t *testing.T, pid int) float64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+2:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return float64(user+system) / 100
}

// TestFleetFigures measures a fleet on one machine: how long ls takes, an event on its way to a watch at the gateway,
// and a key's echo, and what the gateway costs while nothing happens.
func TestFleetFigures(t *testing.T) {
	hosts, sessions, strict := fleetSize()
	if !strict {
		t.Parallel()
	}
	address := freeAddress(t)
	gw := newBox(t, "--fleet-listen", address, "--fleet-name", "gw", "--limits-verbs-per-second", "1000")
	gw.own = "gw/*"
	began := time.Now()
	boxes := make([]*box, hosts)
	var starting sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range boxes {
		slots <- struct{}{}
		boxes[i] = newBox(t, "--limits-verbs-per-second", "1000")
		starting.Go(func() {
			defer func() { <-slots }()
			c := boxes[i].dial("admin")
			for k := range sessions {
				verb(t, c, fmt.Sprintf("new s%d -- cat", k))
			}
		})
	}
	starting.Wait()
	t.Logf("%d hosts with %d sessions each: started in %.1f s", hosts, sessions, time.Since(began).Seconds())
	began = time.Now()
	for i, b := range boxes {
		b.join(gw, fmt.Sprint("box", i))
	}
	c := gw.dial("viewer")
	for end := time.Now().Add(patienceSeconds * time.Second); strings.Count(verb(t, c, "ls -q"), "\n") < hosts*sessions; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("ls doesn't show %d sessions:\n%s", hosts*sessions, verb(t, c, "fleet ls --text"))
		}
	}
	t.Logf("all have joined and are listed after %.1f s", time.Since(began).Seconds())

	rounds := 30
	if strict {
		rounds = 300
	}
	list := &figure{name: "ls of all", bound: 300 * time.Millisecond}
	for range rounds {
		began := time.Now()
		verb(t, c, "ls --json")
		list.all = append(list.all, time.Since(began))
	}
	list.tell(t, strict)
	over := &figure{name: "ls of all, by the ssh program", bound: 300 * time.Millisecond}
	for range rounds / 3 {
		began := time.Now()
		gw.must("viewer", "ls", "--json")
		over.all = append(over.all, time.Since(began))
	}
	over.tell(t, strict)

	t.Run("events", func(t *testing.T) { fleetEventTimes(t, gw, boxes, rounds, strict) })

	fleetEchoes(t, gw, boxes[0], rounds, strict)

	if strict {
		fleetIdle(t, gw, boxes[hosts/2], address)
	}
}

// echoBound is how much longer a key's echo may take through the gateway. OpenSSH's own program, started on one server
// to reach another, takes 2.1 to 2.6 times as long on the same machine.
const echoBound = 2.5

// fleetEchoes measures a key's echo through the gateway and without it.
func fleetEchoes(t *testing.T, gw, one *box, rounds int, strict bool) {
	direct := newTypist(t, one.dial("operator"), "attach s0", "key echo, direct")
	through := newTypist(t, gw.dial("operator"), "attach box0/s1", "key echo through the gateway")
	for range 20 { // in turn, because what else the machine does counts for both
		direct.echoes(rounds / 5)
		through.echoes(rounds / 5)
	}
	direct.tell(t, strict)
	through.tell(t, strict)
	ratio := float64(through.at(0.5)) / float64(direct.at(0.5))
	t.Logf("key echo: %.2f times as long through the gateway (p50)", ratio)
	if strict && ratio > echoBound {
		t.Errorf("that is above %.1f", echoBound)
	}
}

// arrival is a line of output, and when it came.
type arrival struct {
	text string
	at   time.Time
}

// lines starts a verb and gives its lines as they come, until it ends.
func lines(t *testing.T, s *gossh.Session, line string) <-chan arrival {
	t.Helper()
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start(line)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan arrival, 4096)
	go func() {
		defer close(lines)
		var rest []byte
		for buf := make([]byte, 64<<10); ; {
			n, err := out.Read(buf)
			at := time.Now()
			for rest = append(rest, buf[:n]...); ; {
				line, after, ok := bytes.Cut(rest, []byte("\n"))
				if !ok {
					break
				}
				lines <- arrival{string(line), at}
				rest = bytes.Clone(after)
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// fleetEventTimes changes sessions of hosts in turn. The time runs from the event's own, which has milliseconds, to its
// line at a watch of the gateway.
func fleetEventTimes(t *testing.T, gw *box, boxes []*box, rounds int, strict bool) {
	s, err := gw.dial("viewer").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := lines(t, s, "watch --json --type tags,live")
	if first := <-w; !strings.Contains(first.text, `"type":"live"`) {
		t.Fatal(first.text)
	}
	f := &figure{name: "an event on a host, until its line of the gateway's watch", bound: 50 * time.Millisecond}
	stamp := regexp.MustCompile(`"time":"([^"]+)"`)
	ctx, stop := context.WithTimeout(t.Context(), 10*patienceSeconds*time.Second)
	defer stop()
	clients := map[int]*gossh.Client{}
	for i := range rounds {
		n := i % len(boxes)
		if clients[n] == nil {
			clients[n] = boxes[n].dial("admin")
		}
		verb(t, clients[n], []string{"tag s0 mark", "tag s0 -mark"}[i/len(boxes)%2])
		select {
		case got := <-w:
			happened, err := time.Parse(time.RFC3339, stamp.FindStringSubmatch(got.text)[1])
			if err != nil || !strings.Contains(got.text, fmt.Sprintf(`"session":"box%d/s0"`, n)) {
				t.Fatalf("%s: %v", got.text, err)
			}
			f.all = append(f.all, got.at.Sub(happened))
		case <-ctx.Done():
			t.Fatalf("the event %d didn't come", i)
		}
	}
	f.tell(t, strict)
}

// fleetIdle measures what a gateway, its NATS server and a host cost while nothing happens.
func fleetIdle(t *testing.T, gw, one *box, address string) {
	const long = 30 * time.Second
	nats := gw.natsPID(address)
	pids := map[string]int{"the gateway": gw.server.cmd.Process.Pid, "its NATS server": nats}
	if one != nil {
		pids["a host"] = one.server.cmd.Process.Pid
	}
	before := map[string]float64{}
	time.Sleep(3 * time.Second) // what was asked last is done
	for name, pid := range pids {
		before[name] = cpu(t, pid)
	}
	time.Sleep(long) // the measure
	for name, pid := range pids {
		part := 100 * (cpu(t, pid) - before[name]) / long.Seconds()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, idle: %.2f %% of a core, %s", name, part, regexp.MustCompile(`VmRSS:\s*[0-9]+ kB`).Find(status))
		if part > 0.5 && one != nil {
			t.Errorf("%s: that is above 0.5 %%", name)
		}
	}
}
