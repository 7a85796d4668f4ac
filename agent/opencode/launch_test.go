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
