package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/cluster"
)

// TestFleetOnNATS is a fleet whose gateway runs no NATS server and uses a cluster of other people, as the fleet's people see it.
func TestFleetOnNATS(t *testing.T) {
	t.Parallel()
	nats := cluster.Start(t)
	account := filepath.Join(t.TempDir(), "account")
	if err := os.WriteFile(account, []byte(nats.Account(nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--fleet-nats", nats.URL, "--fleet-nats-account", account, "--fleet-nats-ca", nats.CA, "--fleet-name", "gw"}
	gw := newBox(t, flags...)
	gw.own = "gw/*"
	box2, box3 := newBox(t), newBox(t)
	for _, b := range []*box{gw, box2, box3} {
		b.must("admin", "new", "api", "--", "cat")
	}

	// A token goes as an argument and by standard input, and is for one host.
	line := gw.invite("box2")
	if r := box2.local(append(line, "--text")...); r.status != 0 || !strings.Contains(r.out, "this server is box2 in the fleet of "+nats.URL) {
		t.Fatalf("join: %d %s\n%s", r.status, r.out, gw.lastLog())
	}
	if r := box3.local(line...); r.status != 4 || !strings.Contains(r.out, "used by another host") {
		t.Errorf("a stolen token: %d %s", r.status, r.out)
	}
	box3.join(gw, "box3")
	gw.sees(`"host":"box2","gateway":false,"reachable":true,(?s:.*)"host":"box3","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.sees(`"session":"box3/api"`, "viewer", "ls")

	// Verbs, a terminal, ssh -J and events, as on a NATS server of the gateway's own.
	gw.must("viewer", "state", "box2/api")
	gw.must("operator", "input", "box2/api", "--enter", "typed at the gateway")
	box2.sees("typed at the gateway", "viewer", "screen", "api", "--text")
	if r := box2.jump(gw, "viewer", "box2:22", "admin", "whoami"); r.status != 0 || !strings.Contains(r.out, `"identity":"admin"`) {
		t.Errorf("ssh -J: %+v", r)
	}
	w := gw.watch("viewer")
	w.until(`"type":"live"`)
	start := w.cursor()
	box2.must("admin", "tag", "api", "night")
	w.until(`"session":"box2/api",.*"host":"box2"`)

	// The gateway comes back to its hosts, and all come back to the cluster.
	gw.kill()
	gw.serve(flags...)
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	nats.Stop()
	gw.sees(`"host":"box2","gateway":false,"reachable":false`, "admin", "fleet", "ls")
	gw.refused(12, "box2 can't be reached now", "viewer", "state", "box2/api")
	nats.Start()
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.must("viewer", "state", "box2/api")
	if past := gw.must("viewer", "watch", "--since", start, "--past"); !strings.Contains(past, `"session":"box2/api"`) {
		t.Errorf("since %s: %s", start, past)
	}

	// A removed host's name isn't given again. The host can join with another.
	gw.must("admin", "fleet", "rm", "box2")
	gw.refused(3, "there is no host", "viewer", "state", "box2/api")
	gw.refused(2, "choose another name", "admin", "fleet", "invite", "box2")
	if out := gw.must("admin", "fleet", "ls"); strings.Contains(out, "box2") {
		t.Errorf("it is still listed: %s", out)
	}
	box2.join(gw, "box2-b")
	gw.sees(`"session":"box2-b/api"`, "viewer", "ls")
	gw.must("viewer", "state", "box2-b/api")

	// What is wrong at the start is said.
	for _, c := range []struct {
		mode  os.FileMode
		flags []string
		want  string
	}{
		{0o644, flags, "others can read or write it"},
		{0o600, flags[:4], "certificate signed by unknown authority"},
		{0o600, flags[:2], "fleet.nats_account"},
		{0o600, append([]string{"--fleet-listen", "127.0.0.1:0"}, flags...), "a gateway has a NATS server of its own or uses a cluster"},
		{0o600, []string{"--fleet-nats", "nats://127.0.0.1:1", "--fleet-nats-account", account}, "write tls://HOST:PORT"},
	} {
		if err := os.Chmod(account, c.mode); err != nil {
			t.Fatal(err)
		}
		b, err := newStage(t)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.tearDown)
		cmd := exec.Command(berth, append([]string{"serve", "--listen", "127.0.0.1:0"}, c.flags...)...)
		cmd.Env, cmd.Dir = b.environ(), b.dir
		if _, _, err := b.start(cmd); err == nil || !strings.Contains(err.Error()+b.lastLog(), c.want) {
			t.Errorf("%v: %v\n%s", c.flags, err, b.lastLog())
		}
	}
}
