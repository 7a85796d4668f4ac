package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
)

const (
	idOne   = "11111111-2222-4333-8444-555555555555"
	idTwo   = "22222222-2222-4333-8444-555555555555"
	idThree = "33333333-2222-4333-8444-555555555555"
	idEmpty = "44444444-2222-4333-8444-555555555555"
	idFresh = "55555555-2222-4333-8444-555555555555"
	set     = "/s/claude-settings.json"
)

// disk has two conversations of the folder /ws, the second the newer, and one
// of a fork's parent with a home of its own.
func disk() fs.FS {
	now := time.Unix(1_000_000, 0)
	return fstest.MapFS{
		"h/.claude/projects/-ws/" + idOne + ".jsonl": {Data: []byte(`{"type":"mode"}` + "\n" + `{"parentUuid":null,"type":"user"}` + "\n"), ModTime: now},
		"h/.claude/projects/-ws/" + idTwo + ".jsonl": {Data: []byte(`{"type":"mode"}` + "\n" + `{"parentUuid":null,"type":"user"}` + "\n"), ModTime: now.Add(time.Minute)},
		// The newest is of a session that was killed before its first message.
		"h/.claude/projects/-ws/" + idEmpty + ".jsonl":     {Data: []byte(`{"type":"ai-title"}` + "\n" + `{"type":"mode"}` + "\n"), ModTime: now.Add(time.Hour)},
		"h/.claude/projects/-ws/not-a-log.jsonl":           {Data: []byte(`{"type":"mode"}` + "\n" + `{"parentUuid":null,"type":"user"}` + "\n"), ModTime: now.Add(time.Hour)},
		"h/.claude/projects/-other/" + idThree + ".jsonl":  {Data: []byte(`{"type":"mode"}` + "\n" + `{"parentUuid":null,"type":"user"}` + "\n"), ModTime: now.Add(time.Hour)},
		"parent/claude/projects/-ws/" + idThree + ".jsonl": {Data: []byte(`{"type":"mode"}` + "\n" + `{"parentUuid":null,"type":"user"}` + "\n"), ModTime: now},
		"h/.claude/.credentials.json":                      {Data: []byte("{}")},
		"ws/own.json":                                      {Data: []byte(`{"model":"m","hooks":{"Stop":[{"hooks":[{"type":"command","command":"own"}]}]},"permissions":{"allow":["A"]}}`)},
		"ws/bad.json":                                      {Data: []byte(`[]`)},
	}
}

func begin(argv ...string) agent.Start {
	return agent.Start{
		Argv: append([]string{"claude"}, argv...), Env: map[string]string{"HOME": "/h"}, Cwd: "/ws", Folder: "/s", Hook: "/s/berth", Disk: disk(),
		Conversation: "99999999-2222-4333-8444-555555555555", Isolate: agent.IsolateHooks, Groom: agent.GroomAuto, EndAsks: "/s/end", StartAsks: "/s/begin",
	}
}

func TestLaunch(t *testing.T) {
	const id = "99999999-2222-4333-8444-555555555555"
	for name, c := range map[string]struct {
		argv   string
		change func(*agent.Start)
		want   string
		is     string // the conversation
		fails  error
	}{
		"plain":              {want: "--settings " + set + " --session-id " + id, is: id},
		"its own options":    {argv: "--model x", want: "--settings " + set + " --session-id " + id + " --model x", is: id},
		"after dashes":       {argv: "-- --settings", want: "--settings " + set + " --session-id " + id + " -- --settings", is: id},
		"takes one up":       {argv: "--resume " + idOne, want: "--settings " + set + " --resume " + idOne, is: idOne},
		"by another name":    {argv: "-r " + idOne, want: "--settings " + set + " -r " + idOne, is: idOne},
		"by a word":          {argv: "--resume login", want: "--settings " + set + " --resume login"},
		"the newest":         {argv: "-c", want: "--settings " + set + " -c"},
		"with its own id":    {argv: "--session-id " + idOne, want: "--settings " + set + " --session-id " + idOne, is: idOne},
		"own settings":       {argv: "--settings own.json x", want: "--settings " + set + " --session-id " + id + " x", is: id},
		"own settings by =":  {argv: `--settings={"a":1} x`, want: "--settings " + set + " --session-id " + id + " x", is: id},
		"settings not there": {argv: "--settings none.json", fails: agent.ErrStart},
		"no settings":        {argv: "--settings bad.json", fails: agent.ErrStart},
		"no hooks wanted":    {change: func(s *agent.Start) { s.Hook, s.Isolate, s.Conversation = "", agent.IsolateNone, "" }},
		"none, and its own": {argv: "--settings own.json", want: "--settings own.json", change: func(s *agent.Start) {
			s.Hook, s.Isolate, s.Conversation = "", agent.IsolateNone, ""
		}},
		"none, with settings": {argv: "--settings own.json", want: "--settings " + set, change: func(s *agent.Start) {
			s.Hook, s.Isolate, s.Conversation, s.Settings = "", agent.IsolateNone, "", map[string]any{"model": "x"}
		}},
		"all hooks off": {fails: agent.ErrStart, change: func(s *agent.Start) { s.Settings = map[string]any{"disableAllHooks": true} }},
		"servers": {argv: "--mcp-config own x", want: "--settings " + set + " --mcp-config=/s/claude-mcp.json --session-id " + id + " --mcp-config own x", is: id, change: func(s *agent.Start) {
			s.MCP = map[string]any{"one": map[string]any{"command": "x"}}
		}},
		"a server of nothing": {fails: agent.ErrStart, change: func(s *agent.Start) { s.MCP = map[string]any{"one": map[string]any{"args": "x"}} }},
		"a subcommand":        {argv: "mcp list", want: "mcp list"},

		"again":                {want: "--settings " + set + " --resume " + idOne, is: idOne, change: func(s *agent.Start) { s.Conversation, s.Resume = idOne, true }},
		"again, nothing there": {want: "--settings " + set + " --session-id " + id, is: id, change: func(s *agent.Start) { s.Resume = true }},
		"again, not as at first": {argv: "--continue --fork-session x", want: "--settings " + set + " --resume " + idOne + " x", is: idOne, change: func(s *agent.Start) {
			s.Conversation, s.Resume = idOne, true
		}},
		"again, nothing said": {want: "--settings " + set + " --session-id " + idFresh, is: idFresh, change: func(s *agent.Start) {
			s.Conversation, s.Fresh, s.Resume = idEmpty, idFresh, true
		}},
		"none said":          {fails: agent.ErrNoConversation, change: func(s *agent.Start) { s.Conversation, s.ResumeID = "", idEmpty }},
		"one that is there":  {fails: agent.ErrStart, change: func(s *agent.Start) { s.Conversation = idOne }},
		"no id":              {fails: agent.ErrStart, change: func(s *agent.Start) { s.Conversation = "mine" }},
		"take up":            {argv: "-c", want: "--settings " + set + " --resume " + idOne, is: idOne, change: func(s *agent.Start) { s.Conversation, s.ResumeID = "", idOne }},
		"take up the latest": {want: "--settings " + set + " --resume " + idTwo, is: idTwo, change: func(s *agent.Start) { s.Conversation, s.ResumeID = "", agent.Latest }},
		"none of the folder": {fails: agent.ErrNoConversation, change: func(s *agent.Start) { s.Cwd, s.ResumeID = "/new", agent.Latest }},
		"none of that id":    {fails: agent.ErrNoConversation, change: func(s *agent.Start) { s.ResumeID = id }},
		"a fork":             {want: "--settings " + set + " --resume " + idOne + " --fork-session --session-id " + id, is: id, change: func(s *agent.Start) { s.Fork = idOne }},
		"a fork of nothing":  {fails: agent.ErrNoConversation, change: func(s *agent.Start) { s.Fork = id }},
		"a fork, spoken in":  {want: "--settings " + set + " --resume " + idTwo, is: idTwo, change: func(s *agent.Start) { s.Conversation, s.Resume, s.Fork = idTwo, true, idOne }},
		"not in that home":   {fails: agent.ErrNoConversation, change: func(s *agent.Start) { s.Isolate, s.ResumeID = agent.IsolateFull, idOne }},
		"a fork between homes": {want: "--settings " + set + " --resume " + idThree + " --fork-session --session-id " + id, is: id, change: func(s *agent.Start) {
			s.Isolate, s.Fork, s.ForkFolder = agent.IsolateFull, idThree, "/parent"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(strings.Fields(c.argv)...)
			if c.change != nil {
				c.change(&s)
			}
			before := slices.Clone(s.Argv)
			l, err := Driver{}.Launch(s)
			if !errors.Is(err, c.fails) || err != nil && c.fails == nil {
				t.Fatalf("error %v, want %v", err, c.fails)
			}
			if err != nil {
				return
			}
			if got := strings.Join(l.Argv, " "); got != strings.TrimSpace("claude "+c.want) {
				t.Errorf("runs   %s\nwant   claude %s", got, c.want)
			}
			if l.Conversation != c.is {
				t.Errorf("the conversation is %q, want %q", l.Conversation, c.is)
			}
			if !slices.Equal(s.Argv, before) {
				t.Error("the caller's words were changed")
			}
		})
	}
}

// TestSettingsAreMerged: the command's and the session's, theirs before ours.
func TestSettingsAreMerged(t *testing.T) {
	s := begin("--settings", "own.json")
	s.Settings = map[string]any{
		"tui": "fullscreen", "permissions": map[string]any{"allow": []any{"B"}, "deny": []any{"C"}},
		"hooks": map[string]any{"Stop": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "mine"}}}}},
	}
	l, err := Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Model, TUI  string
		Permissions map[string][]string
		Hooks       map[string][]hookGroup
	}
	if err := json.Unmarshal(l.Files[set], &got); err != nil {
		t.Fatal(err)
	}
	var stop []string
	for _, g := range got.Hooks["Stop"] {
		stop = append(stop, g.Hooks[0].Command)
	}
	if want := []string{"own", "mine", "'/s/berth' hook --ask 15s 5s --if '/s/end' Stop"}; !slices.Equal(stop, want) {
		t.Errorf("Stop runs %q, want %q", stop, want)
	}
	if got.Model != "m" || got.TUI != "fullscreen" || strings.Join(got.Permissions["allow"], " ") != "A B Bash(berth report:*)" || len(got.Permissions["deny"]) != 1 {
		t.Errorf("merged to %s", l.Files[set])
	}
	if plain, err := (Driver{}).Launch(begin()); err != nil || !strings.Contains(string(plain.Files[set]), `"tui": "default"`) {
		t.Errorf("the renderer is not settled: %v", err)
	}
}

func TestSettingsRunEveryEvent(t *testing.T) {
	hooks, err := withOurs(nil, agent.Start{Hook: "/it's/berth", EndAsks: "/it's/end", StartAsks: "/it's/begin"}, false)
	if err != nil {
		t.Fatal(err)
	}
	command := func(event string) hookCommand { return hooks[event].([]any)[0].(hookGroup).Hooks[0] }
	if ask := command("PermissionRequest"); ask.Command != `'/it'\''s/berth' hook --ask 24h 24h PermissionRequest` || ask.Timeout != 24*60*60 {
		t.Errorf("PermissionRequest runs %+v", ask)
	}
	if ask := command("Elicitation"); ask.Command != `'/it'\''s/berth' hook --ask 24h 24h Elicitation` || ask.Timeout != 24*60*60 {
		t.Errorf("Elicitation runs %+v", ask)
	}
	for name, callers := range map[string]map[string]any{"beside the caller's": {"Elicitation": []any{"theirs"}}, "printing": nil} {
		with, err := withOurs(callers, agent.Start{Hook: "/berth"}, callers == nil)
		if err != nil {
			t.Fatal(err)
		}
		all := with["Elicitation"].([]any)
		if got := all[len(all)-1].(hookGroup).Hooks[0]; got.Command != "'/berth' hook --tell Elicitation" {
			t.Errorf("%s: Elicitation runs %+v", name, got)
		}
	}
	for e, file := range map[string]string{"Stop": "end", "SessionStart": "begin"} {
		want := `'/it'\''s/berth' hook --ask 15s 5s --if '/it'\''s/` + file + `' ` + e
		if got := command(e); got.Command != want || got.Timeout != 30 {
			t.Errorf("%s runs %+v, want %s", e, got, want)
		}
	}
	for _, e := range []string{"PreToolUse", "SubagentStop", "SessionEnd"} {
		if command(e).Command != `'/it'\''s/berth' hook --tell `+e {
			t.Errorf("%s runs %+v", e, hooks[e])
		}
	}
	for _, e := range []string{"WorktreeCreate", "FileChanged", "MessageDisplay"} {
		if hooks[e] != nil {
			t.Errorf("%s must not be asked for", e)
		}
	}
	for name, bad := range map[string]any{"no events": []any{}, "no list": map[string]any{"Stop": "x"}} {
		if _, err := withOurs(bad, agent.Start{Hook: "/b"}, false); !errors.Is(err, agent.ErrStart) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOwnHome: a home of its own answers in advance only the dialogs that the session's policy answers.
func TestOwnHome(t *testing.T) {
	const key = "sk-ant-0123456789-abcdefghijklmnopqrst"
	full := func(change func(*agent.Start)) agent.Launch {
		s := begin()
		s.Isolate, s.Env[apiKey] = agent.IsolateFull, key
		change(&s)
		l, err := Driver{}.Launch(s)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	const home = "/s/claude"
	l := full(func(*agent.Start) {})
	if l.Set["CLAUDE_CONFIG_DIR"] != home || l.Set["CLAUDE_SECURESTORAGE_CONFIG_DIR"] != "/h/.claude" || l.Folders[0] != home || l.StateFile != home+"/sessions/%d.json" {
		t.Errorf("the home is %+v", l)
	}
	config := string(l.Files[home+"/.claude.json"])
	if !strings.Contains(config, "hasCompletedOnboarding") || strings.Contains(config, "approved") || strings.Contains(config, "Trust") || l.Files[home+"/settings.json"] != nil || l.Vouched != nil {
		t.Errorf("nothing was said, and it answers\n%s", config)
	}
	l = full(func(s *agent.Start) {
		s.Own, s.Trust, s.AcceptBypass = map[string]string{apiKey: key}, true, true
	})
	config = string(l.Files[home+"/.claude.json"])
	if !strings.Contains(config, `"`+key[len(key)-20:]+`"`) || strings.Contains(config, key) || !strings.Contains(config, `"/ws"`) ||
		!strings.Contains(string(l.Files[home+"/settings.json"]), "skipDangerousModePermissionPrompt") {
		t.Errorf("all was said, and it answers\n%s", config)
	}
	if v := l.Vouched[agent.SubtypeAPIKey]; v == "" || strings.Contains(v, key[len(key)-20:]) {
		t.Errorf("vouched %q", v)
	}
	if l = full(func(s *agent.Start) { s.Groom = agent.GroomManual }); l.Files[home+"/.claude.json"] != nil {
		t.Error("manual answers beforehand")
	}
	l = full(func(s *agent.Start) {
		s.Disk = fstest.MapFS{"s/claude/.claude.json": {Data: []byte("{}")}}
	})
	if l.Files[home+"/.claude.json"] != nil || len(l.Links) > 0 {
		t.Error("what Claude has written is written over, or credentials are linked that are not there")
	}
}

func TestPristine(t *testing.T) {
	s := begin("--settings", "own.json", "-c")
	s.Hook, s.Conversation, s.Isolate, s.Groom = "", "", agent.IsolateNone, agent.GroomPristine
	l, err := Driver{}.Launch(s)
	if err != nil || len(l.Set)+len(l.Default)+len(l.Unset)+len(l.Files)+len(l.Links) > 0 || !slices.Equal(l.Argv, s.Argv) {
		t.Errorf("%v, changed: %+v", err, l)
	}
}

// TestMunge: by logs that Claude itself has named.
func TestMunge(t *testing.T) {
	long := "/work/" + strings.Repeat("long", 60)
	for cwd, want := range map[string]string{
		"/work/a_b.c d+e@f~g": "-work-a-b-c-d-e-f-g",
		"/tmp/ü日本":            "-tmp----",
		"/tmp/😀":              "-tmp---", // two units
		"/":                   "-",
	} {
		if got := munge(cwd); got != want {
			t.Errorf("%s is kept as %s, want %s", cwd, got, want)
		}
	}
	if got := munge(long); len(got) <= mungedMost || got[:mungedMost] != ("-work-" + strings.Repeat("long", 60))[:mungedMost] || filepath.Base(got) != got {
		t.Errorf("a long folder is kept as %s", got)
	}
}
