package codex_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"berth/agent"
	"berth/agent/codex"
)

const (
	session = "/state/sessions/S"
	own     = session + "/codex"
	spoken  = "01a1f9aa-e455-71a3-9d59-ad3bc92a116d"
)

func onDisk(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// disk is a machine where a person has used Codex.
func disk() fstest.MapFS {
	file := onDisk
	return fstest.MapFS{
		"home/me/.codex/config.toml":        file("model = \"gpt\"\n[hooks.state.\"/home/me/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:mine\""),
		"home/me/.codex/hooks.json":         file(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine <&>"}]}],"Other":[{"x":1}]}}`),
		"home/me/.codex/auth.json":          file("{}"),
		"home/me/.codex/state_5.sqlite":     file(""),
		"home/me/.codex/state_5.sqlite-wal": file(""),
		"home/me/.codex/version.json":       file("{}"),
		"home/me/.codex/rules/mine.rules":   file(""),
		"home/me/.codex/packages/daemon":    file(""),
		"home/me/.codex/sessions/2026/11/20/rollout-2026-11-20T15-54-55-" + spoken + ".jsonl": file("{}"),
	}
}

func start(change func(s *agent.Start)) agent.Start {
	s := agent.Start{
		Argv: []string{"codex"}, Env: map[string]string{"HOME": "/home/me"}, Cwd: "/w", Folder: session, Hook: "/state/bin/berth's hook",
		Disk: disk(), Isolate: agent.IsolateHooks, Groom: agent.GroomAuto,
	}
	if change != nil {
		change(&s)
	}
	return s
}

// pinned are words of each command that shows a conversation.
const pinned = " -c features.exec_permission_approvals=false"

func TestLaunchCommand(t *testing.T) {
	argv := func(words ...string) func(s *agent.Start) { return func(s *agent.Start) { s.Argv = words } }
	for name, c := range map[string]struct {
		change func(s *agent.Start)
		want   string
		err    error
	}{
		"plain":               {nil, "codex --no-daemon", nil},
		"with options":        {argv("codex", "-m", "exec", "do it"), "codex --no-daemon -m exec do it", nil},
		"without a daemon":    {argv("codex", "--no-daemon", "x"), "codex --no-daemon x", nil},
		"exec":                {argv("codex", "exec", "--json", "x"), "codex exec --json x", nil},
		"its version":         {argv("codex", "--version"), "codex --version", nil},
		"a message":           {argv("codex", "--", "exec"), "codex --no-daemon -- exec", nil},
		"a resume of theirs":  {func(s *agent.Start) { s.Argv, s.ResumeID = []string{"codex", "resume", "X"}, agent.Latest }, "codex --no-daemon resume X", nil},
		"taken up":            {func(s *agent.Start) { s.ResumeID = spoken }, "codex --no-daemon resume " + spoken, nil},
		"the latest":          {func(s *agent.Start) { s.ResumeID = agent.Latest }, "codex --no-daemon resume --last", nil},
		"one that is not":     {func(s *agent.Start) { s.ResumeID = "01a1f9aa-0000" }, "", agent.ErrNoConversation},
		"one that is a path":  {func(s *agent.Start) { s.ResumeID = "../*" }, "", agent.ErrNoConversation},
		"again":               {func(s *agent.Start) { s.Resume, s.Conversation = true, spoken }, "codex --no-daemon resume " + spoken, nil},
		"again, never spoken": {func(s *agent.Start) { s.Resume, s.Conversation = true, "01a1f9aa-0000" }, "codex --no-daemon", nil},
		"an id of our own":    {func(s *agent.Start) { s.Conversation = "01a1f9aa-0000" }, "codex --no-daemon", nil}, // Codex chooses its own
		"untouched":           {func(s *agent.Start) { s.Isolate = agent.IsolateNone }, "codex", nil},
		"settings":            {func(s *agent.Start) { s.Settings = map[string]any{"model": "x"} }, "codex --profile berth --no-daemon", nil},
		"settings, a profile": {func(s *agent.Start) {
			s.Settings, s.Argv = map[string]any{"model": "x"}, []string{"codex", "--profile=mine"}
		}, "", agent.ErrStart},
		"a setting of none":   {func(s *agent.Start) { s.Settings = map[string]any{"model": nil} }, "", agent.ErrStart},
		"a hook of no event":  {func(s *agent.Start) { s.Settings = map[string]any{"hooks": map[string]any{"Halt": []any{}}} }, "", agent.ErrStart},
		"a server of nothing": {func(s *agent.Start) { s.MCP = map[string]any{"x": map[string]any{}} }, "", agent.ErrStart},
		"a fork":              {func(s *agent.Start) { s.Fork = spoken }, "codex --no-daemon fork " + spoken, nil},
		"a fork of nothing":   {func(s *agent.Start) { s.Fork = "01a1f9aa-0000" }, "", agent.ErrNoConversation},
		"torn hooks":          {func(s *agent.Start) { s.Disk.(fstest.MapFS)["home/me/.codex/hooks.json"].Data = []byte("{") }, "", agent.ErrStart},
	} {
		s := start(c.change)
		given := slices.Clone(s.Argv)
		l, err := codex.Driver{}.Launch(s)
		if !errors.Is(err, c.err) || err == nil && strings.Replace(strings.Join(l.Argv, " "), pinned, "", 1) != c.want || !slices.Equal(s.Argv, given) {
			t.Errorf("%s: %q, %v; want %q, %v", name, l.Argv, err, c.want, c.err)
		}
		if err == nil && c.want == "codex --no-daemon resume "+spoken && l.Conversation != spoken {
			t.Errorf("%s: the conversation is %q", name, l.Conversation)
		}
		touched := strings.Contains(c.want, "--no-daemon")
		if err == nil && (l.Set["CODEX_HOME"] == own) != touched {
			t.Errorf("%s: %v", name, l.Set)
		}
	}
}

// TestHookThatReportsLess: Codex doesn't report to hooks the permissions that a call asks for in
// addition to its command. So a hook waits for an answer only where calls can't ask for permissions.
// A hook that doesn't wait has another hash, so each launch writes the hash of the hook that it has.
func TestHookThatReportsLess(t *testing.T) {
	for name, c := range map[string]struct {
		argv   []string
		config string
		set    any
		waits  bool
	}{
		"nowhere":          {nil, "model = \"gpt\"", nil, true},
		"off":              {nil, "[features]\nexec_permission_approvals = false", nil, true},
		"off by settings":  {nil, "", false, true},
		"off by an option": {[]string{"--disable", "x", "-c", "features.exec_permission_approvals=false"}, "", nil, true},
		"in a table":       {nil, "[features]\nexec_permission_approvals = true", nil, false},
		"in a line":        {nil, "features = { \"exec_permission_approvals\" = true }", nil, false},
		"by settings":      {nil, "", true, false},
		"by a flag":        {[]string{"--enable", "exec_permission_approvals"}, "", nil, false},
		"by another flag":  {[]string{"--enable=exec_permission_approvals", "x"}, "", nil, false},
		"by an option":     {[]string{"-c", "features.exec_permission_approvals=true"}, "", nil, false},
	} {
		s := start(func(s *agent.Start) {
			s.Argv = append(s.Argv, c.argv...)
			s.Disk.(fstest.MapFS)["home/me/.codex/config.toml"].Data = []byte(c.config)
			if c.set != nil {
				s.Settings = map[string]any{"features": map[string]any{"exec_permission_approvals": c.set}}
			}
		})
		l, err := codex.Driver{}.Launch(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hooks := string(l.Files[own+"/hooks.json"])
		if waits := strings.Contains(hooks, "s PermissionRequest"); waits != c.waits || strings.Contains(hooks, "--tell PermissionRequest") == waits {
			t.Errorf("%s: the hook waits %v", name, waits)
		}
		if off := strings.HasPrefix(strings.Join(l.Argv[1:], " "), pinned[1:]) || strings.Contains(strings.Join(l.Argv, " "), "berth"+pinned); off != c.waits {
			t.Errorf("%s: %q", name, l.Argv)
		}
		// An earlier launch was without the feature. The trusted hash is that of the current hook.
		first, err := codex.Driver{}.Launch(start(nil))
		if err != nil {
			t.Fatal(err)
		}
		s.Disk.(fstest.MapFS)[own[1:]+"/config.toml"] = &fstest.MapFile{Data: append(first.Files[own+"/config.toml"], c.config...)}
		again, err := codex.Driver{}.Launch(s)
		if err != nil {
			t.Fatal(err)
		}
		hash := func(l agent.Launch) string {
			_, after, _ := strings.Cut(string(l.Files[own+"/config.toml"]), "permission_request:0:0\"]\ntrusted_hash = ")
			return after[:73]
		}
		if hash(again) != hash(l) || (hash(first) == hash(l)) != c.waits {
			t.Errorf("%s: trusted is %s, then %s, and should be %s", name, hash(first), hash(again), hash(l))
		}
	}
}

// TestLaunchHome: the session's home has the user's files by links, and copies
// of those that Codex or Berth write into.
func TestLaunchHome(t *testing.T) {
	l, err := codex.Driver{}.Launch(start(func(s *agent.Start) { s.Trust = true }))
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for from, to := range l.Links {
		if strings.TrimPrefix(from, own) != strings.TrimPrefix(to, "/home/me/.codex") {
			t.Errorf("%s is linked to %s", from, to)
		}
		links = append(links, strings.TrimPrefix(from, own+"/"))
	}
	slices.Sort(links)
	if got := strings.Join(links, " "); got != "auth.json rules/default.rules rules/mine.rules sessions state_5.sqlite version.json" {
		t.Errorf("links %s", got)
	}
	config := string(l.Files[own+"/config.toml"])
	for _, want := range []string{
		"check_for_update_on_startup = false\nmodel = \"gpt\"\n",
		"[hooks.state.\"" + own + "/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:mine\"\n",
		"[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
		"[hooks.state.\"" + own + "/hooks.json:stop:1:0\"]\n",
		"[hooks.state.\"" + own + "/hooks.json:pre_tool_use:0:0\"]\n",
	} {
		if !strings.Contains(config, want) {
			t.Errorf("no %q in\n%s", want, config)
		}
	}
	if strings.Contains(config, "/home/me") || strings.Count(config, "trusted_hash") != 15 {
		t.Errorf("trust in\n%s", config)
	}
	if !slices.Equal(l.Folders, []string{own, own + "/rules"}) || len(l.Files) != 3 {
		t.Errorf("folders %v, %d files", l.Folders, len(l.Files))
	}
}

// TestTrust: Codex trusts each of our hooks by the hash of its entry in the file. The test
// puts the hash together by hand.
func TestTrust(t *testing.T) {
	l, err := codex.Driver{}.Launch(start(nil))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []map[string]any
		}
	}
	if err := json.Unmarshal(l.Files[own+"/hooks.json"], &file); err != nil {
		t.Fatal(err)
	}
	config := string(l.Files[own+"/config.toml"])
	for event, key := range map[string]string{
		"Stop": "stop:1:0", "PermissionRequest": "permission_request:0:0", "SessionEnd": "session_end:0:0", "Interrupt": "interrupt:0:0", "PreModelRequest": "pre_model_request:0:0",
	} {
		groups := file.Hooks[event]
		hook := groups[len(groups)-1].Hooks[0]
		command, _ := hook["command"].(string)
		if len(hook) != 2 || hook["type"] != "command" || !strings.HasPrefix(command, `'/state/bin/berth'\''s hook' hook --`) || !strings.HasSuffix(command, event) {
			t.Errorf("%s runs %v", event, hook)
		}
		timeout := "600"
		if event == "SessionEnd" || event == "Interrupt" {
			timeout = "1"
		}
		name, _, _ := strings.Cut(key, ":")
		quoted := strings.ReplaceAll(command, `\`, `\\`)
		sum := sha256.Sum256([]byte(`{"event_name":"` + name + `","hooks":[{"async":false,"command":"` + quoted + `","timeout":` + timeout + `,"type":"command"}]}`))
		want := "[hooks.state.\"" + own + "/hooks.json:" + key + "\"]\ntrusted_hash = \"sha256:" + hex.EncodeToString(sum[:]) + "\""
		if !strings.Contains(config, want) {
			t.Errorf("%s: no %s", event, want)
		}
	}
	if got := string(l.Files[own+"/hooks.json"]); !strings.Contains(got, "--ask 590s 1s PermissionRequest") || !strings.Contains(got, `"Other"`) || !strings.Contains(got, "--tell Stop") {
		t.Errorf("the hooks are\n%s", got)
	}
}

// TestLaunchAgain: what Codex wrote into the session's settings is kept, and
// ours is not added twice.
func TestLaunchAgain(t *testing.T) {
	s := start(nil)
	first, err := codex.Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	written := string(first.Files[own+"/config.toml"]) + "\n[tui]\nscreen_reader_detection_done = true\n"
	s.Disk.(fstest.MapFS)[strings.TrimPrefix(own, "/")+"/config.toml"] = &fstest.MapFile{Data: []byte(written)}
	again, err := codex.Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(again.Files[own+"/config.toml"]); got != written {
		t.Errorf("the second start makes it\n%s", got)
	}
}

// TestLaunchAlone: a home of its own shares only the credentials. A user without credentials
// isn't an error. Pristine changes nothing about Codex.
func TestLaunchAlone(t *testing.T) {
	l, err := codex.Driver{}.Launch(start(func(s *agent.Start) { s.Isolate = agent.IsolateFull }))
	if err != nil || len(l.Links) != 1 || l.Links[own+"/auth.json"] != "/home/me/.codex/auth.json" {
		t.Fatalf("links %v, %v", l.Links, err)
	}
	if c := string(l.Files[own+"/config.toml"]); strings.Contains(c, "model = ") || strings.Contains(string(l.Files[own+"/hooks.json"]), "mine") {
		t.Errorf("the user's settings are in it:\n%s", c)
	}
	l, err = codex.Driver{}.Launch(start(func(s *agent.Start) { s.Disk, s.Env = fstest.MapFS{}, map[string]string{"CODEX_HOME": "/none"} }))
	if err != nil || len(l.Links) != 1 || l.Files[own+"/config.toml"] == nil {
		t.Errorf("with no home: %v, %v", l.Links, err)
	}
	l, err = codex.Driver{}.Launch(start(func(s *agent.Start) { s.Groom = agent.GroomPristine }))
	if err != nil || l.Unset != nil || strings.Contains(string(l.Files[own+"/config.toml"]), "check_for_update") {
		t.Errorf("pristine: %v, %v", l.Unset, err)
	}
	l, err = codex.Driver{}.Launch(start(func(s *agent.Start) { s.Hook = "" }))
	if err != nil || strings.Contains(string(l.Files[own+"/hooks.json"]), "berth") {
		t.Errorf("without our hooks: %v", err)
	}
}

// TestLaunchSettings: settings and servers of tools are a profile, hooks among
// them stand between the user's and ours, each trusted; what Codex has written
// into the profile is kept while the settings are the same.
func TestLaunchSettings(t *testing.T) {
	change := func(s *agent.Start) {
		s.Settings = map[string]any{
			"model_reasoning_effort": "high", "tui": map[string]any{"notifications": true},
			"hooks": map[string]any{"Stop": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "caller's", "timeout": 5.0}}}}},
		}
		s.MCP = map[string]any{"lab": map[string]any{"type": "stdio", "command": "/bin/tool", "args": []any{"a b", "\"c\""}, "env": map[string]any{"A.B": "1"}}}
	}
	l, err := codex.Driver{}.Launch(start(change))
	if err != nil {
		t.Fatal(err)
	}
	_, profile, _ := strings.Cut(string(l.Files[own+"/berth.config.toml"]), "\n")
	want := `model_reasoning_effort = "high"

[mcp_servers.lab]
args = ["a b", "\"c\""]
command = "/bin/tool"

[mcp_servers.lab.env]
"A.B" = "1"

[tui]
notifications = true
`
	if profile != want {
		t.Errorf("the profile is\n%s\nwant\n%s", profile, want)
	}
	hooks, config := string(l.Files[own+"/hooks.json"]), string(l.Files[own+"/config.toml"])
	callers, ours := strings.Index(hooks, "caller's"), strings.Index(hooks, "hook --tell Stop")
	if callers < 0 || ours < callers || !strings.Contains(config, own+"/hooks.json:stop:1:0") {
		t.Errorf("the caller's hook:\n%s\n%s", hooks, config)
	}
	s := start(change)
	s.Disk.(fstest.MapFS)[strings.TrimPrefix(own, "/")+"/berth.config.toml"] = onDisk(string(l.Files[own+"/berth.config.toml"]) + "[codex]\n")
	if again, err := (codex.Driver{}).Launch(s); err != nil || again.Files[own+"/berth.config.toml"] != nil {
		t.Errorf("it is written again: %v", err)
	}
	s.Settings["model_reasoning_effort"] = "low"
	if again, err := (codex.Driver{}).Launch(s); err != nil || !strings.Contains(string(again.Files[own+"/berth.config.toml"]), "low") {
		t.Errorf("it is not written again: %v", err)
	}
}

// TestLaunchFork: the log of a conversation that is in a home of another
// session's own is copied.
func TestLaunchFork(t *testing.T) {
	const other = "01a1f9aa-e455-71a3-9d59-000000000000"
	const log = "/sessions/2026/11/20/rollout-2026-11-20T15-54-55-" + other + ".jsonl"
	l, err := codex.Driver{}.Launch(start(func(s *agent.Start) {
		s.Fork, s.ForkFolder = other, "/state/sessions/F"
		s.Disk.(fstest.MapFS)["state/sessions/F/codex"+log] = onDisk("{}")
	}))
	if err != nil || l.Copies[own+log] != "/state/sessions/F/codex"+log || l.Links[own+"/sessions"] != "" || !slices.Contains(l.Folders, filepath.Dir(own+log)) {
		t.Errorf("%v: copies %v, links %v, folders %v", err, l.Copies, l.Links, l.Folders)
	}
}

func TestRecalls(t *testing.T) {
	s := start(nil)
	s.Disk.(fstest.MapFS)["state/sessions/S/codex/sessions/2026/11/20/rollout-2026-11-20T15-54-55-"+spoken+".jsonl"] = onDisk("{}")
	l, err := codex.Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	for conversation, want := range map[string]bool{spoken: true, "01a1f9aa-0000": false, "": false, "*": false} {
		if (codex.Driver{}).HasConversation(s.Disk, l.LogFiles, conversation) != want {
			t.Errorf("%q can be taken up: not %v", conversation, want)
		}
	}
}

func TestLaunchExec(t *testing.T) {
	for words, want := range map[string][2]bool{"codex exec x": {true, false}, "codex -m m exec --json x": {true, true}, "codex x": {false, false}} {
		l, err := codex.Driver{}.Launch(start(func(s *agent.Start) { s.Argv = strings.Fields(words) }))
		if err != nil || l.Headless != want[0] || l.Stream != want[1] {
			t.Errorf("%s: headless %v, stream %v, %v", words, l.Headless, l.Stream, err)
		}
	}
}
