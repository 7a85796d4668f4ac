package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func yamlFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOrderOfSources(t *testing.T) {
	path := yamlFile(t, "listen: 127.0.0.1:1\nlog_level: warn\nlog_format: json\nauthorize: [a.pub]\nlimits: {keep: 1}\n")
	if err := os.WriteFile(path, []byte("listen: 127.0.0.1:1\nlog_level: warn\nlog_format: json\nauthorize: [a.pub, ~/b.pub]\nlimits:\n  login_grace: 5s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=/home/u", "BERTH_LOG_LEVEL=debug", "BERTH_LISTEN=127.0.0.1:2", "BERTH_LIMITS_MAX_STARTUPS=7",
		"BERTH=1", "BERTH_SESSION=x", "BERTH_STATE_DIR=/s", "BERTH_PREFIX="}
	c, err := Load(Source{Path: path, Environ: environ, Flags: []Setting{{"listen", "127.0.0.1:3"}, {"limits.input_bytes", "1MiB"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	want := Default()
	want.Listen, want.LogLevel, want.LogFormat, want.StateDir = "127.0.0.1:3", "debug", "json", "/s"
	want.Limits.LoginGrace, want.Limits.MaxStartups, want.Limits.InputBytes = 5*time.Second, 7, MiB
	want.Authorize = []string{dir + "/a.pub", "/home/u/b.pub"}
	want.AuthorizedKeys, want.RevokedKeys, want.File = []string{"/s/authorized_keys"}, "/s/revoked_keys", path
	want.RuntimeDir = c.RuntimeDir
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("\n got %+v\nwant %+v", *c, want)
	}
	c, err = Load(Source{Path: path, Environ: environ, Flags: []Setting{{"authorize", "/x.pub"}, {"authorize", "y.pub"}}})
	wd, _ := os.Getwd()
	if err != nil || !reflect.DeepEqual(c.Authorize, []string{"/x.pub", wd + "/y.pub"}) {
		t.Errorf("a flag given twice: %v %v", c, err)
	}
}

func TestWhereTheFileIsLookedFor(t *testing.T) {
	home := t.TempDir()
	environ := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/c"}
	if c, err := Load(Source{Environ: environ}); err != nil || c.File != "" && !strings.HasPrefix(c.File, "/etc") {
		t.Errorf("no file: %v %v", c, err)
	}
	if err := errors.Join(os.MkdirAll(home+"/c/berth", 0o700), os.WriteFile(home+"/c/berth/berth.yaml", []byte("prefix: Ctrl-a\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(Source{Environ: environ}); err != nil || c.Prefixes() != "\x01" {
		t.Errorf("the user's file: %v", err)
	}
	if _, err := Load(Source{Environ: append(environ, "BERTH_CONFIG=/no/such.yaml")}); err == nil || !strings.Contains(err.Error(), "/no/such.yaml: the file doesn't exist") {
		t.Errorf("BERTH_CONFIG: %v", err)
	}
	if _, err := Load(Source{Path: home}); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// Each line of a file is held against the whole list of what is said about
// it, with its place.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want []string // after the file's name
	}{
		"nothing":              {"", nil},
		"comments":             {"# only\n", nil},
		"ship":                 {"audit: {ship: {syslog: tcp://logs:601}}\n", nil},
		"ship by command":      {"audit: {ship: {command: [/usr/bin/logger, -t, berth]}}\n", nil},
		"a fleet on a cluster": {"fleet: {nats: [tls://n1.example.net:4222, \"tls://[::1]:4222\"], nats_account: a, nats_ca: b}\n", nil},
		"bad clusters": {"fleet:\n  nats: [nats://n1:4222, tls://n1, tls://u:p@n1:1, tls://n1:1/, \"tls://a b:1\"]\n  listen: :2223\n  join: x\n", []string{
			":2:9: fleet.nats: a gateway has a NATS server of its own or uses a cluster; remove nats or listen",
			":2:10: fleet.nats[0]: \"nats://n1:4222\" isn't a valid URL of a NATS server with TLS; write tls://HOST:PORT, such as tls://nats1.example.org:4222",
			":2:26: fleet.nats[1]: \"tls://n1\" isn't a valid URL of a NATS server with TLS; write tls://HOST:PORT, such as tls://nats1.example.org:4222",
			":2:36: fleet.nats[2]: \"tls://u:p@n1:1\" isn't a valid URL of a NATS server with TLS; write tls://HOST:PORT, such as tls://nats1.example.org:4222",
			":2:52: fleet.nats[3]: \"tls://n1:1/\" isn't a valid URL of a NATS server with TLS; write tls://HOST:PORT, such as tls://nats1.example.org:4222",
			":2:65: fleet.nats[4]: \"tls://a b:1\" isn't a valid URL of a NATS server with TLS; write tls://HOST:PORT, such as tls://nats1.example.org:4222",
			":4:9: fleet.join: a server is a fleet's gateway or one of its hosts; remove join, or what makes it a gateway (listen, nats)",
		}},
		"a cluster without a key":        {"fleet: {nats: [tls://n1:1]}\n", []string{":1:15: fleet.nats: the key of the fleet's account on the cluster is missing; name its file with fleet.nats_account"}},
		"a key without a cluster":        {"fleet: {nats_account: a}\n", []string{":1:23: fleet.nats_account: it is the key of an account on a NATS cluster, and no cluster is named; set fleet.nats too, or remove it"}},
		"an authority without a cluster": {"fleet: {nats_ca: a}\n", []string{":1:18: fleet.nats_ca: it is the authority of a NATS cluster, and no cluster is named; set fleet.nats too, or remove it"}},
		"too many URLs":                  {"fleet: {nats_account: a, nats: [" + strings.Repeat("tls://n1:1, ", 17) + "]}\n", []string{":1:32: fleet.nats: 17 URLs are too many; give at most 16: a client learns the others from the cluster"}},
		"bad ships": {"audit:\n  ship:\n    syslog: udp://logs:514\n    http: logs.example.com\n    token: x\n", []string{
			":3:5: audit.ship: it has more than one of command, syslog and http; keep one",
			":3:13: audit.ship.syslog: UDP loses lines and doesn't report it; write tcp://HOST:PORT, or a socket such as /dev/log",
			":4:11: audit.ship.http: it isn't a valid URL; write https://HOST/PATH",
		}},
		"notices":         {"public_host: build.example.org:2222\nnotify:\n  - on: [prompt, idle>1d, report:escalate]\n    run: [/bin/tell]\n  - {name: hook, on: [error, report:complete, prompt], url: \"https://hooks.example/x\", tags: [ci]}\ndefaults:\n  notify: [{on: [exited], run: [x]}]\n", nil},
		"notices by name": {"notify:\n  phone: {ntfy: https://ntfy.sh/topic, on: [prompt, report:escalate]}\n  team: {slack: https://hooks.slack.com/services/T/B/X, on: [error], text: '{{.session}}'}\n  me: {telegram: 123:AB, chat: -100123, on: [prompt]}\n  hook: {webhook: https://x/y, secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODk=, on: [prompt]}\n  desk: {command: [notify-send, Berth], on: [idle>10m]}\nprofiles:\n  p:\n    notify: {own: {run: [x], on: [exited]}}\n", nil},
		"notices by name that cannot be": {"notify:\n  phone: {ntfi: https://secret/x, on: [prompt]}\n  both: {ntfy: https://secret/x, slack: https://secret/y, on: [prompt]}\n  twice: {run: [x], command: [x], on: [prompt]}\n  other: {name: x, run: [x], on: [prompt]}\n  bad: https://secret/x\n", []string{
			`:2:11: notify.phone.ntfi: unknown field; did you mean ntfy?`,
			`:2:11: notify.phone: give one of ntfy: URL, slack: URL, telegram: TOKEN, webhook: URL and command: [PROGRAM, ...]`,
			`:3:10: notify.both: give one of ntfy: URL, slack: URL, telegram: TOKEN, webhook: URL and command: [PROGRAM, ...]`,
			`:4:11: notify.twice: run is the older name of command, and url of webhook; give one of the two`,
			`:5:3: notify.other.name: the rule is already called other; remove it`,
			`:6:8: notify.bad: expected a group of fields, not a single value`,
			`:6:8: notify.bad: the rule doesn't say when to notify; add on: [prompt, error, parked, exited, idle>10m, report:escalate]`,
		}},
		"notices that cannot be": {"public_host: a b\nnotify:\n  - on: [asks]\n    run: [x]\n  - {name: a, on: [error], url: \"ftp://secret\"}\n  - {name: a, on: [error], run: [x]}\n  - on: prompt\n", []string{
			`:1:14: public_host: "a b" isn't a valid host; write HOST or HOST:PORT, such as build.example.org:2222`,
			`:3:5: notify[0]: "asks" isn't a valid condition; use prompt, error, parked, exited, idle>10m, report or report:escalate`,
			`:5:6: notify[1]: the URL of webhook has to begin with https:// or http:// and name a host`,
			`:6:6: notify[2]: a rule is already called a; give it another name`,
			`:7:5: notify[3]: the rule doesn't say when to notify; add on: [prompt, error, parked, exited, idle>10m, report:escalate]`,
			`:7:9: notify[3].on: expected a list, not a single value; write [prompt]`,
		}},
		"gates and start contexts": {"defaults:\n  gate: auto\n  start: {any: {text: hello}, compact: {run: [git, log]}}\nprofiles:\n  p:\n    gate: {mode: gate, text: go on, cap: 3, schema: {type: object}}\n", nil},
		"gates and start contexts that cannot be": {"profiles:\n  p:\n    gate: shut\n    start: {now: {text: x}}\n  q:\n    gate: {mode: gate}\n    start: {any: {text: x, run: [y]}}\n  r:\n    gate: {mode: auto, schema: {pattern: (}}\n    start: {any: x}\n", []string{
			`:3:11: profiles.p.gate: there is no mode "shut": allow, gate, auto; write gate: auto, or gate: {mode: gate, text: ...}`,
			`:4:19: profiles.p.start_context.now: there is no source "now": startup, resume, clear, compact, any; write startup, resume, clear, compact or any, each with text: ... or run: [...]`,
			`:6:12: profiles.q.gate: the mode gate needs a text for the agent; write gate: auto, or gate: {mode: gate, text: ...}`,
			`:7:19: profiles.q.start_context.any: any: it has a text and a command: give one of the two; write startup, resume, clear, compact or any, each with text: ... or run: [...]`,
			":9:12: profiles.r.gate: the schema cannot be used: jsonschema.Schema: <anonymous schema>: pattern: error parsing regexp: missing closing ): `(`; write gate: auto, or gate: {mode: gate, text: ...}",
			`:10:18: profiles.r.start_context.any: expected a group of fields, not a single value`,
			`:10:18: profiles.r.start_context.any: any: the text is empty; write startup, resume, clear, compact or any, each with text: ... or run: [...]`,
		}},
		"unknown fields, every one, with what is near": {
			"lisen: x\nsessions:\n  - name: a\n    comand: [sh]\n    zzz: 1\n",
			[]string{
				":1:1: lisen: unknown field; did you mean listen?",
				":4:5: sessions[0].comand: unknown field; did you mean command?",
				":5:5: sessions[0].zzz: unknown field; remove it",
			}},
		"wrong kinds": {
			"listen: [a]\nstop_sessions: \"yes\"\nlimits: 5\nsessions:\n  - name: a\n    command: vim x\n    size: 10\n",
			[]string{
				":1:9: listen: expected a single value, not a list",
				`:2:16: stop_sessions: "yes" isn't true or false; write true or false, without quotes`,
				":3:9: limits: expected a group of fields, not a single value",
				":6:14: sessions[0].command: expected a list, not a single value; write [vim, x]",
				`:7:11: sessions[0].size: "10" isn't a valid size: write COLUMNSxROWS, such as 200x50`,
			}},
		"wrong values": {
			"listen: nowhere\nlog_level: warning\nprefix: Ctrl-m\nlimits:\n  login_grace: 20\n  max_auth_tries: 0\n  input_bytes: lots\n",
			[]string{
				`:1:9: listen: "nowhere" isn't a valid address; write HOST:PORT, such as 127.0.0.1:2222 or :2222`,
				`:2:12: log_level: "warning" isn't one of its values; write debug, info, warn or error`,
				`:3:9: prefix: "Ctrl-m" cannot be the prefix: terminals send it for Tab, Enter or Escape`,
				`:5:16: limits.login_grace: "20" isn't a valid duration: write 30s, 10m, 12h or 7d`,
				`:6:19: limits.max_auth_tries: it must be more than 0`,
				`:7:16: limits.input_bytes: "lots" isn't a valid size: write 64MiB, 10GB or a number of bytes`,
			}},
		"sessions": {
			"sessions:\n  - name: all\n  - name: A/b\n  - command: [sh]\n  - name: x\n    profile: nope\n  - name: x\n    tags: [ok, \"no good\"]\n    env: {\"1X\": a, BERTH_Y: b}\n    restart: sometimes\n",
			[]string{
				":2:11: sessions[0].name: the name all is reserved",
				`:3:11: sessions[1].name: "A/b" isn't a valid session name: use 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit`,
				":4:5: sessions[2]: a session of berth.yaml needs a name; add name: NAME",
				`:6:14: sessions[3].profile: unknown profile "nope": the configuration has none`,
				`:7:11: sessions[4].name: sessions[3] already has the name "x"; choose another`,
				`:8:16: sessions[4].tags[1]: "no good" isn't a valid tag: use 1 to 64 letters, digits and . _ - : / @ +, starting with a letter or digit`,
				":9:17: sessions[4].env.1X: not the name of a variable; use letters, digits and _, not beginning with a digit",
				":9:29: sessions[4].env.BERTH_Y: Berth sets BERTH and all BERTH_* itself; remove it or choose another name",
				`:10:14: sessions[4].restart: "sometimes" isn't one of its values; write never, on-failure or always`,
			}},
		"values": {
			"sessions:\n  - name: a\n    agent: gemini\n    user: root\n    settings: {a: [1, {b: null}]}\n  - name: b\n    agent: generic\n    limits: {memory: many, processes: 1.5, cpu: 0.001}\n  - {name: c, limits: {memory: 1GiB, processes: 9, cpu: 0.5}}\n",
			[]string{
				":5:27: sessions[0].settings.a[1].b: has no value; give it one, or remove it",
				`:8:22: sessions[1].limits.memory: "many" isn't a valid size: write 64MiB, 10GB or a number of bytes`,
				`:8:39: sessions[1].limits.processes: "1.5" isn't a whole number`,
				`:8:49: sessions[1].limits.cpu: "0.001" isn't a number of processors: write 2, 1.5 or 0.25`,
			}},
		"an agent": {"sessions:\n  - name: a\n    agent: claude\n    conversation: 11111111-2222-4333-8444-555555555555\n    isolate: full\n    groom: manual\n" +
			"    trust: true\n    accept_bypass: false\n    settings: {model: x, hooks: {Stop: [{hooks: []}]}}\n    mcp: {one: {command: x}, two: {url: y}}\n" +
			"  - {name: b, agent: claude, resume: latest, groom: pristine, prompt: hello}\n", nil},
		"a wrong agent": {
			"sessions:\n  - name: a\n    agent: clade\n    isolate: fully\n    groom: never\n    conversation: a b\n    resume: latest\n    settings: {hooks: {Stop: {}}}\n    mcp: {one: {args: [x]}}\n" +
				"  - name: b\n    groom: pristine\n    isolate: full\n    trust: true\n    mcp: {mcpServers: {one: 1}}\n" +
				"  - name: c\n    agent: generic\n    resume: latest\n    settings: {hooks: []}\n    prompt: \" \"\ndefaults: {conversation: x}\n",
			[]string{
				`:3:12: sessions[0].agent: "clade" isn't one of its values; did you mean claude?`,
				`:4:14: sessions[0].isolate: "fully" isn't one of its values; did you mean full?`,
				`:5:12: sessions[0].groom: "never" isn't one of its values; write auto, manual or pristine`,
				`:6:19: sessions[0].conversation: "a b" isn't the id of a conversation; write the agent's own id of it`,
				`:6:19: sessions[0].conversation: resume already names the conversation; remove one of the two`,
				":8:30: sessions[0].settings.hooks.Stop: expected a list; write Stop: [{hooks: [{type: command, command: ...}]}]",
				":9:17: sessions[0].mcp.one: a server needs a command or a url; write one: {command: PROGRAM, args: [...]}, or one: berth for the tools of this server",
				":12:14: sessions[1].isolate: groom: pristine leaves the agent as it is; remove it, or write groom: manual",
				":13:12: sessions[1].trust: groom: pristine leaves the agent as it is; remove it, or write groom: manual",
				":14:11: sessions[1].mcp: groom: pristine leaves the agent as it is; remove it, or write groom: manual",
				":14:29: sessions[1].mcp.mcpServers.one: a server needs a command or a url; write one: {command: PROGRAM, args: [...]}, or one: berth for the tools of this server",
				":17:13: sessions[2].resume: it has no effect for a generic agent; name another agent, or remove it",
				":18:16: sessions[2].settings: it has no effect for a generic agent; name another agent, or remove it",
				":18:23: sessions[2].settings.hooks: expected a group of events; write hooks: {Stop: [{hooks: [{type: command, command: ...}]}]}",
				`:19:13: sessions[2].prompt: the message is empty; write one, or remove it`,
				":19:13: sessions[2].prompt: it has no effect for a generic agent; name another agent, or remove it",
				":20:26: defaults.conversation: many sessions use this, and they can't share a conversation; remove it",
			}},
		"profiles": {"profiles:\n  Bad: {}\n  p: {name: x, profile: q}\ndefaults: {profile: p}\n", []string{
			`:2:8: profiles.Bad: "Bad" isn't a valid session name: use 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit`,
			":3:13: profiles.p.name: many sessions use this, and they can't share a name; remove it",
			":3:25: profiles.p.profile: a profile can't have a profile; write the other profile's fields out",
			":4:21: defaults.profile: defaults can't have a profile; remove it",
		}},
		"twice":          {"prefix: Ctrl-a\nprefix: Ctrl-b\n", []string{":2:1: prefix: is set twice, first in line 1; keep one"}},
		"no value":       {"listen:\n", []string{":1:9: listen: has no value; give it one, or remove it"}},
		"two documents":  {"prefix: Ctrl-a\n---\nprefix: Ctrl-b\n", []string{":3:1: a second document starts here; use one document, without ---"}},
		"a bare list":    {"- a\n", []string{":1:1: expected a group of fields, not a list"}},
		"merge keys":     {"defaults: &d {size: 80x24}\nsessions:\n  - <<: *d\n    name: a\n", []string{":3:5: sessions[0]: merge keys (<<) aren't supported; use a profile, or write the fields out"}},
		"an alias":       {"profiles:\n  a: &a {size: 80x24}\n  b: *a\n", nil},
		"no such anchor": {"prefix: *no\n", []string{`:1:9: prefix: there is no anchor "no"`}},
		"escapes": {"\"\\e[31m\": 1\nsessions: [{name: \"a\\e\"}]\n", []string{
			`:1:1: "\x1b[31m": unknown field; remove it`,
			`:2:19: sessions[0].name: "a\x1b" isn't a valid session name: use 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit`,
		}},
	} {
		path := yamlFile(t, c.yaml)
		var got []string
		for _, p := range Check(path) {
			got = append(got, strings.TrimPrefix(p.String(), path))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

func TestSyntaxErrorsHaveAPlace(t *testing.T) {
	for _, text := range []string{"a: [1\n", "a: b: c\n", "\tx: 1\n", "a: \"open\n", "a:\n  - b\n c: d\n", "{", "%"} {
		problems := Check(yamlFile(t, "prefix: Ctrl-a\n"+text))
		if len(problems) == 0 || problems[0].Line == 0 || problems[0].Text == "" || strings.Contains(problems[0].Text, "\n") {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func TestProblemsOfVariablesAndFlags(t *testing.T) {
	environ := []string{"HOME=/h", "BERTH_LOG_LEVEL=loud", "BERTH_LISTN=x", "BERTH_LIMITS_KEEP=1"}
	_, err := Load(Source{Environ: environ, Flags: []Setting{{"prefix", "F1"}}})
	want := []string{
		"BERTH_LISTN: the variable sets no field; did you mean BERTH_LISTEN?",
		"BERTH_LIMITS_KEEP: the variable sets no field",
		`BERTH_LOG_LEVEL: "loud" isn't one of its values; write debug, info, warn or error`,
		`--prefix: "F1" isn't a valid prefix key: write Ctrl- and one character, such as Ctrl-] or Ctrl-a`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
	_, err = Load(Source{Environ: []string{"BERTH_LIMITS_LOGIN_GRACE=x"}, Flags: []Setting{{"limits.env_bytes", "-1"}, {"sessions", "x"}}})
	for _, part := range []string{"BERTH_LIMITS_LOGIN_GRACE: ", "--limits-env-bytes: ", "--sessions: unknown field"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q not in %v", part, err)
		}
	}
	c, err := Load(Source{Environ: []string{"HOME=/h", "BERTH_LISTN=x"}})
	if err != nil || len(c.Notices) != 1 || !c.Notices[0].Notice {
		t.Errorf("a variable that sets nothing must not stop a start: %v %v", c, err)
	}
}

func TestResolve(t *testing.T) {
	path := yamlFile(t, `
defaults: {size: 100x30, tags: [all-of-them], env: {A: default, D: d}}
profiles:
  p: {command: [top], size: 90x20, tags: [p], env: {A: profile, P: p}, login_env: false, limits: {ttl: 1h}}
sessions:
  - {name: s, profile: p, tags: [s], env: {A: own, PORT: 8080, VERSION: 1.10}, limits: {scrollback: 10}}
`)
	c, err := Load(Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Resolve(c.Sessions[0])
	off := false
	want := Session{
		Name: "s", Profile: "p", Command: []string{"top"}, Size: Window{90, 20}, SizePolicy: "writer", Restart: "never",
		Tags: []string{"all-of-them", "p", "s"}, LoginEnv: &off,
		Env:    map[string]string{"A": "own", "D": "d", "P": "p", "PORT": "8080", "VERSION": "1.10"},
		Limits: SessionLimits{Output: 64 * MiB, Scrollback: 10, TTL: time.Hour},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v (%v)", got, want, err)
	}
	if c.Profiles["p"].Env["D"] != "" || len(c.Profiles["p"].Tags) != 1 {
		t.Error("Resolve changed the profile")
	}
	if _, err := c.Resolve(Session{Profile: "pp"}); err == nil || !strings.Contains(err.Error(), "did you mean p?") {
		t.Errorf("an unknown profile: %v", err)
	}
	plain, err := c.Resolve(Session{})
	if err != nil || plain.Size != (Window{100, 30}) || !*plain.LoginEnv {
		t.Errorf("%+v %v", plain, err)
	}
}

func TestExampleAndDocs(t *testing.T) {
	if problems := Check("../docs/berth.example.yaml"); len(problems) > 0 {
		t.Errorf("the example: %v", problems)
	}
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append(fieldNames(reflect.TypeFor[Config]()), fieldNames(reflect.TypeFor[Session]())...)
	for _, t := range []reflect.Type{reflect.TypeFor[Limits](), reflect.TypeFor[Retention](), reflect.TypeFor[SessionLimits]()} {
		names = append(names, fieldNames(t)...)
	}
	for _, name := range names {
		if name != "-" && !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/configuration.md says nothing of %s", name)
		}
	}
	for _, field := range Settable() {
		if FlagName(field) == "" || EnvName(field) == "" {
			t.Error(field)
		}
	}
}

func TestAliasesCannotGrowWithoutEnd(t *testing.T) {
	text := "defaults:\n  settings:\n    a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for _, pair := range []string{"1 0", "2 1", "3 2", "4 3", "5 4", "6 5", "7 6", "8 7"} {
		a, b, _ := strings.Cut(pair, " ")
		text += "    a" + a + ": &a" + a + " [" + strings.TrimSuffix(strings.Repeat("*a"+b+", ", 10), ", ") + "]\n"
	}
	problems := Check(yamlFile(t, text))
	if len(problems) == 0 || !strings.Contains(Problems(problems).Error(), "aliases") {
		t.Errorf("%v", problems)
	}
	problems = Check(yamlFile(t, "defaults:\n  settings: &s\n    a: *s\n"))
	if len(problems) == 0 || !strings.Contains(problems[0].String(), "its own anchor") {
		t.Errorf("an alias of itself: %v", problems)
	}
}

func FuzzCheck(f *testing.F) {
	example, err := os.ReadFile("../docs/berth.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(example), "a: *b", "&a a: *a", "? x\n: y", "!!str a: !x b", "{a: [b, {c: d}]}", "<<: {a: b}", "a: |\n  x\n", "- - -", "listen: ~"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		d := decode("f", data, "/b", "/h", &c)
		for _, p := range locate(append(d.problems, c.Validate()...), d, nil) {
			if p.Line < 0 || p.Text == "" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
