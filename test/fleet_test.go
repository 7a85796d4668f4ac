package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// box is a machine of a fleet: a server with its own home, state and keys.
type box struct {
	*stage
	t *testing.T
}

// newBox starts a server, and ends it with the test.
func newBox(t *testing.T, flags ...string) *box {
	t.Helper()
	s, err := newStage(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.tearDown)
	b := &box{s, t}
	b.serve(flags...)
	return b
}

func (b *box) serve(flags ...string) {
	b.t.Helper()
	cmd := exec.Command(berth, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Env, cmd.Dir = b.environ(), b.dir
	server, address, err := b.start(cmd)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.lastLog())
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		err = b.writeSSHConfig(port)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.server = server
}

// kill ends the server with SIGKILL.
func (b *box) kill() {
	b.t.Helper()
	if err := b.server.cmd.Process.Kill(); err != nil {
		b.t.Fatal(err)
	}
	<-b.server.ended
	b.server = nil
}

// result is what a call printed, and its exit status.
type result struct {
	out, err string
	status   int
}

// call runs a verb over ssh with a key.
func (b *box) call(key string, args ...string) result {
	b.t.Helper()
	cmd := b.ssh(key, args...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return result{out.String(), messages.String(), exitStatus(err)}
}

// must is call for a verb that has to succeed, and returns its output.
func (b *box) must(key string, args ...string) string {
	b.t.Helper()
	r := b.call(key, args...)
	if r.status != 0 {
		b.t.Fatalf("%s: status %d\n%s%s\n%s", strings.Join(args, " "), r.status, r.out, r.err, b.lastLog())
	}
	return r.out
}

// refused is call for a verb that has to fail with that status, and with a message that matches.
func (b *box) refused(status int, message, key string, args ...string) {
	b.t.Helper()
	r := b.call(key, args...)
	if r.status != status || !regexp.MustCompile(message).MatchString(r.err+r.out) {
		b.t.Errorf("%s: status %d, wanted %d and %q\n%s%s", strings.Join(args, " "), r.status, status, message, r.out, r.err)
	}
}

// sees waits until a verb's output matches. It polls, because what changes is another server's.
func (b *box) sees(pattern, key string, args ...string) string {
	b.t.Helper()
	want := regexp.MustCompile(pattern)
	for end := time.Now().Add(patienceSeconds * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r := b.call(key, args...)
		if want.MatchString(r.out) {
			return r.out
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s doesn't show %q:\n%s%s\n%s", strings.Join(args, " "), pattern, r.out, r.err, b.lastLog())
		}
	}
}

// invite returns the words of the line to run on a new host.
func (b *box) invite(name string) []string {
	b.t.Helper()
	text := b.must("admin", "fleet", "invite", name, "--text")
	line := regexp.MustCompile(`(?m)^ +berth (fleet join \S+)$`).FindStringSubmatch(text)
	if line == nil {
		b.t.Fatalf("no line to run in:\n%s", text)
	}
	return strings.Fields(line[1])
}

// local runs berth VERB on the machine.
func (b *box) local(args ...string) result { return b.localIn("", args...) }

func (b *box) localIn(in string, args ...string) result {
	b.t.Helper()
	cmd := exec.Command(berth, args...)
	cmd.Stdin = strings.NewReader(in)
	cmd.Env = b.environ()
	out, err := cmd.CombinedOutput()
	return result{out: string(out), status: exitStatus(err)}
}

// join makes the box a host of the fleet.
func (b *box) join(gateway *box, name string, options ...string) {
	b.t.Helper()
	token := gateway.invite(name)[2]
	if r := b.localIn(token+"\n", append([]string{"fleet", "join", "-"}, options...)...); r.status != 0 {
		b.t.Fatalf("join: status %d\n%s\n%s\n%s", r.status, r.out, b.lastLog(), gateway.lastLog())
	}
}

// newGateway starts a gateway that is called gw.
func newGateway(t *testing.T) *box {
	t.Helper()
	address := freeAddress(t)
	gw := newBox(t, "--fleet-listen", address, "--fleet-name", "gw")
	gw.own = "gw/*"
	return gw
}

// lastPort is what freeAddress has tried last.
var lastPort atomic.Int32

// freeAddress is one that nothing listens on. A gateway keeps it when it is started again. Its port is below those that
// kernels give out, so that no other test gets it meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, many = 20000, 10000
	lastPort.CompareAndSwap(0, int32(os.Getpid()%many)) // another run of the tests begins elsewhere
	for range many {
		address := fmt.Sprintf("127.0.0.1:%d", first+lastPort.Add(1)%many)
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestFleet is a host's life in a fleet, as its people see it.
func TestFleet(t *testing.T) {
	t.Parallel()
	gw := newGateway(t)
	box2, box3 := newBox(t), newBox(t)

	// Only admins invite, and only at a gateway.
	gw.refused(4, "needs the role admin", "operator", "fleet", "invite", "box2")
	box2.refused(2, "this server is none: set fleet.listen", "admin", "fleet", "invite", "box9")
	gw.refused(2, "gateway's own name", "admin", "fleet", "invite", "gw")
	gw.refused(2, "isn't a valid name of a host", "admin", "fleet", "invite", "box/2")
	box2.refused(3, "in no fleet", "admin", "fleet", "ls")
	gw.refused(2, "joins none", "admin", "fleet", "join", "bf1-x")
	box2.refused(2, "copy all of the line", "admin", "fleet", "join", "bf1-x")

	// A token is for one host.
	line := gw.invite("box2")
	if r := box2.local(append(line, "--text")...); r.status != 0 || !strings.Contains(r.out, "this server is box2 in the fleet of 127.0.0.1:") {
		t.Fatalf("join: %d %s\n%s", r.status, r.out, gw.lastLog())
	}
	if r := box3.local(line...); r.status != 4 || !strings.Contains(r.out, "used by another host") {
		t.Errorf("a stolen token: %d %s", r.status, r.out)
	}
	gw.refused(2, "in the fleet already", "admin", "fleet", "invite", "box2")
	box3.join(gw, "box3", "--max-role", "viewer")
	gw.sees(`"host":"box2","gateway":false,"reachable":true,"draining":false,(?s:.*)"host":"box3","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.sees(`(?m)^gw +gateway .*\n^box2 +yes .*\n^box3 +yes `, "admin", "fleet", "ls", "--text")
	box3.sees("box3 in the fleet of 127.0.0.1:[0-9]+ \\(connected\\); its callers are at most viewer here", "admin", "fleet", "ls", "--text")

	// A host that is away is seen, and comes back by itself; so does one whose gateway was away.
	box2.kill()
	gw.sees(`"host":"box2","gateway":false,"reachable":false,"draining":false,"since_at":"2`, "admin", "fleet", "ls")
	box2.serve()
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")

	// A removed host is out, also with its old token, and can be invited again.
	gw.refused(3, "there is no host .+box9", "admin", "fleet", "rm", "box9")
	gw.must("admin", "fleet", "rm", "box2")
	box2.sees("not connected", "admin", "fleet", "ls", "--text")
	if r := box2.local(line...); r.status != 4 {
		t.Errorf("a removed host joins by its old token: %d %s", r.status, r.out)
	}
	box2.join(gw, "box2")
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	if r := box2.local("fleet", "leave"); r.status != 0 {
		t.Errorf("leave: %d %s", r.status, r.out)
	}
	box2.refused(3, "in no fleet", "admin", "fleet", "ls")
	gw.sees(`"host":"box2","gateway":false,"reachable":false`, "admin", "fleet", "ls")
}

// TestGatewayKilled: hosts come back to a gateway that is started again, and to one whose NATS server was killed.
func TestGatewayKilled(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	flags := []string{"--fleet-listen", address, "--fleet-name", "gw"}
	gw, box2 := newBox(t, flags...), newBox(t)
	box2.join(gw, "box2")
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.kill()
	gw.serve(flags...)
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
	gw.killNATS(address)
	for end := time.Now().Add(patienceSeconds * time.Second); strings.Count(box2.lastLog(), "connected to the fleet again") < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) { // the log is all that says so: it is back before it counts as away
			t.Fatalf("the host doesn't come back:\n%s", box2.lastLog())
		}
	}
	gw.sees(`"host":"box2","gateway":false,"reachable":true`, "admin", "fleet", "ls")
}

// newFleet is a gateway and two hosts, each with a session that is called like its host, and one that all have.
func newFleet(t *testing.T, names ...string) (gw *box, hosts []*box) {
	t.Helper()
	gw = newGateway(t)
	gw.must("admin", "new", "api", "--tag", "web", "--", "cat")
	for _, name := range names {
		b := newBox(t)
		b.must("admin", "new", "api", "--tag", "web", "--", "cat")
		b.must("admin", "new", name+"-only", "--", "cat")
		b.join(gw, name)
		hosts = append(hosts, b)
	}
	for _, name := range names {
		gw.sees(`"session":"`+name+`/`+name+`-only"`, "admin", "ls")
	}
	return gw, hosts
}

// TestFleetVerbs calls verbs at the gateway that are about sessions of hosts.
func TestFleetVerbs(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2", "box3")
	box2, box3 := hosts[0], hosts[1]

	// One list, by registry.
	list := gw.must("viewer", "ls", "-q")
	if list != "gw/api\nbox2/api\nbox2/box2-only\nbox3/api\nbox3/box3-only\n" {
		t.Errorf("ls: %q", list)
	}
	for words, want := range map[string]string{
		"box2/*": "box2/api\nbox2/box2-only\n", "gw/*": "gw/api\n", "box3/api": "box3/api\n", "tag:web": "gw/api\nbox2/api\nbox3/api\n", "box*/api": "", "api box3/b*": "gw/api\nbox2/api\nbox3/api\nbox3/box3-only\n",
	} {
		if r := gw.call("viewer", append([]string{"ls", "-q"}, strings.Fields(words)...)...); r.out != want {
			t.Errorf("ls %s: %q %s", words, r.out, r.err)
		}
	}
	// A narrowed key sees its part of each host.
	if r := gw.call("narrow", "ls", "-q"); r.out != "" {
		t.Errorf("a key without these sessions sees %q", r.out)
	}

	// A verb goes to the host, with its quotes, its input and its status.
	gw.must("operator", "input", "box2/api", "--enter", `'it"s  a   text'`)
	box2.sees(`it\\"s  a   text`, "admin", "screen", "api", "--json")
	if r := gw.call("operator", "screen", "box2/api"); !strings.Contains(r.out, `it\"s  a   text`) {
		t.Errorf("screen: %+v", r)
	}
	gw.refused(3, "there is no session .+nope", "operator", "state", "box2/nope")
	gw.refused(3, "there is no host .+box9", "operator", "state", "box9/api")
	gw.refused(2, "unknown option|unknown flag|nknown", "operator", "state", "--nope", "box2/api")
	gw.must("operator", "state", "gw/api")
	gw.refused(10, "", "operator", "wait", "box2/api", "--until", "exited", "--timeout", "1s")

	// So does an editor's protocol.
	editor := gw.ssh("operator", "acp", "box2/api")
	editor.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n")
	if out, err := editor.CombinedOutput(); err != nil || !strings.Contains(string(out), `"id":1,"result":{`) {
		t.Errorf("acp: %v\n%s", err, out)
	}

	// The name without a host is the gateway's, or the only one.
	if id := gw.must("viewer", "ls", "gw/api", "--jq", "'.[0].id'"); !strings.Contains(gw.must("viewer", "state", "api"), `"id":"`+strings.TrimSpace(id)+`"`) {
		t.Errorf("api isn't the gateway's own session %s", id)
	}
	gw.must("viewer", "state", "box3-only")
	gw.must("admin", "rm", "--force", "api")
	gw.refused(2, "is on box2 and box3: write HOST/api", "viewer", "state", "api")

	// Several hosts at once.
	out := gw.must("viewer", "state", "box2/api", "box3/api")
	if strings.Count(out, `"session":"api"`) != 2 || !strings.Contains(out, `,"host":"box2"}`) || !strings.Contains(out, `,"host":"box3"}`) {
		t.Errorf("two states: %s", out)
	}
	if out := gw.must("viewer", "state", "tag:web"); strings.Count(out, "\n") != 2 {
		t.Errorf("by tag: %s", out)
	}
	gw.refused(2, "is for one session", "operator", "screen", "box2/api,box3/api")

	// The host decides: the caller's role there is at most what it gives the fleet, and its audit log names both.
	gw.refused(4, "needs the role operator", "viewer", "input", "box2/api", "x")
	gw.refused(4, "new needs the role admin, and admin via gw is operator", "admin", "new", "box2/more", "--", "cat")
	if out := box2.must("admin", "audit"); !strings.Contains(out, `"identity":"operator via gw"`) {
		t.Errorf("the host's audit log: %s", out)
	}
	if out := gw.must("admin", "audit"); !strings.Contains(out, `"session":"box2/api","verb":"input"`) {
		t.Errorf("the gateway's audit log: %s", out)
	}

	// A host that is away delays no caller.
	box3.kill()
	began := time.Now()
	gw.refused(12, "box3 can't be reached now", "viewer", "state", "box3/api")
	if r := gw.call("viewer", "state", "box2/api", "box3/api"); r.status != 12 || strings.Count(r.out, `"session":"api"`) != 1 {
		t.Errorf("one of two is away: %+v", r)
	}
	if d := time.Since(began); d > 6*time.Second {
		t.Errorf("it took %s", d)
	}
	gw.sees(`(?m)^box3/api +unreachable `, "viewer", "ls", "--text")
	box3.serve()
	gw.sees(`(?m)^box3/api +(idle|running|working|unknown)`, "viewer", "ls", "--text")
	gw.must("viewer", "state", "box3/api")
}

// TestFleetNew starts sessions on a host that gives the fleet all rights.
func TestFleetNew(t *testing.T) {
	t.Parallel()
	gw, box2 := newGateway(t), newBox(t, "--fleet-labels", "gpu")
	box2.join(gw, "box2", "--max-role", "admin")
	gw.sees(`(?m)^box2 +yes`, "admin", "fleet", "ls", "--text")
	gw.must("admin", "new", "--host", "box2", "one", "--", "cat")
	gw.must("admin", "new", "box2/two", "--", "cat")
	gw.must("admin", "new", "gw/own", "--", "cat")
	gw.must("admin", "new", "--host", "label:gpu", "three", "--", "cat")
	gw.refused(12, "no host that can be reached matches", "admin", "new", "--host", "label:none", "four", "--", "cat")
	gw.refused(3, "there is no host", "admin", "new", "--host", "box9", "four", "--", "cat")
	gw.refused(3, "there is no host", "admin", "fleet", "drain", "box9")
	gw.must("admin", "fleet", "drain", "box2")
	gw.sees("(?m)^box2 +yes, drains", "admin", "fleet", "ls", "--text")
	gw.refused(2, "box2 is drained", "admin", "new", "--host", "box2", "four", "--", "cat")
	gw.refused(2, "box2 is drained", "admin", "new", "box2/four", "--", "cat")
	gw.refused(12, "no host that can be reached matches", "admin", "new", "--host", "label:gpu", "four", "--", "cat")
	gw.must("admin", "fleet", "drain", "box2", "--undo")
	box2.refused(2, "is in no fleet|isn't this host|another host", "admin", "new", "--host", "box3", "four", "--", "cat")
	box2.sees("(?s)one.*three.*two", "admin", "ls", "-q")
	gw.sees("box2/two", "admin", "ls", "-q")
	gw.must("admin", "kill", "box2/*", "--grace", "0s")
	gw.sees(`"session":"box2/two".*"state":"exited"`, "admin", "ls")
	// The gateway has one session that runs, and box2 none.
	gw.must("admin", "new", "--host", "any", "five", "--", "cat")
	box2.sees("five", "admin", "ls", "-q")
}

// TestFleetAttach shares a terminal of a host through the gateway, by the verb and by the user name.
func TestFleetAttach(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2")
	for name, cmd := range map[string]*exec.Cmd{
		"verb": gw.ssh("-tt", "operator", "attach", "box2/api"),
		"user": gw.ssh("-tt", "-l", "box2/api", "operator"),
	} {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = in.Write([]byte("typed by " + name + "\r"))
		hosts[0].sees("typed by "+name, "admin", "screen", "api", "--text")
		if _, err2 := in.Write([]byte("\x1dd")); err != nil || err2 != nil {
			t.Error(err, err2)
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "detached from api") {
			t.Errorf("%s: %v\n%q", name, err, out.String())
		}
	}
	gw.refused(3, "there is no session", "operator", "attach", "box2/none")
}

// jump runs a verb on a host with its own key, end to end through the gateway.
func (b *box) jump(gw *box, over, to, key string, args ...string) result {
	b.t.Helper()
	proxy := "ssh -F " + gw.dir + "/ssh_config -o LogLevel=INFO " + over + " -W " + to
	cmd := b.ssh("-o", append([]string{"ProxyCommand=" + proxy, key}, args...)...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	return result{out.String(), messages.String(), exitStatus(err)}
}

// TestFleetJump is ssh -J: the host sees the person's own key proven, and the gateway forwards to hosts alone.
func TestFleetJump(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2")
	box2 := hosts[0]
	if r := box2.jump(gw, "viewer", "box2:22", "admin", "whoami"); r.status != 0 || !strings.Contains(r.out, `"identity":"admin"`) || !strings.Contains(r.out, `"role":"admin"`) {
		t.Errorf("%+v", r)
	}
	if err := gw.makeKey("tight"); err != nil {
		t.Fatal(err)
	}
	if err := gw.list("tight", `role="admin",restrict`); err != nil {
		t.Fatal(err)
	}
	gw.sees("tight", "admin", "access", "ls")
	if err := gw.makeKey("visitor"); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(gw.keyFile("visitor") + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	cert := gw.must("admin", "guest", "--role", "operator", "--text", "'"+strings.TrimSpace(string(public))+"'")
	if err := os.WriteFile(gw.keyFile("visitor")+"-cert.pub", []byte(cert), 0o600); err != nil {
		t.Fatal(err)
	}
	gw.must("visitor", "state", "box2/api")
	for name, c := range map[string]struct{ over, to, key, want string }{
		"a narrowed key":              {"narrow", "box2:22", "admin", "may not use ssh -J"},
		"a restricted key":            {"tight", "box2:22", "admin", "may not use ssh -J"},
		"a guest":                     {"visitor", "box2:22", "admin", "may not use ssh -J"},
		"a key that isn't admitted":   {"attacker", "box2:22", "admin", "(?i)denied"},
		"the host doesn't know it":    {"admin", "box2:22", "attacker", "(?i)denied"},
		"an address":                  {"admin", "127.0.0.1:22", "admin", "there is no host"},
		"a host that isn't in it":     {"admin", "box3:22", "admin", "there is no host"},
		"a name that is a NATS place": {"admin", "*:22", "admin", "there is no host"},
	} {
		if r := box2.jump(gw, c.over, c.to, c.key, "whoami"); r.status != 255 || !regexp.MustCompile(c.want).MatchString(r.err) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := gw.jump(box2, "admin", "gw:22", "admin", "whoami"); r.status != 255 || !strings.Contains(r.err, "forwards nothing") {
		t.Errorf("over a server that isn't a gateway: %+v", r)
	}
	box2.kill()
	if r := gw.jump(gw, "admin", "box2:22", "admin", "whoami"); r.status != 255 || !strings.Contains(r.err, "can't be reached") {
		t.Errorf("a host that is away: %+v", r)
	}
	box2.serve()
}

// TestFleetAgents: a process inside a session of the gateway reaches no host, by any way; one of a host has no
// more there than without a fleet.
func TestFleetAgents(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2")
	box2 := hosts[0]
	gw.must("admin", "new", "shell", "--env", "GORACE=atexit_sleep_ms=0", "--", "sh")
	commands := 0
	run := func(b *box, session, line string) string {
		t.Helper()
		commands++ // the screen may still have the last command
		b.must("admin", "input", session, "--enter", fmt.Sprintf("'clear; %s 2>&1 | tail -4; echo done %d'", line, commands))
		return b.sees(fmt.Sprintf(`(?m)^done %d$`, commands), "admin", "screen", session, "--text")
	}
	for _, line := range []string{"state box2/api", "input box2/api --enter hello", "attach box2/api", "fleet ls", "fleet invite box9"} {
		if out := run(gw, "shell", berth+" "+line); !strings.Contains(out, "may not use") && !strings.Contains(out, "no session") {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out := run(gw, "shell", berth+" ls -q"); strings.Contains(out, "box2") || !strings.Contains(out, "shell") {
		t.Errorf("ls: %s", out)
	}
	// With a key of a person: it is still the session's process, because the connection is from this machine.
	config := gw.dir + "/ssh_config"
	if out := run(gw, "shell", "ssh -F "+config+" admin state box2/api"); !strings.Contains(out, "no session") && !strings.Contains(out, "may not use") {
		t.Errorf("with a stolen key: %s", out)
	}
	if out := run(gw, "shell", "ssh -o LogLevel=INFO -F "+config+" admin -W box2:22"); !strings.Contains(out, "may not use ssh -J") {
		t.Errorf("forwarding: %s", out)
	}
	box2.must("admin", "new", "shell", "--env", "GORACE=atexit_sleep_ms=0", "--", "sh")
	if out := run(box2, "shell", berth+" fleet leave"); !strings.Contains(out, "may not use") {
		t.Errorf("leave: %s", out)
	}
}

// TestFleetDemo types the lines that make fleet-demo prints.
func TestFleetDemo(t *testing.T) {
	t.Parallel()
	demo := exec.Command("./fleet-demo")
	demo.Env = append(os.Environ(), "BERTH="+berth, "GORACE=atexit_sleep_ms=0")
	demo.Stderr = os.Stderr
	in, err := demo.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		if err := demo.Wait(); err != nil {
			t.Error(err)
		}
	}()
	var lines []string
	ssh := ""
	for printed := bufio.NewScanner(out); printed.Scan() && !strings.HasPrefix(printed.Text(), "Enter or"); {
		line := strings.TrimSpace(printed.Text())
		if alias, ok := strings.CutPrefix(line, "alias s='"); ok {
			ssh = strings.TrimSuffix(alias, "'")
		} else if rest, ok := strings.CutPrefix(line, "s "); ok && !strings.HasPrefix(rest, "-t ") {
			lines = append(lines, rest)
		}
	}
	if len(lines) < 6 {
		t.Fatalf("it has printed %q", lines)
	}
	for _, line := range lines {
		if out, err := exec.Command("sh", "-c", ssh+" "+line).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// watching is a watch whose lines a test reads one by one.
type watching struct {
	t     *testing.T
	lines *bufio.Scanner
	last  string // the newest line
	shown []string
}

// watch starts a watch, and ends it with the test.
func (b *box) watch(key string, args ...string) *watching {
	b.t.Helper()
	cmd := b.ssh(key, append([]string{"watch", "--json", "--timeout", fmt.Sprint(patienceSeconds, "s")}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	})
	w := &watching{t: b.t, lines: bufio.NewScanner(out)}
	w.lines.Buffer(nil, 1<<20)
	return w
}

// until reads up to a line that matches.
func (w *watching) until(pattern string) string {
	w.t.Helper()
	want := regexp.MustCompile(pattern)
	for w.lines.Scan() {
		w.last = w.lines.Text()
		if w.shown = append(w.shown, w.last); want.MatchString(w.last) {
			return w.last
		}
	}
	w.t.Fatalf("the watch ended without %s:\n%s", pattern, strings.Join(w.shown, "\n"))
	return ""
}

var fleetCursor = regexp.MustCompile(`^\{"cursor":"(f[0-9]+)",`)

// cursor is that of the newest line.
func (w *watching) cursor() string {
	w.t.Helper()
	m := fleetCursor.FindStringSubmatch(w.last)
	if m == nil {
		w.t.Fatalf("no fleet cursor in %s", w.last)
	}
	return m[1]
}

// TestFleetWatch follows the events of all hosts at the gateway.
func TestFleetWatch(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2", "box3")
	box2, box3 := hosts[0], hosts[1]

	w := gw.watch("viewer")
	for _, name := range []string{"gw/api", "box2/api", "box2/box2-only", "box3/api", "box3/box3-only"} {
		w.until(`"type":"snapshot",.*"session":"` + name + `","id":"[^"]+","snapshot":{"session":"` + name + `"`)
	}
	w.until(`"type":"live"`)
	start := w.cursor()
	box2.must("admin", "tag", "api", "night")
	w.until(`^\{"cursor":"f[0-9]+","type":"[a-z_]+","session":"box2/api","id":"[^"]+","seq":[0-9]+,"time":"[^"]+","host":"box2","host_cursor":"e[0-9]+",`)
	gw.must("admin", "tag", "gw/api", "night")
	w.until(`"session":"gw/api",.*"host":"gw"`)

	// Targets: a host's sessions, one of them, and a tag.
	only := gw.watch("viewer", "box3/*", "--type", "state_change,session_removed,snapshot,live,input")
	only.until(`"type":"live"`)
	tagged := gw.watch("viewer", "tag:night", "--type", "live,input")
	tagged.until(`"type":"live"`)
	gw.must("operator", "input", "box2/api", "--enter", "x")
	gw.must("operator", "input", "box3/api", "--enter", "x")
	only.until(`"session":"box3/api"`)
	tagged.until(`"session":"box2/api"`)
	for _, line := range only.shown {
		if strings.Contains(line, `"session":"box2/`) || strings.Contains(line, `"session":"gw/`) {
			t.Errorf("a watch of box3 shows %s", line)
		}
	}
	// The end of one session.
	box3.must("admin", "rm", "--force", "box3-only")
	if r := gw.call("viewer", "watch", "box3/api", "--until", "exited", "--timeout", "100ms"); r.status != 10 {
		t.Errorf("until exited: %+v", r)
	}
	ended := gw.watch("viewer", "box3/api", "--until", "exited")
	ended.until(`"type":"live"`)
	box3.must("admin", "kill", "api")
	ended.until(`"next":"exited"`)
	ended.until(`"type":"end",.*"reason":"until"`)

	// A cursor goes on where a watch ended, also in another process of the gateway.
	past := gw.must("viewer", "watch", "--since", start, "--past")
	if !strings.Contains(past, `"session":"box2/api"`) || !strings.Contains(past, `"session":"gw/api"`) || !strings.Contains(past, `"type":"end",`) {
		t.Errorf("since %s: %s", start, past)
	}
	text := gw.must("viewer", "watch", "--since", start, "--past", "--text")
	if !regexp.MustCompile(`(?m)^[0-9:]{8}  box2/api +`).MatchString(text) || strings.Contains(text, "host") {
		t.Errorf("as text: %s", text)
	}
	for words, message := range map[string]string{
		"--since e1": "isn't a cursor of the fleet", "--since api:3": "isn't a cursor of the fleet", "--since f99999999": "is later than the newest event", "--full": "use it on the host",
		"box9/api": "there is no host .+box9", "box2/nope": "there is no session", "nope": "there is no session",
	} {
		if r := gw.call("viewer", append([]string{"watch", "--timeout", "1s"}, strings.Fields(words)...)...); r.status == 0 || r.status == 10 || !regexp.MustCompile(message).MatchString(r.err+r.out) {
			t.Errorf("watch %s: %+v", words, r)
		}
	}
	// A key with sessions= sees its part.
	if r := gw.call("narrow", "watch", "--since", "0", "--past"); strings.Contains(r.out, `"session":"box2`) || strings.Contains(r.out, `"session":"gw`) {
		t.Errorf("a narrowed key sees %s", r.out)
	}
}

// TestFleetWatchKilled: what happens while the gateway or the host is away comes once and in order.
func TestFleetWatchKilled(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	flags := []string{"--fleet-listen", address, "--fleet-name", "gw"}
	gw, box2 := newBox(t, flags...), newBox(t)
	box2.join(gw, "box2")
	box2.must("admin", "new", "api", "--", "cat")
	w := gw.watch("viewer", "--since", "0")
	w.until(`"session":"box2/api"`)
	for i, kill := range []func(){
		func() { gw.kill() }, func() { box2.kill() }, func() { gw.kill(); box2.kill() },
	} {
		since, seen := w.cursor(), len(w.shown)
		kill()
		if box2.server == nil {
			box2.serve()
		}
		box2.must("admin", "tag", "api", fmt.Sprint("turn", i))
		if gw.server == nil {
			gw.serve(flags...)
			w = gw.watch("viewer", "--since", since)
			seen = 0
		}
		w.until(fmt.Sprint(`"session":"box2/api".*turn`, i))
		for _, line := range w.shown[seen:] {
			if strings.Contains(line, `"type":"gap"`) {
				t.Errorf("after the kill %d: %s", i, line)
			}
		}
	}
	// All of it: the host's cursors rise by one.
	all := gw.must("viewer", "watch", "--since", "0", "--past")
	var numbers []string
	for _, m := range regexp.MustCompile(`"host":"box2","host_cursor":"e([0-9]+)"`).FindAllStringSubmatch(all, -1) {
		numbers = append(numbers, m[1])
	}
	for i := 1; i < len(numbers); i++ {
		if a, b := number(t, numbers[i-1]), number(t, numbers[i]); b != a+1 {
			t.Fatalf("after e%d comes e%d:\n%s", a, b, all)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
