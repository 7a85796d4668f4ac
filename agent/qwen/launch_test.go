package qwen_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
	"berth/agent/qwen"
)

const (
	spoken = "78163161-35ca-4753-a34a-ac40001b4289"
	other  = "00000000-35ca-4753-a34a-ac40001b4289"
	empty  = "11111111-35ca-4753-a34a-ac40001b4289"
)

// disk is a machine where a person has used Qwen Code.
func disk() fstest.MapFS {
	said := []byte(`{"type":"user","sessionId":"x"}` + "\n")
	return fstest.MapFS{
		"home/me/.qwen/settings.json":                              {Data: []byte(`{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}`)},
		"home/me/.qwen/projects/-w-a-b/chats/" + spoken + ".jsonl": {Data: said, ModTime: time.Unix(10, 0)},
		"home/me/.qwen/projects/-w-a-b/chats/" + other + ".jsonl":  {Data: said, ModTime: time.Unix(20, 0)},
		"home/me/.qwen/projects/-x/chats/" + empty + ".jsonl":      {Data: []byte(`{"type":"system"}`), ModTime: time.Unix(30, 0)},
		"etc/qwen-code/settings.json":                              {Data: []byte(`{"tools":{"sandbox":true},"hooks":{"Stop":[{"hooks":[{"command":"theirs"}]}]}}`)},
	}
}

func start(change func(s *agent.Start)) agent.Start {
	s := agent.Start{
		Argv: []string{"qwen", "--model", "m"}, Env: map[string]string{"HOME": "/home/me"}, Cwd: "/w/a.b", Folder: "/state/S", Hook: "/state/bin/berth's hook",
		Disk: disk(), Isolate: agent.IsolateHooks, Groom: agent.GroomAuto,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func TestLaunch(t *testing.T) {
	l, err := qwen.Driver{}.Launch(start(func(s *agent.Start) {
		s.Settings = map[string]any{"hooks": map[string]any{"Stop": []any{"callers"}}, "model": map[string]any{"name": "x"}}
		s.MCP = map[string]any{"lab": map[string]any{"command": "lab"}}
		s.EndAsks = "/state/S/asks"
	}))
	if err != nil {
		t.Fatal(err)
	}
	const file = "/state/S/qwen/settings.json"
	if l.Set["QWEN_CODE_SYSTEM_SETTINGS_PATH"] != file || l.Set["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] != "/etc/qwen-code/system-defaults.json" || l.Set["QWEN_HOME"] != "" || len(l.Files) != 1 {
		t.Errorf("it is started with %v, %d files", l.Set, len(l.Files))
	}
	if l.LogFiles != "/home/me/.qwen/projects/*/chats/%s.jsonl" {
		t.Errorf("its logs are %s", l.LogFiles)
	}
	var all struct {
		Hooks              map[string][]any
		Tools, UI, General map[string]any
		MCPServers         map[string]any
	}
	if err := json.Unmarshal(l.Files[file], &all); err != nil {
		t.Fatal(err)
	}
	stop, _ := json.Marshal(all.Hooks["Stop"])
	theirs, callers, ours := strings.Index(string(stop), "theirs"), strings.Index(string(stop), "callers"), strings.Index(string(stop), "hook --ask 15s 5s --if '/state/S/asks' Stop")
	if theirs < 0 || callers < theirs || ours < callers {
		t.Errorf("Stop runs %s", stop)
	}
	asks, _ := json.Marshal(all.Hooks["PermissionRequest"])
	for _, want := range []string{`'/state/bin/berth'\\''s hook' hook --ask 9m50s 1s PermissionRequest`, `"timeout":600`, `^(ask_user_question|exit_plan_mode)$`} {
		if !strings.Contains(string(asks), want) {
			t.Errorf("PermissionRequest runs %s, not %s", asks, want)
		}
	}
	if all.Tools["sandbox"] != true || all.MCPServers["lab"] == nil || all.UI["enableFollowupSuggestions"] != false || all.General["language"] != "en" {
		t.Errorf("the settings are %+v", all)
	}
}

// TestNoAttribution: Qwen Code changes no command after its hook, whatever form the settings of others have.
func TestNoAttribution(t *testing.T) {
	for _, others := range []any{nil, true, map[string]any{"commit": true}} {
		l, err := qwen.Driver{}.Launch(start(func(s *agent.Start) {
			s.Settings = map[string]any{"general": map[string]any{"gitCoAuthor": others, "vimMode": true}}
		}))
		var all struct{ General map[string]any }
		if err != nil || json.Unmarshal(l.Files["/state/S/qwen/settings.json"], &all) != nil {
			t.Fatal(err)
		}
		if adds, _ := all.General["gitCoAuthor"].(map[string]any); adds["commit"] != false || adds["pr"] != false || all.General["vimMode"] != true {
			t.Errorf("with %v the settings are %v", others, all.General)
		}
	}
}

func TestIsolation(t *testing.T) {
	l, err := qwen.Driver{}.Launch(start(func(s *agent.Start) { s.Isolate = agent.IsolateNone }))
	if err != nil || len(l.Set)+len(l.Files)+len(l.Unset) != 0 || strings.Join(l.Argv, " ") != "qwen --model m" {
		t.Errorf("none: %+v %v", l, err)
	}
	l, err = qwen.Driver{}.Launch(start(func(s *agent.Start) {
		s.Isolate, s.Own = agent.IsolateFull, map[string]string{"OPENAI_API_KEY": "k"}
	}))
	if err != nil || l.Set["QWEN_HOME"] != "/state/S/qwen" || l.Links["/state/S/qwen/oauth_creds.json"] != "/home/me/.qwen/oauth_creds.json" {
		t.Errorf("full: %+v %v", l, err)
	}
	if data := string(l.Files["/state/S/qwen/system/settings.json"]); !strings.Contains(data, `"selectedType": "openai"`) {
		t.Errorf("full: %s", data)
	}
	_, err = qwen.Driver{}.Launch(start(func(s *agent.Start) { s.Settings = map[string]any{"hooks": []any{}} }))
	if !errors.Is(err, agent.ErrStart) {
		t.Errorf("hooks that are a list: %v", err)
	}
}

func TestConversation(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *agent.Start)
		want   string
		err    error
	}{
		"none":       {nil, "qwen --model m", nil},
		"a new one":  {func(s *agent.Start) { s.Conversation = "22222222-35ca-4753-a34a-ac40001b4289" }, "qwen --session-id 22222222-35ca-4753-a34a-ac40001b4289 --model m", nil},
		"again":      {func(s *agent.Start) { s.Conversation, s.Resume = spoken, true }, "qwen --resume " + spoken + " --model m", nil},
		"taken up":   {func(s *agent.Start) { s.ResumeID = spoken }, "qwen --resume " + spoken + " --model m", nil},
		"the latest": {func(s *agent.Start) { s.ResumeID = agent.Latest }, "qwen --resume " + other + " --model m", nil},
		"none such":  {func(s *agent.Start) { s.ResumeID = "33333333-35ca-4753-a34a-ac40001b4289" }, "", agent.ErrNoConversation},
		"no id":      {func(s *agent.Start) { s.ResumeID = "../x" }, "", agent.ErrStart},
		"its own":    {func(s *agent.Start) { s.Argv = []string{"qwen", "-c", "-d"}; s.Conversation = spoken; s.Resume = true }, "qwen --resume " + spoken + " -d", nil},
		"the user's": {func(s *agent.Start) {
			s.Argv = []string{"qwen", "-c"}
			s.Conversation = "22222222-35ca-4753-a34a-ac40001b4289"
		}, "qwen -c", nil},
		"a subcommand": {func(s *agent.Start) { s.Argv = []string{"qwen", "mcp", "list"}; s.Conversation = spoken }, "qwen mcp list", nil},
		"a fork":       {func(s *agent.Start) { s.Fork = spoken }, "", agent.ErrStart},
	} {
		l, err := qwen.Driver{}.Launch(start(c.change))
		if !errors.Is(err, c.err) || err == nil && strings.Join(l.Argv, " ") != c.want {
			t.Errorf("%s: %q %v, want %q", name, strings.Join(l.Argv, " "), err, c.want)
		}
	}
	const logs = "/home/me/.qwen/projects/*/chats/%s.jsonl"
	for id, want := range map[string]bool{spoken: true, empty: false, "x": false, "22222222-35ca-4753-a34a-ac40001b4289": false} {
		if got := (qwen.Driver{}).HasConversation(disk(), logs, id); got != want {
			t.Errorf("%s can be resumed: %v", id, got)
		}
	}
}
