package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
)

// formOf is a form as Claude draws it, with a message of those rows.
func formOf(cols int, message ...string) *agent.Reading {
	rows := []string{strings.Repeat("─", cols), "  MCP server “lab” requests your input", ""}
	for _, row := range message {
		rows = append(rows, "  "+row)
	}
	return draw(cols, 30, strings.Join(append(rows, "", "  ❯   Name: Type something…", "        What it is called", "", "    Accept    Decline", "",
		"  Esc to cancel · ↑/↓ to navigate"), "\n"))
}

// TestForgedForm: a form is answered by keys where its message is the one that was told,
// from its first row to its last.
func TestForgedForm(t *testing.T) {
	for _, c := range []struct {
		told  string
		shown []string
		same  bool
	}{
		{"Continue", []string{"Continue and delete the production database?"}, false},
		{"Continue?", []string{"Continue?", "This deletes the production database."}, false},
		{"Continue?", []string{"Continue?", "", "This deletes the production database."}, false},
		{"Continue?", []string{"Continue?", "    Size: not set", "This deletes the production database."}, false},
		{"Continue?", []string{"Continue?", "❯   Size: not set"}, false},
		{"", []string{"Delete the production database?"}, false},
		{"Please say whether you want to go on with what was begun in the last week", []string{"Please say whether you want to go on", "with what was begun in the last week"}, true},
		{"First.\nSecond.", []string{"First.", "Second."}, true},
		{"First.\n\nSecond.", []string{"First.", "", "Second."}, true},
		{"Continue?", []string{"Continue?"}, true},
	} {
		s := newForgery(t)
		cols := 40
		if len(c.shown[0]) > 36 {
			cols = 80
		}
		r := formOf(cols, c.shown...)
		if r.Dialog == nil || r.Dialog.Type != agent.PromptForm {
			t.Fatalf("%q is read as %+v", c.shown, r.Dialog)
		}
		s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":%q,"requested_schema":{"type":"object","properties":{"name":{"type":"string"}}}}`, c.told), "")
		s.show(r)
		keyed := false
		for _, p := range s.f.Status().Requests {
			keyed = keyed || len(p.Schema) > 0 && s.keyed(p.ID, r.Dialog) && !r.Dialog.Partial
		}
		if keyed != c.same {
			t.Errorf("told %q, shown %q: answered by keys %v", c.told, c.shown, keyed)
		}
	}
	s := newForgery(t) // two forms of a server, one right after the other
	s.show(formOf(80, "Continue?"))
	id := s.f.Status().Request.ID
	s.show(formOf(80, "Delete the production database?"))
	if p := s.f.Status().Request; p == nil || p.ID == id || text(p.Text) != "Delete the production database?" {
		t.Errorf("the second form is %+v", p)
	}
}
