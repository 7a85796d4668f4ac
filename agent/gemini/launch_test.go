package gemini

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
)

const (
	id    = "11111111-2222-4333-8444-555555555555"
	other = "99999999-2222-4333-8444-555555555555"
)

func chatFile(id string, minutes int, said ...string) *fstest.MapFile {
	text := `{"sessionId":"` + id + `","kind":"main"}` + "\n" +
		`{"$set":{"messages":[]}}` + "\n" + `{"id":"0","type":"user","content":[{"text":"<session_context>\nToday"}]}` + "\n"
	for _, s := range said {
		text += `{"id":"1","type":"user","content":[{"text":"` + s + `"}]}` + "\n"
	}
	return &fstest.MapFile{Data: []byte(text), Mode: 0o600, ModTime: time.Unix(int64(minutes)*60, 0)}
}

// disk is a user's home with settings, a login and two conversations.
func disk() fstest.MapFS {
	return fstest.MapFS{
		"h/.gemini/settings.json":                                          {Data: []byte(`{"ui":{"theme":"x"},"hooks":{"AfterAgent":[{"hooks":[{"type":"command","command":"bell"}]}],"hooksOfOthers":true}}`)},
		"h/.gemini/gemini-credentials.json":                                {Data: []byte("{}")},
		"h/.gemini/tmp/work/.project_root":                                 {Data: []byte("/w\n")},
		"h/.gemini/tmp/work/chats/session-2026-11-20T15-45-99999999.jsonl": chatFile(other, 10, "hello"),
		"h/.gemini/tmp/work/chats/session-2026-11-20T15-46-11111111.jsonl": chatFile(id, 20),
		"h/.gemini/tmp/else/.project_root":                                 {Data: []byte("/else")},
		"h/.gemini/tmp/else/chats/session-2026-11-20T15-47-88888888.jsonl": chatFile("88888888-2222-4333-8444-555555555555", 30, "hello"),
	}
}

func start() agent.Start {
	return agent.Start{Argv: []string{"gemini"}, Env: map[string]string{"HOME": "/h"}, Cwd: "/w", Folder: "/s", Hook: "/s/berth", Disk: disk(), Isolate: agent.IsolateHooks, Groom: agent.GroomAuto}
}

// TestHeadless: with -p Gemini prints one answer and ends, and is never at rest.
func TestHeadless(t *testing.T) {
	for line, want := range map[string]bool{
		"gemini": false, "gemini -p hello": true, "gemini -phello": true, "gemini -m flash --prompt=hello": true, "gemini --prompt hello": true,
		"gemini -i hello": false, "gemini --prompt-interactive hello": false, "gemini hello": false, "gemini -- -p": false,
	} {
		s := start()
		s.Argv = strings.Fields(line)
		if l, err := (Driver{}).Launch(s); err != nil || l.Headless != want {
			t.Errorf("%s: headless %v, %v", line, l.Headless, err)
		}
	}
}

func TestLaunch(t *testing.T) {
	s := start()
	s.Conversation = "77777777-2222-4333-8444-555555555555"
	l, err := Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.Argv, " "); got != "gemini --session-id "+s.Conversation || l.Conversation != s.Conversation {
		t.Errorf("argv %q, conversation %s", got, l.Conversation)
	}
	if l.Set["GEMINI_CLI_HOME"] != "/s/gemini" || l.Default["GEMINI_CLI_NO_RELAUNCH"] != "true" || l.Default["GEMINI_CLI_TRUST_WORKSPACE"] != "" || !slices.Equal(l.Again, []int{199}) {
		t.Errorf("set %v, default %v, again %v", l.Set, l.Default, l.Again)
	}
	if !slices.Equal(l.Folders, []string{"/s/gemini", "/s/gemini/.gemini"}) || !maps.Equal(l.Links, map[string]string{
		"/s/gemini/.gemini/gemini-credentials.json": "/h/.gemini/gemini-credentials.json", "/s/gemini/.gemini/tmp": "/h/.gemini/tmp"}) {
		t.Errorf("folders %v, links %v", l.Folders, l.Links)
	}
	if len(l.Files) != 1 || l.StateFile != "" {
		t.Errorf("files %v, state file %q", slices.Collect(maps.Keys(l.Files)), l.StateFile)
	}
	var got struct {
		UI    map[string]string
		Hooks map[string]json.RawMessage
	}
	if err := json.Unmarshal(l.Files["/s/gemini/.gemini/settings.json"], &got); err != nil {
		t.Fatal(err)
	}
	if got.UI["theme"] != "x" || string(got.Hooks["hooksOfOthers"]) != "true" {
		t.Errorf("the user's own are gone: %s", l.Files["/s/gemini/.gemini/settings.json"])
	}
	for _, e := range events {
		var groups []struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
			Sequential bool
		}
		if err := json.Unmarshal(got.Hooks[e], &groups); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if inTurn := groups[len(groups)-1].Sequential; inTurn != (e == "BeforeTool") {
			t.Errorf("%s runs in turn: %v", e, inTurn)
		}
		last := groups[len(groups)-1].Hooks[0]
		if last.Command != "'/s/berth' hook --tell "+e || last.Timeout != 10_000 || last.Type != "command" || (e == "AfterAgent") != (len(groups) == 2) {
			t.Errorf("%s runs %+v", e, groups)
		}
	}
	for _, e := range []string{"AfterModel", "BeforeModel", "BeforeToolSelection"} {
		if got.Hooks[e] != nil {
			t.Errorf("%s must not be asked for", e)
		}
	}
}

func TestLaunchConversations(t *testing.T) {
	for name, c := range map[string]struct {
		with func(*agent.Start)
		want string // argv after the program, and the conversation
		err  error
	}{
		"none": {func(s *agent.Start) {}, "/", nil},
		"its own options": {func(s *agent.Start) {
			s.Argv, s.Conversation = []string{"gemini", "-m", "x"}, "77777777-2222-4333-8444-555555555555"
		}, "--session-id 77777777-2222-4333-8444-555555555555 -m x/77777777-2222-4333-8444-555555555555", nil},
		"resumed":                  {func(s *agent.Start) { s.Conversation, s.Resume = other, true }, "--resume " + other + "/" + other, nil},
		"resumed, and gone":        {func(s *agent.Start) { s.Conversation, s.Resume = "77777777-2222-4333-8444-555555555555", true }, "--session-id 77777777-2222-4333-8444-555555555555/77777777-2222-4333-8444-555555555555", nil},
		"there already":            {func(s *agent.Start) { s.Conversation = other }, "", agent.ErrStart},
		"there, and nothing said":  {func(s *agent.Start) { s.Conversation = id }, "--resume " + id + "/" + id, nil},
		"taken up":                 {func(s *agent.Start) { s.ResumeID = other }, "--resume " + other + "/" + other, nil},
		"taken up over the option": {func(s *agent.Start) { s.Argv, s.ResumeID = []string{"gemini", "--resume", "latest", "-y"}, other }, "--resume " + other + " -y/" + other, nil},
		"the latest of the folder": {func(s *agent.Start) { s.ResumeID = agent.Latest }, "--resume " + other + "/" + other, nil},
		"the latest of another":    {func(s *agent.Start) { s.ResumeID, s.Cwd = agent.Latest, "/nowhere" }, "", agent.ErrNoConversation},
		"taken up, and gone":       {func(s *agent.Start) { s.ResumeID = "77777777-2222-4333-8444-555555555555" }, "", agent.ErrNoConversation},
		"no id":                    {func(s *agent.Start) { s.ResumeID = "--yolo" }, "", agent.ErrStart},
		"a copy":                   {func(s *agent.Start) { s.Fork = other }, "", agent.ErrStart},
		"the command's own":        {func(s *agent.Start) { s.Argv, s.Conversation = []string{"gemini", "--session-id=" + other}, id }, "--session-id=" + other + "/" + other, nil},
		"the command's own way":    {func(s *agent.Start) { s.Argv, s.Conversation = []string{"gemini", "-r", "latest"}, id }, "-r latest/", nil},
		"no talk":                  {func(s *agent.Start) { s.Argv, s.Conversation = []string{"gemini", "mcp", "list"}, id }, "mcp list/", nil},
		"untouched":                {func(s *agent.Start) { s.Isolate, s.Conversation = agent.IsolateNone, id }, "/", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := start()
			c.with(&s)
			l, err := Driver{}.Launch(s)
			if !errors.Is(err, c.err) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if got := strings.Join(l.Argv[1:], " ") + "/" + l.Conversation; err == nil && got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if s.Isolate == agent.IsolateNone && (len(l.Files)+len(l.Set)+len(l.Default)+len(l.Unset) > 0) {
				t.Errorf("it is touched: %+v", l)
			}
		})
	}
}

func TestLaunchSettings(t *testing.T) {
	settings := func(s agent.Start) map[string]any {
		t.Helper()
		l, err := Driver{}.Launch(s)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(l.Files["/s/gemini/.gemini/settings.json"], &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	s := start()
	s.Settings = map[string]any{"ui": map[string]any{"hideTips": true, "hideBanner": true, "useAlternateBuffer": true}}
	s.MCP = map[string]any{"docs": map[string]any{"command": "serve-docs"}}
	all := settings(s)
	ui, _ := all["ui"].(map[string]any)
	if ui["theme"] != "x" || ui["hideTips"] != true || ui["hideBanner"] != false || ui["useAlternateBuffer"] != false || all["mcpServers"].(map[string]any)["docs"] == nil {
		t.Errorf("%v", all)
	}
	s = start()
	s.Isolate, s.Own, s.Trust = agent.IsolateFull, map[string]string{"GEMINI_API_KEY": "k"}, true
	all = settings(s)
	if all["ui"] != nil || all["hooks"] == nil || all["security"] == nil {
		t.Errorf("a home of its own: %v", all)
	}
	l, _ := Driver{}.Launch(s)
	if l.Default["GEMINI_CLI_TRUST_WORKSPACE"] != "true" || len(l.Links) != len(shared) || l.Links["/s/gemini/.gemini/tmp"] != "" {
		t.Errorf("a home of its own: %v, %v", l.Default, l.Links)
	}
	for name, text := range map[string]string{
		"comments":    `{ // mine`,
		"no object":   `[]`,
		"no hooks":    `{"hooks":[]}`,
		"a wrong one": `{"hooks":{"AfterAgent":{}}}`,
	} {
		s = start()
		s.Disk = fstest.MapFS{"h/.gemini/settings.json": {Data: []byte(text)}}
		if _, err := (Driver{}).Launch(s); !errors.Is(err, agent.ErrStart) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s = start()
	s.Disk, s.Env = fstest.MapFS{}, map[string]string{"HOME": "/h", "GEMINI_CLI_HOME": "/g"}
	if l, err := (Driver{}).Launch(s); err != nil || len(l.Links) != 0 || l.Set["GEMINI_CLI_HOME"] != "/s/gemini" {
		t.Errorf("a user that has nothing yet: %+v, %v", l, err)
	}
}
