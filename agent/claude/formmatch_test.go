package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
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

// TestForgedForm: keys answer a form only if its message is the reported one, from its
// first row to its last.
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
		s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":%q,"requested_schema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"What it is called"}}}}`, c.told), "")
		s.show(r)
		keyed := false
		for _, p := range s.f.Status().Requests {
			keyed = keyed || len(p.Schema) > 0 && s.keyed(p.ID, r.Dialog) && !r.Dialog.Partial
		}
		if keyed != c.same {
			t.Errorf("reported %q, shown %q: answered by keys %v", c.told, c.shown, keyed)
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

// formWith is a form with those rows for its fields.
func formWith(rows ...string) *agent.Reading {
	top := []string{strings.Repeat("─", 80), "  MCP server “lab” requests your input", "", "  Continue?", ""}
	return draw(80, 30, strings.Join(append(append(top, rows...), "", "    Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate"), "\n"))
}

// TestFieldsOfAForm: the reported form is answered only if the dialog's fields are the
// reported ones. Otherwise the dialog's own form is the prompt, under an id of its own.
func TestFieldsOfAForm(t *testing.T) {
	const greet = `"greet":{"type":"boolean","title":"Say hello","description":"To all"}`
	for _, c := range []struct {
		name, told string
		shown      []string
		same       bool
	}{
		{"the same", greet, []string{"  ❯   Say hello: not set", "        To all"}, true},
		{"filled in", greet, []string{"  ❯ ✔ Say hello: ☒", "        To all"}, true},
		{"by its name", `"greet":{"type":"boolean"}`, []string{"  ❯   greet: not set"}, true},
		{"a colon", `"a":{"type":"string","title":"Who: name"}`, []string{"  ❯   Who: name: not set"}, true},
		{"another colon", `"a":{"type":"string","title":"Who: none"}`, []string{"  ❯   Who: all: not set"}, false},
		{"no colon", `"a":{"type":"string","title":"Who: none"}`, []string{"  ❯   Who: not set"}, false},
		{"a wrong value", greet, []string{"  ❯ ⚠ Say hello: x", "        Must be true or false"}, true},
		{"another label", greet, []string{"  ❯   Wipe the disk: not set", "        To all"}, false},
		{"another explanation", greet, []string{"  ❯   Say hello: not set", "        To all, and wipe the disk"}, false},
		{"an explanation that was not reported", `"greet":{"type":"boolean","title":"Say hello"}`, []string{"  ❯   Say hello: not set", "        And wipe the disk"}, false},
		{"one more", greet, []string{"  ❯   Say hello: not set", "        To all", "", "      Wipe the disk: ☒"}, false},
		{"none was reported", "", []string{"  ❯   Wipe the disk: ☒"}, false},
	} {
		s := newForgery(t)
		s.hook(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Continue?","requested_schema":{"type":"object","properties":{`+c.told+`}}}`, "")
		id := s.f.Status().Request.ID
		r := formWith(c.shown...)
		s.show(r)
		if keyed := s.keyed(id, r.Dialog); keyed != c.same {
			t.Errorf("%s: keys answer the reported form: %v", c.name, keyed)
		}
		if p := s.f.Status().Request; !s.keyed(p.ID, r.Dialog) || (p.ID == id) != c.same {
			t.Errorf("%s: the form on the screen is %+v", c.name, p)
		}
	}
	s := newForgery(t) // one right after the other, and no hook reports them
	s.show(formWith("  ❯   Say hello: not set"))
	id := s.f.Status().Request.ID
	s.show(formWith("  ❯ ✔ Say hello: ☒"))
	if p := s.f.Status().Request; p.ID != id {
		t.Errorf("filled in, it is prompt %s", p.ID)
	}
	s.show(formWith("  ❯   Wipe the disk: ☒"))
	if p := s.f.Status().Request; p.ID == id {
		t.Error("another form has the id of the one before it")
	}
	for _, c := range []struct {
		rows []string
		same bool
	}{
		{[]string{"  ❯   Wipe: ☒", "        The cache"}, false},
		{[]string{"  ❯   Wipe: not set", "        The disk"}, false},
		{[]string{"  ❯ ✔ Wipe: ☒", "        The disk"}, true},
		{[]string{"  ❯ ⚠ Wipe: x", "        Must be true or false"}, true},
		{[]string{"  ❯   Wipe: not set", "        The disk"}, true},
		{[]string{"  ❯   Wipe: not set", "        The cache"}, false},
	} {
		s.show(formWith(c.rows...))
		if p := s.f.Status().Request; (p.ID == id) != c.same {
			t.Errorf("%q: prompt %s is now %s", c.rows, id, p.ID)
		}
		id = s.f.Status().Request.ID
	}
	s = newForgery(t) // the answer "accept" to a form that only the screen showed
	digests := map[string]bool{}
	for value, want := range map[string]string{"  ❯   Wipe: not set": "Wipe: not set", "  ❯ ✔ Wipe: ☒": "Wipe: ☒", "  ❯ ✔ Wipe: ☐": "Wipe: ☐"} {
		s.show(formWith(value))
		p := s.f.Status().Request
		if text(p.Input) != want || digests[p.Digest] {
			t.Errorf("%q is shown as %q, with the digest of another", value, text(p.Input))
		}
		digests[p.Digest] = true
	}
}

// TestAcceptAfterFields: Enter on Accept follows the keys that went there by half a second, because 2.1.330 ignores an earlier one.
func TestAcceptAfterFields(t *testing.T) {
	r := formWith("  ❯   Say hello: not set", "        To all")
	p := &agent.Request{Type: r.Dialog.Type, Schema: []byte(`{"type":"object","properties":{"greet":{"type":"boolean","title":"Say hello","description":"To all"}}}`)}
	k, err := claude.Driver{}.Keys(p, agent.Answer{Kind: agent.Accept, Fields: map[string]any{"greet": true}}, r.Dialog)
	if err != nil {
		t.Fatal(err)
	}
	last := k.Steps[len(k.Steps)-1]
	if last.Key != "Enter" || last.ShownFor < 500*time.Millisecond {
		t.Errorf("the last step is %+v", last)
	}
}

// TestHeldValues: a field that holds something else than the answer says isn't taken for the answer's value, also if it is
// drawn alike: another value with other blanks, another choice with the same label, or several for one with a comma.
func TestHeldValues(t *testing.T) {
	const (
		path   = `"v":{"type":"string","title":"V"}`
		preset = `"v":{"type":"string","title":"V","default":"/a b"}`
		scope  = `"v":{"type":"string","title":"V","oneOf":[{"const":"all","title":"Yes"},{"const":"one","title":"Yes"}]}`
		blanks = `"v":{"type":"string","title":"V","oneOf":[{"const":"all","title":"a b"},{"const":"one","title":"ab"}]}`
		list   = `"v":{"type":"array","title":"V","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"},{"const":"ab","title":"A, B"}]}}`
	)
	for _, c := range []struct {
		schema string
		held   []string
		given  any // nil: not given
		steps  int // 1: Enter alone goes from Accept; 0: refused
	}{
		{path, []string{"/a b"}, "/a b", 1},
		{path, []string{"/a b"}, "/ab", 6},
		{path, []string{"/ab"}, "/a b", 6},
		{path, []string{"/a very", "         long name"}, "/a very long name", 1},
		{path, []string{"/averyver", "         ylongname"}, "/averyverylongname", 1},
		{preset, []string{"/a b"}, nil, 1},
		{preset, []string{"/ab"}, nil, 0},
		{scope, []string{"Yes"}, "one", 0},
		{scope, []string{"Yes"}, nil, 0},
		{scope, []string{"not set"}, nil, 1},
		{blanks, []string{"a b"}, "one", 0},
		{list, []string{"A, B"}, []any{"ab"}, 0},
		{list, []string{"A, B"}, []any{"a", "b"}, 0},
	} {
		rows := append([]string{"    ✔ V: " + c.held[0]}, c.held[1:]...)
		rows = append(rows, "", "  ❯ Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate")
		top := []string{strings.Repeat("─", 80), "  MCP server “lab” requests your input", "", "  Continue?", ""}
		r := draw(80, 30, strings.Join(append(top, rows...), "\n"))
		p := &agent.Request{Type: r.Dialog.Type, Schema: []byte(`{"type":"object","properties":{` + c.schema + `}}`)}
		a := agent.Answer{Kind: agent.Accept}
		if c.given != nil {
			a.Fields = map[string]any{"v": c.given}
		}
		k, err := claude.Driver{}.Keys(p, a, r.Dialog)
		if len(k.Steps) != c.steps || (err != nil) != (c.steps == 0) {
			t.Errorf("%s holds %q, given %v: %d keys, %v", c.schema, c.held, c.given, len(k.Steps), err)
		}
	}
}

// TestFormWithoutRoom: a form whose first rows are off the screen takes no answer. Its message can
// hold rows that look like the first ones.
func TestFormWithoutRoom(t *testing.T) {
	rows := []string{"  MCP server “lab” requests your input", "", "  Continue?", "", "  ❯   Name: Type something…", "", "    Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate"}
	for name, c := range map[string]struct {
		above string
		keyed bool
	}{
		"the rule is there":    {strings.Repeat("─", 80), true},
		"a line is above":      {"  Delete the production database.", false},
		"nothing is above":     {"", false},
		"it says what is left": {strings.Repeat("─", 80) + "\n ↑ 3 more lines", false},
	} {
		s := newForgery(t)
		r := draw(80, 12, c.above+"\n"+strings.Join(rows, "\n"))
		s.show(r)
		p := s.f.Status().Request
		if keyed := p != nil && p.Type == agent.PromptForm && s.keyed(p.ID, r.Dialog); keyed != c.keyed {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// wantsOpened is how 2.1.330 asks whether an address is to be opened.
func wantsOpened(address string) *agent.Reading {
	return draw(80, 30, strings.Join([]string{strings.Repeat("─", 80), "  MCP server “lab” wants to open a URL", "", "  Please open this", "", "  " + address, "", "  ❯ Accept    Decline", "", "  Esc to cancel · ←/→ to switch"}, "\n"))
}

// TestAddressOfAServer: the address that a server wants opened is a part of the prompt. Another address,
// right after it, is another prompt.
func TestAddressOfAServer(t *testing.T) {
	const good, evil = "https://berth.invalid/good", "https://berth.invalid/evil"
	for _, told := range []bool{false, true} {
		s := newForgery(t)
		tell := func(address string) {
			if told {
				s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":"Please open this","mode":"url","url":%q}`, address), "")
			}
		}
		tell(good)
		r := wantsOpened(good)
		s.show(r)
		was := s.f.Status().Request
		if was == nil || was.Type != agent.PromptForm || !strings.Contains(text(was.Text), good) || !s.keyed(was.ID, r.Dialog) || len(s.f.Status().Requests) != 1 {
			t.Fatalf("reported %v: it is read as %+v", told, was)
		}
		s.f.Typed(s.step())
		r = wantsOpened(evil)
		s.show(r)
		if s.f.Asks(r.Dialog, was.ID) {
			t.Errorf("reported %v: the first one's id is answered at the second", told)
		}
		tell(evil)
		s.show(r)
		p := s.f.Status().Request
		if p.ID == was.ID || p.Digest == was.Digest || !strings.Contains(text(p.Text), evil) || !s.keyed(p.ID, r.Dialog) {
			t.Errorf("reported %v: the second one is %+v", told, p)
		}
		for kind, want := range map[agent.AnswerKind]string{agent.Accept: "Enter", agent.Deny: "Right", agent.Cancel: "Escape"} {
			if k, err := (claude.Driver{}).Keys(p, agent.Answer{Kind: kind}, r.Dialog); err != nil || k.Steps[0].Key != want {
				t.Errorf("%s presses %+v, %v", kind, k.Steps, err)
			}
		}
	}
}
