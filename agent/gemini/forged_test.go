package gemini_test

import (
	"testing"

	"berth/agent"
	"berth/agent/gemini"
)

// What is shown and what is compared with the dialog come from the same fields.
func TestForgedNames(t *testing.T) {
	r := draw(box("? Shell  rm -rf ~", "╭────────────────────────────╮", "│ rm -rf ~                   │", "╰────────────────────────────╯",
		"Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")...)
	for input, want := range map[string]agent.Match{
		`{"command":"rm -rf ~"}`:                       agent.WholeMatch,
		`{"command":"ls -la","Command":"rm -rf ~"}`:    agent.NoMatch,
		`{"command":"ls -la","command":"rm -rf ~"}`:    agent.NoMatch,
		`{"Command":"rm -rf ~"}`:                       agent.NoMatch,
		`{"command":["rm -rf ~"]}`:                     agent.NoMatch,
		`{"command":"rm -rf ~","description":"Clean"}`: agent.WholeMatch,
	} {
		p := gemini.Driver{}.Waiting(&agent.Fact{Tool: "run_shell_command", Input: []byte(input)})
		if got := (gemini.Driver{}).Match(r.Dialog, p); got != want {
			t.Errorf("%s, shown as %q: %v, want %v", input, *p.Input, got, want)
		}
	}
}
