package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// What Claude itself says below a command is shown, and signed, also with a prompt that a hook reported
// before its dialog was there. It is shown once, without bars, and another note is another prompt.
func TestNoteOfAReportedCommand(t *testing.T) {
	drawn := func(version, command string, note ...string) *agent.Reading {
		rows := []string{strings.Repeat("─", 80), " Bash command", " Clean", strings.Repeat("╌", 80), " " + command, strings.Repeat("╌", 80)}
		if version == "2.1.197" {
			rows = []string{strings.Repeat("─", 80), " Bash command", "", "   " + command, "   \x1b[38;5;246mClean\x1b[39m", ""}
		}
		return draw(80, 40, strings.Join(append(append(rows, note...), " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"), "\n"))
	}
	const want, other = `note: "Claude requested permissions to edit /w/x which is a sensitive file."`, `note: "It contains a newline"`
	first := []string{" │ Claude requested permissions to edit /w/x which is a", " │ sensitive file."}
	second := []string{" It contains a newline"}
	const input = `{"command":"rm -rf x","description":"Clean"}`
	for _, version := range []string{"2.1.197", "2.1.330"} {
		for _, id := range []string{"", "7"} {
			s := newForgery(t)
			s.asks("Bash", input, id)
			before := s.f.Status().Request
			r := drawn(version, "rm -rf x", first...)
			s.show(r)
			s.show(r)
			p := s.f.Status().Request
			if len(s.f.Status().Requests) != 1 || p.ID != before.ID || p.Digest == before.Digest || text(p.Text) != want {
				t.Errorf("%s, hook %q: %+v", version, id, p)
			}
			if id == "" && !s.keyed(p.ID, r.Dialog) {
				t.Errorf("%s: no key answers what is shown", version)
			}
			shown := p.Digest
			r = drawn(version, "rm -rf x", second...)
			s.show(r)
			s.pass(2 * time.Second)
			s.show(r)
			p = s.f.Status().Request
			if !strings.Contains(text(p.Text), other) || p.Digest == shown || id == "" && p.ID == before.ID {
				t.Errorf("%s, hook %q, another note: %+v", version, id, p)
			}
		}
	}
	s := newForgery(t) // a hook after the dialog, and fields that the dialog doesn't draw
	r := drawn("2.1.330", "rm -rf x", first...)
	s.show(r)
	s.asks("Bash", input, "7")
	s.show(r)
	if p := s.f.Status().Request; p.ID != "1" || p.Channel != agent.ChannelHook || strings.Count(text(p.Text), want) != 1 {
		t.Errorf("reported after its dialog: %+v", p)
	}
	s = newForgery(t)
	s.asks("Bash", `{"command":"rm -rf x","description":"Clean","run_in_background":true}`, "7")
	s.show(r)
	if p := s.f.Status().Request; text(p.Text) != "run_in_background: true\n"+want {
		t.Errorf("with another field: %q", text(p.Text))
	}
}

// TestNoteOfAnotherCall: a dialog that shows a reported call in part may be another call's. The prompt
// of the call whose hook waits doesn't take what that dialog says.
func TestNoteOfAnotherCall(t *testing.T) {
	s := newForgery(t)
	s.asks("NotebookEdit", `{"notebook_path":"/w/keys.ipynb","new_source":"x"}`, "7")
	dashes := strings.Repeat("╌", 80)
	s.show(draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Edit notebook", " /w/a.ipynb", dashes, " y", dashes, " The folder is yours, so this is safe", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n")))
	if p, ok := s.f.HeldBy("7"); !ok || strings.Contains(text(p.Text), "safe") {
		t.Errorf("it asks with the words %q", text(p.Text))
	}
}

// Claude puts bars before the rows of a long description, too.
func TestBarsOfADescription(t *testing.T) {
	s := newForgery(t)
	r := asksOfCommand("│ とても長い説明文なのでこの行には入りきらないと思いますがどうでしょうか、もっ\n │ と長くしてみましょう", "rm -rf x")
	s.asks("Bash", `{"command":"rm -rf x","description":"とても長い説明文なのでこの行には入りきらないと思いますがどうでしょうか、もっと長くしてみましょう"}`, "7")
	s.show(r)
	if m := (claude.Driver{}).Match(r.Dialog, s.f.Status().Request); m != agent.AlikeMatch {
		t.Errorf("its dialog shows %v of it", m)
	}
	s = newForgery(t)
	s.show(r)
	if p := s.f.Status().Request; strings.Contains(text(p.Text), "│") {
		t.Errorf("the text has bars: %q", text(p.Text))
	}
}
