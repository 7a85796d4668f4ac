package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// glance is a person's terminal of 120x30 or another size, in tmux, with the dashboard of a key.
type glance struct {
	*box
	name string
}

// glance opens a terminal that runs ssh with a key, and then says how that ended.
func (b *box) glance(name, size, key string) glance {
	b.t.Helper()
	cols, rows, _ := strings.Cut(size, "x")
	line := "ssh -F " + filepath.Join(b.dir, "ssh_config") + " -t " + key + "; echo left $?; exec sh"
	if out, err := b.tmux("new-session", "-d", "-s", name, "-x", cols, "-y", rows, line, ";", "set", "-g", "status", "off"); err != nil {
		b.t.Fatalf("tmux: %v\n%s", err, out)
	}
	return glance{b, name}
}

func (g glance) keys(keys ...string) {
	g.t.Helper()
	if out, err := g.tmux(append([]string{"send-keys", "-t", g.name}, keys...)...); err != nil {
		g.t.Fatalf("tmux: %v\n%s", err, out)
	}
}

// shows waits until the terminal's screen matches, and returns it.
func (g glance) shows(pattern string) string {
	g.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	for end := time.Now().Add(patienceSeconds * time.Second); ; time.Sleep(10 * time.Millisecond) {
		out, err := g.tmux("capture-pane", "-p", "-t", g.name)
		if err == nil && want.MatchString(out) {
			return out
		}
		if time.Now().After(end) {
			g.t.Fatalf("the terminal %s never shows %q:\n%s\n%v\n%s", g.name, pattern, out, err, g.lastLog())
		}
	}
}

// has waits until a format of tmux has a value.
func (g glance) has(format, value string) {
	g.t.Helper()
	for end := time.Now().Add(patienceSeconds * time.Second); ; time.Sleep(10 * time.Millisecond) {
		out, err := g.tmux("display-message", "-p", "-t", g.name, format)
		if err == nil && strings.TrimSpace(out) == value {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("%s of the terminal %s is %q: %v", format, g.name, out, err)
		}
	}
}

// asker is a program that asks, and rules to read it by.
const (
	asker      = "#!/bin/sh\nwhile :; do printf 'Overwrite it? [y/n] '; read -r yes || exit; echo \"said $yes\"; printf 'ready> '; read -r line || exit; done\n"
	askerRules = `defaults:
  login_env: false
  env: {PATH: '@DIR@:/usr/bin:/bin', HOOK: '@BERTH@'}
rules:
  asker:
    programs: [asker]
    idle:
      - lines: ['^ready> $']
        within: 1
    prompt:
      - name: line
        type: permission
        lines: ['^(?P<text>\w.*)\? \[y/n\] ?(?P<typed>\w*)$']
        within: 1
        options:
          - {label: "Yes", keys: [y, Enter]}
          - {label: "No", keys: [n, Enter]}
        accept: ^Yes$
        deny: ^No$
`
)

// longCall is a Claude Code that asks for a command longer than the rows of a fleet's registry.
const longCall = `#!/bin/sh
[ "$1" = --version ] && echo 1.0.0 && exit
while [ $# -gt 0 ]; do case $1 in --session-id | --resume) id=$2 ;; esac; shift; done
input='{"command":"'$(seq -f 'go build ./cmd/%g; ' 20 | tr -d '\n')'rm -rf dist","description":"Build all"}'
call() { printf '{"hook_event_name":"%s","session_id":"%s","prompt_id":"p","tool_use_id":"u","tool_name":"Bash","tool_input":%s}' "$1" "$id" "$input"; }
tell() { printf '{"hook_event_name":"%s","session_id":"%s","prompt_id":"p"%s}' "$1" "$id" "$2" | "$HOOK" hook --tell "$1"; }
tell SessionStart ',"source":"startup"'
tell UserPromptSubmit ',"prompt":"go"'
call PreToolUse | "$HOOK" hook --tell PreToolUse
call PermissionRequest | "$HOOK" hook --ask 1h 1h PermissionRequest
call PostToolUse | "$HOOK" hook --tell PostToolUse
tell Stop ',"last_assistant_message":"done"'
exec cat
`

// TestFleetDashboard: at the gateway, a person sees all hosts' sessions by host, attaches to one, answers one, and
// goes on when a host dies.
func TestFleetDashboard(t *testing.T) {
	t.Parallel()
	gw, hosts := newFleet(t, "box2", "box3")
	box2, box3 := hosts[0], hosts[1]
	box4 := newBox(t)
	for name, text := range map[string]string{"asker": asker, "claude": longCall, "berth.yaml": strings.NewReplacer("@DIR@", box4.dir, "@BERTH@", berth).Replace(askerRules)} {
		if err := os.WriteFile(filepath.Join(box4.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	box4.kill()
	box4.serve("--config", filepath.Join(box4.dir, "berth.yaml"))
	box4.must("admin", "new", "deploy", "--cwd", box4.dir, "--", filepath.Join(box4.dir, "asker"))
	box4.join(gw, "box4")
	gw.sees(`"session":"box4/deploy".*"state":"prompt"`, "admin", "ls")
	box3.must("admin", "new", "mouse", "--", "sh", "-c", `'printf "\033[?1000h"; cat'`)
	gw.sees(`box3/mouse`, "admin", "ls")

	wide := gw.glance("wide", "120x30", "operator")
	wide.shows(`(?s)gw  gateway · 1 session .*gw/api .*box2  reachable · 2 sessions .*box2/api .*box2/box2-only .*box3  reachable · 3 sessions .*box4  reachable · 1 session · 1 needs`)
	small := gw.glance("small", "50x20", "viewer")
	small.shows(`(?s)^  gw  gateway · 1 session *\n.*gw/api .*^  box2  reachable · 2 sessions`)

	// The filter takes a host. Enter attaches there, and what is typed goes to that session.
	wide.keys("/", "b", "o", "x", "2", "/", "Enter")
	wide.shows(`2 of 7 sessions by host`)
	wide.keys("Enter")
	gw.sees(`"viewers":1`, "admin", "ls", "box2/api")
	wide.keys("h", "e", "l", "l", "o", "Enter")
	box2.sees(`(?m)^hello$`, "admin", "screen", "api", "--text")
	wide.keys("C-]", "d")
	wide.shows(`2 of 7 sessions by host`)
	wide.keys("Escape")
	wide.shows(`─ 7 sessions by host`)

	// The events of a session, here and on a host.
	for _, text := range []string{"gw/", "mouse"} {
		wide.keys("/", text, "Enter", "E")
		wide.shows(`session_created`)
		wide.keys("q")
		wide.shows(`1 of 7 sessions by host`)
		wide.keys("Escape")
		wide.shows(`─ 7 sessions by host`)
	}

	// What waits on a host is answered there, as it was shown.
	wide.keys("Tab")
	wide.shows(`(?s)1 needs input.*▌.◆ box4/deploy`)
	wide.shows(`y allow`)
	wide.keys("y")
	wide.shows(`box4/deploy: accepted`)
	box4.sees(`said y`, "admin", "screen", "deploy", "--text")
	if out := box4.must("admin", "audit"); !strings.Contains(out, `"identity":"operator via gw"`) || !strings.Contains(out, `"verb":"respond"`) {
		t.Errorf("the host's audit log: %s", out)
	}

	// Its row has a part of a long input. The host is asked for the rest, and the key works when all of it was shown.
	box4.must("admin", "new", "long", "--cwd", box4.dir, "--size", "200x50", "--", "claude")
	wide.shows(`box4  reachable · 2 sessions · 1 needs input`)
	wide.keys("Tab")
	wide.shows(`(?s)Bash permission.*rm -rf dist.*Build all.*y allow`)
	wide.keys("y")
	wide.shows(`box4/long: accepted`)
	box4.sees(`"behavior" ?: ?"allow"`, "admin", "screen", "long", "--text")

	// A host that dies is marked, with what it last said, and delays no one. Who was attached there gets the terminal back.
	direct := gw.glance("direct", "80x24", "operator attach box3/mouse")
	direct.has("#{mouse_any_flag}", "1")
	wide.keys("g", "/", "3", "/", "a", "Enter")
	wide.shows(`1 of 8 sessions by host`)
	wide.keys("Enter", "h", "i", "Enter")
	box3.sees(`(?m)^hi$`, "admin", "screen", "api", "--text")
	box3.kill()
	wide.shows(`box3: the connection to the host broke; the session goes on there`)
	direct.shows(`^left 12`)
	direct.has("#{mouse_any_flag}", "0")
	wide.shows(`box3  unreachable for `)
	wide.shows(`box3/api +last known: `)
	time.Sleep(400 * time.Millisecond) // until then keys are ignored, because they were typed for the session
	wide.keys("o")
	wide.shows(`box3 is unreachable: its sessions go on there`)
	wide.keys("Escape")
	wide.shows(`─ 8 sessions by host`)
	wide.keys(":")
	wide.shows(`^ :`)
	wide.keys("state box3/api", "Enter")
	wide.shows(`box3 can't be reached now`)
	wide.keys("Escape")
	box3.serve()
	wide.shows(`box3  reachable · 3 sessions`)

	// A key that sees a part sees that part, and only its hosts.
	if err := gw.makeKey("part"); err != nil {
		t.Fatal(err)
	}
	if err := gw.list("part", `role="viewer",sessions="box2/box2-*"`); err != nil {
		t.Fatal(err)
	}
	gw.sees("part", "admin", "access", "ls")
	part := gw.glance("part", "120x30", "part")
	if out := part.shows(`box2  reachable · 1 session `); strings.Contains(out, "box3") || strings.Contains(out, "box2/api") || strings.Contains(out, "gw/api") {
		t.Errorf("a narrowed key sees\n%s", out)
	}
	for _, g := range []glance{wide, small, part} {
		g.keys("C-c")
		g.shows(`^left 0`)
	}
}
