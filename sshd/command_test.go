package sshd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	ssh "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// describe prints all that a session knows of the client's request.
func describe(_ context.Context, c *Session) int {
	_ = json.NewEncoder(c).Encode(map[string]any{
		"command": c.RawCommand(), "args": c.Command(), "shell": c.Shell, "pty": c.Terminal, "env": c.Env(),
		"user": c.User(), "client": c.Client, "requested": c.Requested, "identity": c.Identity(),
	})
	return 0
}

type described struct {
	Command, User, Client, Requested string
	Args                             []string
	Shell                            bool
	PTY                              *Terminal
	Env                              map[string]string
	Identity                         keys.Identity
}

func (r result) described(t testing.TB) described {
	t.Helper()
	var d described
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return d
}

// Trap 11: the command arrives byte for byte.
func TestCommandsArriveVerbatim(t *testing.T) {
	h := start(t, describe)
	for _, words := range [][]string{
		{`nudge`, `alpha`, `fix the "login" bug`},
		{`nudge`, `alpha`, `'two  spaces'`},
		{`nudge`, `a`, `it's`},
		{`say`, ``},
		{`$HOME ~ *.go ; $(id) #x`},
		{"tabs\tand\nlines", "ümläut 🚢", "a\\b"},
	} {
		d := h.ssh("", append([]string{"agents@127.0.0.1"}, words...)...).described(t)
		if want := strings.Join(words, " "); d.Command != want || d.Shell || d.PTY != nil {
			t.Errorf("%+v, want the command %q", d, want)
		}
	}
	d := h.ssh("", "alpha@127.0.0.1").described(t)
	if !d.Shell || d.Command != "" || d.User != "alpha" {
		t.Errorf("a shell: %+v", d)
	}
	a, b := h.ssh("", "x@127.0.0.1", "y").described(t).Client, h.ssh("", "x@127.0.0.1", "y").described(t).Client
	if !regexp.MustCompile(`^c\d+$`).MatchString(a) || len(a) > len(b) || a >= b && len(a) == len(b) {
		t.Errorf("clients %s, then %s", a, b)
	}
}

// A key's command= replaces what its client asks, whole; no-pty holds.
func TestForcedCommand(t *testing.T) {
	h := start(t, describe)
	h.keys.set(h.admin.public(), keys.Identity{Name: "robot", Role: keys.Viewer, Command: "watch --json", NoPTY: true})
	d := h.ssh("", "agents@127.0.0.1", "rm", "alpha").described(t)
	if d.Command != "watch --json" || d.Requested != "rm alpha" || d.Shell {
		t.Errorf("%+v", d)
	}
	if r := h.ssh("", "-tt", "agents@127.0.0.1"); !strings.Contains(r.err, "PTY allocation request failed") {
		t.Errorf("%+v", r)
	}
	if d := h.ssh("", "agents@127.0.0.1").described(t); d.PTY != nil || d.Command != "watch --json" || d.Shell {
		t.Errorf("a shell: %+v", d)
	}
}

// Trap 12: of the environment little is kept, and that is bounded.
func TestEnvironment(t *testing.T) {
	h := start(t, describe)
	d := h.ssh("", "-o", "SetEnv=LANG=de_DE LC_ALL=C COLORTERM=truecolor LD_PRELOAD=x.so BERTH_SESSION=alpha PATH=/x", "agents@127.0.0.1", "x").described(t)
	if len(d.Env) != 3 || d.Env["LANG"] != "de_DE" || d.Env["LC_ALL"] != "C" || d.Env["COLORTERM"] != "truecolor" {
		t.Errorf("%v", d.Env)
	}
	s := newSession(t, h.client())
	if s.Setenv("LC_BIG", strings.Repeat("x", 5<<10)) == nil {
		t.Error("5 KiB of environment are taken")
	}
	for i := range 100 {
		_ = s.Setenv(fmt.Sprintf("LC_%d", i), strings.Repeat("x", 100))
	}
	out, err := s.Output("x")
	if err != nil || len(out) > 8<<10 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func newSession(t testing.TB, c *gossh.Client) *gossh.Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Trap 12: nothing is forwarded and no subsystem runs.
func TestWhatIsRefused(t *testing.T) {
	h := start(t, describe)
	s := newSession(t, h.client())
	for _, r := range []string{"auth-agent-req@openssh.com", "x11-req", "break", "nonsense"} {
		if ok, err := s.SendRequest(r, true, nil); ok || err != nil {
			t.Errorf("%s: %v %v", r, ok, err)
		}
	}
	c := h.client()
	for _, r := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "nonsense", "keepalive@openssh.com"} {
		if ok, _, err := c.SendRequest(r, true, nil); ok || err != nil {
			t.Errorf("%s: %v %v", r, ok, err)
		}
	}
	if _, err := c.Dial("tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "forwards nothing") {
		t.Errorf("direct-tcpip: %v", err)
	}
	if _, _, err := c.OpenChannel("nonsense", nil); err == nil {
		t.Error("an unknown channel opens")
	}
	if r := h.ssh("", "-W", "127.0.0.1:1", "agents@127.0.0.1"); r.status == 0 || !strings.Contains(r.err, "forward") {
		t.Errorf("-W: %+v", r)
	}
	// Without a command, because the client can have a short command's end before the refusal.
	if r := h.ssh("", "-N", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1", "agents@127.0.0.1"); r.status == 0 {
		t.Errorf("-R: %+v", r)
	}
	if r := h.ssh("", "-s", "agents@127.0.0.1", "netconf"); r.status != 8 || !strings.Contains(r.err, "berth: unknown subsystem \"netconf\"") {
		t.Errorf("netconf: %+v", r)
	}
}

// The status comes once, after the output, then end of file, then close.
func TestOrderOfTheEnd(t *testing.T) {
	h := start(t, func(_ context.Context, c *Session) int {
		io.WriteString(c, strings.Repeat("x", 100_000))
		io.WriteString(c.Stderr(), "y")
		return 3
	})
	args := h.args(h.admin.file, "-vvv", "agents@127.0.0.1", "x")
	i := slices.Index(args, "LogLevel=ERROR")
	args[i] = "LogLevel=DEBUG3"
	cmd := h.command()
	cmd.Args = append([]string{"ssh"}, args...)
	r := run(t, cmd, "")
	if r.status != 3 || len(r.out) != 100_000 {
		t.Fatalf("status %d, %d bytes", r.status, len(r.out))
	}
	var seen []string
	for _, m := range regexp.MustCompile(`receive packet: type (9[0-9])`).FindAllStringSubmatch(r.err, -1) {
		// The client does not log data; of 91, 93 and 99 (open, window,
		// success) there may be any number.
		if m[1] == "98" || m[1] == "96" || m[1] == "97" {
			seen = append(seen, m[1])
		}
	}
	if want := []string{"98", "96", "97"}; !slices.Equal(seen, want) {
		t.Errorf("packets %v, want status, EOF, close: %v", seen, want)
	}
	if n := strings.Count(r.err, "rtype exit-status"); n != 1 {
		t.Errorf("%d exit statuses", n)
	}
}

func TestLimitsAfterLogin(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, func(op *Options) {
		op.Limits.Channels = 3
		op.Limits.CommandBytes = 1000
	})
	if out, err := newSession(t, h.client()).Output(strings.Repeat("x", 1001)); exitStatus(err) != 11 || !strings.Contains(string(out), `"code":"LIMIT"`) {
		t.Errorf("a long command: %v %s", err, out)
	}
	c := h.client()
	var sessions []*gossh.Session
	for range 3 {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start("hold"); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
		o.call(t)
	}
	if _, err := c.NewSession(); err == nil || !strings.Contains(err.Error(), "at most 3 channels") {
		t.Errorf("a fourth channel: %v", err)
	}
	sessions[0].Close()
	eventually(t, "there is room again", func() bool {
		s, err := c.NewSession()
		if err == nil {
			s.Close()
		}
		return err == nil
	})
}

func exitStatus(err error) int {
	if e, ok := err.(*gossh.ExitError); ok {
		return e.ExitStatus()
	}
	return -1
}

func TestVerbsPerSecond(t *testing.T) {
	now := time.Now()
	h := start(t, echo, func(o *Options) {
		o.Limits.Verbs = 2
		o.Now = func() time.Time { return now }
	})
	for range 4 { // two seconds' worth
		if r := h.ssh("", "a@127.0.0.1", "say"); r.status != 0 {
			t.Fatalf("%+v", r)
		}
	}
	r := h.ssh("", "a@127.0.0.1", "say")
	if r.status != 11 || !strings.Contains(r.err, `berth: more than 2 commands per second from "admin"`) || !strings.Contains(r.out, `{"error":{"code":"LIMIT"`) {
		t.Errorf("%+v", r)
	}
	if r := h.ssh("", "-s", "a@127.0.0.1", "sftp"); r.status != 11 || !strings.Contains(r.err, "more than 2 commands") {
		t.Errorf("sftp counts as one: %+v", r)
	}
}

// Trap 17: unread signals stall nothing.
func TestSignalsDoNotStall(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve, func(op *Options) { op.Limits.Requests = 1000 })
	c := h.client()
	s := newSession(t, c)
	if err := s.Start("hold"); err != nil {
		t.Fatal(err)
	}
	call := o.call(t)
	for range 200 {
		if err := s.Signal(gossh.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := newSession(t, c).Output("say"); err != nil || string(out) != "[agents|say|]" {
		t.Errorf("%s %v", out, err)
	}
	signals := make(chan ssh.Signal)
	call.Signals(signals)
	if v := receive(t, "a signal", signals); v != ssh.SIGINT {
		t.Errorf("signal %q", v)
	}
}

// Requests beyond the rate are answered no, and the channel goes on.
func TestRequestsPerSecond(t *testing.T) {
	now := time.Now()
	h := start(t, echo, func(o *Options) {
		o.Limits.Requests = 1
		o.Now = func() time.Time { return now }
	})
	c := h.client()
	s := newSession(t, c)
	taken := 0
	for range 30 {
		if s.Setenv("LANG", "C") == nil {
			taken++
		}
	}
	if taken != 10 {
		t.Errorf("%d requests taken, want the 10 of ten seconds", taken)
	}
	if out, err := newSession(t, c).Output("say"); err != nil {
		t.Errorf("%s %v", out, err)
	}
}

func TestPanicIsContained(t *testing.T) {
	h := start(t, func(context.Context, *Session) int { panic("secret") })
	r := h.ssh("", "a@127.0.0.1", "x")
	if r.status != 1 || strings.Contains(r.err+r.out, "secret") || !strings.HasPrefix(r.err, "berth: ") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(h.log.String(), "secret") {
		t.Error("the log does not have it")
	}
}

func TestWindowIsBounded(t *testing.T) {
	h := start(t, describe)
	s := newSession(t, h.client())
	if err := s.RequestPty("evil\x1b]0;x\a", 1<<30, 0, nil); err != nil {
		t.Fatal(err)
	}
	out, err := s.Output("x")
	if err != nil {
		t.Fatal(err)
	}
	if p := (result{out: string(out)}).described(t).PTY; p == nil || *p != (Terminal{Term: "vt100", Cols: 80, Rows: 1000}) {
		t.Errorf("%+v", p)
	}
}
