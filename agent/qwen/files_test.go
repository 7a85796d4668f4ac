package qwen_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
)

// change is the screen of a change of a file: the rows of the tool name the file, and the others only what changes.
func change(cols, rows int, head string) *agent.Reading {
	return draw(cols, rows, "  ? WriteFile "+head+" ←\n\n   1 + hello\n\n   Apply this change?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
}

// TestFilesOfEqualChanges: two files may get the same text. After a key, or at another size, the next dialog is a
// prompt of its own, which names its own file.
func TestFilesOfEqualChanges(t *testing.T) {
	for name, after := range map[string]struct {
		cols int
		key  bool
	}{"a key": {80, true}, "another size": {60, false}, "nothing": {80, false}} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		fold := detect.New(qwen.Driver{}, detect.Options{Start: now})
		shown := func(r *agent.Reading) *agent.Request {
			now = now.Add(100 * time.Millisecond)
			fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
			for range 8 {
				now = now.Add(500 * time.Millisecond)
				fold.Tick(now)
			}
			return fold.Status().Request
		}
		const of = "Writing to quite_a_long_folder/\n    "
		first := shown(change(80, 24, of+"a.txt"))
		if first == nil || !strings.Contains(agent.Value(first.Text), "a.txt") {
			t.Fatalf("the first file isn't shown: %+v", first)
		}
		if after.key {
			fold.Typed(now)
		}
		next := change(after.cols, 24, of+"b.txt")
		p := shown(next)
		if p == nil || p.ID == first.ID || p.Digest == first.Digest || !strings.Contains(agent.Value(p.Text), "b.txt") || strings.Contains(agent.Value(p.Text), "a.txt") {
			t.Errorf("after %s the dialog for b.txt is the prompt %+v: %s", name, p, agent.Value(p.Text))
		}
		if fold.Asks(next.Dialog, first.ID) {
			t.Errorf("after %s an answer for a.txt goes to b.txt", name)
		}
	}
}

// TestFileThatHasLeft: a dialog whose rows of the tool are not all on the screen doesn't show which file it changes.
func TestFileThatHasLeft(t *testing.T) {
	head := "Writing to " + strings.Repeat("a_folder/", 3) + "\n    " + strings.Repeat("another/", 3) + "file.txt"
	for rows := 15; rows > 10; rows-- {
		d := change(60, rows, head).Dialog
		if d == nil {
			t.Fatalf("%d rows: no dialog", rows)
		}
		if whole := strings.Contains(strings.Join(d.Lines, "\n"), "a_folder"); d.Cut == whole {
			t.Errorf("%d rows: cut off: %v, and its first row is there: %v\n%s", rows, d.Cut, whole, strings.Join(d.Lines, "\n"))
		}
	}
}

// TestEditBelowAnother: only the row of its tool names the file that a dialog is about, before the texts of an edit.
func TestEditBelowAnother(t *testing.T) {
	for head, want := range map[string]agent.Match{
		"Edit safe.txt": agent.NoMatch, "Edit safe.txt: a => evil.sh": agent.NoMatch, "Edit safe.txt: ../evil.sh: b": agent.NoMatch,
		"Edit x/evil.sh": agent.NoMatch, "Edit /etc/evil.sh: a => b": agent.PartMatch, "Edit ../etc/evil.sh": agent.PartMatch, "Edit evil.sh": agent.PartMatch,
	} {
		d := draw(80, 24, "  ? "+head+" ←\n\n   1 - a\n   1 + b see /etc/evil.sh\n\n   Apply this change?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting).Dialog
		p := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"edit","tool_input":{"file_path":"/etc/evil.sh","old_string":"a","new_string":"b"}`).Request
		if got := (qwen.Driver{}).Match(d, p); got != want {
			t.Errorf("%s: it matches as %v", head, got)
		}
	}
}
