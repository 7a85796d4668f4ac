package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// offering draws the dialog of a command with these options. The one at focus is chosen.
func offering(focus int, options ...string) *agent.Reading {
	line := strings.Repeat("─", 80)
	rows := []string{line, " Bash command", " Run it", strings.Repeat("╌", 80), " npm test", strings.Repeat("╌", 80), " Do you want to proceed?"}
	for i, label := range options {
		mark := "  "
		if i == focus {
			mark = "❯ "
		}
		rows = append(rows, fmt.Sprintf(" %s%d. %s", mark, i+1, label))
	}
	return draw(80, 40, strings.Join(append(rows, "", " Esc to cancel · Tab to amend"), "\n"))
}

// TestOfferedOptions: an id never shows other options later, no matter what was chosen, half drawn
// or on the screen in between. Text that a person types into the chosen option changes nothing
// until another option is chosen.
func TestOfferedOptions(t *testing.T) {
	const one, all = "Yes, and don't ask again for: npm test:*", "Yes, and don't ask again for: npm:*"
	before, after := offering(0, "Yes", one, "No"), offering(0, "Yes", all, "No")
	another := asksOfCommand("List", "ls")
	for name, between := range map[string][]*agent.Reading{
		"at once":                         nil,
		"after the option was chosen":     {offering(1, "Yes", one, "No")},
		"after its rule was edited":       {offering(1, "Yes", one, "No"), offering(1, "Yes", all, "No")},
		"after a frame was half drawn":    {offering(0, "Yes", one)},
		"after another was on the screen": {another},
	} {
		for _, told := range []bool{false, true} {
			s := newForgery(t)
			if told {
				s.asks("Bash", `{"command":"npm test","description":"Run it"}`, "")
			}
			s.show(before)
			p := s.find("npm test")
			if p == nil || !s.keyed(p.ID, before.Dialog) {
				t.Fatalf("%s: %+v", name, p)
			}
			for _, r := range between {
				s.show(r)
				if r == another {
					s.f.Typed(s.step())
				}
			}
			s.show(after)
			if s.keyed(p.ID, after.Dialog) {
				t.Errorf("%s, reported %v: prompt %s, which offered %q, takes a key at %q", name, told, p.ID, one, all)
			}
			if now := s.find("npm test"); now == nil || now.ID == p.ID || now.Options[1] != all || !s.keyed(now.ID, after.Dialog) {
				t.Errorf("%s, reported %v: it asks %+v", name, told, now)
			}
		}
	}
	s := newForgery(t)
	s.show(before)
	id := s.find("npm test").ID
	for _, r := range []*agent.Reading{offering(2, "Yes", one, "No"), offering(2, "Yes", one, "No, and use pnpm"), offering(2, "Yes", one, "No"), before} {
		s.show(r)
	}
	if p := s.find("npm test"); p == nil || p.ID != id {
		t.Errorf("after words were typed and removed, prompt %s is %+v", id, p)
	}
}

// TestTitleWithoutRoom: a dialog that was seen with its title, and has no room for it at another
// size, may be a subagent's. No key is pressed until the title is there again.
func TestTitleWithoutRoom(t *testing.T) {
	line, dashes := strings.Repeat("─", 80), strings.Repeat("╌", 80)
	about := []string{dashes, " touch x", dashes, " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and always allow access to ws/ from this project", "   3. No", "", " Esc to cancel · Tab to amend"}
	whole := func(title string) *agent.Reading {
		return draw(80, 40, strings.Join(append([]string{line, title, " Make it"}, about...), "\n"))
	}
	headless := draw(80, 10, strings.Join(append(about, " ↑ 3 more lines"), "\n"))
	if headless.Dialog == nil || headless.Dialog.Title != "" || headless.Dialog.Cut {
		t.Fatalf("%+v", headless.Dialog)
	}
	s := newForgery(t)
	s.show(whole(" Bash command"))
	id := s.find("touch x").ID
	s.show(headless)
	if s.keyed(id, headless.Dialog) {
		t.Errorf("the dialog may be a subagent's, and prompt %s takes a key", id)
	}
	r := whole(" Bash command")
	if s.show(r); s.keyed(id, r.Dialog) {
		t.Error("a subagent's dialog, which had no room for its title, may be below, and the prompt takes a key")
	}
	s.f.Typed(s.step())
	if s.pass(3 * time.Second); !s.keyed(id, r.Dialog) {
		t.Errorf("with its title again, and after a key, it is %+v", s.find("touch x"))
	}
	r = whole(" Bash command · from the general-purpose agent")
	if s.show(r); s.keyed(id, r.Dialog) {
		t.Errorf("prompt %s takes a key at a subagent's dialog", id)
	}

	s = newForgery(t)
	s.show(headless)
	p := s.find("touch x")
	if p == nil || !strings.Contains(text(p.Text), "a subagent may") || !s.keyed(p.ID, headless.Dialog) {
		t.Fatalf("first seen without its title it is %+v", p)
	}
	for _, title := range []string{" Bash command", " Bash command · from the general-purpose agent"} {
		r = whole(title)
		if s.show(r); s.keyed(p.ID, r.Dialog) {
			t.Errorf("prompt %s, which showed no title, takes a key at%s", p.ID, title)
		}
	}
	about[1] = " db - query (MCP)"
	if d := draw(80, 10, strings.Join(append(about, " ↑ 3 more lines"), "\n")).Dialog; d.Tool != "" || !d.Alike {
		t.Errorf("a command that looks like a call of a server's tool is asked by %q", d.Tool)
	}
}
