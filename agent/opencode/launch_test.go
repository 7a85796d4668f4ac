package opencode_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"berth/agent"
	"berth/agent/opencode"
)

// TestTakeUp: a conversation that Berth takes up replaces the one that the command chose for its first start.
func TestTakeUp(t *testing.T) {
	disk := fstest.MapFS{"run/lab/opencode/talks/opencode/ses_1.jsonl": {}, "run/old/opencode/talks/opencode/ses_2.jsonl": {}}
	for name, c := range map[string]struct {
		start agent.Start
		given string
		want  string
	}{
		"the first start": {agent.Start{}, "--session ses_9 --model m", "--session ses_9 --model m"},
		"again, unspoken": {agent.Start{Resume: true, Conversation: "ses_8"}, "-c", "-c"},
		"an id":           {agent.Start{Resume: true, Conversation: "ses_1"}, "--model m --session ses_9", "--session ses_1 --model m"},
		"an id, with =":   {agent.Start{Resume: true, Conversation: "ses_1"}, "--session=ses_9 --fork", "--session ses_1"},
		"short":           {agent.Start{Resume: true, Conversation: "ses_1"}, "-s ses_9 --agent plan", "--session ses_1 --agent plan"},
		"the latest":      {agent.Start{Resume: true, Conversation: "ses_1"}, "-c --continue /ws", "--session ses_1 /ws"},
		"a fork":          {agent.Start{Fork: "ses_2", ForkFolder: "/run/old"}, "-c", "--session ses_2 --fork"},
	} {
		s := c.start
		s.Argv, s.Folder, s.Disk, s.Isolate = append([]string{"opencode"}, strings.Fields(c.given)...), "/run/lab", disk, agent.IsolateNone
		l, err := opencode.Driver{}.Launch(s)
		if got := strings.Join(l.Argv, " "); err != nil || got != "opencode "+c.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestSecrets: the values that MCP servers get, and keys of providers, are in files, not in the environment of the
// agent's commands.
func TestSecrets(t *testing.T) {
	s := agent.Start{
		Argv: []string{"opencode"}, Folder: "/run/lab", Isolate: agent.IsolateHooks,
		Settings: map[string]any{"model": "m", "provider": map[string]any{"p": map[string]any{"options": map[string]any{"apiKey": "hidden-1", "baseURL": "http://x"}}}},
		MCP: map[string]any{
			"a": map[string]any{"command": "srv", "env": map[string]any{"TOKEN": "hidden-2", "OWN": "{env:OWN}"}},
			"b": map[string]any{"type": "remote", "url": "http://y", "headers": map[string]any{"Authorization": "hidden-3"}},
		},
	}
	l, err := opencode.Driver{}.Launch(s)
	if err != nil {
		t.Fatal(err)
	}
	config := l.Set["OPENCODE_CONFIG_CONTENT"]
	if strings.Contains(config, "hidden") || strings.Count(config, `"{file:/run/lab/opencode/secret-`) != 3 || !strings.Contains(config, "{env:OWN}") || !strings.Contains(config, "http://x") {
		t.Errorf("%s", config)
	}
	for name, data := range l.Files {
		if !strings.Contains(config, "{file:"+name+"}") || !strings.HasPrefix(string(data), "hidden-") {
			t.Errorf("%s: %s", name, data)
		}
	}
	if len(l.Files) != 3 || s.MCP["b"].(map[string]any)["headers"].(map[string]any)["Authorization"] != "hidden-3" {
		t.Errorf("%d files, and the settings are %v", len(l.Files), s.MCP)
	}
}

// TestUserHooks: init's file is one of the user's plugins, and no other plugin of that name is replaced.
func TestUserHooks(t *testing.T) {
	const path = "u/.config/opencode/plugins/berth.js"
	disk := fstest.MapFS{}
	hooks := func(env map[string]string) (agent.UserFile, error) {
		files, err := opencode.Driver{}.UserHooks(agent.UserSettings{Env: env, Disk: disk, Hook: "/bin/berth-hold"})
		if err != nil || len(files) != 1 {
			return agent.UserFile{}, err
		}
		return files[0], nil
	}
	first, err := hooks(map[string]string{"HOME": "/u"})
	if err != nil || first.Path != "/"+path || first.Before != nil || !strings.HasPrefix(string(first.After), `const berth = {"hook":"/bin/berth-hold","user":"yes"}`+"\n") {
		t.Errorf("%s: %.100s, %v", first.Path, first.After, err)
	}
	disk[path] = &fstest.MapFile{Data: first.After}
	if again, err := hooks(map[string]string{"HOME": "/u"}); err != nil || string(again.Before) != string(again.After) {
		t.Errorf("a second time: %v", err)
	}
	disk[path] = &fstest.MapFile{Data: []byte("export const Mine = 1\n")}
	if f, err := hooks(map[string]string{"HOME": "/u"}); err == nil {
		t.Errorf("another plugin becomes %.100s", f.After)
	}
	if f, err := hooks(map[string]string{"HOME": "/u", "XDG_CONFIG_HOME": "/c"}); err != nil || f.Path != "/c/opencode/plugins/berth.js" {
		t.Errorf("%s, %v", f.Path, err)
	}
	for line, want := range map[string]bool{"opencode": true, "opencode --continue": true, "opencode /ws": true, "opencode run hello": false, "opencode serve": false} {
		if _, ok := (opencode.Driver{}).Running(strings.Fields(line), nil); ok != want {
			t.Errorf("%s is followed: %v", line, ok)
		}
	}
}
