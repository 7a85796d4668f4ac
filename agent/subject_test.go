package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/drivers"
)

// TestSubjectsAreWhole: each field of an input is in the subject, whatever the driver knows of its
// tool: what a person isn't shown can't be judged.
func TestSubjectsAreWhole(t *testing.T) {
	inputs := map[string]string{
		"Bash":              `{"command":"W1","description":"W2","timeout":33,"run_in_background":true}`,
		"Write":             `{"file_path":"W1","content":"W2","mode":"W3"}`,
		"Edit":              `{"file_path":"W1","old_string":"W2","new_string":"W3","replace_all":true,"x":"W4"}`,
		"write_file":        `{"file_path":"W1","content":"W2","ai_proposed_content":"W3"}`,
		"replace":           `{"file_path":"W1","old_string":"W2","new_string":"W3","instruction":"W4","allow_multiple":true}`,
		"run_shell_command": `{"command":"W1","dir_path":"W2","description":"W3"}`,
		"apply_patch":       `{"command":"*** Begin Patch\n*** Update File: W1\n*** Move to: W2\n@@ W3\n W4\n-W5\n+W6\n*** Add File: W7\n+W8\n*** Delete File: W9\n*** End Patch","x":"W10"}`,
		"mcp__a__b":         `{"one":"W1","two":{"three":"W2"}}`,
	}
	broken := []string{
		`{"command":["W1"]}`, `{"command":{"a":"W1"},"description":"W2"}`, `{"file_path":"W1","content":7,"x":"W2"}`, `{"file_path":"W1"}`,
		`{"file_path":"W1","old_string":null,"new_string":"W2"}`, `{"file_path":"W1","old_string":"W2","new_string":"W3","replace_all":"W4"}`,
		`{"command":"*** Begin Patch\nW1\n*** End Patch"}`, `{"command":"*** Begin Patch\n*** Delete File: W1\n+W2\n*** End Patch"}`, `{"command":"W1\n*** Begin Patch\n*** End Patch"}`,
	}
	for name, d := range drivers.ByName() {
		reader, ok := d.(agent.SubjectReader)
		if !ok {
			continue
		}
		for tool, input := range inputs {
			for _, raw := range append([]string{input}, broken...) {
				s, ok := reader.Subject(&agent.Request{Type: agent.PromptPermission, Tool: &tool, Raw: json.RawMessage(raw)})
				if !ok {
					t.Errorf("%s: %s with %s is not read", name, tool, raw)
				}
				told, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range strings.FieldsFunc(raw, func(r rune) bool { return !strings.ContainsRune("W0123456789", r) }) {
					if strings.HasPrefix(word, "W") && !strings.Contains(string(told), word) {
						t.Errorf("%s: %s with %s: %s is not in %s", name, tool, raw, word, told)
					}
				}
			}
		}
		for _, raw := range []string{``, `[]`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"comm`} {
			if s, ok := reader.Subject(&agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Raw: json.RawMessage(raw)}); ok {
				t.Errorf("%s: %s is read as %+v", name, raw, s)
			}
		}
	}
}
