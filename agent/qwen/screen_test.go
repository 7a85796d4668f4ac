package qwen_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
	"berth/terminal"
)

// draw is the reading of a screen with these rows.
func draw(cols, rows int, screen string) *agent.Reading {
	e := terminal.New(terminal.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(strings.ReplaceAll(screen, "\n", "\r\n")))
	var w detect.Viewer
	return qwen.Driver{}.Screen(w.View(e.Snapshot(0)))
}

// TestComposer: the draft, the placeholder and the approval mode below it.
func TestComposer(t *testing.T) {
	rule := strings.Repeat("─", 60)
	for _, c := range []struct {
		rows, text, hint, mode string
		empty                  bool
		kind                   agent.ComposerMode
	}{
		{">   Type your message or @path/to/file", "", "Type your message or @path/to/file", "default", true, agent.ModeMessage},
		{"> my draft", "my draft", "", "default", false, agent.ModeMessage},
		{"> two\n  lines", "two\nlines", "", "default", false, agent.ModeMessage},
		{"! ls", "ls", "", "default", false, agent.ModeShell},
	} {
		r := draw(60, 20, rule+"\n"+c.rows+"\n"+rule+"\n  ➜ ws · mock-model\n  ⏸ Ask permissions (shift + tab to cycle)\x1b[?25l")
		if b := r.Composer; b == nil || b.Text != c.text || b.Hint != c.hint || b.Empty != c.empty || b.Mode != c.kind || r.Mode != c.mode {
			t.Errorf("%q: %+v %q", c.rows, b, r.Mode)
		}
	}
	for words, want := range map[string]string{"Auto mode": "auto", "plan mode": "plan", "auto-accept edits": "auto-edit", "YOLO mode": "yolo", "Enter to steer · Ctrl+Q to queue · ⏸ Ask permissions": "default", "Another mode": ""} {
		if r := draw(80, 20, strings.Repeat("─", 80)+"\n> x\n"+strings.Repeat("─", 80)+"\n  "+words+" (shift + tab to cycle)"); r.Mode != want {
			t.Errorf("%s is %q", words, r.Mode)
		}
	}
}

// ofSubagent is the dialog of a subagent.
const ofSubagent = "  ⊷ Agent Sub task    14s\n     Approval requested by y:\n       ls\n     Do you want to proceed?\n     › 1. Yes, allow once\n       2. Allow always\n       3. No\n"

// TestAgentsBelow: below a dialog there may be a list of agents that run in the background. The lowest dialog counts, and that of a
// subagent takes no key.
func TestAgentsBelow(t *testing.T) {
	const (
		ls     = "  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
		agents = "\n\n    main\n    ○\ufe0e Sub task ▶ 15s\n    ○\ufe0e Another ▶ 1s"
		names  = "  ? Shell x ←\n\n     Approval requested by y:\n     ls\n     › 1. Yes, allow once\n       2. No\n\n   Allow execution of: 'x'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"
	)
	for screen, want := range map[string]string{
		ls + waiting: "Shell", ls + waiting + agents: "Shell", names + waiting: "Shell",
		ls + waiting + "\n    main\n    ○ Sub task": "", ls + waiting + agents + "\n  text": "", ls + waiting + "\n\n    main": "",
		ls + waiting + "\n\n    other\n    ○ Sub task": "", ls + agents: "",
		ofSubagent + waiting: "y", ofSubagent + waiting + agents: "y", ls + ofSubagent + waiting: "y", ofSubagent + ls + waiting: "Shell",
		strings.Replace(ofSubagent, "› 1", "  1", 1) + waiting: "", strings.Replace(ofSubagent, "› 1. Yes, allow once\n       2", "  4. Yes\n     › 2", 1) + waiting: "",
		"     Approval requested by y:\n     › 1. Yes\n       2. No\n" + waiting: "", "     Approval requested by y:\n     Go on?\n     › 1. Yes\n" + waiting: "",
		"\n    main\n    ○ Sub task": "", strings.Replace(ofSubagent, "1.", "4.", 1) + waiting: "",
		strings.Replace(ls+ofSubagent, "     › 1. Yes, allow once\n       2.", "       2.", 1) + waiting: "",
	} {
		got, d := "", draw(80, 40, screen).Dialog
		if d != nil {
			if got = d.Title; d.Agent != "" {
				got = d.Agent
			}
		}
		if got != want || want == "y" && !d.Cut {
			t.Errorf("it is read as %+v, not that of %q:\n%s", d, want, screen)
		}
	}
}

// TestMatchSubagent: a subagent's dialog shows a part of a prompt of that subagent.
func TestMatchSubagent(t *testing.T) {
	d := draw(80, 40, ofSubagent+waiting).Dialog
	if p := (qwen.Driver{}).FromDialog(d); agent.Value(p.Agent) != "y" || !p.InPart() {
		t.Errorf("it asks %+v", p)
	}
	for _, c := range []struct {
		tool, by, input string
		want            agent.Match
	}{
		{"run_shell_command", "y", "ls", agent.PartMatch}, {"run_shell_command", "y", "cd /; ls", agent.PartMatch}, {"edit", "y", "/a", agent.PartMatch},
		{"run_shell_command", "y", "pwd", agent.NoMatch}, {"run_shell_command", "z", "ls", agent.NoMatch}, {"run_shell_command", "", "ls", agent.PartMatch},
	} {
		p := &agent.Request{Type: agent.PromptPermission, Tool: &c.tool, Agent: agent.Pointer(c.by)}
		p.SetInput(c.input)
		if got := (qwen.Driver{}).Match(d, p); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// FuzzScreen reads any text as a screen.
func FuzzScreen(f *testing.F) {
	f.Add("  ? Shell ls ←\n\n     ls\n\n   Allow execution of: 'ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n\n\n  ⠏ Waiting for user confirmation...")
	f.Add("   ▸ A   B  Submit\n\n   Your answers:\n\n   Ready to submit your answers?\n\n   ❯ 1. Submit answers\n     2. Cancel\n\n   ↑/↓: Navigate | ←/→\n\n  ⠏ Waiting for user confirmation...")
	f.Fuzz(func(t *testing.T, text string) {
		r := draw(40, 20, text)
		if r.Composer != nil && r.Dialog != nil {
			t.Fatal("there is a composer and a dialog")
		}
		if d := r.Dialog; d != nil {
			p := qwen.Driver{}.FromDialog(d)
			qwen.Driver{}.Match(d, p)
		}
	})
}
