package claude_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// TestColonsOfAForm: two forms that no hook reports come one right after the other. They differ only
// after a colon of a field's label, and no sign shows where the label ends. They are two prompts.
func TestColonsOfAForm(t *testing.T) {
	for name, c := range map[string]struct{ first, second string }{
		"nothing set":           {"  ❯   Deploy: staging: not set", "  ❯   Deploy: production: not set"},
		"nothing typed":         {"  ❯   Deploy: staging: Type something…", "  ❯   Deploy: production: Type something…"},
		"ticked":                {"  ❯ ✔ Deploy: staging: ☒", "  ❯ ✔ Deploy: production: ☒"},
		"with a value":          {"  ❯ ✔ Deploy: staging: now", "  ❯ ✔ Deploy: production: now"},
		"two colons":            {"  ❯   Deploy: to: staging: not set", "  ❯   Deploy: to: production: not set"},
		"without a blank":       {"  ❯   Deploy:staging: not set", "  ❯   Deploy:production: not set"},
		"a word with a colon":   {"  ❯   When (hh:mm): not set", "  ❯   When (mm:hh): not set"},
		"a label without a row": {"  ❯   Deploy: not set\n\n      Deploy to the machine that has the name\n      staging: not set", "  ❯   Deploy: not set\n\n      Deploy to the machine that has the name\n      production: not set"},
	} {
		s := newForgery(t)
		s.show(formWith(c.first))
		was := s.f.Status().Request
		s.f.Typed(s.step())
		r := formWith(c.second)
		s.show(r)
		p := s.f.Status().Request
		if p.ID == was.ID || p.Digest == was.Digest || s.f.Asks(r.Dialog, was.ID) {
			t.Errorf("%s: the second form is %+v", name, p)
		}
		if !s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s: the second form takes no answer", name)
		}
	}
	s := newForgery(t)
	s.show(formWith("  ❯   When (hh:mm): not set"))
	id := s.f.Status().Request.ID
	s.show(formWith("  ❯ ✔ When (hh:mm): 12:30"))
	if p := s.f.Status().Request; p.ID != id || text(p.Input) != "When (hh:mm): 12:30" {
		t.Errorf("filled in, it is %+v", p)
	}
}

// TestColonsOfAQuestion: two questions that differ only after the colon of an option's label are two
// prompts.
func TestColonsOfAQuestion(t *testing.T) {
	ask := func(label string) *agent.Reading {
		return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " ☐ Data", "", "What now?", "", "❯ 1. Deploy: " + label, "     All of it", "  2. Keep: all",
			"  3. Type something.", strings.Repeat("─", 80), "  4. Chat about this", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"}, "\n"))
	}
	s := newForgery(t)
	s.show(ask("staging"))
	was := s.f.Status().Request
	s.f.Typed(s.step())
	r := ask("production")
	s.show(r)
	if p := s.f.Status().Request; p.ID == was.ID || p.Digest == was.Digest || s.f.Asks(r.Dialog, was.ID) || !s.keyed(p.ID, r.Dialog) {
		t.Errorf("the second question is %+v", p)
	}
}

// TestFillUnderColons: a form that a hook reported is filled in under labels with colons. The label that
// the schema gives a field isn't part of the field's value.
func TestFillUnderColons(t *testing.T) {
	s := newForgery(t)
	s.hook(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Continue?","requested_schema":{"type":"object","properties":{"when":{"type":"string","title":"When (hh:mm)"},"who":{"type":"string","title":"Who: name"}}}}`, "")
	empty := formWith("  ❯   When (hh:mm): Type something…", "", "      Who: name: not set")
	s.show(empty)
	p := s.f.Status().Request
	if !s.keyed(p.ID, empty.Dialog) || len(p.Schema) == 0 {
		t.Fatalf("it is asked as %+v", p)
	}
	k, err := claude.Driver{}.Keys(p, agent.Answer{Kind: agent.Accept, Fields: map[string]any{"when": "12:30", "who": "a: b"}}, empty.Dialog)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []*agent.Reading{
		empty,
		formWith("  ❯ ✔ When (hh:mm): 12:30", "", "      Who: name: not set"),
		formWith("    ✔ When (hh:mm): 12:30", "", "  ❯   Who: name: Type something…"),
		formWith("    ✔ When (hh:mm): 12:30", "", "  ❯ ✔ Who: name: a: b"),
	} {
		if i >= len(k.Steps) || !k.Steps[i].Ready(r) {
			t.Fatalf("step %d of %+v is not ready", i+1, k.Steps)
		}
	}
	last := k.Steps[len(k.Steps)-1]
	buttons := func(who string) *agent.Reading {
		top := []string{strings.Repeat("─", 80), "  MCP server “lab” requests your input", "", "  Continue?", "", "    ✔ When (hh:mm): 12:30", "", "    ✔ Who: name: " + who, "", "  ❯ Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate"}
		return draw(80, 30, strings.Join(top, "\n"))
	}
	if last.Key != "Enter" || !last.Ready(buttons("a: b")) || last.Ready(buttons("b")) {
		t.Error("the last key is pressed at another value")
	}
}
