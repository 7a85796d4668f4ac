package claude

import (
	"encoding/json"
	"slices"
	"testing"

	"berth/agent"
)

func TestLaunch(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	for name, c := range map[string]struct {
		argv, want []string
		hook       string
	}{
		"plain":            {[]string{"claude"}, []string{"claude", "--settings", "/s/claude-settings.json", "--session-id", id}, "/s/berth"},
		"its own options":  {[]string{"claude", "--model", "x"}, []string{"claude", "--settings", "/s/claude-settings.json", "--session-id", id, "--model", "x"}, "/s/berth"},
		"takes one up":     {[]string{"claude", "--resume", "y"}, []string{"claude", "--settings", "/s/claude-settings.json", "--resume", "y"}, "/s/berth"},
		"own settings":     {[]string{"claude", "--settings=z"}, []string{"claude", "--session-id", id, "--settings=z"}, "/s/berth"},
		"hooks not wanted": {[]string{"claude"}, []string{"claude", "--session-id", id}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Driver{}.Launch(agent.Start{Argv: c.argv, Env: map[string]string{"HOME": "/h"}, Folder: "/s", Hook: c.hook, Conversation: id})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(l.Argv, c.want) {
				t.Errorf("argv %q, want %q", l.Argv, c.want)
			}
			if l.StateFile != "/h/.claude/sessions/%d.json" {
				t.Errorf("state file %q", l.StateFile)
			}
		})
	}
}

func TestSettingsRunEveryEvent(t *testing.T) {
	raw, err := settings("/it's/berth")
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Hooks map[string][]hookGroup }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	ask := got.Hooks["PermissionRequest"]
	if len(ask) != 1 || ask[0].Hooks[0].Command != `'/it'\''s/berth' hook --ask 24h 24h PermissionRequest` || ask[0].Hooks[0].Timeout != 24*60*60 {
		t.Errorf("PermissionRequest runs %+v", ask)
	}
	for _, e := range []string{"PreToolUse", "Stop", "SessionStart"} {
		if len(got.Hooks[e]) != 1 || got.Hooks[e][0].Hooks[0].Command != `'/it'\''s/berth' hook --tell `+e {
			t.Errorf("%s runs %+v", e, got.Hooks[e])
		}
	}
	for _, e := range []string{"WorktreeCreate", "FileChanged", "MessageDisplay"} {
		if got.Hooks[e] != nil {
			t.Errorf("%s must not be asked for", e)
		}
	}
}
