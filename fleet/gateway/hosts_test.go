package gateway

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"berth/fleet/registry"
	"berth/sessions/events"
	theirs "berth/test/cluster"
)

const patience = 30 * time.Second

// TestHostThatSendsWithoutEnd: what a host sends above its share isn't read, so it keeps no other host's word waiting.
func TestHostThatSendsWithoutEnd(t *testing.T) {
	nc, err := nats.Connect(theirs.Plain(t, registry.MostBytes).ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	now := time.Now()
	g := &Gateway{o: Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}, nc: nc, known: registry.New()}
	g.known.Admit("box2")
	g.known.Admit("box3")
	if err := g.followHosts(); err != nil {
		t.Fatal(err)
	}
	publish := func(host, kind, format string, args ...any) {
		if err := nc.Publish("berth.from."+host+"."+kind, fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		publish("box2", registry.BeatSubject, `{"running":%d}`, i)
	}
	publish("box3", registry.BeatSubject, `{"running":7}`)
	many := strings.Repeat(" ", 2<<20)
	for i := range 10 {
		publish("box2", registry.RowsSubject, `{"number":%d%s}`, i, many)
	}
	publish("box3", registry.RowsSubject, `{"number":7}`)
	var box2, box3 registry.Saved
	for end := time.Now().Add(patience); box3.Beat.Running != 7 || box3.Rows.Number != 7; time.Sleep(time.Millisecond) { // nothing says what is read
		for host, s := range g.known.Unsaved() {
			if host == "box2" {
				box2 = s
			} else {
				box3 = s
			}
		}
		if time.Now().After(end) {
			t.Fatal("the other host isn't heard")
		}
	}
	if box2.Beat.Running != 2*beatsASecond-1 || box2.Rows.Number != 2*rowsASecond/(2<<20)-2 {
		t.Errorf("of the host that sends without end, the beat %d and the rows %d were the last", box2.Beat.Running, box2.Rows.Number)
	}
}

// ended is an event log that has a number of events.
type ended uint64

func (e ended) Head() uint64                       { return uint64(e) }
func (e ended) Follow(since uint64) *events.Reader { return nil }

// TestTornFile: a file that a power loss has torn keeps no gateway from its start.
func TestTornFile(t *testing.T) {
	g := &Gateway{o: Options{Dir: t.TempDir(), Events: ended(7), Log: slog.New(slog.DiscardHandler)}}
	for text, since := range map[string]uint64{"": 7, `{"since":3`: 7, `{"since":3}`: 3} {
		if err := os.WriteFile(g.keptFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if k := g.readKept(); k.Since != since {
			t.Errorf("%q: since %d", text, k.Since)
		}
	}
}
