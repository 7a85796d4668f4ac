package commands

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/keys"
	"berth/sessions"
)

// TestFailures pins code and status of what callers get wrong. Nothing of it
// changes anything.
func TestFailures(t *testing.T) {
	d := newDesk(t)
	if a := d.call(admin, "new alpha -- sleep 600"); a.status != 0 {
		t.Fatalf("%+v", a)
	}
	head := d.Sessions.Events().Head()
	for _, c := range []struct {
		id     keys.Identity
		line   string
		code   string
		status int
	}{
		{admin, "", "USAGE", 2},
		{admin, "nosuch", "USAGE", 2},
		{admin, "bash -c id", "USAGE", 2},
		{admin, `ls "x`, "USAGE", 2},
		{admin, "ls --nosuch", "USAGE", 2},
		{admin, "ls --json --text", "USAGE", 2},
		{admin, "state", "USAGE", 2},
		{admin, "state nosuch", "NOT_FOUND", 3},
		{admin, "state tag:nosuch", "NOT_FOUND", 3},
		{admin, "state a/../../b", "NOT_FOUND", 3},
		{admin, "kill tag:nosuch", "NOT_FOUND", 3},
		{admin, "kill alpha --grace -1s", "USAGE", 2},
		{admin, "rename alpha all", "BAD_REQUEST", 2},
		{admin, "rename alpha a\x1b[2J", "BAD_REQUEST", 2},
		{admin, "rm alpha", "BAD_REQUEST", 2},
		{admin, "tag alpha 'a b'", "BAD_REQUEST", 2},
		{admin, "meta alpha novalue", "USAGE", 2},
		{admin, "nudge alpha hello", "NO_DRIVER", 8},
		{admin, "nudge alpha", "USAGE", 2},
		{admin, "nudge alpha --timeout 1s hello", "USAGE", 2},
		{admin, "nudge nosuch hello", "NOT_FOUND", 3},
		{viewer, "nudge alpha hello", "DENIED", 4},
		{admin, "interrupt alpha", "NO_DRIVER", 8},
		{viewer, "interrupt alpha", "DENIED", 4},
		{operator, "reload", "DENIED", 4},
		{operator, "init claude", "DENIED", 4},
		{admin, "init nosuch", "NO_DRIVER", 8},
		{admin, "init", "USAGE", 2},
		{admin, "reload now", "USAGE", 2},
		{operator, "log level", "DENIED", 4},
		{admin, "log", "USAGE", 2},
		{admin, "log tail", "USAGE", 2},
		{admin, "log level loud", "USAGE", 2},
		{admin, "last alpha --json", "NO_DRIVER", 8},
		{admin, "meta alpha 'a b'=c", "BAD_REQUEST", 2},
		{admin, "resize alpha 10", "USAGE", 2},
		{admin, "resize alpha 0x0", "BAD_REQUEST", 2},
		{admin, "signal alpha NOSUCH", "USAGE", 2},
		{admin, "keys alpha NoSuchKey", "USAGE", 2},
		{admin, "input alpha", "USAGE", 2},
		{admin, "input --nosuch alpha x", "USAGE", 2},
		{admin, "lock alpha --for 11m", "USAGE", 2},
		{admin, "unlock alpha", "USAGE", 2},
		{admin, "unlock alpha --lease 99", "WRITER_BUSY", 7},
		{admin, "detach", "USAGE", 2},
		{admin, "detach alpha --client c99", "NOT_FOUND", 3},
		{admin, "detach nosuch", "NOT_FOUND", 3},
		{admin, "output alpha --limit 0", "USAGE", 2},
		{admin, "output alpha --offset 99999", "BAD_REQUEST", 2},
		{admin, "screen alpha --scrollback -1", "USAGE", 2},
		{admin, "export alpha", "USAGE", 2},
		{admin, "schema export", "BAD_REQUEST", 2},
		{admin, "wait alpha", "NO_DRIVER", 8},
		{admin, "wait alpha --until prompt", "NO_DRIVER", 8},
		{admin, "wait alpha --until nosuch", "USAGE", 2},
		{admin, "wait alpha --until ''", "USAGE", 2},
		{admin, "wait alpha --text '('", "USAGE", 2},
		{admin, "wait alpha --text ''", "USAGE", 2},
		{admin, "wait alpha --text x --until exited", "USAGE", 2},
		{admin, "wait alpha --text x --timeout 0s", "USAGE", 2},
		{admin, "wait alpha --text nosuchtext --timeout 1ms", "TIMEOUT", 10},
		{admin, "watch --type nosuch", "USAGE", 2},
		{admin, "watch --since x", "USAGE", 2},
		{admin, "watch --since e999", "BAD_REQUEST", 2},
		{admin, "watch --since alpha:x", "USAGE", 2},
		{admin, "watch --since nosuch:1", "NOT_FOUND", 3},
		{admin, "watch --until nosuch", "USAGE", 2},
		{admin, "new a b", "USAGE", 2},
		{admin, "new --profile nosuch", "NOT_FOUND", 3},
		{admin, "new --profile web -- sh", "USAGE", 2},
		{admin, "new x --env novalue", "USAGE", 2},
		{admin, "new x --ttl -5s", "USAGE", 2},
		{admin, "new alpha", "BAD_REQUEST", 2},
		{admin, "new x --cwd relative", "BAD_REQUEST", 2},
		{admin, "attach alpha", "BAD_REQUEST", 2},
		{viewer, "input alpha x", "DENIED", 4},
		{viewer, "keys alpha Enter", "DENIED", 4},
		{viewer, "signal alpha INT", "DENIED", 4},
		{viewer, "lock alpha", "DENIED", 4},
		{viewer, "resize alpha 80x24", "DENIED", 4},
		{viewer, "kill alpha", "DENIED", 4},
		{operator, "new x -- sh", "DENIED", 4},
		{narrow, "state alpha", "NOT_FOUND", 3},
		{narrow, "input alpha x", "NOT_FOUND", 3},
		{narrow, "new web-1 -- sh", "DENIED", 4},
		{narrow, "new web-1 --profile web --env LD_PRELOAD=x", "DENIED", 4},
		{narrow, "new web-1 --profile web --env-pass SECRET", "DENIED", 4},
		{narrow, "new web-1 --profile web --user root", "DENIED", 4},
		{narrow, "new web-1 --profile web --cwd /tmp", "DENIED", 4},
		{narrow, "new other --profile web", "DENIED", 4},
		{keys.Agent("x", "x", 1), "ls alpha", "NOT_FOUND", 3},
		{keys.Agent("x", "x", 1), "input alpha x", "DENIED", 4},
	} {
		a := d.call(c.id, c.line)
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %s: %s %d, want %s %d\n%s", c.id.Name, c.line, a.code(), a.status, c.code, c.status, a.out)
		}
		if !strings.HasPrefix(a.err, "berth: ") || strings.ContainsRune(a.out+a.err, 0x1b) {
			t.Errorf("%s: stderr %q", c.line, a.err)
		}
	}
	// The locks that were refused and the like leave no event behind.
	if now := d.Sessions.Events().Head(); now > head+1 { // its state may have been found out since
		t.Errorf("%d events came of it", now-head)
	}
	if n := len(d.Sessions.All()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestForms(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha --tag blue -- sleep 600")
	if a := d.call(admin, "ls"); !strings.HasPrefix(a.out, `[{"session":"alpha"`) {
		t.Errorf("without a terminal: %q", a.out)
	}
	if a := d.call(admin, "ls", terminalOut); !strings.HasPrefix(a.out, "NAME ") || !strings.HasSuffix(a.out, "\r\n") {
		t.Errorf("with a terminal: %q", a.out)
	}
	if a := d.call(admin, "ls --json", terminalOut); !strings.HasPrefix(a.out, `[{`) || !strings.HasSuffix(a.out, "]\r\n") {
		t.Errorf("--json: %q", a.out)
	}
	if a := d.call(admin, "ls --text"); !strings.HasPrefix(a.out, "NAME ") || strings.Contains(a.out, "\r") {
		t.Errorf("--text: %q", a.out)
	}
	for _, line := range []string{"ls --text --nosuch", `["ls","--text","--nosuch"]`} {
		if a := d.call(admin, line); a.out != "" || !strings.HasPrefix(a.err, "berth: ") || a.status != 2 {
			t.Errorf("a usage error as text: %+v", a)
		}
	}
	for _, line := range []string{"wait --help", "input -h", "tag --help"} {
		if a := d.call(viewer, line); a.status != 0 || !strings.Contains(a.out, "needs the role") {
			t.Errorf("%s: %+v", line, a)
		}
	}
	if a := d.call(viewer, "help"); a.status != 0 || strings.Contains(a.out, "  kill") || !strings.Contains(a.out, "  state") {
		t.Errorf("help for a viewer lists what works for it:\n%s", a.out)
	}
	for _, name := range Names() {
		if v := Lookup(name); v.Answer != nil {
			if a := d.call(admin, "schema "+name); a.status != 0 {
				t.Errorf("schema %s: %+v", name, a)
			}
		}
	}
}

func TestInputIsVerbatim(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sh -c 'stty -echo -icanon; echo ready; cat'")
	d.call(admin, "wait alpha --text ^ready$")
	for _, c := range []struct{ line, want, in string }{
		{`input alpha it's  two  spaces`, "it's  two  spaces", ""},
		{`input alpha "a $dollar ; #"`, "a $dollar ; #", ""},
		{`["input","alpha","don't $x"]`, "don't $x", ""},
		{"input alpha -- -dash", "-dash", ""},
		{"input alpha grüße 🦀", "grüße 🦀", ""},
		{"input alpha -", "from stdin\n", "from stdin\n"},
	} {
		a := d.call(admin, c.line, stdin(c.in))
		if a.status != 0 || int(a.lines(t)[0]["bytes"].(float64)) != len(c.want) {
			t.Errorf("%s: %+v", c.line, a)
		}
		until(t, c.want, func() bool {
			return strings.Contains(d.call(admin, "output alpha --raw").out, strings.ReplaceAll(c.want, "\n", "\r\n"))
		})
	}
	if a := d.call(admin, "input alpha -", stdin(strings.Repeat("x", 1<<20+1))); a.code() != "LIMIT" || a.status != 11 {
		t.Errorf("too much: %s %d", a.code(), a.status)
	}
}

func TestAgentTextIsPrintable(t *testing.T) {
	d := newDesk(t)
	d.call(admin, `["new","alpha","--","sh","-c","printf '\\033]0;a\\342\\200\\256b\\007x\\342\\200\\256y\\n'; echo done; exec sleep 600"]`)
	d.call(admin, "wait alpha --text done")
	d.call(admin, "meta alpha note=a\x1b[2Jb")
	for _, line := range []string{"ls", "state alpha", "info alpha", "output alpha", "watch --since e0 --timeout 100ms", "meta alpha"} {
		a := d.call(admin, line, terminalOut)
		if strings.ContainsAny(a.out+a.err, "\x1b\u202e") {
			t.Errorf("%s prints what a program may not print: %q", line, a.out)
		}
	}
}

func TestNarrowKeysSeeTheirOwn(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sleep 600")
	if a := d.call(narrow, "new web-1 --profile web"); a.status != 0 {
		t.Fatalf("%+v", a)
	}
	if a := d.call(narrow, "new --profile web"); a.status != 0 || !strings.HasPrefix(a.lines(t)[0]["session"].(string), "web-") {
		t.Errorf("a made-up name within its rights: %+v", a)
	}
	for _, line := range []string{"ls", "who", "health", "state all", "watch --since e0 --timeout 100ms"} {
		if a := d.call(narrow, line); strings.Contains(a.out, "alpha") {
			t.Errorf("%s shows alpha: %s", line, a.out)
		}
	}
	if a := d.call(narrow, "rename web-1 other"); a.code() != "DENIED" {
		t.Errorf("rename out of its rights: %+v", a)
	}
}

func TestTagsWithADash(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha --tag a --tag b -- sleep 600")
	if a := d.call(admin, "tag alpha c -a --remove b"); a.status != 0 || !strings.Contains(a.out, `"tags":["c"]`) {
		t.Errorf("%+v", a)
	}
}

// TestJSONMovesNoTerminal: without a terminal asked for the answer is JSON, and
// that of a person who typed ssh agents@host info alpha is on a terminal.
func TestJSONMovesNoTerminal(t *testing.T) {
	d := newDesk(t)
	const odd = "\u009b2J \u202egnp.exe \u200b!"
	d.call(admin, "new odd --env 'A="+odd+"' -- sleep 600")
	a := d.call(admin, "info odd")
	if strings.ContainsAny(a.out, "\u009b\u202e\u200b") {
		t.Errorf("%q", a.out)
	}
	if env, _ := a.lines(t)[0]["env"].(map[string]any); env["A"] != odd {
		t.Errorf("%q", a.out)
	}
	d.call(admin, "kill odd --grace 0s")
}

// TestFirstCallOfAnAgent: a program runs a moment before the server knows its session. A call that it
// makes then waits for that, and isn't refused.
func TestFirstCallOfAnAgent(t *testing.T) {
	var d *desk
	var ready, called atomic.Bool
	first := make(chan answer, 1)
	now := func() time.Time { // the start asks for the time between the two
		if !ready.Load() {
			return time.Now()
		}
		for _, h := range d.Sessions.Holders() {
			if _, known := d.Sessions.Find(h.ID); known || called.Swap(true) {
				continue
			}
			go func() { first <- d.call(keys.Agent(h.ID, h.Name, h.PID), "state "+h.ID) }()
			select {
			case a := <-first: // too early
				first <- a
			case <-time.After(100 * time.Millisecond):
			}
		}
		return time.Now()
	}
	d = newDesk(t, func(o *sessions.Options) { o.Now = now })
	ready.Store(true)
	if a := d.call(admin, "new alpha -- sleep 600"); a.status != 0 {
		t.Fatal(a.out)
	}
	if !called.Load() {
		t.Fatal("the start never had a program without its session")
	}
	if a := <-first; a.status != 0 || !strings.Contains(a.out, `"session":"alpha"`) {
		t.Errorf("status %d, %s", a.status, a.out)
	}
}
