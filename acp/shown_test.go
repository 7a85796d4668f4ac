package acp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"berth/agent"
)

// An editor draws Markdown: no part of what a prompt asks may be drawn as nothing, and the digest covers what
// it doesn't name, such as the subagent and what an option does.
func TestShown(t *testing.T) {
	p := agent.Request{
		ID: "p1", Type: agent.PromptPermission, Agent: agent.Pointer("Explore"), Tool: agent.Pointer("Bash"),
		Text: agent.Pointer("[a]: <second>"), Options: []string{"Yes", "No\u202e"}, Channel: agent.ChannelKeys,
		Questions: []agent.Question{{Text: "which", Options: []string{"Yes", "No"}, Descriptions: []string{"with all files", ""}}},
	}
	p.SetInput("ls <!--\n```\nrm -rf x\u202e\n-->" + strings.Repeat(" x", 300) + " end")
	text := shown("alpha", &p).Content[0].Content.Content.Text.Text
	lines := strings.Split(text, "\n")
	if first, last := lines[0], lines[len(lines)-1]; first != "````text" || last != "````" {
		t.Errorf("the text begins with %q and ends with %q", first, last)
	}
	for _, want := range []string{"Explore", "Bash", "  | rm -rf x⟨U+202E⟩", "x end", "[a]: <second>", "with all files"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
	if name := choices(&p)[1].Name; name != "No⟨U+202E⟩" {
		t.Errorf("an option is named %q", name)
	}
}

// What the prompt shows only a part of isn't offered to be allowed, nor is any answer that Berth can't give.
func TestChoicesOfWhatIsNotShown(t *testing.T) {
	p := agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", "Always", "No"}, Channel: agent.ChannelKeys}
	p.SetInput("main.go")
	if list := choices(&p); len(list) != 3 {
		t.Fatalf("of a whole prompt: %v", list)
	}
	p.SetInPart()
	if list := choices(&p); len(list) != 1 || list[0].OptionId != "deny" {
		t.Errorf("of edits whose dialog shows only the file: %v", list)
	}
	p.Channel = agent.ChannelNone
	if list := choices(&p); len(list) != 0 {
		t.Errorf("of a contested prompt: %v", list)
	}
}

// byItself is what a client takes that allows, or rejects, everything by itself: an option of a fitting kind.
// Without one, a client that allows takes the first option (acpx 0.19.1).
func byItself(list []sdk.PermissionOption, kinds ...sdk.PermissionOptionKind) string {
	for _, kind := range kinds {
		for _, o := range list {
			if o.Kind == kind {
				return string(o.OptionId)
			}
		}
	}
	if len(list) == 0 || kinds[0] != sdk.PermissionOptionKindAllowOnce {
		return ""
	}
	return string(list[0].OptionId)
}

// A client that allows by itself allows a permission once, one that rejects rejects it, in whatever order its
// options are. Neither answers what isn't a permission, or what has unknown options.
func TestChoicesOfAClientByItself(t *testing.T) {
	question := []agent.Question{{Text: "Which one?", Options: []string{"Postgres", "SQLite"}}}
	for name, want := range map[string]struct {
		asks            agent.Request
		allows, rejects string
	}{
		"claude":          {agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", "Yes, and don’t ask again for: ls", "No"}}, "option 1", "option 3"},
		"no first":        {agent.Request{Type: agent.PromptPermission, Options: []string{"No", "Yes"}}, "option 2", "option 1"},
		"lasting first":   {agent.Request{Type: agent.PromptPermission, Options: []string{"Allow always", "Allow once", "Reject"}}, "option 2", "option 3"},
		"gemini":          {agent.Request{Type: agent.PromptPermission, Options: []string{"Allow once", "Allow for this session", "Modify with external editor", "No, suggest changes (esc)"}}, "option 1", "option 4"},
		"a folder":        {agent.Request{Type: agent.PromptPermission, Subtype: agent.Pointer(agent.SubtypeTrust), Options: []string{"Trust folder (x)", "Trust parent folder (y)", "Don't trust"}}, "option 1", "option 3"},
		"options not yet": {agent.Request{Type: agent.PromptPermission, OptionsFallback: true}, "accept", "deny"},
		"unknown words":   {agent.Request{Type: agent.PromptPermission, Options: []string{"Go", "Stop"}}, leave, leave},
		"a question":      {agent.Request{Type: agent.PromptQuestion, Options: []string{"Postgres", "SQLite", "Type something."}, Questions: question}, leave, leave},
		"yes as words":    {agent.Request{Type: agent.PromptQuestion, Options: []string{"Yes", "No"}}, leave, leave},
		"a plan":          {agent.Request{Type: agent.PromptPlan, Options: []string{"Yes, and use auto mode", "Yes, manually approve edits", "No"}}, leave, leave},
		"a warning":       {agent.Request{Type: agent.PromptSetup, Subtype: agent.Pointer(agent.SubtypeBypass), Options: []string{"No, exit", "Yes, I accept"}}, leave, leave},
		"a login":         {agent.Request{Type: agent.PromptSetup, Subtype: agent.Pointer(agent.SubtypeOAuthLogin), Options: []string{"Open it"}}, "", ""},
		"a page":          {agent.Request{Type: agent.PromptNotice}, "", ""},
	} {
		want.asks.Channel = agent.ChannelKeys
		list := choices(&want.asks)
		allows := byItself(list, sdk.PermissionOptionKindAllowOnce, sdk.PermissionOptionKindAllowAlways)
		rejects := byItself(list, sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways)
		if allows != want.allows || rejects != want.rejects {
			t.Errorf("%s: by itself it allows %q and rejects %q, of %v", name, allows, rejects, list)
		}
	}
	for _, options := range [][]string{{"Yes, I trust this folder", "No, exit"}, {"Trust folder (x)", "Trust parent folder (y)", "Don't trust"}, {"Trust and continue", "Back to Agent Command Center", "No"}} {
		list := choices(&agent.Request{Type: agent.PromptPermission, Subtype: agent.Pointer(agent.SubtypeTrust), Options: options, Channel: agent.ChannelKeys})
		if slices.ContainsFunc(list, func(o sdk.PermissionOption) bool { return o.Kind == sdk.PermissionOptionKindAllowOnce }) {
			t.Errorf("%q: %v allows for once", options, list)
		}
	}
	asks := agent.Request{Type: agent.PromptQuestion, Text: agent.Pointer("Read the file?"), Options: []string{"a", "b"}}
	if kind := shown("alpha", &asks).Kind; kind == nil || *kind != sdk.ToolKindOther {
		t.Errorf("a question has the kind %v", kind)
	}
}
