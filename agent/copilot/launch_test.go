package copilot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
	"berth/agent/copilot"
)

const (
	one   = "11111111-2222-4333-8444-555555555555"
	two   = "21111111-2222-4333-8444-555555555555"
	fresh = "31111111-2222-4333-8444-555555555555" // a new conversation
)

// disk has two conversations of /srv/ws, the second one the newest, and one without a message.
func disk() fstest.MapFS {
	const state = "home/ann/.copilot/session-state/"
	talk := func(at int64, text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(at, 0)}
	}
	spoken := `{"type":"session.start"}` + "\n" + `{"type":"user.message","data":{"content":"hello"}}` + "\n"
	return fstest.MapFS{
		state + one + "/events.jsonl":      talk(100, spoken),
		state + one + "/workspace.yaml":    talk(100, "id: "+one+"\ncwd: /srv/ws\n"),
		state + two + "/events.jsonl":      talk(200, spoken),
		state + two + "/workspace.yaml":    talk(200, "id: "+two+"\ncwd: /srv/ws\n"),
		state + "empty/events.jsonl":       talk(300, `{"type":"session.start"}`),
		state + "empty/workspace.yaml":     talk(300, "cwd: /srv/ws\n"),
		state + "elsewhere/events.jsonl":   talk(400, spoken),
		state + "elsewhere/workspace.yaml": talk(400, "cwd: /srv/ws2\n"),
	}
}

func start(change func(*agent.Start)) agent.Start {
	s := agent.Start{
		Argv: []string{"copilot", "--model", "gpt"}, Env: map[string]string{"HOME": "/home/ann"}, Cwd: "/srv/ws", Folder: "/state/s1", Hook: "/state/s1/it's/berth-hold",
		Disk: disk(), Conversation: fresh, Isolate: agent.IsolateHooks, EndAsks: "/state/s1/gate.closed",
	}
	if change != nil {
		change(&s)
	}
	return s
}

// TestLaunch: the hooks are a plugin in the session's folder, and no file is written elsewhere.
func TestLaunch(t *testing.T) {
	l, err := copilot.Driver{}.Launch(start(nil))
	want := []string{"copilot", "--plugin-dir", "/state/s1/copilot/plugin", "--session-id", fresh, "--model", "gpt"}
	if err != nil || !slices.Equal(l.Argv, want) || l.Conversation != fresh || l.LogFiles != "/home/ann/.copilot/*/%s/events.jsonl" || len(l.Set)+len(l.Links) > 0 {
		t.Errorf("%+v %v", l, err)
	}
	for file := range l.Files {
		if !strings.HasPrefix(file, "/state/s1/") {
			t.Errorf("it writes %s", file)
		}
	}
	hooks := string(l.Files["/state/s1/copilot/plugin/hooks.json"])
	for _, part := range []string{`'/state/s1/it'\\''s/berth-hold' hook --tell UserPromptSubmit`, `"sleep 0.2; '/state/s1/it'\\''s/berth-hold' hook --ask 15s 5s --if '/state/s1/gate.closed' Stop"`, `"version": 1`} {
		if !strings.Contains(hooks, part) {
			t.Errorf("the hooks have no %s:\n%s", part, hooks)
		}
	}
	for _, not := range []string{"PreToolUse", "PermissionRequest"} {
		if strings.Contains(hooks, not) {
			t.Errorf("the hooks have %s", not)
		}
	}
	if l, err = (copilot.Driver{}).Launch(start(func(s *agent.Start) { s.Isolate = agent.IsolateNone })); err != nil || len(l.Argv) != 3 || len(l.Files) > 0 {
		t.Errorf("without isolation: %+v %v", l, err)
	}
}

// TestOwnHome: a home of its own has the user's sign-in and no more, so that what Copilot remembers there
// changes no file of the user's.
func TestOwnHome(t *testing.T) {
	const home = "/state/s1/copilot/home"
	for name, c := range map[string]struct {
		users, config string
		settings      map[string]any
		written       string
	}{
		"signed in":     {"// This file is managed automatically.\n" + `{"trustedFolders":["/srv"],"firstLaunchAt":"x","copilotTokens":{"https://github.example:ann":"t"},"loggedInUsers":[1]}`, "{\n  \"copilotTokens\": {\n    \"https://github.example:ann\": \"t\"\n  },\n  \"loggedInUsers\": [\n    1\n  ]\n}\n", nil, "{}\n"},
		"no sign-in":    {`{"trustedFolders":["/srv"]}`, "{}\n", map[string]any{"banner": "never"}, "{\n  \"banner\": \"never\"\n}\n"},
		"no file":       {"", "{}\n", nil, "{}\n"},
		"not an object": {"[]", "", nil, ""},
	} {
		l, err := copilot.Driver{}.Launch(start(func(s *agent.Start) {
			files := disk()
			if c.users != "" {
				files["home/ann/.copilot/config.json"] = &fstest.MapFile{Data: []byte(c.users)}
			}
			s.Isolate, s.Settings, s.Disk = agent.IsolateFull, c.settings, files
		}))
		if c.config == "" {
			if !errors.Is(err, agent.ErrStart) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(l.Links) > 0 || l.Set["COPILOT_HOME"] != home || string(l.Files[home+"/config.json"]) != c.config || string(l.Files[home+"/settings.json"]) != c.written {
			t.Errorf("%s: %s %s %+v %v", name, l.Files[home+"/config.json"], l.Files[home+"/settings.json"], l, err)
		}
	}
}

// TestConversation: which conversation is taken up.
func TestConversation(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*agent.Start)
		id     string
		err    error
	}{
		"new":                {nil, fresh, nil},
		"the latest":         {func(s *agent.Start) { s.ResumeID = agent.Latest }, two, nil},
		"one by its id":      {func(s *agent.Start) { s.ResumeID = two }, two, nil},
		"one that is not":    {func(s *agent.Start) { s.ResumeID = strings.Replace(two, "2", "3", 1) }, "", agent.ErrNoConversation},
		"a path":             {func(s *agent.Start) { s.ResumeID = "../" + two }, "", agent.ErrStart},
		"none in the folder": {func(s *agent.Start) { s.ResumeID, s.Cwd = agent.Latest, "/srv" }, "", agent.ErrNoConversation},
		"a bad id":           {func(s *agent.Start) { s.Conversation = "mine" }, "", agent.ErrStart},
		"a copy":             {func(s *agent.Start) { s.Fork = one }, "", agent.ErrStart},
		"by the command":     {func(s *agent.Start) { s.Argv = append(s.Argv, "--resume="+two) }, two, nil},
		"there already":      {func(s *agent.Start) { s.Conversation = one }, "", agent.ErrStart},
		"with settings":      {func(s *agent.Start) { s.Settings = map[string]any{"a": 1} }, "", agent.ErrStart},
	} {
		l, err := copilot.Driver{}.Launch(start(c.change))
		if !errors.Is(err, c.err) || err == nil && l.Conversation != c.id {
			t.Errorf("%s: %q %v", name, l.Conversation, err)
		}
	}
	if d := (copilot.Driver{}); !d.HasConversation(disk(), "/home/ann/.copilot/*/%s/events.jsonl", one) || d.HasConversation(disk(), "/home/ann/.copilot/*/%s/events.jsonl", "empty") {
		t.Error("which conversations have a message")
	}
}

// TestTakeUp: Berth's own conversation and one that it is to resume replace the options of the command,
// which were for its first start.
func TestTakeUp(t *testing.T) {
	again := func(s *agent.Start) { s.Conversation, s.Resume = one, true }
	for name, c := range map[string]struct {
		argv   []string
		change func(*agent.Start)
		want   string
	}{
		"a start again":            {nil, again, "copilot --session-id " + one},
		"after --continue":         {[]string{"--continue", "--model", "gpt"}, again, "copilot --session-id " + one + " --model gpt"},
		"after --resume ID":        {[]string{"--resume", two, "--model", "gpt"}, again, "copilot --session-id " + one + " --model gpt"},
		"after --resume=ID":        {[]string{"--resume=" + two}, again, "copilot --session-id " + one},
		"before a message":         {[]string{"--continue"}, func(s *agent.Start) { s.Resume = true }, "copilot --continue"},
		"--continue, and an id":    {[]string{"--continue"}, func(s *agent.Start) { s.ResumeID = two }, "copilot --session-id " + two},
		"--session-id, and latest": {[]string{"--session-id", one}, func(s *agent.Start) { s.ResumeID = agent.Latest }, "copilot --session-id " + two},
	} {
		l, err := copilot.Driver{}.Launch(start(func(s *agent.Start) {
			s.Argv, s.Hook = append([]string{"copilot"}, c.argv...), ""
			c.change(s)
		}))
		if got := strings.Join(l.Argv, " "); err != nil || got != c.want {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

// TestEntries: the conversation as a person reads it.
func TestEntries(t *testing.T) {
	for line, want := range map[string]agent.Entry{
		`{"type":"user.message","data":{"content":"hello"}}`:                                                             {Kind: agent.EntryMessage, Text: "hello"},
		`{"type":"assistant.message","data":{"content":"I do it."}}`:                                                     {Kind: agent.EntryReply, Text: "I do it."},
		`{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}}}`:       {Kind: agent.EntryCall, Call: "c", Tool: "bash"},
		`{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"a.txt"}}}`:       {Kind: agent.EntryResult, Call: "c", Text: "a.txt"},
		`{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"not allowed"}}}`: {Kind: agent.EntryResult, Call: "c", Text: "not allowed", Failed: true},
		`{"type":"session.error","data":{"message":"400 malformed"}}`:                                                    {Kind: agent.EntryNotice, Text: "400 malformed", Failed: true},
	} {
		all := copilot.Driver{}.Entries([]byte(line))
		if len(all) != 1 || all[0].Kind != want.Kind || all[0].Text != want.Text || all[0].Call != want.Call || all[0].Tool != want.Tool || all[0].Failed != want.Failed {
			t.Errorf("%s: %+v", line, all)
		}
	}
	for _, line := range []string{"{", `{"type":"assistant.message","data":{"content":""}}`, `{"type":"user.message","data":{"content":"a","parentToolCallId":"t"}}`, `{"type":"hook.end"}`} {
		if all := (copilot.Driver{}).Entries([]byte(line)); len(all) > 0 {
			t.Errorf("%s: %+v", line, all)
		}
	}
}
