package acp

import (
	"strings"
	"testing"

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
