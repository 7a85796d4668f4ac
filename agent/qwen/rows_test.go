package qwen_test

import (
	"testing"

	"berth/agent"
	"berth/agent/qwen"
)

// runs is the dialog of a command, by the rows of its tool.
func runs(head string) *agent.Dialog {
	return draw(80, 24, head+"     touch here.txt\n\n   Allow execution of: 'touch'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting).Dialog
}

// TestRowsOfATool: several tools ask whether to run a command. The row of the tool says which it is, and where the command runs.
func TestRowsOfATool(t *testing.T) {
	for head, want := range map[string]struct {
		tool, text string
		part, cut  bool
	}{
		"  ? Shell touch here.txt ←\n\n":                                                   {tool: "run_shell_command"},
		"  ? Shell touch here.txt (Make a file) ←\n\n":                                     {tool: "run_shell_command"},
		"  ? Shell touch here.txt (Make a file with a name that is too   ←\n    long)\n\n": {tool: "run_shell_command"},
		"  ? Shell touch here.txt [in /w/sub] (Make a file) ←\n\n":                         {tool: "run_shell_command", text: "Shell touch here.txt [in /w/sub] (Make a file)"},
		"  ? Shell touch here.txt [background] ←\n\n":                                      {tool: "run_shell_command", text: "Shell touch here.txt [background]"},
		"  ? Monitor Monitor: list files ←\n\n":                                            {text: "Monitor Monitor: list files", part: true},
		"  ? ExitWorktree Remove worktree \"wt\" ←\n\n":                                    {text: "ExitWorktree Remove worktree \"wt\"", part: true},
		"": {tool: "run_shell_command", cut: true},
	} {
		d := runs(head)
		if d == nil {
			t.Fatalf("%q: no dialog", head)
		}
		p := qwen.Driver{}.FromDialog(d)
		if d.Cut != want.cut || d.Body != "touch here.txt" || agent.Value(p.Tool) != want.tool || agent.Value(p.Text) != want.text || p.InPart() != want.part || d.Alike != want.part {
			t.Errorf("%q: cut off: %v, it asks %+v: %q", head, d.Cut, p, agent.Value(p.Text))
		}
	}
	monitor := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"monitor","tool_input":{"command":"touch here.txt","directory":"/w/sub"}`).Request
	shell := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":{"command":"touch here.txt"}`).Request
	d := runs("  ? Monitor Monitor: list files ←\n\n")
	if (qwen.Driver{}).Match(d, monitor) != agent.PartMatch || (qwen.Driver{}).Match(d, shell) != agent.NoMatch {
		t.Error("the dialog of another tool is taken for that of a command")
	}
}
