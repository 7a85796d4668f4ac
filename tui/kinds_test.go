package tui

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
	"berth/agent/codex"
	"berth/agent/gemini"
)

// TestEachPermissionAtAPhone: at 40x20 the card of each kind of permission of each agent shows what it
// is about, without JSON. y does nothing before its end was on the screen, and says why; then it allows.
func TestEachPermissionAtAPhone(t *testing.T) {
	long := strings.Repeat("a line\n", 30) + "the end"
	patch := "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n-old\n+new\n*** Add File: b.go\n+" + strings.ReplaceAll(long, "\n", "\n+") + "\n*** Delete File: c.go\n*** End Patch"
	edit := map[string]any{"file_path": "/f.go", "old_string": "old", "new_string": "new"}
	write := map[string]any{"file_path": "/f.go", "content": long}
	call := map[string]any{"title": "Lamp", "to": map[string]any{"city": "Graz"}, "body": long}
	called := []string{"title: Lamp", `"city": "Graz"`, "body:", "a line", "the end"}
	for _, c := range []struct {
		driver agent.SubjectReader
		tool   string
		input  map[string]any
		wants  []string
		long   bool
	}{
		{claude.Driver{}, "Bash", map[string]any{"command": "make | tee log", "description": "Build it"}, []string{"make | tee log", "description: Build it"}, false},
		{claude.Driver{}, "Bash", map[string]any{"command": long}, []string{"the end"}, true},
		{claude.Driver{}, "Edit", edit, []string{"edit /f.go", "- old", "+ new"}, false},
		{claude.Driver{}, "Write", write, []string{"write /f.go", "+ a line", "+ the end"}, true},
		{claude.Driver{}, "mcp__shop__buy", call, called, true},
		{claude.Driver{}, "WebFetch", map[string]any{"url": "https://example.org", "prompt": "read it"}, []string{"url: https://example.org", "prompt: read it"}, false},
		{&codex.Driver{}, "Bash", map[string]any{"command": "make | tee log", "description": "Build it"}, []string{"make | tee log", "description: Build it"}, false},
		{&codex.Driver{}, "apply_patch", map[string]any{"command": patch}, []string{"edit a.go", "- old", "+ new", "add b.go", "+ the end", "delete c.go"}, true},
		{&codex.Driver{}, "mcp__shop__buy", call, called, true},
		{&gemini.Driver{}, "run_shell_command", map[string]any{"command": "make | tee log"}, []string{"make | tee log"}, false},
		{&gemini.Driver{}, "replace", edit, []string{"edit /f.go", "- old", "+ new"}, false},
		{&gemini.Driver{}, "write_file", write, []string{"write /f.go", "+ a line", "+ the end"}, true},
		{&gemini.Driver{}, "mcp_shop_buy", call, called, true},
	} {
		m := askingFor(t, 40, 20, c.tool, c.input)
		s := m.current()
		about, ok := c.driver.Subject(s.Request)
		if !ok {
			t.Fatalf("%T doesn't read %s", c.driver, c.tool)
		}
		s.Subject = &about
		if c.long {
			if e := press(m, later, "y"); e != nil || !strings.Contains(m.flash.text, toEnd) {
				t.Errorf("%T, %s: y before the end does %v, and says %q", c.driver, c.tool, e, m.flash.text)
			}
			press(m, later, "K") // takes the message away
		}
		got := readThrough(t, m)
		_, got, _ = strings.Cut(got, "alpha ·")
		for _, want := range c.wants {
			if !strings.Contains(got, want) {
				t.Errorf("%T, %s: the card lacks %q:\n%s", c.driver, c.tool, want, got)
			}
		}
		for _, not := range []string{`\n`, `":"`, "old_string", "content"} {
			if strings.Contains(got, not) {
				t.Errorf("%T, %s: the card has %q:\n%s", c.driver, c.tool, not, got)
			}
		}
		e := press(m, later.Add(settleTime), "y")
		if e == nil {
			t.Fatalf("%T, %s: y does nothing and says %q:\n%s", c.driver, c.tool, m.flash.text, drawn(m))
		}
		if words, _ := ran(t, e); words != "respond id-alpha --prompt p1 accept" {
			t.Errorf("%T, %s: y runs %q", c.driver, c.tool, words)
		}
	}
}
