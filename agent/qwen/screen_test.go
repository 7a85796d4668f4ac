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
